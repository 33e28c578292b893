package keep

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/effect/repo"
)

// A work tree has more than files and links, of which git knows nothing: bits of a mode, empty
// folders, pipes and sockets. A kept work tree names them. An empty folder is put back; what else
// is gone is reported.

const emptyFolder = "an empty folder"

// maxOdd is how many are named.
const maxOdd = 1000

// bitsOf names the bits of a mode beside its permissions; empty if it has none.
func bitsOf(mode fs.FileMode) string {
	var bits []string
	for _, b := range []struct {
		bit  fs.FileMode
		name string
	}{{fs.ModeSetuid, "setuid"}, {fs.ModeSetgid, "setgid"}, {fs.ModeSticky, "sticky"}} {
		if mode&b.bit != 0 {
			bits = append(bits, b.name)
		}
	}
	if len(bits) == 0 {
		return ""
	}
	return "a mode with " + strings.Join(bits, ", ")
}

// kindOf names what is no file, link or folder.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return ""
}

func (k *keeper) addOdd(name, kind string) {
	if _, known := k.odd[name]; !known && kind != "" && len(k.odd) < maxOdd {
		k.odd[name] = kind
	}
}

// findOdd names what is in a folder and below it, without repositories inside and what is ignored.
func (k *keeper) findOdd(dir string) {
	entries, err := fs.ReadDir(k.root.FS(), dir)
	if err != nil {
		return // what cannot be read was not kept either
	}
	if len(entries) == 0 {
		k.addOdd(dir, emptyFolder)
	}
	for _, entry := range entries {
		name := path.Join(dir, entry.Name())
		if entry.Name() == ".git" || repo.IsOwn(name) || k.isIgnored(name) || k.isIgnored(name+"/") {
			continue
		}
		if !entry.IsDir() {
			k.addOdd(name, kindOf(entry.Type()))
			continue
		}
		if repo.IsRepository(filepath.Join(k.at.Root, filepath.FromSlash(name))) {
			continue
		}
		if info, err := entry.Info(); err == nil {
			k.addOdd(name, bitsOf(info.Mode()))
			if perm := info.Mode().Perm(); perm != defaultFolder {
				k.perms[name] = perm
			}
		}
		k.findOdd(name)
	}
}

// compareOdd finds what is gone, or goes when a file is written again. What is not brought back is
// named; an empty folder is among the files.
func (r *reversal) compareOdd() (gone []SkippedFile) {
	for _, name := range slices.Sorted(maps.Keys(r.base.odd)) {
		kind := r.base.odd[name]
		isWritten := func(c change) bool { return c.path == name && c.was.id != "" }
		switch {
		case r.allowed(name):
		case kind == emptyFolder:
			if info, err := r.root.Lstat(filepath.FromSlash(name)); err != nil || !info.IsDir() {
				r.folders = append(r.folders, name)
			}
		case r.odd[name] != kind || slices.ContainsFunc(r.onDisk, isWritten):
			gone = append(gone, SkippedFile{name, kind})
		}
	}
	slices.SortStableFunc(gone, func(a, b SkippedFile) int { return cmp.Compare(a.Why, b.Why) })
	return gone
}

// defaultFolder are the permissions of most folders. A kept work tree has those of the others.
const defaultFolder fs.FileMode = 0o755

// makeFolders makes a folder and those above it, with their permissions. Until all files are in
// their places the owner may write.
func (r *reversal) makeFolders(name string) error {
	if name == "." {
		return nil
	}
	local := filepath.FromSlash(name)
	if _, err := r.root.Lstat(local); !errors.Is(err, fs.ErrNotExist) {
		return r.root.MkdirAll(local, 0o777) // says what is there instead
	}
	if err := r.makeFolders(path.Dir(name)); err != nil {
		return err
	}
	if err := r.root.Mkdir(local, 0o777); err != nil {
		return err
	}
	perm, known := r.base.perms[name]
	if !known {
		return nil
	}
	if perm&0o300 != 0o300 {
		r.closed = append(r.closed, name)
	}
	return r.root.Chmod(local, perm|0o300)
}

// closeFolders takes from the owner what the folders that were made do not allow.
func (r *reversal) closeFolders() {
	for _, name := range slices.Backward(r.closed) {
		if err := r.root.Chmod(filepath.FromSlash(name), r.base.perms[name]); err != nil {
			r.skip(name, err.Error())
		}
	}
}

// restoreFolders makes empty folders again.
func (r *reversal) restoreFolders() {
	for _, name := range r.folders {
		if err := r.makeFolders(name); err != nil {
			r.skip(name, err.Error())
		} else if clear(r.dirs); r.above(name) != (way{}) {
			r.skip(name, "a link is on the way to it")
		}
	}
}
