package registry

import (
	"errors"
	"fmt"
	"path/filepath"
)

// ErrReplaced means that the entry of a loop is of another runner by now.
var ErrReplaced = errors.New("another runner has registered the loop meanwhile")

// Dismiss records that a person has seen what a loop without a runner needs. The entry of a loop
// whose folder is gone is removed: it has nothing to show. A runner that begins meanwhile may
// replace the entry: then the loop runs, and is not dismissed.
func Dismiss(home string, s Status) error {
	now, err := ReadEntry(filepath.Join(Folder(home), s.File))
	switch {
	case err != nil:
		return fmt.Errorf("dismiss loop %s: %w", s.Name, err)
	case now.ID != s.ID || !now.Started.Equal(s.Started):
		return ErrReplaced
	case s.Gone:
		return Remove(home, s.Project, s.Name)
	}
	now.Dismissed = max(s.Head.Seq, 1)
	return Put(home, now)
}
