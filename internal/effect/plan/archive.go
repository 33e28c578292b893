package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// Summary is the file of an archive that says what the plan came to.
const Summary = "summary.md"

// archivedNames are the files that an archive takes. prompt.md stays: it is about the project.
var archivedNames = [...]string{PRD, Tasks, Progress}

// Names in the folder of archives of what is not finished. An archive is copied to a folder with
// the prefix, and renamed when it is complete. Then the file says that the plan has to be reset,
// until that is done.
const (
	copying   = ".copying-"
	resetting = ".resetting.json"
)

// Unfinished is an archive whose plan was not reset yet, because ralph was killed or could not
// commit it.
type Unfinished struct {
	Name   string `json:"name"`   // its folder
	Commit bool   `json:"commit"` // it is to be committed
}

// ArchiveDir returns the folder of an archive.
func ArchiveDir(project, name string) string { return filepath.Join(project, Archives, name) }

// FreeArchive returns the name for a new archive: name, or if it is taken name-2 and so on.
func FreeArchive(project, name string) (string, error) {
	for n, free := 2, name; ; n++ {
		_, err := os.Lstat(ArchiveDir(project, free))
		if errors.Is(err, fs.ErrNotExist) {
			return free, nil
		}
		if err != nil {
			return "", fmt.Errorf("look for a free name: %w", err)
		}
		free = name + "-" + strconv.Itoa(n)
	}
}

// LastArchive returns when the latest archive of a project was made; zero if there is none.
func LastArchive(project string) (last time.Time) {
	entries, _ := os.ReadDir(filepath.Join(project, Archives)) // what cannot be read is none
	for _, entry := range entries {
		info, err := os.Lstat(filepath.Join(ArchiveDir(project, entry.Name()), Summary))
		if err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}

// UnfinishedArchive returns the archive that was not finished; nil if there is none.
func UnfinishedArchive(project string) (*Unfinished, error) {
	dir := filepath.Join(project, Archives)
	text, err := safefile.Read(filepath.Join(dir, resetting), maxMarker)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var u Unfinished
	if err == nil {
		err = json.Unmarshal(text, &u)
	}
	if err == nil && (u.Name == "" || u.Name != filepath.Base(u.Name) || strings.HasPrefix(u.Name, ".")) {
		err = fmt.Errorf("%q is no name of an archive", u.Name)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s/%s: %w", Archives, resetting, err)
	}
	if _, err := os.Lstat(ArchiveDir(project, u.Name)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil // it was killed before the folder had its name: the next archive replaces both
	}
	return &u, nil
}

// Store copies the plan of a project to an archive, with its summary. The name must be free. The
// archive is complete and durable on return, and the plan is as it was: [Reset] is next. A kill
// leaves no archive, or a complete one that [UnfinishedArchive] returns.
func Store(project string, u Unfinished, summary []byte) error {
	dir := filepath.Join(project, Archives)
	if err := prepareArchives(project); err != nil {
		return fmt.Errorf("make %s: %w", Archives, err)
	}
	partial := filepath.Join(dir, copying+u.Name)
	if err := os.Mkdir(partial, 0o777); err != nil {
		return fmt.Errorf("make the archive: %w", err)
	}
	for _, name := range archivedNames {
		content, err := Read(project, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = safefile.WriteFile(filepath.Join(partial, name), content, newMode)
		}
		if err != nil {
			return fmt.Errorf("copy %s: %w", name, err)
		}
		step("copied " + name)
	}
	// The last file comes by a move, which makes all names in the folder durable.
	err := safefile.WriteFile(filepath.Join(partial, "."+Summary), summary, newMode)
	if err == nil {
		err = safefile.Move(filepath.Join(partial, "."+Summary), filepath.Join(partial, Summary))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", Summary, err)
	}
	step("summed up")
	text, err := json.Marshal(u)
	if err == nil {
		err = safefile.WriteFile(filepath.Join(dir, resetting), append(text, '\n'), newMode)
	}
	if err != nil {
		return fmt.Errorf("note the archive: %w", err)
	}
	step("noted")
	if err := safefile.Move(partial, ArchiveDir(project, u.Name)); err != nil {
		return fmt.Errorf("name the archive: %w", err)
	}
	step("named")
	return nil
}

// prepareArchives makes the folder of archives, and removes what killed archives left in it.
func prepareArchives(project string) error {
	dir := filepath.Join(project, Archives)
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if info, err := os.Lstat(dir); err != nil {
		return err
	} else if !info.IsDir() {
		return &safefile.Error{Path: dir, Problem: safefile.NotRegular}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		of, leftover := safefile.Leftover(entry.Name())
		if strings.HasPrefix(entry.Name(), copying) || entry.Name() == resetting || leftover && "."+of == resetting {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, entry.Name())))
		}
	}
	return err
}

// Reset replaces the files of the plan that are in the archive by those of the templates. Files
// that were changed since they were copied stay; their names are returned. It may be called again.
func Reset(project, archive string, v Values) (changed []string, err error) {
	for _, name := range archivedNames {
		copied, err := safefile.Read(filepath.Join(ArchiveDir(project, archive), name), MaxFile)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return changed, fmt.Errorf("read the archived %s: %w", name, err)
		}
		now, missing := Read(project, name)
		if missing != nil && !errors.Is(missing, fs.ErrNotExist) {
			return changed, missing
		}
		fresh := Template(name, v)
		switch {
		case missing != nil, err == nil && bytes.Equal(now, copied):
			if err := Write(project, name, fresh); err != nil {
				return changed, err
			}
		case !bytes.Equal(now, fresh):
			changed = append(changed, name)
		}
		step("reset " + name)
	}
	return changed, nil
}

// Finish notes that nothing of an archive is left to do.
func Finish(project string) error {
	err := os.Remove(filepath.Join(project, Archives, resetting))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("finish the archive: %w", err)
	}
	return nil
}

// step is called after each step of an archive. Tests end the archive there, as a kill does.
var step = func(string) {}
