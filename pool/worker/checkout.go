package worker

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/pool/durable"
	"github.com/ralph-loop/ralph/pool/spec"
)

// checkout makes the clone in which a loop works, on a branch of its own, and returns the project's
// folder in it. One that is there is complete, because it got its name last.
func (w *Worker) checkout(ctx context.Context, s spec.Spec, epoch uint64) (project string, err error) {
	work := filepath.Join(folder(w.Home, s.ID), "work")
	if _, err := os.Stat(work); errors.Is(err, fs.ErrNotExist) {
		err := w.clone(ctx, s, epoch, work)
		if err != nil {
			return "", fmt.Errorf("make a work tree of %s: %w", s.Repository, err)
		}
	}
	// The repository may have links.
	work, err = filepath.EvalSymlinks(work)
	if err != nil {
		return "", fmt.Errorf("find the project: %w", err)
	}
	project, err = filepath.EvalSymlinks(filepath.Join(work, filepath.FromSlash(s.Inside)))
	if err != nil {
		return "", fmt.Errorf("%w: find the project: %w", errGivenUp, err)
	}
	inside, err := filepath.Rel(work, project)
	if err != nil || !filepath.IsLocal(inside) {
		return "", fmt.Errorf("%w: the folder %s leads out of the repository", errGivenUp, s.Inside)
	}
	if link, err := os.Lstat(filepath.Join(project, ".ralph")); err == nil && !link.IsDir() {
		return "", fmt.Errorf("%w: .ralph of the repository is no folder", errGivenUp)
	}
	return project, nil
}

func (w *Worker) clone(ctx context.Context, s spec.Spec, epoch uint64, work string) error {
	copied, err := w.download(ctx, s.Repository)
	if err != nil {
		return err
	}
	branch := s.Branch
	if branch == "" {
		if branch, err = defaultBranch(ctx, copied); err != nil {
			return err
		}
	}
	fresh, err := newFolder(work)
	if err != nil {
		return err
	}
	if _, err := git(ctx, "", "clone", "--quiet", "--local", "--branch="+branch, "--", copied, fresh); err != nil {
		if !hasBranch(ctx, copied, branch) {
			err = fmt.Errorf("%w: %w", errGivenUp, err)
		}
		return err
	}
	if _, err := git(ctx, fresh, "remote", "set-url", "origin", s.Repository); err != nil {
		return err
	}
	if _, err := git(ctx, fresh, "switch", "--quiet", "--no-track", "-c", branchOf(s.Name, epoch)); err != nil {
		return err
	}
	base, err := w.base(ctx, s, fresh)
	if err != nil {
		return err
	}
	if err := merge(ctx, fresh, base); err != nil {
		return err
	}
	if err := os.Rename(fresh, work); err != nil {
		return err
	}
	return durable.SyncFolder(filepath.Dir(work))
}

// newFolder makes a folder beside a path that gets this name once it is complete. Its own name is
// unique: the git of a worker that was killed may live on and write into the one before.
func newFolder(path string) (string, error) {
	dir, begin := filepath.Dir(path), filepath.Base(path)+".new-"
	before, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, entry := range before {
		if strings.HasPrefix(entry.Name(), begin) {
			_ = os.RemoveAll(filepath.Join(dir, entry.Name())) // what is written again stays until the next time
		}
	}
	return os.MkdirTemp(dir, begin)
}

// hasBranch reports whether a copy has a branch or tag, or cannot say it.
func hasBranch(ctx context.Context, copied, name string) bool {
	return hasRef(ctx, copied, "refs/heads/"+name) || hasRef(ctx, copied, "refs/tags/"+name)
}

// hasRef reports whether a repository has a ref, or cannot say it.
func hasRef(ctx context.Context, dir, ref string) bool {
	_, err := git(ctx, dir, "rev-parse", "--verify", "--quiet", ref)
	exited, ok := errors.AsType[*exec.ExitError](err)
	return err == nil || !ok || exited.ExitCode() != 1
}

// defaultBranch is the one that the remote has checked out now.
func defaultBranch(ctx context.Context, copied string) (string, error) {
	out, err := git(ctx, copied, "ls-remote", "--symref", "origin", "HEAD")
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(out, "\n")
	name, _, found := strings.Cut(strings.TrimPrefix(line, "ref: refs/heads/"), "\t")
	if !found || !strings.HasPrefix(line, "ref: refs/heads/") {
		return "", errors.New("the remote has no branch checked out: name one with --branch")
	}
	return name, nil
}

// downloads has a lock for each repository: ten loops are one download.
var downloads sync.Map

// download brings this host's copy of a repository up to date, and returns its folder.
func (w *Worker) download(ctx context.Context, repository string) (string, error) {
	sum := sha256.Sum256([]byte(repository))
	copied := filepath.Join(w.Home, "pool", "repositories", hex.EncodeToString(sum[:8])+".git")
	lock, _ := downloads.LoadOrStore(copied, new(sync.Mutex))
	lock.(*sync.Mutex).Lock()
	defer lock.(*sync.Mutex).Unlock()
	if _, err := os.Stat(copied); err == nil {
		_, err := git(ctx, copied, "fetch", "--quiet", "--prune", "--force", "--no-auto-gc", "--no-write-fetch-head",
			"origin", "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
		return copied, err
	}
	w.Say("downloading %s", repository)
	if err := os.MkdirAll(filepath.Dir(copied), 0o700); err != nil {
		return "", err
	}
	fresh, err := newFolder(copied)
	if err != nil {
		return "", err
	}
	if _, err := git(ctx, "", "clone", "--quiet", "--bare", "--", repository, fresh); err != nil {
		return "", err
	}
	return copied, os.Rename(fresh, copied)
}

// gitTime bounds one call of git: a server that does not answer may not keep a slot for ever.
var gitTime = 2 * time.Hour

// git runs git with the person's own settings and credentials. It has no prompt, and runs no helper
// that an address names.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	var out, problem bytes.Buffer
	ctx, cancel := context.WithTimeoutCause(ctx, gitTime, fmt.Errorf("it has not ended in %v", gitTime))
	defer cancel()
	command := exec.CommandContext(ctx, "git", append([]string{"-c", "protocol.ext.allow=never"}, args...)...)
	command.Dir, command.Stdout, command.Stderr = dir, &out, &problem
	command.Env = append(environ(""), "GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=file:git:http:https:ssh")
	command.WaitDelay = time.Second // what it has begun may live on, such as ssh's shared connection
	if err := command.Run(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		err = cmp.Or(context.Cause(ctx), err)
		text := strings.TrimSpace(problem.String())
		return "", fmt.Errorf("git %s: %w: %.1000s", args[0], err, text)
	}
	return strings.TrimSpace(out.String()), nil
}

// environ is the environment of this process, without what leads git or ralph to another place.
func environ(home string) (env []string) {
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "GIT_DIR=") && !strings.HasPrefix(entry, "GIT_WORK_TREE=") && !strings.HasPrefix(entry, "GIT_INDEX_FILE=") &&
			!strings.HasPrefix(entry, "GIT_OBJECT_DIRECTORY=") && !strings.HasPrefix(entry, "GIT_PREFIX=") {
			env = append(env, entry)
		}
	}
	if home != "" {
		env = append(env, "RALPH_HOME="+home)
	}
	return env
}
