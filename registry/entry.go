package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// Entry is one loop on this machine.
type Entry struct {
	Name    string `json:"name"`    // valid by CheckName
	Dir     string `json:"dir"`     // the loop's folder, absolute
	Project string `json:"project"` // the folder whose .ralph has the loop, absolute
	ID      string `json:"id"`      // the loop's ULID
	Agent   string `json:"agent"`   // as in the settings: pi, claude, codex …
	Host    string `json:"host"`    // where the runner was started
	// of the runner when it was started; Probe says whether it lives
	PID     int       `json:"pid"`
	Started time.Time `json:"started"` // UTC, microseconds
	Version string    `json:"version"` // of the ralph that runs it
	// Mount is where the file system of Dir is mounted; "" if that is not known.
	Mount string `json:"mount,omitempty"`
	// Parent is the id of the loop whose agent started the runner; "" if a person did.
	Parent string `json:"parent,omitempty"`
	// Found says that a list found the loop's folder: no person began it with this registry.
	Found bool `json:"found,omitempty"`
	// Dismissed is the number of the event up to which a person has seen that the loop needs them.
	// The next runner writes an entry without it.
	Dismissed event.Seq `json:"dismissed,omitempty"`
}

// EntryError is a file in the registry that cannot be read as an entry. It stays where it is.
type EntryError struct {
	File string // its name in the registry folder
	Code string // for programs: docs/reference/format.md has them
	Err  error
}

func (e *EntryError) Error() string { return fmt.Sprintf("registry entry %s: %v", e.File, e.Err) }
func (e *EntryError) Unwrap() error { return e.Err }

// maxEntry bounds the size of an entry file in bytes; a real one has some 400, and paths end at
// 4,096.
const maxEntry = 64 << 10

// Folder returns the folder of a home that contains the entries.
func Folder(home string) string { return filepath.Join(home, "registry") }

// ReadEntry returns the entry in the file at path.
func ReadEntry(path string) (Entry, error) {
	text, err := safefile.Read(path, maxEntry)
	if err != nil {
		return Entry{}, err
	}
	return decodeEntry(text, filepath.Base(path))
}

// decodeEntry reads an entry and checks that it belongs in its file: a copied or renamed one is
// refused. The error is an *[EntryError].
func decodeEntry(text []byte, file string) (e Entry, err error) {
	wrong := func(code string, err error) (Entry, error) { return Entry{}, &EntryError{file, code, err} }
	if err := json.Unmarshal(text, &e); err != nil {
		return wrong("entry-json", err)
	}
	if err := e.Check(); err != nil {
		if _, ok := errors.AsType[*NameError](err); ok {
			return wrong("entry-name", err)
		}
		return wrong("entry-folder", err)
	}
	if e.File() != file {
		return wrong("entry-file", fmt.Errorf("its content belongs in %s", e.File()))
	}
	return e, nil
}

// Check returns an error unless the entry has a valid name and absolute folders.
func (e Entry) Check() error {
	if err := CheckName(e.Name); err != nil {
		return err
	}
	if !filepath.IsAbs(e.Dir) {
		return fmt.Errorf("loop folder %q is not absolute", e.Dir)
	}
	if !filepath.IsAbs(e.Project) {
		return fmt.Errorf("project %q is not absolute", e.Project)
	}
	return nil
}

// File returns the name of the entry's file in [Folder].
func (e Entry) File() string { return FileName(e.Project, e.Name) }

// maxSlug keeps file names under 255 bytes: 2 + slug + 1 + 12 + 2 + 64 + 5, and the suffix of a
// temporary file.
const maxSlug = 100

// FileName returns --<slug>-<hash>--<name>.json. The slug is the end of the project's path, which
// says more than its beginning; the hash is 48 bits of all of it, so that two projects do not share
// a file.
func FileName(project, name string) string {
	project = filepath.Clean(project)
	slug := notInSlug().ReplaceAllString(project, "-")
	slug = strings.TrimLeft(slug[max(0, len(slug)-maxSlug):], "-")
	h := fnv.New64a()
	h.Write([]byte(project))
	return fmt.Sprintf("--%s-%012x--%s.json", slug, h.Sum64()>>16, name)
}

var notInSlug = units.Pattern(`-?[^a-zA-Z0-9._-]+`)
