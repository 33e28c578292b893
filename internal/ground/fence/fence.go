package fence

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/loopfolder"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// maxFence bounds the file, in bytes.
const maxFence = 64 << 10

// A Fence says where a loop went.
type Fence struct {
	File     string    `json:"file"` // of the export, absolute
	Host     string    `json:"host"` // on which it was written
	At       time.Time `json:"at"`
	Complete bool      `json:"complete"` // false while the file is written, or if that was cut off
}

// Read returns the fence of a loop, or nil.
func Read(dir string) (*Fence, error) {
	text, err := safefile.Read(filepath.Join(dir, loopfolder.Moved), maxFence)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var f Fence
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err != nil {
		return nil, fmt.Errorf("read where the loop went: %w", err)
	}
	return &f, nil
}

// Text says to a person where the loop went.
func (f Fence) Text() string {
	if !f.Complete {
		return "an export to " + f.File + " was cut off"
	}
	return fmt.Sprintf("exported on %s to %s", f.At.Format(time.DateTime+" MST"), f.File)
}

// Write fences a loop. It is durable on return.
func Write(dir string, f Fence) error {
	text, err := json.Marshal(f)
	if err == nil {
		err = safefile.WriteFile(filepath.Join(dir, loopfolder.Moved), append(text, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write where the loop goes: %w", err)
	}
	return syncFolder(dir)
}

// syncFolder makes the names in a folder durable. Tests notice with it when that happens.
var syncFolder = safefile.SyncFolder

// Remove lets a loop be resumed again.
func Remove(dir string) error {
	return os.Remove(filepath.Join(dir, loopfolder.Moved)) // a power cut that brings it back harms nothing
}
