package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

const (
	sessionFolder = "session"       // in .ralph
	mostSession   = 1 << 20         // bytes of a state file
	mostSessions  = 64              // files that are read in one folder
	keptSessions  = 20              // loops that have ended, in one project
	sessionWait   = 2 * time.Second // for their lock
)

// A SessionFolder is the folder .ralph/session of a project, with the state of its session loops.
//
// A state file counts only if ralph's home has a note of it: one that came with a repository must
// not hold a session, nor have its text read by an agent.
type SessionFolder struct {
	path string
	home string
	root *os.Root
}

// OpenSessionFolder opens the folder of a project. The error is fs.ErrNotExist if there is none.
func OpenSessionFolder(home, project string) (*SessionFolder, error) {
	path := filepath.Join(project, ".ralph", sessionFolder)
	for _, folder := range []string{filepath.Dir(path), path} {
		info, err := os.Lstat(folder)
		if err != nil {
			return nil, fmt.Errorf("open the folder of session loops: %w", err)
		}
		if !info.IsDir() {
			return nil, fmt.Errorf("open the folder of session loops: %s is not a folder", folder)
		}
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("open the folder of session loops: %w", err)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return &SessionFolder{path, home, root}, nil
}

// MakeSessionFolder opens the folder, and makes it if it is missing. The folder .ralph must exist.
func MakeSessionFolder(home, project string) (*SessionFolder, error) {
	err := os.Mkdir(filepath.Join(project, ".ralph", sessionFolder), 0o700)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("make the folder of session loops: %w", err)
	}
	return OpenSessionFolder(home, project)
}

// Close closes the folder.
func (f *SessionFolder) Close() error { return f.root.Close() }

// List returns the session loops of the project that this person started, oldest first.
func (f *SessionFolder) List() []*SessionLoop {
	folder, err := f.root.Open(".")
	if err != nil {
		return nil
	}
	defer folder.Close()
	entries, _ := folder.ReadDir(4 * mostSessions)
	var loops []*SessionLoop
	for _, entry := range entries {
		id, ok := strings.CutSuffix(entry.Name(), ".json")
		if !ok || len(loops) == mostSessions || !f.noted(id) {
			continue
		}
		data, err := safefile.ReadIn(f.root, entry.Name(), mostSession)
		var l SessionLoop
		if err == nil && json.Unmarshal(data, &l) == nil && l.ID == id && l.Check() == nil {
			loops = append(loops, &l)
		}
	}
	slices.SortFunc(loops, func(a, b *SessionLoop) int { return a.Started.Compare(b.Started) })
	return loops
}

// notePath is where ralph's home notes that a loop was started here.
func (f *SessionFolder) notePath(id string) string {
	return filepath.Join(f.home, recordFolder, nameOf(f.path+"\x00"+id)+".loop")
}

func (f *SessionFolder) noted(id string) bool {
	info, err := os.Lstat(f.notePath(id))
	return err == nil && info.Mode().IsRegular()
}

// note lets the state file of a new loop count.
func (f *SessionFolder) note(id string) error {
	if err := os.MkdirAll(filepath.Join(f.home, recordFolder), 0o700); err != nil {
		return fmt.Errorf("note the session loop: %w", err)
	}
	return safefile.WriteFile(f.notePath(id), nil, 0o600)
}

// write replaces the state file of a loop. After a loss of power it has the old state or the new
// one: at worst one continuation is not counted.
func (f *SessionFolder) write(l *SessionLoop) error {
	data, err := json.MarshalIndent(l, "", "  ")
	if err == nil {
		err = safefile.Replace(safefile.Within(f.root), l.ID+".json", append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write the state of the session loop: %w", err)
	}
	return nil
}

// locked calls do while no other process changes the folder.
func (f *SessionFolder) locked(do func() error) error {
	return locked(f.root, "lock", "the session loops", sessionWait, do)
}

// Start writes the state of a new loop. A session has at most one that is active: the error is a
// *[BusySessionError] if there is another.
func (f *SessionFolder) Start(l *SessionLoop) error {
	if err := l.Check(); err != nil {
		return err
	}
	l.ID = strings.ToLower(l.Started.UTC().Format("20060102t150405.000000z"))
	return f.locked(func() error {
		all := f.List()
		for _, other := range all {
			if other.Active() && (len(l.Sessions) == 0 && len(other.Sessions) == 0 || slices.ContainsFunc(l.Sessions, other.holds)) {
				return &BusySessionError{other}
			}
			if other.ID >= l.ID { // a clock that was set back
				l.ID = other.ID + "0"
			}
		}
		f.removeOld(all)
		if err := f.note(l.ID); err != nil {
			return err
		}
		return f.write(l)
	})
}

// removeOld removes the oldest loops that have ended.
func (f *SessionFolder) removeOld(all []*SessionLoop) {
	ended := slices.DeleteFunc(slices.Clone(all), (*SessionLoop).Active)
	for i := range len(ended) - keptSessions + 1 {
		if f.root.Remove(ended[i].ID+".json") == nil {
			_ = os.Remove(f.notePath(ended[i].ID)) // without the file it means nothing
		}
	}
}

// Cancel ends an active loop. It returns false if the loop has ended already.
func (f *SessionFolder) Cancel(id string, now time.Time, why string) (cancelled bool, err error) {
	err = f.locked(func() error {
		for _, l := range f.List() {
			if l.ID != id || !l.Active() {
				continue
			}
			cancelled = true
			l.end(now, Cancelled, "missing", why)
			return f.write(l)
		}
		return nil
	})
	return cancelled, err
}

// A BusySessionError says that the session has an active loop already.
type BusySessionError struct{ Loop *SessionLoop }

func (e *BusySessionError) Error() string { return "this session has an active session loop already" }
