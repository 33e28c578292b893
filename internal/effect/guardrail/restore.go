package guardrail

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// ErrNotKept says that a file's content was not kept: it is larger than MaxKept, or not protected.
var ErrNotKept = errors.New("its content was not kept")

// Restore undoes changes: it restores content and mode of a file, and the target of a link. Each is
// written to a temporary file and renamed, and none through a link, so nothing outside the project
// is touched. What was written into a changed file is lost, unless KeepFound has kept it. A new
// file, and anything else in a file's place such as a folder, is renamed to the same name with
// ".set-aside"; the new names are returned.
//
// It continues after an error; the error names each path that could not be restored. It does not
// sync.
func (s *FileSnapshot) Restore(changes []Change) (aside []string, err error) {
	roots, err := s.place.open()
	if err != nil {
		return nil, fmt.Errorf("restore guardrails: %w", err)
	}
	defer roots.close()
	var errs []error
	for _, c := range changes {
		at := slices.IndexFunc(s.entries, func(e entry) bool { return e.same(Record{Path: c.Path, Role: c.Role}) })
		if at < 0 {
			errs = append(errs, fmt.Errorf("restore %s: it is not in the snapshot", c.Path))
			continue
		}
		moved, err := restore(roots.of(c.Role), s.entries[at])
		if aside = append(aside, moved...); err != nil {
			errs = append(errs, fmt.Errorf("restore %s: %w", c.Path, err))
		}
	}
	return aside, errors.Join(errs...)
}

// KeepFound copies a changed file into the loop's folder before Restore replaces it: a person may
// have written it. It returns the name of the copy there, which is durable; empty if Restore loses
// nothing. A file of more than MaxKept bytes is an error.
func (s *FileSnapshot) KeepFound(loopDir string, c Change) (name string, err error) {
	if name, err = s.keepFound(loopDir, c); err != nil {
		return "", fmt.Errorf("keep %s as it is: %w", c.Path, err)
	}
	return name, nil
}

func (s *FileSnapshot) keepFound(loopDir string, c Change) (string, error) {
	if c.Kind != Changed || c.Is == c.Was {
		return "", nil
	}
	roots, err := s.place.open()
	if err != nil {
		return "", err
	}
	defer roots.close()
	info, err := roots.of(c.Role).Lstat(c.Path)
	if err != nil || !info.Mode().IsRegular() {
		return "", nil //nolint:nilerr // nothing is there, or it is renamed
	}
	body, err := safefile.ReadIn(roots.of(c.Role), c.Path, MaxKept)
	if err != nil {
		return "", err
	}
	return keep.CopyFound(loopDir, c.Path, body)
}

func restore(root *os.Root, e entry) (aside []string, err error) {
	switch e.Kind {
	case "":
		return keep.PutFile(root, e.Path, nil)
	case KindLink:
		return keep.PutFile(root, e.Path, &keep.Content{Text: []byte(e.Target), Mode: fs.ModeSymlink})
	}
	if e.content == nil && e.Size > 0 {
		return nil, cmp.Or(e.lost, ErrNotKept)
	}
	return keep.PutFile(root, e.Path, &keep.Content{Text: e.content, Mode: e.Mode})
}
