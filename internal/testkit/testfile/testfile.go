// Package testfile reads and writes files for tests, which end where that fails.
package testfile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Must ends the test with an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Read returns what a file holds.
func Read(t testing.TB, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(file)
	Must(t, err)
	return content
}

// Write writes a file, and makes the folders that it is in.
func Write[T ~string | ~[]byte](t testing.TB, file string, content T) {
	t.Helper()
	Must(t, os.MkdirAll(filepath.Dir(file), 0o755))
	Must(t, os.WriteFile(file, []byte(content), 0o644))
}

// Program writes a shell script that can be run. It keeps other tests from forking meanwhile: their
// child would hold the open file until its exec, and a file that is open for writing cannot be
// executed ("text file busy").
func Program(t testing.TB, file, script string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	Must(t, os.WriteFile(file, []byte("#!/bin/sh\n"+script), 0o755))
}
