// Package durable replaces small files so that a crash or a loss of power leaves the file before,
// or the new one, and makes a journal durable before a log has its lines.
package durable

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
)

// Replace writes a file of mode 0600, and its folder if that is missing. It is durable on return.
func Replace(path string, text []byte) error {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, ".new-") // has the mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return SyncFolder(folder)
}

// ReplaceJSON is Replace with a value on one line.
func ReplaceJSON(path string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return Replace(path, append(text, '\n'))
}

// SyncFolder makes the names in a folder durable.
func SyncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
