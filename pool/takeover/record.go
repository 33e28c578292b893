package takeover

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A record is what this host knows of its take-over of a loop until that is done.
type record struct {
	Nonce    string    `json:"nonce"` // of the claim
	At       time.Time `json:"at"`    // of the claim
	Into     string    `json:"into"`  // the new folder, absolute
	Imported bool      `json:"imported"`

	path string
}

// readRecord returns the record of an earlier call; one without nonce if there is none.
func readRecord(path string) (r record, err error) {
	r.path = path
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		return r, fmt.Errorf("read what an earlier take-over has left: %w", err)
	}
	return r, nil
}

// write is durable on return.
func (r record) write() error {
	text, err := json.Marshal(r)
	if err == nil {
		err = replace(r.path, text)
	}
	if err != nil {
		return fmt.Errorf("record the take-over: %w", err)
	}
	return nil
}

func (r record) remove() error { return os.Remove(r.path) }

// replace writes a file at once: there is the old one or the new one. It is durable on return.
func replace(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
