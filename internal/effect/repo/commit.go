package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/ground/units"
)

const (
	lockPause  = 25 * time.Millisecond
	verifyTime = 3 * time.Second // for checking the result after a commit was interrupted
)

// commit adds and commits, and reports whether there was anything to commit.
func (r *runner) commit(ctx context.Context, words []string) (bool, error) {
	at, err := r.git.Locate(ctx)
	if err != nil {
		return false, r.fail(words, err, "")
	}
	r.git = r.git.In(at.Root)
	if op, abort := at.operation(); op != "" {
		return false, r.fail(words, fmt.Errorf("%s %w", op, ErrUnfinished), "finish it, or call it off with '"+abort+"'")
	}
	plain, err := r.git.WithoutFilters(ctx)
	if err != nil {
		return false, r.fail(words, err, "")
	}
	st, err := plain.status(ctx)
	if err != nil {
		return false, r.fail(words, err, "")
	}
	r.result.New = nil
	for _, e := range st.entries {
		switch {
		case e.kind == 'u': // git add would mark it as resolved, with the conflict markers in the file
			return false, r.fail(words, fmt.Errorf("%w in %q", ErrUnmerged, e.path), "resolve the conflict, then 'git add' the file")
		case e.kind == '?' && r.AddUntracked && strings.HasSuffix(e.path, "/"):
			r.result.Left = append(r.result.Left, e.path)
		case e.kind == '?' && !r.AddUntracked && len(r.result.New) < maxNew:
			r.result.New = append(r.result.New, e.path)
		}
	}
	if len(st.entries) == 0 {
		r.result.Nothing = true
		return false, nil
	}
	if err := waitForLock(ctx, at, r.lockWait); err != nil {
		return false, r.fail(words, err, lockHint(at))
	}
	return r.commitFrom(ctx, at, st.head, words)
}

// commitFrom restores the index unless HEAD has changed. It checks HEAD and not the exit code: a
// commit that was ended in its last hook has been made.
func (r *runner) commitFrom(ctx context.Context, at Location, before string, words []string) (bool, error) {
	kept, err := saveIndex(at)
	if err != nil {
		return false, r.fail(words, err, "")
	}
	failed := r.addAndCommit(ctx, before, words)

	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), verifyTime)
	defer cancel()
	head, err := r.git.Head(after)
	if err != nil {
		return false, errors.Join(failed, r.fail(words, err, ""))
	}
	if head != before {
		r.result.Committed, r.result.SHA = true, head
		if err := r.describe(after, before); err != nil {
			failed = errors.Join(failed, r.fail(words, err, ""))
		}
		return true, failed
	}
	if failed != nil {
		r.explain(after, at, failed)
	}
	if err := kept.restore(); err != nil {
		return false, errors.Join(failed, r.fail(words, fmt.Errorf("restore the index: %w", err), lockHint(at)))
	}
	r.result.Nothing = failed == nil
	return false, failed
}

func (r *runner) addAndCommit(ctx context.Context, before string, words []string) error {
	add, paths := []string{"add", "--pathspec-from-file=-", "--pathspec-file-nul"}, r.only
	args := []string{"--cleanup=whitespace", "--file=-"}
	switch {
	case r.only != nil:
		args = slices.Concat([]string{"--only"}, args, []string{"--"}, r.only)
	case r.AddUntracked:
		add = append(add, "--all")
	default:
		add = append(add, "--update")
	}
	if r.only == nil {
		paths = slices.Clone(withoutOwn)
		for _, left := range r.result.Left {
			paths = append(paths, ":(exclude,literal)"+left, ":(exclude,literal)"+strings.TrimSuffix(left, "/"))
		}
	}
	if err := r.run(ctx, strings.Join(paths, "\x00"), add...); err != nil {
		return err
	}
	staged, err := r.git.staged(ctx, before, r.only)
	if err != nil || !staged {
		return err
	}
	if r.Message == "" {
		return r.fail(words, ErrNoMessage, "")
	}
	// The message comes by standard input, where a leading dash or a quote has no meaning; hooks do
	// not get it as their input. Spaces around lines are removed, and a line that begins with "#"
	// stays, whatever commit.cleanup says.
	return r.run(ctx, r.Message+"\n", slices.Concat(words, args)...)
}

// staged reports whether the index differs from a commit, in some paths or at all.
func (g Git) staged(ctx context.Context, commit string, paths []string) (bool, error) {
	base, err := g.TreeOf(ctx, commit)
	if err != nil {
		return false, err
	}
	_, err = g.Read(ctx, append([]string{"diff-index", "--cached", "--quiet", base, "--"}, paths...)...)
	if ExitCode(err) == 1 {
		return true, nil
	}
	return false, err
}

// describe reads back what was committed: hooks may have changed files and message.
func (r *runner) describe(ctx context.Context, before string) error {
	message, err := r.git.Read(ctx, "log", "--max-count=1", "--format=%B", "--encoding=UTF-8", "--no-show-signature", "--no-patch", r.result.SHA, "--")
	if err != nil {
		return err
	}
	r.result.Message = units.Cut(strings.TrimSpace(clean(string(message))), maxMessage)
	r.result.Stat, err = r.git.between(ctx, before, r.result.SHA)
	return err
}

// fail makes an Error from err, which may be one already.
func (r *runner) fail(words []string, err error, hint string) error {
	if e, ok := errors.AsType[*Error](err); ok && hint == "" {
		hint = e.hint
	}
	return &Error{Doing: r.name(words), Err: err, hint: hint}
}

// explain finds out why git add or git commit failed. It inspects the state: git's text is
// in the user's language.
func (r *runner) explain(ctx context.Context, at Location, failed error) {
	e, ok := errors.AsType[*Error](failed)
	if !ok || ExitCode(failed) <= 0 {
		return
	}
	if isLocked(at) {
		e.Err, e.hint = fmt.Errorf("%w: %w", ErrLocked, e.Err), lockHint(at)
		return
	}
	for _, who := range []string{"GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"} {
		if _, err := r.git.Read(ctx, "var", who); ExitCode(err) > 0 {
			e.Err = fmt.Errorf("%w: %w", ErrNoIdentity, e.Err)
			e.hint = `git config user.name "Your Name" && git config user.email you@example.com`
			return
		}
	}
}

func lockPath(at Location) string { return filepath.Join(at.GitDir, "index.lock") }

func lockHint(at Location) string {
	return "another git is at work here, or one died: if none is running, remove " + lockPath(at)
}

func isLocked(at Location) bool {
	_, err := os.Lstat(lockPath(at))
	return err == nil
}

// waitForLock waits until no other git locks the index: git itself does not wait, and an editor may
// run git status every few seconds.
func waitForLock(ctx context.Context, at Location, patience time.Duration) error {
	enough := time.NewTimer(patience)
	defer enough.Stop()
	again := time.NewTicker(lockPause)
	defer again.Stop()
	for isLocked(at) {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-enough.C:
			return ErrLocked
		case <-again.C:
		}
	}
	return nil
}

// WaitForLock waits until no other git locks the index. An error is an *Error about doing.
func (p Location) WaitForLock(ctx context.Context, doing string, patience time.Duration) error {
	if err := waitForLock(ctx, p, patience); err != nil {
		return &Error{Doing: doing, Err: err, hint: lockHint(p)}
	}
	return nil
}

// A savedIndex is a copy of the index.
type savedIndex struct {
	at      Location
	content []byte
	info    fs.FileInfo // nil if there was no index
}

func saveIndex(at Location) (savedIndex, error) {
	k := savedIndex{at: at}
	path := filepath.Join(at.GitDir, "index")
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return k, nil
	}
	if err == nil {
		k.info = info
		k.content, err = safefile.ReadLinked(path, maxIndex)
	}
	if err != nil {
		return k, fmt.Errorf("keep the index: %w", err)
	}
	return k, nil
}

// restore puts it back under git's own lock, with its time of change: git reads a file again if the
// file's time is not before the index's.
func (k savedIndex) restore() error {
	path := filepath.Join(k.at.GitDir, "index")
	lock, err := os.OpenFile(lockPath(k.at), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return ErrLocked
	}
	if err != nil {
		return err
	}
	if k.info == nil {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(err, lock.Close(), os.Remove(lock.Name()))
		}
		return errors.Join(lock.Close(), os.Remove(lock.Name()))
	}
	_, err = lock.Write(k.content)
	err = errors.Join(err, lock.Close(),
		os.Chmod(lock.Name(), k.info.Mode().Perm()), os.Chtimes(lock.Name(), k.info.ModTime(), k.info.ModTime()))
	if err == nil {
		err = os.Rename(lock.Name(), path)
	}
	if err != nil { // only then: after the rename, the lock may be another git's
		return errors.Join(err, os.Remove(lock.Name()))
	}
	return nil
}
