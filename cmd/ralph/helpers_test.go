package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// program writes an executable shell script.
func program(t *testing.T, folder, name, body string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := writeProgram(path, strings.NewReader("#!/bin/sh\n"+body)); err != nil {
		t.Fatal(err)
	}
	return path
}

// writeProgram keeps other tests from forking meanwhile. Their child would hold the open file until
// its exec, and a file that is open for writing cannot be executed ("text file busy").
func writeProgram(path string, content io.Reader) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}
