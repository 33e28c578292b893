package takeover

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/ralph-loop/ralph/pool/durable"
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
	if err := durable.ReplaceJSON(r.path, r); err != nil {
		return fmt.Errorf("record the take-over: %w", err)
	}
	return nil
}

func (r record) remove() error { return os.Remove(r.path) }
