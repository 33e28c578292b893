package plan

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// Names in a project.
const (
	Folder   = "ralph"         // the folder of the plan
	PRD      = "prd.md"        // the requirements
	Tasks    = "tasks.json"    // the stories
	Progress = "progress.txt"  // the log of the iterations
	Prompt   = "prompt.md"     // what a person adds to each prompt
	Active   = ".ralph-active" // the marker, beside the folder
	Archives = "ralph-archive" // the folder of archived plans, beside the folder
)

// Bounds of what is read, in bytes.
const (
	MaxFile   = 4 << 20 // of each file in the folder; as much as story.Parse accepts of tasks.json
	maxMarker = 1 << 20
)

// Names are the files of a plan, in the order in which people read them.
var Names = [...]string{PRD, Tasks, Progress, Prompt}

// Dir returns the folder of a project's plan.
func Dir(project string) string { return filepath.Join(project, Folder) }

// Path returns the path of a plan's file.
func Path(project, name string) string { return filepath.Join(project, Folder, name) }

// Exists reports whether the project has a tasks.json, of whatever kind.
func Exists(project string) bool {
	_, err := os.Lstat(Path(project, Tasks))
	return err == nil
}

// ReadTasks returns tasks.json, at most [MaxFile] bytes. The error is fs.ErrNotExist if there is
// none, and a *[safefile.Error] if something else is in its place or it is too large.
func ReadTasks(project string) ([]byte, error) { return Read(project, Tasks) }

// Read is ReadTasks for any file of the plan, at most [MaxFile] bytes.
func Read(project, name string) ([]byte, error) {
	root, err := os.OpenRoot(project)
	if err != nil {
		return nil, fmt.Errorf("open the project: %w", err)
	}
	defer root.Close()
	data, err := safefile.ReadIn(root, filepath.Join(Folder, name), MaxFile)
	if err != nil {
		return nil, fmt.Errorf("read %s/%s: %w", Folder, name, err)
	}
	return data, nil
}

// WriteTasks replaces tasks.json, durably: after a loss of power it has this content. The mode of a
// regular file is kept. A link or a FIFO in its place is replaced, not followed; a folder is an
// error. Its folder must exist.
func WriteTasks(project string, data []byte) error { return Write(project, Tasks, data) }

// Write is WriteTasks for any file of the plan.
func Write(project, name string, data []byte) error {
	if err := within(filepath.Join(project, Folder), func(folder *os.Root) error { return replace(folder, name, data) }); err != nil {
		return fmt.Errorf("write %s/%s: %w", Folder, name, err)
	}
	return nil
}

// within opens a folder that is named relative to an open one, so that no link leads out of it.
func within(path string, do func(*os.Root) error) error {
	project, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer project.Close()
	folder, err := project.OpenRoot(filepath.Base(path))
	if err != nil {
		return err
	}
	defer folder.Close()
	return do(folder)
}

// newMode is the mode of a file that is new: a team keeps the plan in its repository.
const newMode = 0o644

// replace gives a file in a folder this content. It is durable on return.
func replace(folder *os.Root, name string, data []byte) error {
	mode := fs.FileMode(newMode)
	if info, err := folder.Lstat(name); err == nil && info.Mode().IsRegular() {
		mode = info.Mode().Perm()
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return put(safefile.Within(folder), name, data, mode)
}

// put is replace with a mode. A loss of power before its return leaves the old content or the new
// one.
func put(folder safefile.Folder, name string, data []byte, mode fs.FileMode) error {
	err := safefile.Replace(folder, name, data, mode)
	if err == nil {
		err = folder.Sync()
	}
	return err
}
