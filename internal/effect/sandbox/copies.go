package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

const (
	maxOwn     = 32 << 20  // bytes of a file of an agent's own, such as Claude Code's .claude.json
	maxSession = 256 << 20 // bytes of a session that a loop continues
)

// A link is one in a copy.
type link struct {
	at, to string
	others bool // it is for the other programs that follow the variable
}

// links returns what the copy of a state has of the person's settings: by a link, so that it is as
// large as it has to be, and only read.
func (s State) links() (all []link) {
	for _, name := range s.Read {
		if real, err := filepath.EvalSymlinks(s.source(name)); err == nil { // what is missing is not needed
			home, _ := filepath.Rel(s.Home, s.source(name))
			all = append(all, link{filepath.Join(s.Name, name), real, s.Others && slices.Contains(shown, home)})
		}
	}
	return all
}

// linked returns the settings of a person's that the agent reads.
func (b *Box) linked() (paths []string) {
	for _, s := range b.States {
		for _, l := range s.links() {
			paths = append(paths, l.to)
		}
	}
	return paths
}

// prepareStates makes the copies of what agents keep, so far as they are missing, and sets the
// links in them right. All is below the folder for temporary files, in which an agent may have put
// links to other places: none of them is followed out of it.
func (b *Box) prepareStates() error {
	if len(b.States) == 0 {
		return nil
	}
	root, err := os.OpenRoot(b.Temp)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, s := range b.States {
		if err := errors.Join(root.MkdirAll(s.Name, 0o700), s.copyOwn(root), s.copySessions(root)); err != nil {
			return fmt.Errorf("copy %s for the agent: %w", s.From, err)
		}
		for _, l := range s.links() {
			if err := b.lead(root, l); err != nil {
				return fmt.Errorf("lead the agent to %s: %w", l.to, err)
			}
		}
	}
	watch := b.logins == nil
	if watch {
		b.logins = loginsOf(b.States)
	}
	err = b.matchLogins(false)
	if watch {
		b.watchLogins()
	}
	return err
}

func (s State) copyOwn(root *os.Root) error {
	for _, name := range s.Own {
		if slices.Contains(s.Logins, name) {
			continue // see matchLogins
		}
		if err := copyMissing(root, filepath.Join(s.Name, name), s.source(name), maxOwn); err != nil {
			return err
		}
	}
	return nil
}

// copySessions copies the sessions that a loop continues; the agent reports one that is missing.
func (s State) copySessions(root *os.Root) error {
	for _, id := range s.Wanted {
		if s.Sessions == "" || strings.ContainsAny(id, `/\*?[`) {
			continue
		}
		found, err := filepath.Glob(filepath.Join(s.From, fmt.Sprintf(s.Sessions, id)))
		if err != nil {
			return err
		}
		for _, path := range found {
			if err := copyMissing(root, filepath.Join(s.Name, strings.TrimPrefix(path, s.From)), path, maxSession); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyMissing copies a file, if it is there and the copy is not.
func copyMissing(root *os.Root, name, from string, limit int64) error {
	if _, err := root.Lstat(name); err == nil {
		return nil
	}
	content, err := safefile.ReadLinked(from, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = replaceIn(root, name, content)
	}
	return err
}

// replaceIn replaces a file below a folder.
func replaceIn(root *os.Root, name string, content []byte) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	dir, err := root.OpenRoot(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer dir.Close()
	return safefile.Replace(safefile.Within(dir), filepath.Base(name), content, 0o600)
}

// lead sets a link right. What an agent put in its place is set aside.
func (b *Box) lead(root *os.Root, l link) error {
	if to, err := root.Readlink(l.at); err == nil && to == l.to {
		return nil
	}
	if err := root.MkdirAll(filepath.Dir(l.at), 0o700); err != nil {
		return err
	}
	if _, err := root.Lstat(l.at); err == nil {
		dir, err := os.MkdirTemp(b.Temp, "aside-")
		if err == nil {
			err = root.Rename(l.at, filepath.Join(filepath.Base(dir), filepath.Base(l.at)))
		}
		if err != nil {
			return err
		}
	}
	return root.Symlink(l.to, l.at)
}
