package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/safefile"
)

// Entry is one loop on this machine.
type Entry struct {
	Name    string    `json:"name"`    // valid by CheckName
	Dir     string    `json:"dir"`     // the loop's folder, absolute
	Project string    `json:"project"` // the folder whose .ralph has the loop, absolute
	ID      string    `json:"id"`      // the loop's ULID
	Agent   string    `json:"agent"`   // as in the settings: pi, claude, codex …
	Host    string    `json:"host"`    // where the runner was started
	PID     int       `json:"pid"`     // the runner's, when it was started; whether it lives is Probe's to say
	Started time.Time `json:"started"` // UTC, microseconds
	Version string    `json:"version"` // of the ralph that runs it
	// Mount is where the file system of Dir is mounted; "" where that is not known. See [Mount].
	Mount string `json:"mount,omitempty"`
}

// EntryError is a file in the registry that cannot be read as an entry. It stays where it is.
type EntryError struct {
	File string // its name in the registry folder
	Err  error
}

func (e *EntryError) Error() string { return fmt.Sprintf("registry entry %s: %v", e.File, e.Err) }
func (e *EntryError) Unwrap() error { return e.Err }

// maxEntry bounds the size of an entry file in bytes; a real one has some 400, and paths end at 4,096.
const maxEntry = 64 << 10

// Folder is where the entries of a home stand.
func Folder(home string) string { return filepath.Join(home, "registry") }

// Put writes e, replacing an entry of the same project and name. The file is synced before it takes its place, so that after a power
// loss it is the old one, the new one or absent, never half of one. Folders that are missing are made 0700, the file is 0600.
// A caller can tell a full disk (errors.Is(err, syscall.ENOSPC)) from a read-only one.
//
// The temporary name begins with a dot, which List and Survey pass over.
func Put(home string, e Entry) error {
	e.Started = e.Started.UTC().Truncate(time.Microsecond)
	if err := e.check(); err != nil {
		return fmt.Errorf("put registry entry: %w", err)
	}
	dir := Folder(home)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("put registry entry: %w", err)
	}
	if err := put(safefile.Dir(dir), e); err != nil {
		return fmt.Errorf("put registry entry: %w", err)
	}
	return nil
}

func put(folder safefile.Folder, e Entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return safefile.Replace(folder, e.file(), append(line, '\n'), 0o600)
}

// Remove takes the entry of that project and name out of the registry. One that is not there is no error. The loop's folder is not touched.
func Remove(home, project, name string) error {
	if err := CheckName(name); err != nil {
		return fmt.Errorf("remove registry entry: %w", err)
	}
	err := os.Remove(filepath.Join(Folder(home), fileName(project, name)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove registry entry: %w", err)
	}
	return nil
}

// List returns all entries, ordered by file name: by project, then by name. Files that are not entries come as *EntryError beside them; a
// registry that is not there yet is empty.
func List(home string) ([]Entry, []error) {
	r, err := openReader(Folder(home))
	if err != nil {
		return nil, []error{fmt.Errorf("list registry: %w", err)}
	}
	if r == nil {
		return nil, nil
	}
	defer r.close()
	files, err := r.names()
	if err != nil {
		return nil, []error{fmt.Errorf("list registry: %w", err)}
	}
	var (
		entries []Entry
		bad     []error
		buf     = make([]byte, 0, firstRead)
	)
	for _, file := range files {
		var e Entry
		e, buf, err = r.entry(file, buf)
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed since the folder was read
		case err != nil:
			bad = append(bad, &EntryError{File: file, Err: err})
		default:
			entries = append(entries, e)
		}
	}
	return entries, bad
}

// entryNames keeps what may be an entry and sorts it: dot files are temporary names of a Put, or of a Put that was killed.
func entryNames(names []string) []string {
	names = slices.DeleteFunc(names, func(n string) bool { return strings.HasPrefix(n, ".") })
	slices.Sort(names)
	return names
}

// decodeEntry reads an entry in any spelling.
func decodeEntry(b []byte) (e Entry, err error) {
	err = json.Unmarshal(b, &e)
	return e, err
}

// checkIn holds an entry to the name of its file, so that a copied or renamed file cannot speak for another loop.
func (e Entry) checkIn(file string) error {
	if err := e.check(); err != nil {
		return err
	}
	if e.file() != file {
		return fmt.Errorf("its content belongs in %s", e.file())
	}
	return nil
}

func (e Entry) check() error {
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

func (e Entry) file() string { return fileName(e.Project, e.Name) }

// maxSlug keeps file names under 255 bytes: 2 + slug + 1 + 12 + 2 + 64 + 5, and a Put's temporary suffix.
const maxSlug = 100

// fileName is --<cwd-slug>--<name>.json. The slug is the end of the path, which tells more than its beginning, and 48 bits of a hash of
// all of it: by chance, two of ten thousand folders collide once in five million machines.
func fileName(project, name string) string {
	project = filepath.Clean(project)
	slug := make([]byte, 0, len(project))
	for i := range len(project) {
		c := project[i]
		switch {
		case isNameByte(c), 'A' <= c && c <= 'Z':
			slug = append(slug, c)
		case len(slug) > 0 && slug[len(slug)-1] != '-':
			slug = append(slug, '-')
		}
	}
	slug = slug[max(0, len(slug)-maxSlug):]
	h := fnv.New64a()
	h.Write([]byte(project))
	return fmt.Sprintf("--%s-%012x--%s.json", slug, h.Sum64()>>16, name)
}
