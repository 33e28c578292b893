package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// Put writes e, replacing an entry of the same project and name. After a power loss the file is the
// old one, the new one or absent. Folders that are missing are made 0700, the file is 0600. Put
// sets Mount if it is empty.
func Put(home string, e Entry) error {
	e.Started = e.Started.UTC().Truncate(time.Microsecond)
	if e.Mount == "" {
		e.Mount = mount(e.Dir)
	}
	err := e.Check()
	if err == nil {
		err = os.MkdirAll(Folder(home), 0o700)
	}
	if err == nil {
		err = put(safefile.Dir(Folder(home)), e)
	}
	if err != nil {
		return fmt.Errorf("put registry entry: %w", err)
	}
	return nil
}

func put(folder safefile.Folder, e Entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return safefile.Replace(folder, e.File(), append(line, '\n'), 0o600)
}

// Remove removes the entry of that project and name. A missing one is no error. The loop's folder
// is not touched.
func Remove(home, project, name string) error {
	if err := CheckName(name); err != nil {
		return fmt.Errorf("remove registry entry: %w", err)
	}
	err := os.Remove(filepath.Join(Folder(home), FileName(project, name)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove registry entry: %w", err)
	}
	return nil
}
