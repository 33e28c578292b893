package keep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/effect/repo"
)

// putFilesBack keeps what is there, and puts the files on the disk back.
func (r *reversal) putFilesBack(ctx context.Context) error {
	if err := r.keepFound(ctx); err != nil {
		return err
	}
	if err := r.restoreIgnores(ctx); err != nil {
		return err
	}
	if err := r.restoreFiles(ctx); err != nil {
		return err
	}
	r.restoreFolders()
	r.closeFolders()
	return nil
}

// restoreIgnores puts the rules for ignored files back first: files that were ignored in the base
// are not touched, and files that a new rule hides are found.
func (r *reversal) restoreIgnores(ctx context.Context) error {
	isRule := func(c change) bool { return path.Base(c.path) == ".gitignore" }
	if !slices.ContainsFunc(r.onDisk, isRule) {
		return nil
	}
	for _, c := range r.onDisk {
		if isRule(c) {
			r.putBack(ctx, c)
		}
	}
	again, err := read(ctx, r.base.dir, r.base.env, &r.base.moment)
	if err != nil {
		return err
	}
	firstFound := r.tree
	r.close()
	r.keeper = again
	r.onDisk = slices.DeleteFunc(r.onDisk, isRule)
	found, err := r.changes(ctx, r.base.tree, r.tree)
	if err != nil {
		return err
	}
	// The files that were hidden have to be in the ref too.
	isKnown := func(c change) bool {
		return isRule(c) || slices.ContainsFunc(r.onDisk, func(old change) bool { return old.path == c.path })
	}
	hidden := slices.DeleteFunc(found, isKnown)
	if len(hidden) == 0 {
		return nil
	}
	kept := r.result.Ref
	commit, err := r.Line(ctx, "rev-parse", kept)
	if err != nil {
		return err
	}
	shown := map[string]file{}
	for _, c := range hidden {
		shown[c.path] = c.now
	}
	if r.tree, err = r.build(ctx, firstFound, shown); err != nil {
		return err
	}
	more, err := r.commit(ctx, "The work tree after a review, with files that it had hidden.", commit)
	if err != nil {
		return err
	}
	if _, err := r.Read(ctx, "update-ref", "--no-deref", kept, more, commit); err != nil {
		return err
	}
	if err := r.makeDurable(); err != nil {
		return err
	}
	for _, c := range hidden {
		r.result.Files = append(r.result.Files, c.path)
		if r.Mine != nil && !r.Mine([]Found{{Path: c.path, At: r.changedAt(c.path)}}) {
			r.skip(c.path, "it may be a person's")
			continue
		}
		r.onDisk = append(r.onDisk, c)
	}
	slices.Sort(r.result.Files)
	return nil
}

// restoreFiles puts the files on the disk back: first those that the base does not have are
// removed, since a folder may be where a file was.
func (r *reversal) restoreFiles(ctx context.Context) error {
	made := slices.Clone(r.onDisk)
	made = slices.DeleteFunc(made, func(c change) bool { return c.was.id != "" })
	ignored, err := r.ignored(ctx, made)
	if err != nil {
		return err
	}
	for _, c := range made {
		switch {
		case ignored[c.path]: // it was ignored in the base
			r.forget(c.path)
		case r.base.ignores != r.ignores:
			r.skip(c.path, "the rules for ignored files outside of the work tree were changed")
		default:
			r.putBack(ctx, c)
		}
	}
	for _, c := range r.onDisk {
		if c.was.id != "" {
			r.putBack(ctx, c)
		}
	}
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	return nil
}

// ignored returns which of the files the rules for ignored files name, although git may track them
// now.
func (r *reversal) ignored(ctx context.Context, made []change) (map[string]bool, error) {
	found := map[string]bool{}
	if len(made) == 0 {
		return found, nil
	}
	var list bytes.Buffer
	for _, c := range made {
		list.WriteString(c.path + "\x00")
	}
	out, err := r.Feed(ctx, list.Bytes(), "check-ignore", "-z", "--stdin", "--no-index")
	if err != nil && repo.ExitCode(err) != 1 {
		return nil, err
	}
	for name := range strings.SplitSeq(string(out), "\x00") {
		found[name] = true
	}
	return found, nil
}

// forget takes a file from the result, unless it has to be restored in HEAD or in the index.
func (r *reversal) forget(name string) {
	is := func(c change) bool { return c.path == name }
	if slices.ContainsFunc(r.committed, is) || slices.ContainsFunc(r.staged, is) {
		return
	}
	r.result.Files = slices.DeleteFunc(r.result.Files, func(f string) bool { return f == name })
}

func (r *reversal) skip(name, why string) { r.skipped = append(r.skipped, SkippedFile{name, why}) }

// putBack puts one file on the disk back, if it still is what the ref keeps.
func (r *reversal) putBack(ctx context.Context, c change) {
	var content []byte
	var err error
	if c.was.id != "" { // before the last look at the file: a process takes time
		content, err = r.Read(ctx, "cat-file", "blob", c.was.id)
	}
	found := file{}
	if err == nil {
		found, err = r.now(c.path)
	}
	switch {
	case err != nil:
	case found != c.now:
		err = errors.New("it has changed since")
	case c.was.id == "":
		err = r.removeFile(c.path)
	default:
		err = r.writeFile(c.path, c.was, content)
	}
	if err != nil {
		r.skip(c.path, err.Error())
	}
}

// removeFile removes a file, and folders that are empty then, as git does, but not one that the
// base has.
func (r *reversal) removeFile(name string) error {
	if err := r.root.Remove(filepath.FromSlash(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for dir := path.Dir(name); dir != "." && r.base.odd[dir] != emptyFolder; dir = path.Dir(dir) {
		if r.root.Remove(filepath.FromSlash(dir)) != nil {
			break // it is not empty
		}
	}
	return nil
}

func (r *reversal) writeFile(name string, f file, content []byte) error {
	local := filepath.FromSlash(name)
	if err := r.makeFolders(path.Dir(name)); err != nil {
		return err
	}
	if clear(r.dirs); r.above(path.Dir(name)) != (way{}) {
		return errors.New("a link is on the way to it")
	}
	info, err := r.root.Lstat(local)
	if err == nil && info.IsDir() {
		if err := r.root.Remove(local); err != nil { // with ignored files in it
			return err
		}
	}
	c := Content{content, r.base.permissions(name, f.mode)}
	if f.mode == linkMode {
		c.Mode = fs.ModeSymlink
	}
	return putFile(r.root, name, c)
}

// permissions returns those that a file had.
func (m *moment) permissions(name, mode string) fs.FileMode {
	if perm, ok := m.perms[name]; ok {
		return perm
	}
	return defaultPermissions(mode)
}

// defaultPermissions are those of most files.
func defaultPermissions(mode string) fs.FileMode {
	if mode == programMode {
		return 0o755
	}
	return 0o644
}

// restoreHead commits the files of the base, if they were changed in commits.
func (r *reversal) restoreHead(ctx context.Context) error {
	if len(r.committed) == 0 {
		return nil
	}
	tree, err := r.build(ctx, r.head, before(r.committed))
	if err != nil {
		return err
	}
	message := strings.ReplaceAll(r.Message, "%s", r.result.Ref)
	commit, err := r.CommitTree(ctx, tree, message, "-p", r.head)
	if repo.ExitCode(err) > 0 { // git does not know who commits
		commit, err = r.WithOwnIdentity().CommitTree(ctx, tree, message, "-p", r.head)
	}
	if err != nil {
		return err
	}
	if _, err := r.Read(ctx, "update-ref", "-m", "ralph: undo what a review changed", "HEAD", commit, r.head); err != nil {
		return err
	}
	r.result.Commit = commit
	return nil
}

// restoreIndex puts entries of the index back.
func (r *reversal) restoreIndex(ctx context.Context) error {
	if len(r.staged) == 0 {
		return nil
	}
	if err := r.at.WaitForLock(ctx, "git update-index", r.lockWait); err != nil {
		return fmt.Errorf("restore the index: %w", err)
	}
	if err := r.setIndex(ctx, r.git, before(r.staged)); err != nil {
		return fmt.Errorf("restore the index: %w", err)
	}
	return nil
}

func before(changes []change) map[string]file {
	files := map[string]file{}
	for _, c := range changes {
		files[c.path] = c.was
	}
	return files
}
