package fence

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/clean"
	"github.com/ralph-loop/ralph/internal/ground/loopfolder"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// maxFence bounds each file, in bytes.
const maxFence = 64 << 10

// A Fence says where a loop went: into the file of an export, or to another host of a pool.
type Fence struct {
	File     string    `json:"file,omitempty"` // of the export, absolute
	Host     string    `json:"host,omitempty"` // on which it was written
	At       time.Time `json:"at"`
	Complete bool      `json:"complete"` // false while the file is written, or if that was cut off
	// To is the host of the pool that has the loop, under Epoch; empty for an export.
	To    string `json:"to,omitempty"`
	Epoch uint64 `json:"epoch,omitempty"`
}

// A Claim says that this host of a pool has the loop: pool.json, which comes with an import, once
// the claim is in the loop's log. A loop that was there before its epoch would be a copy.
type Claim struct {
	Epoch uint64 `json:"epoch"` // counts the hosts that the loop has had, from 1
	Host  string `json:"host"`
	From  string `json:"from"` // the host before
	// Loop is the loop's ID in the pool; empty for the one of its journal.
	Loop string `json:"loop,omitempty"`
}

// WriteClaim says under which epoch this host has the loop. It is durable on return.
func WriteClaim(dir string, c Claim) error {
	if err := write(dir, loopfolder.Pool, c); err != nil {
		return fmt.Errorf("write under which epoch of the pool this host has the loop: %w", err)
	}
	return nil
}

// ReadClaim returns the claim of this host, or nil.
func ReadClaim(dir string) (*Claim, error) {
	c, err := read[Claim](dir, loopfolder.Pool)
	if err != nil {
		return nil, fmt.Errorf("read under which epoch of the pool this host has the loop: %w", err)
	}
	return c, nil
}

// Read returns the fence of a loop, or nil.
func Read(dir string) (*Fence, error) {
	f, err := read[Fence](dir, loopfolder.Moved)
	if err != nil {
		return nil, fmt.Errorf("read where the loop went: %w", err)
	}
	return f, nil
}

// read reads a file of the loop's folder; nil if there is none.
func read[T any](dir, name string) (*T, error) {
	text, err := safefile.Read(filepath.Join(dir, name), maxFence)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	v := new(T)
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

// Text says to a person where the loop went.
func (f Fence) Text() string {
	if f.To != "" {
		return fmt.Sprintf("it continues on %s (epoch %d)", clean.Text(f.To), f.Epoch)
	}
	if !f.Complete {
		return "an export to " + f.File + " was cut off"
	}
	return fmt.Sprintf("exported on %s to %s", f.At.Format(time.DateTime+" MST"), f.File)
}

// Write fences a loop. It is durable on return.
func Write(dir string, f Fence) error {
	if err := write(dir, loopfolder.Moved, f); err != nil {
		return fmt.Errorf("write where the loop goes: %w", err)
	}
	return nil
}

// write replaces a file of the loop's folder. It is durable on return.
func write(dir, name string, v any) error {
	text, err := json.Marshal(v)
	if err == nil {
		err = safefile.WriteFile(filepath.Join(dir, name), append(text, '\n'), 0o600)
	}
	if err != nil {
		return err
	}
	return syncFolder(dir)
}

// syncFolder makes the names in a folder durable. Tests notice with it when that happens.
var syncFolder = safefile.SyncFolder

// Remove lets a loop be resumed again.
func Remove(dir string) error {
	return os.Remove(filepath.Join(dir, loopfolder.Moved)) // a power cut that brings it back harms nothing
}
