package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience bounds the wait for something that has to happen, on a busy machine too. No test is
// about how long that takes.
const patience = 2 * time.Minute

// becomes waits until another process has made something true, and reports whether it did. There is
// no event for that.
func becomes(is func() bool) bool {
	late := time.After(patience)
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for !is() {
		select {
		case <-again.C:
		case <-late:
			return is()
		}
	}
	return true
}

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
