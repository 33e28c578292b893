package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/registry"
)

// FenceName is the file in a loop's folder that says that the loop was moved. While it is there,
// the loop is not resumed: two machines would do the same work.
const FenceName = "moved.json"

// maxFence bounds the file, in bytes.
const maxFence = 64 << 10

// A Fence says where a loop went.
type Fence struct {
	File     string    `json:"file"` // of the export, absolute
	Host     string    `json:"host"` // on which it was written
	At       time.Time `json:"at"`
	Complete bool      `json:"complete"` // false while the file is written, or if that was cut off
}

// ReadFence returns the fence of a loop, or nil.
func ReadFence(dir string) (*Fence, error) {
	text, err := safefile.Read(filepath.Join(dir, FenceName), maxFence)
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

// WriteFence fences a loop. It is durable on return.
func WriteFence(dir string, f Fence) error {
	text, err := json.Marshal(f)
	if err == nil {
		err = safefile.WriteFile(filepath.Join(dir, FenceName), append(text, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write where the loop goes: %w", err)
	}
	return syncFolder(dir)
}

// syncFolder makes the names in a folder durable. Tests notice with it when that happens.
var syncFolder = safefile.SyncFolder

// RemoveFence lets a loop be resumed again.
func RemoveFence(dir string) error {
	return os.Remove(filepath.Join(dir, FenceName)) // a power cut that brings it back harms nothing
}

// checkFence refuses to resume a loop that went elsewhere.
func checkFence(name, dir string) error {
	f, err := ReadFence(dir)
	if err != nil || f == nil {
		return err
	}
	next := "resume it where it was imported"
	if !f.Complete {
		next = fmt.Sprintf("'ralph export %s --move' writes the file again", name)
	}
	return cli.Refuse(fmt.Sprintf("%s; 'ralph export %s --undo' takes it back", next, name),
		"loop %s was moved, and cannot be resumed here: %s", name, f.Text())
}

// checkCopies refuses to resume a loop while a copy of it runs on this machine: both would do the
// same work, and their processes have the same mark.
func checkCopies(e *cli.Env, name, dir, id string) error {
	copies, err := registry.Survey(e.Home, func(entry registry.Entry) bool { return id != "" && entry.ID == id && entry.Dir != dir })
	for _, s := range copies {
		if s.Live.Alive {
			return cli.Refuse(fmt.Sprintf("'ralph stop %s' ends that one", s.Dir), "loop %s cannot be resumed: a copy of it runs in %s", name, s.Project)
		}
	}
	return err
}
