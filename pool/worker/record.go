package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/pool/durable"
	"github.com/ralph-loop/ralph/pool/queue"
)

// A record is what a host knows of a loop that it claims: pool/loops/ID/claim.json. It is written
// before the claim.
type record struct {
	queue.Claim
	// Finished says that the worker has nothing left to do with the loop, and why.
	Finished string `json:"finished,omitempty"`
}

func folder(home, id string) string { return filepath.Join(home, "pool", "loops", id) }

func recordFile(home, id string) string { return filepath.Join(folder(home, id), "claim.json") }

// write replaces the record. It is durable on return.
func (r record) write(home string) error {
	err := durable.ReplaceJSON(recordFile(home, r.Loop), r)
	if err == nil {
		err = durable.SyncFolder(filepath.Dir(folder(home, r.Loop)))
	}
	if err != nil {
		return fmt.Errorf("note the claim of loop %s: %w", r.Loop, err)
	}
	return nil
}

// readRecord returns the record of a loop; nil if there is none.
func readRecord(home, id string) (*record, error) {
	text, err := os.ReadFile(recordFile(home, id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	r := new(record)
	if err == nil {
		err = json.Unmarshal(text, r)
	}
	if err == nil && r.Loop != id {
		err = fmt.Errorf("it is of loop %.40q", r.Loop)
	}
	if err != nil {
		return nil, fmt.Errorf("read the claim of loop %s: %w", id, err)
	}
	return r, nil
}

// remove removes the claim of a loop that another host has. Work of an earlier time stays.
func remove(home, id string) error {
	if err := os.Remove(recordFile(home, id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the claim of loop %s: %w", id, err)
	}
	_ = os.Remove(folder(home, id)) // unless there is such work
	return nil
}

// records returns the loops that have a folder.
func records(home string) (ids []string, err error) {
	entries, err := os.ReadDir(filepath.Join(home, "pool", "loops"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the loops of this host: %w", err)
	}
	for _, entry := range entries {
		if entry.IsDir() {
			ids = append(ids, entry.Name())
		}
	}
	return ids, nil
}
