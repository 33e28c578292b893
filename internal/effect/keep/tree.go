package keep

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// The files of a working tree as a tree of git objects: each byte as it is on the disk, without
// filters and without conversion of line ends, so that a file can be put back exactly.

// Modes of files in a tree.
const (
	plainMode   = "100644"
	programMode = "100755"
	linkMode    = "120000"
)

// How much is kept. A file that git has as it is on the disk takes no space.
const (
	maxKept     = 32 << 20 // bytes of one file
	maxFiltered = 1 << 20  // bytes of a file with a filter: Git LFS has its own copy of a large one
	maxAllKept  = 1 << 30  // bytes of all files together that git does not have
)

// A file is an entry of a tree; without an id there is none.
type file struct{ mode, id string }

// A keeper writes the files of a working tree into a tree.
type keeper struct {
	git
	root *os.Root
	sum  func() hash.Hash

	before   *moment         // an earlier state to compare with; nil if there is none
	known    map[string]file // tracked files, from the index
	sparse   map[string]bool // those that a sparse checkout leaves out
	filtered map[string]bool // paths with a filter
	dirs     map[string]way  // what is on the way to a folder

	moment
	write []string // files that git does not have
	bytes int64    // of them
	nest  repo.Inspector

	excludes bool // the settings name a file with rules for ignored files
}

// A moment is what a work tree was like.
type moment struct {
	at      repo.Location
	head    string // the commit; empty if nothing was committed yet
	branch  string // the ref that HEAD names; empty if it names a commit
	tree    string // of git: the files, byte for byte
	index   string // of git: the index
	ignores string // identifies the rules for ignored files that are not in the work tree

	files   map[string]file
	perms   map[string]fs.FileMode // of files whose permissions git does not keep
	unkept  map[string]string      // files that are not kept, and what identifies each
	absent  map[string]bool        // files that a sparse checkout leaves out: they are in files
	ignored map[string]bool        // files, and folders with a slash at their end
	odd     map[string]string      // what is beside files and links, by its kind
}

func newMoment(at repo.Location) moment {
	return moment{
		at: at, files: map[string]file{}, perms: map[string]fs.FileMode{}, unkept: map[string]string{}, absent: map[string]bool{},
		ignored: map[string]bool{}, odd: map[string]string{},
	}
}

// isIgnored reports whether a path was ignored. Later changes of the rules do not change that.
func (m *moment) isIgnored(name string) bool {
	if m.ignored[name] {
		return true
	}
	for i, c := range name {
		if c == '/' && m.ignored[name[:i+1]] {
			return true
		}
	}
	return false
}

// newKeeper opens the working tree. head is its commit, if there is one.
func newKeeper(ctx context.Context, g git, at repo.Location, before *moment, head string) (*keeper, error) {
	root, err := os.OpenRoot(at.Root)
	if err != nil {
		return nil, err
	}
	k := &keeper{
		git: g.in(at.Root), root: root, before: before, known: map[string]file{}, sparse: map[string]bool{}, filtered: map[string]bool{},
		dirs: map[string]way{}, sum: sha1.New, nest: repo.NewInspector(at.Root, g.Env...),
		moment: newMoment(at),
	}
	name, err := k.TreeOf(ctx, head)
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	if len(name) == 2*sha256.Size {
		k.sum = sha256.New
	}
	return k, nil
}

// writeTree returns a tree with all files that are tracked, or untracked and not ignored.
func (k *keeper) writeTree(ctx context.Context) (string, error) {
	paths, err := k.list(ctx)
	if err != nil {
		return "", err
	}
	for _, name := range paths {
		if err := ctx.Err(); err != nil {
			return "", context.Cause(ctx)
		}
		k.keep(ctx, name)
	}
	k.findOdd(".")
	if err := k.store(ctx); err != nil {
		return "", err
	}
	return k.build(ctx, "", k.files)
}

// keep adds one path. Nothing at a path is no file.
func (k *keeper) keep(ctx context.Context, name string) {
	name = strings.TrimSuffix(name, "/")
	switch in := k.above(path.Dir(name)); {
	case in.repository != "":
		k.nested(ctx, in.repository)
		return
	case in.blocked:
		k.keepAbsent(name)
		return
	}
	local := filepath.FromSlash(name)
	info, err := k.root.Lstat(local)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		k.keepAbsent(name)
	case err != nil:
		k.unkept[name] = "cannot be read"
	case info.IsDir():
		if repo.IsRepository(filepath.Join(k.at.Root, local)) {
			k.nested(ctx, name)
		}
	case info.Mode().IsRegular() || info.Mode()&fs.ModeSymlink != 0:
		k.keepFile(name, info)
	default:
		k.unkept[name] = info.Mode().Type().String()
	}
}

// keepAbsent adds a file that is not on the disk because a sparse checkout leaves it out. One that
// was on the disk before is missing.
func (k *keeper) keepAbsent(name string) {
	if k.sparse[name] && (k.before == nil || k.before.absent[name]) {
		k.files[name], k.absent[name] = k.known[name], true
	}
}

// A way is what is on the way to a file that is in no folder of this work tree.
type way struct {
	repository string // of its own, that the file is in
	blocked    bool   // by a link or a file in the place of a folder
}

// above returns what is on the way to a folder, and at its place.
func (k *keeper) above(dir string) way {
	if dir == "." {
		return way{}
	}
	if found, ok := k.dirs[dir]; ok {
		return found
	}
	found := k.above(path.Dir(dir))
	if found == (way{}) {
		local := filepath.FromSlash(dir)
		info, err := k.root.Lstat(local)
		switch {
		case err != nil || !info.IsDir():
			found.blocked = true
		case repo.IsRepository(filepath.Join(k.at.Root, local)):
			found.repository = dir
		}
	}
	k.dirs[dir] = found
	return found
}

// nested identifies a repository inside by its commit and its fingerprint.
func (k *keeper) nested(ctx context.Context, name string) {
	if _, ok := k.unkept[name]; ok {
		return
	}
	s, err := k.nest.Nested(ctx, filepath.Join(k.at.Root, filepath.FromSlash(name)))
	if err != nil {
		k.unkept[name] = "a repository of its own"
		return
	}
	k.unkept[name] = "a repository of its own " + s.Head + " " + s.Fingerprint
}

func (k *keeper) keepFile(name string, info fs.FileInfo) {
	f, size, err := k.identify(name, info)
	beside := false
	if k.before != nil { // what was not kept cannot be compared
		_, beside = k.before.unkept[name]
	}
	known := k.known[name].id == f.id
	most := int64(maxKept)
	if k.filtered[name] && !known {
		most = maxFiltered
	}
	switch {
	case err != nil:
		k.unkept[name] = "cannot be read"
	case beside, size > most, !known && k.bytes+size > maxAllKept:
		k.unkept[name] = fmt.Sprintf("too large: %d bytes of %d, %v", size, info.ModTime().UnixNano(), info.Mode())
	default:
		k.files[name] = f
		if perm := info.Mode().Perm(); f.mode != linkMode && perm != defaultPermissions(f.mode) {
			k.perms[name] = perm
		}
		k.addOdd(name, bitsOf(info.Mode()))
		if !known {
			k.write = append(k.write, name)
			k.bytes += size
		}
	}
}

// identify returns the entry of a file or a link. That of a file too large to be kept has no id.
func (k *keeper) identify(name string, info fs.FileInfo) (file, int64, error) {
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := k.root.Readlink(filepath.FromSlash(name))
		return file{linkMode, k.blobID([]byte(target))}, int64(len(target)), err
	}
	mode := plainMode
	if info.Mode()&0o100 != 0 {
		mode = programMode
	}
	if info.Size() > maxKept {
		return file{mode: mode}, info.Size(), nil
	}
	id, err := k.fileID(name, info.Size())
	return file{mode, id}, info.Size(), err
}

// now returns the entry of what is at a path at this moment.
func (k *keeper) now(name string) (file, error) {
	clear(k.dirs)
	switch in := k.above(path.Dir(name)); {
	case in.repository != "":
		return file{}, fmt.Errorf("%s is a repository of its own", in.repository)
	case in.blocked:
		return file{}, nil
	}
	info, err := k.root.Lstat(filepath.FromSlash(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return file{}, nil
	case err != nil:
		return file{}, err
	case info.IsDir():
		return file{}, nil
	case !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0:
		return file{}, fmt.Errorf("it is no file any more")
	}
	f, _, err := k.identify(name, info)
	return f, err
}

// blobID returns the name that git gives to a content.
func (k *keeper) blobID(content []byte) string {
	h := k.sum()
	fmt.Fprintf(h, "blob %d\x00", len(content))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

// fileID is blobID of a file that is not read into memory.
func (k *keeper) fileID(name string, size int64) (string, error) {
	f, err := safefile.OpenIn(k.root, filepath.FromSlash(name))
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := k.sum()
	fmt.Fprintf(h, "blob %d\x00", size)
	n, err := io.Copy(h, io.LimitReader(f, size))
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	return hex.EncodeToString(h.Sum(nil)), err
}

// store gives git the contents that it does not have.
func (k *keeper) store(ctx context.Context) error {
	var names []string
	var list strings.Builder
	for _, name := range k.write {
		if k.files[name].mode == linkMode {
			if err := k.storeLink(ctx, name); err != nil {
				return err
			}
			continue
		}
		names = append(names, name)
		list.WriteString(quoted(name) + "\n")
	}
	if len(names) == 0 {
		return nil
	}
	out, err := k.Feed(ctx, []byte(list.String()), "hash-object", "-w", "--no-filters", "--stdin-paths")
	if err != nil {
		return err
	}
	ids := strings.Fields(string(out))
	if len(ids) != len(names) {
		return fmt.Errorf("git kept %d of %d files", len(ids), len(names))
	}
	for i, name := range names { // a file may have changed since it was read
		k.files[name] = file{k.files[name].mode, ids[i]}
	}
	return nil
}

func (k *keeper) storeLink(ctx context.Context, name string) error {
	target, err := k.root.Readlink(filepath.FromSlash(name))
	if err != nil {
		return err
	}
	id, err := k.Feed(ctx, []byte(target), "hash-object", "-w", "--stdin", "-t", "blob", "--no-filters")
	if err != nil {
		return err
	}
	k.files[name] = file{linkMode, strings.TrimSpace(string(id))}
	return nil
}

// quoted writes a path as git reads it in a list of lines.
func quoted(name string) string {
	if !strings.ContainsAny(name, "\r\n\"\\") {
		return name
	}
	return `"` + strings.NewReplacer("\\", `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`).Replace(name) + `"`
}

// build returns a tree that differs from the tree base in these files. Those without an id are
// removed.
func (k *keeper) build(ctx context.Context, base string, files map[string]file) (string, error) {
	own, remove, err := k.ownIndex(nil)
	if err != nil {
		return "", err
	}
	defer remove()
	if base != "" {
		if _, err := own.Read(ctx, "read-tree", base); err != nil {
			return "", err
		}
	}
	if err := k.setIndex(ctx, own, files); err != nil {
		return "", err
	}
	return own.Line(ctx, "write-tree", "--missing-ok")
}

// setIndex changes entries of the index that g has.
func (k *keeper) setIndex(ctx context.Context, g git, files map[string]file) error {
	if len(files) == 0 {
		return nil
	}
	none := strings.Repeat("0", 2*k.sum().Size())
	var removed, added strings.Builder // a file may be where a folder was
	for name, f := range files {
		if f.id == "" {
			fmt.Fprintf(&removed, "0 %s\t%s\x00", none, name)
		} else {
			fmt.Fprintf(&added, "%s %s\t%s\x00", f.mode, f.id, name)
		}
	}
	_, err := g.Feed(ctx, []byte(removed.String()+added.String()), "update-index", "-z", "--index-info")
	return err
}

// ownIndex returns a git with an index of its own that begins with content, so that the person's
// index is not touched. It takes names that only another system does not allow.
func (g git) ownIndex(content []byte) (own git, remove func(), err error) {
	dir, err := os.MkdirTemp("", "ralph-index-")
	if err != nil {
		return g, nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) } // a folder that is left over only takes space
	name := filepath.Join(dir, "index")
	if content != nil {
		if err := safefile.WriteFile(name, content, 0o600); err != nil {
			remove()
			return g, nil, err
		}
	}
	g.Env = append(slices.Clip(g.Env), "GIT_INDEX_FILE="+name)
	return git{g.Configured([][2]string{
		{"core.splitIndex", "false"}, {"index.sparse", "false"}, {"core.protectNTFS", "false"}, {"core.protectHFS", "false"},
	})}, remove, nil
}
