package guardrail

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
)

// ErrNotKept says that a file's content was not kept: it is too large (see MaxKept), or not protected.
var ErrNotKept = errors.New("its content was not kept")

// Restore puts back what changes are about, as it was sealed: content and mode of a file, the target of a link. Each is written
// beside its place and moved there in one step, and none through a link, so nothing outside the project is ever touched. What the
// agent wrote into a changed file is lost; what appeared, and a folder or the like in a file's place, is moved aside to
// the same name with ".set-aside".
//
// It goes on after an error; the error names each path that is not as it was. It does not sync. Who restores should have
// looked at [Change.Role] first: an argument may be the agent's work.
func (s *Seal) Restore(changes []Change) error {
	root, err := os.OpenRoot(s.project)
	if err != nil {
		return fmt.Errorf("restore guardrails: %w", err)
	}
	defer root.Close()
	var errs []error
	for _, c := range changes {
		at := slices.IndexFunc(s.entries, func(e entry) bool { return e.path == c.Path })
		if at < 0 {
			errs = append(errs, fmt.Errorf("restore %s: it was not sealed", c.Path))
			continue
		}
		if err := restore(root, s.entries[at]); err != nil {
			errs = append(errs, fmt.Errorf("restore %s: %w", c.Path, err))
		}
	}
	return errors.Join(errs...)
}

func restore(root *os.Root, e entry) error {
	if e.was.kind == regular && e.body == nil && e.was.size > 0 {
		return cmp.Or(e.unkept, ErrNotKept)
	}
	if err := clearWay(root, path.Dir(e.path)); err != nil {
		return err
	}
	info, err := root.Lstat(e.path)
	if err != nil && !missing(err) {
		return err
	}
	there := err == nil
	replaceable := there && (info.Mode().IsRegular() || info.Mode().Type() == fs.ModeSymlink)
	if there && (e.was.kind == absent || !replaceable) {
		if err := setAside(root, e.path); err != nil {
			return err
		}
	}
	if e.was.kind == absent {
		return nil
	}
	dir := path.Dir(e.path)
	if err := root.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	beside := path.Join(dir, ".ralph-restore-"+rand.Text())
	if e.was.kind == link {
		err = root.Symlink(e.was.target, beside)
	} else {
		err = writeNew(root, beside, e.body, e.was.mode)
	}
	if err == nil {
		err = root.Rename(beside, e.path)
	}
	if err != nil {
		_ = root.Remove(beside) // the error that matters is the first
	}
	return err
}

// clearWay moves aside what stands in the place of a folder, from the top down.
func clearWay(root *os.Root, dir string) error {
	if dir == "." {
		return nil
	}
	if err := clearWay(root, path.Dir(dir)); err != nil {
		return err
	}
	info, err := root.Lstat(dir)
	switch {
	case err != nil && missing(err):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return nil
	}
	return setAside(root, dir)
}

// setAside gives what stands at name the first free name after it.
func setAside(root *os.Root, name string) error {
	aside := name + ".set-aside"
	for n := 2; ; n++ {
		if _, err := root.Lstat(aside); missing(err) {
			return root.Rename(name, aside)
		} else if err != nil {
			return err
		}
		aside = name + ".set-aside-" + strconv.Itoa(n)
	}
}

func writeNew(root *os.Root, name string, body []byte, mode fs.FileMode) error {
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(body)
	if err == nil {
		err = file.Chmod(mode) // by the handle, past the umask
	}
	return errors.Join(err, file.Close())
}
