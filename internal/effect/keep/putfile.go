package keep

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/ralph-loop/ralph/internal/ground/loopfolder"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// A Content is what is put at a path: a file, or a link.
type Content struct {
	Text []byte      // of a file, or the target of a link
	Mode fs.FileMode // fs.ModeSymlink for a link, else the permissions of a file
}

// putFile puts a content at a path whose folder exists, by a rename: nothing is followed, and a
// killed process leaves the old or the new.
func putFile(root *os.Root, name string, c Content) error {
	folder, err := root.OpenRoot(filepath.FromSlash(path.Dir(name)))
	if err != nil {
		return err
	}
	defer folder.Close()
	if name = path.Base(name); c.Mode != fs.ModeSymlink {
		return safefile.Replace(safefile.Within(folder), name, c.Text, c.Mode)
	}
	temporary := ".ralph-restore-" + rand.Text()
	if err = folder.Symlink(string(c.Text), temporary); err == nil {
		err = folder.Rename(temporary, name)
	}
	if err != nil {
		_ = folder.Remove(temporary) // the first error matters
	}
	return err
}

// PutFile puts a content at a path of a folder, or nothing for nil. What is there loses its name
// only if it is a file or a link that is replaced: anything else, and what is in the place of a
// folder above, is renamed to the same name with [Aside]; these new names are returned.
func PutFile(root *os.Root, name string, c *Content) (aside []string, err error) {
	if aside, err = clearWay(root, path.Dir(name)); err != nil {
		return aside, err
	}
	info, err := root.Lstat(name)
	if err != nil && !IsMissing(err) {
		return aside, err
	}
	if err == nil && (c == nil || !info.Mode().IsRegular() && info.Mode().Type() != fs.ModeSymlink) {
		moved, err := setAside(root, name)
		if err != nil {
			return aside, err
		}
		aside = append(aside, moved)
	}
	if c == nil {
		return aside, nil
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return aside, err
	}
	return aside, putFile(root, name, *c)
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
	case err != nil && !IsMissing(err):
		return aside, err
	}
	return aside, nil
}

// Aside ends the new name of what [PutFile] found in the way, but for a number after it.
const Aside = loopfolder.Aside

// setAside renames what is at name to the first free name after it, and returns that.
func setAside(root *os.Root, name string) (aside string, err error) {
	free := path.Join(path.Dir(name), shorten(path.Base(name))) + Aside
	aside = free
	for n := 2; ; n++ {
		if _, err := root.Lstat(aside); IsMissing(err) {
			return aside, root.Rename(name, aside)
		} else if err != nil {
			return "", err
		}
		aside = free + "-" + strconv.Itoa(n)
	}
}

// IsMissing reports whether an error says that nothing is at a path. That includes a path below a
// file, and a word of a command that cannot be a file's name.
func IsMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}
