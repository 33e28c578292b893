//go:build unix

package repo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/testkit/testgit"
)

// patient is a context with far more time than a snapshot needs on a busy machine, and far less
// than the programs here take.
func patient(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// Each of these settings makes git start a program. No call starts one, or waits for one.
func TestSnapshotStartsNoRepositoryProgram(t *testing.T) {
	t.Parallel()
	for name, plant := range testgit.Plants {

		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := born(t)
			old := w.Head()
			w.Write("b", "x\n")
			w.Commit("second")
			program, mark := w.Program("post-index-change")
			plant(w.Tree, program)
			w.Write("a", "one\ntwo\nother\n") // has to be compared
			ctx := patient(t)
			if _, err := TakeSnapshot(ctx, w.Dir); errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("See: %v", err)
			}
			if _, err := Since(ctx, w.Dir, old); err != nil {
				t.Errorf("Since: %v", err)
			}
			if _, err := Repos(ctx, w.Dir); err != nil {
				t.Errorf("Repos: %v", err)
			}
			if branch := Branch(ctx, w.Dir); branch != "main" {
				t.Errorf("Branch: %q", branch)
			}
			if _, err := os.Lstat(mark); err == nil {
				t.Error("the program was run")
			}
		})
	}
}

// The settings of a submodule count in that submodule. A change there is still seen.
func TestSnapshotStartsNoSubmoduleProgram(t *testing.T) {
	t.Parallel()
	inner := born(t)
	w := born(t)
	w.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.Dir, "module")
	w.Commit("with a submodule")
	clean := w.see()
	if clean.Dirty {
		t.Fatalf("%+v", clean)
	}
	program, mark := w.Program("program")
	m := w.at("module")
	m.Git("config", "core.fsmonitor", program)
	m.Git("config", "filter.own.clean", program)
	info := m.Git("rev-parse", "--git-path", "info/attributes")
	must(t, os.MkdirAll(filepath.Dir(info), 0o755))
	must(t, os.WriteFile(info, []byte("* filter=own\n"), 0o644))
	m.Write("a", "one\ntwo\nother\n")
	s, err := TakeSnapshot(patient(t), w.Dir)
	if err != nil || !s.Dirty || s.Files != 1 || s.Fingerprint == clean.Fingerprint {
		t.Fatalf("%+v, %v", s, err)
	}
	m.Write("a", "one\ntwo\nyet another\n")
	if again := w.see(); again.Fingerprint == s.Fingerprint {
		t.Error("a change inside the submodule is not in the fingerprint")
	}
	if _, err := os.Lstat(mark); err == nil {
		t.Error("the program was run")
	}
}

// A filter stays the user's own in the user's own commit.
func TestTheCommitKeepsFilters(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.Git("config", "filter.upper.clean", "tr a-z A-Z")
	w.Write(".gitattributes", "shout filter=upper\n")
	w.Write("shout", "hello\n")
	r, err := w.run(Config{AddUntracked: true, Message: "x"})
	if err != nil || !r.Committed {
		t.Fatalf("%+v, %v", r, err)
	}
	if got := w.Git("show", "HEAD:shout"); got != "HELLO" {
		t.Errorf("committed %q", got)
	}
	if r, err := w.run(Config{AddUntracked: true, Message: "x"}); err != nil || !r.Nothing {
		t.Errorf("once more: %+v, %v", r, err)
	}
}

// The error names a pipe in the place of a git file, and nothing waits for it.
func TestPipeAsGitFile(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		".gitmodules", ".gitattributes", ".git/index", ".git/HEAD", ".git/config", ".git/packed-refs", ".git/refs/heads/main",
		".git/info/exclude", ".git/commondir",
	} {
		t.Run(strings.ReplaceAll(name, "/", " "), func(t *testing.T) {
			t.Parallel()
			w := born(t)
			old := w.Head()
			path := filepath.Join(w.Dir, name)
			must(t, os.MkdirAll(filepath.Dir(path), 0o755))
			w.Remove(name)
			must(t, unix.Mkfifo(path, 0o600))
			ctx := patient(t)
			_, seeing := TakeSnapshot(ctx, w.Dir)
			_, since := Since(ctx, w.Dir, old)
			_, repos := Repos(ctx, w.Dir)
			_, committing := Run(ctx, Config{Dir: w.Dir, Tasks: []string{"commit"}, Message: "x"})
			for what, err := range map[string]error{"See": seeing, "Since": since, "Repos": repos, "commit": committing} {
				if err == nil || !strings.Contains(err.Error(), path+" is a named pipe") {
					t.Errorf("%s: %v", what, err)
				}
			}
			if branch := Branch(ctx, w.Dir); branch != "" {
				t.Errorf("branch %q", branch)
			}
		})
	}
}

func TestPipeAsDotGit(t *testing.T) {
	t.Parallel()
	dir := resolved(t, t.TempDir())
	must(t, unix.Mkfifo(filepath.Join(dir, ".git"), 0o600))
	if _, err := TakeSnapshot(patient(t), dir); err == nil || !strings.Contains(err.Error(), "is a named pipe") {
		t.Error(err)
	}
	if root, err := WorkTree(dir); err != nil || root != dir {
		t.Errorf("%s, %v", root, err)
	}
}

// A file that is no record of a linked worktree is skipped.
func TestPipeAsWorktreeNote(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.Git("worktree", "add", "-q", "linked")
	must(t, os.MkdirAll(filepath.Join(w.Dir, ".git/worktrees/odd"), 0o755))
	must(t, unix.Mkfifo(filepath.Join(w.Dir, ".git/worktrees/odd/gitdir"), 0o600))
	roots, err := Repos(patient(t), w.Dir)
	if err != nil || len(roots) != 2 || roots[1] != filepath.Join(w.Dir, "linked") {
		t.Fatalf("%q, %v", roots, err)
	}
}

func TestTooLongGitFiles(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int64{".git/HEAD": 1 << 32, ".gitmodules": 1 << 32, ".git/config": 1 << 32, ".git/index": 1 << 40} {
		w := born(t)
		path := filepath.Join(w.Dir, name)
		if _, err := os.Lstat(path); err != nil {
			w.Write(name, "")
		}
		if err := os.Truncate(path, size); err != nil {
			t.Skip("the file system has no files with holes that long:", err)
		}
		_, err := TakeSnapshot(patient(t), w.Dir)
		if err == nil || !strings.Contains(err.Error(), path+" is larger than") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// stuckIn is a repository in which git waits for a file that checkFiles does not check.
func stuckIn(t *testing.T) tree {
	w := born(t)
	w.Write("deep/file", "x")
	must(t, unix.Mkfifo(filepath.Join(w.Dir, "deep/.gitignore"), 0o600))
	return w
}

func TestSnapshotHasADeadline(t *testing.T) {
	t.Parallel()
	w := stuckIn(t)
	l := NewInspector(w.Dir)
	l.Limit = time.Second
	_, err := l.snapshot(t.Context())
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "not done after 1s") {
		t.Fatal(err)
	}
}

func TestWaitingSnapshotIsCanceled(t *testing.T) {
	t.Parallel()
	w := stuckIn(t)
	ctx, cancel := context.WithCancelCause(patient(t))
	// The snapshot cannot end by itself, so this ends it.
	time.AfterFunc(300*time.Millisecond, func() { cancel(errStopped) })
	if _, err := TakeSnapshot(ctx, w.Dir); !errors.Is(err, errStopped) {
		t.Fatal(err)
	}
}

func TestGitOutputIsBounded(t *testing.T) {
	t.Parallel()
	g := Git{argv: []string{"sh", "-c", "yes"}, Dir: t.TempDir()}
	if _, err := g.Read(patient(t), ""); !errors.Is(err, ErrTooMuch) {
		t.Error(err)
	}
}
