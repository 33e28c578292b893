package guardrail

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"

	"github.com/ralph-loop/ralph/internal/ground/loopfolder"
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

// Aside ends the new name of what Restore found in the way, but for a number after it.
const Aside = loopfolder.Aside

// FoundDir is the folder in a loop's folder with changed files as they were before Restore, and
// with what a sandbox set aside.
const FoundDir = loopfolder.PutBack

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
	loop, err := os.OpenRoot(loopDir)
	if err != nil {
		return "", err
	}
	defer loop.Close()
	if info, err := loop.Lstat(FoundDir); err == nil && !info.IsDir() {
		if _, err := setAside(loop, FoundDir); err != nil {
			return "", err
		}
	}
	if err := loop.Mkdir(FoundDir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	folder, err := loop.OpenRoot(FoundDir)
	if err != nil {
		return "", err
	}
	defer folder.Close()
	sum := sha256.Sum256(body)
	name := hex.EncodeToString(sum[:4]) + "-" + path.Base(c.Path) // the same content is kept once
	return path.Join(FoundDir, name), put(safefile.Within(loop), safefile.Within(folder), map[string][]byte{name: body})
}

func restore(root *os.Root, e entry) (aside []string, err error) {
	if e.Kind == KindFile && e.content == nil && e.Size > 0 {
		return nil, cmp.Or(e.lost, ErrNotKept)
	}
	if aside, err = clearWay(root, path.Dir(e.Path)); err != nil {
		return aside, err
	}
	info, err := root.Lstat(e.Path)
	if err != nil && !missing(err) {
		return aside, err
	}
	if err == nil && (e.Kind == "" || !info.Mode().IsRegular() && info.Mode().Type() != fs.ModeSymlink) {
		name, err := setAside(root, e.Path)
		if err != nil {
			return aside, err
		}
		aside = append(aside, name)
	}
	if e.Kind == "" {
		return aside, nil
	}
	dir := path.Dir(e.Path)
	if err := root.MkdirAll(dir, 0o755); err != nil {
		return aside, err
	}
	folder, err := root.OpenRoot(dir)
	if err != nil {
		return aside, err
	}
	defer folder.Close()
	name := path.Base(e.Path)
	if e.Kind == KindFile {
		return aside, safefile.Replace(safefile.Within(folder), name, e.content, e.Mode)
	}
	beside := ".ralph-restore-" + rand.Text()
	if err = folder.Symlink(e.Target, beside); err == nil {
		err = folder.Rename(beside, name)
	}
	if err != nil {
		_ = folder.Remove(beside) // the first error matters
	}
	return aside, err
}

// clearWay sets aside what is in the place of a path's folders, from the top down.
func clearWay(root *os.Root, dir string) (aside []string, err error) {
	if dir == "." {
		return nil, nil
	}
	if aside, err = clearWay(root, path.Dir(dir)); err != nil {
		return aside, err
	}
	info, err := root.Lstat(dir)
	switch {
	case err == nil && !info.IsDir():
		var name string
		if name, err = setAside(root, dir); err == nil {
			aside = append(aside, name)
		}
		return aside, err
	case err != nil && !missing(err):
		return aside, err
	}
	return aside, nil
}

// setAside renames what is at name to the first free name after it, and returns that.
func setAside(root *os.Root, name string) (aside string, err error) {
	aside = name + Aside
	for n := 2; ; n++ {
		if _, err := root.Lstat(aside); missing(err) {
			return aside, root.Rename(name, aside)
		} else if err != nil {
			return "", err
		}
		aside = name + Aside + "-" + strconv.Itoa(n)
	}
}
