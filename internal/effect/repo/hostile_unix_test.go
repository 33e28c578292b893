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
)

// program writes a script into the repository that leaves a mark when it is run, and never ends by
// itself.
func (w tree) program(name string) (path, mark string) {
	w.t.Helper()
	path, mark = filepath.Join(w.dir, ".git", name), filepath.Join(w.dir, ".git", name+".ran")
	w.write(".git/"+name, "#!/bin/sh\ntouch '"+mark+"'\nexec sleep 600\n")
	must(w.t, os.Chmod(path, 0o755))
	return path, mark
}

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
	for name, plant := range map[string]func(w tree, program string){
		"fsmonitor":  func(w tree, program string) { w.git("config", "core.fsmonitor", program) },
		"hooks path": func(w tree, program string) { w.git("config", "core.hooksPath", filepath.Dir(program)) },
		"clean filter": func(w tree, program string) {
			w.git("config", "filter.odd.clean", program)
			w.git("config", "filter.odd.required", "true")
			w.write(".git/info/attributes", "* filter=odd\n")
		},
		"process filter": func(w tree, program string) {
			w.git("config", "filter.odd.process", program)
			w.git("config", "filter.odd.required", "true")
			w.write(".git/info/attributes", "* filter=odd\n")
		},
		"a filter whose name would end a setting": func(w tree, program string) {
			w.git("config", "filter.a=b.c.clean", program)
			w.write(".git/info/attributes", "* filter=a=b.c\n")
		},
		"external diff": func(w tree, program string) { w.git("config", "diff.external", program) },
		"diff driver": func(w tree, program string) {
			w.git("config", "diff.odd.command", program)
			w.git("config", "diff.odd.textconv", program)
			w.write(".git/info/attributes", "* diff=odd\n")
		},
		"pager": func(w tree, program string) { w.git("config", "core.pager", program) },
		"signatures": func(w tree, program string) {
			w.git("config", "log.showSignature", "true")
			w.git("config", "gpg.program", program)
		},
		"a promised object": func(w tree, program string) {
			w.git("config", "remote.origin.url", "ext::"+program)
			w.git("config", "remote.origin.promisor", "true")
			w.git("config", "remote.origin.partialclonefilter", "blob:none")
			w.git("config", "core.repositoryFormatVersion", "1")
			w.git("config", "extensions.partialClone", "origin")
			blob := w.git("rev-parse", "HEAD:a")
			must(t, os.Remove(filepath.Join(w.dir, ".git/objects", blob[:2], blob[2:])))
		},
		"a promised object by ssh": func(w tree, program string) {
			w.git("config", "remote.origin.url", "ssh://nowhere.invalid/x")
			w.git("config", "remote.origin.promisor", "true")
			w.git("config", "core.repositoryFormatVersion", "1")
			w.git("config", "extensions.partialClone", "origin")
			w.git("config", "core.sshCommand", program)
			blob := w.git("rev-parse", "HEAD:a")
			must(t, os.Remove(filepath.Join(w.dir, ".git/objects", blob[:2], blob[2:])))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := born(t)
			old := w.head()
			w.write("b", "x\n")
			w.commit("second")
			program, mark := w.program("post-index-change")
			plant(w, program)
			w.write("a", "one\ntwo\nother\n") // has to be compared
			ctx := patient(t)
			if _, err := TakeSnapshot(ctx, w.dir); errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("See: %v", err)
			}
			if _, err := Since(ctx, w.dir, old); err != nil {
				t.Errorf("Since: %v", err)
			}
			if _, err := Repos(ctx, w.dir); err != nil {
				t.Errorf("Repos: %v", err)
			}
			if branch := Branch(ctx, w.dir); branch != "main" {
				t.Errorf("Branch: %q", branch)
			}
			if !testing.Short() { // 'make long'
				keepAndUndo(ctx, w)
			}
			if _, err := os.Lstat(mark); err == nil {
				t.Error("the program was run")
			}
		})
	}
}

func keepAndUndo(ctx context.Context, w tree) {
	w.t.Helper()
	base, err := Keep(ctx, w.dir, beforeRef)
	if err != nil {
		w.t.Fatalf("Keep: %v", err)
	}
	w.write("a", "edited\n")
	w.write("c", "new\n")
	if u, err := base.Undo(ctx, Undo{Ref: foundRef, Message: "undo"}); err != nil || len(u.Files) != 2 {
		w.t.Errorf("Undo: %+v, %v", u, err)
	}
}

// The settings of a submodule count in that submodule. A change there is still seen.
func TestSnapshotStartsNoSubmoduleProgram(t *testing.T) {
	t.Parallel()
	inner := born(t)
	w := born(t)
	w.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.dir, "module")
	w.commit("with a submodule")
	clean := w.see()
	if clean.Dirty {
		t.Fatalf("%+v", clean)
	}
	program, mark := w.program("program")
	m := w.at("module")
	m.git("config", "core.fsmonitor", program)
	m.git("config", "filter.own.clean", program)
	info := m.git("rev-parse", "--git-path", "info/attributes")
	must(t, os.MkdirAll(filepath.Dir(info), 0o755))
	must(t, os.WriteFile(info, []byte("* filter=own\n"), 0o644))
	m.write("a", "one\ntwo\nother\n")
	s, err := TakeSnapshot(patient(t), w.dir)
	if err != nil || !s.Dirty || s.Files != 1 || s.Fingerprint == clean.Fingerprint {
		t.Fatalf("%+v, %v", s, err)
	}
	m.write("a", "one\ntwo\nyet another\n")
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
	w.git("config", "filter.upper.clean", "tr a-z A-Z")
	w.write(".gitattributes", "shout filter=upper\n")
	w.write("shout", "hello\n")
	r, err := w.run(Config{AddUntracked: true, Message: "x"})
	if err != nil || !r.Committed {
		t.Fatalf("%+v, %v", r, err)
	}
	if got := w.git("show", "HEAD:shout"); got != "HELLO" {
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
			old := w.head()
			path := filepath.Join(w.dir, name)
			must(t, os.MkdirAll(filepath.Dir(path), 0o755))
			w.remove(name)
			must(t, unix.Mkfifo(path, 0o600))
			ctx := patient(t)
			_, seeing := TakeSnapshot(ctx, w.dir)
			_, since := Since(ctx, w.dir, old)
			_, repos := Repos(ctx, w.dir)
			_, committing := Run(ctx, Config{Dir: w.dir, Tasks: []string{"commit"}, Message: "x"})
			for what, err := range map[string]error{"See": seeing, "Since": since, "Repos": repos, "commit": committing} {
				if err == nil || !strings.Contains(err.Error(), path+" is a named pipe") {
					t.Errorf("%s: %v", what, err)
				}
			}
			if branch := Branch(ctx, w.dir); branch != "" {
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
	w.git("worktree", "add", "-q", "linked")
	must(t, os.MkdirAll(filepath.Join(w.dir, ".git/worktrees/odd"), 0o755))
	must(t, unix.Mkfifo(filepath.Join(w.dir, ".git/worktrees/odd/gitdir"), 0o600))
	roots, err := Repos(patient(t), w.dir)
	if err != nil || len(roots) != 2 || roots[1] != filepath.Join(w.dir, "linked") {
		t.Fatalf("%q, %v", roots, err)
	}
}

func TestTooLongGitFiles(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int64{".git/HEAD": 1 << 32, ".gitmodules": 1 << 32, ".git/config": 1 << 32, ".git/index": 1 << 40} {
		w := born(t)
		path := filepath.Join(w.dir, name)
		if _, err := os.Lstat(path); err != nil {
			w.write(name, "")
		}
		if err := os.Truncate(path, size); err != nil {
			t.Skip("the file system has no files with holes that long:", err)
		}
		_, err := TakeSnapshot(patient(t), w.dir)
		if err == nil || !strings.Contains(err.Error(), path+" is larger than") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// stuckIn is a repository in which git waits for a file that checkFiles does not check.
func stuckIn(t *testing.T) tree {
	w := born(t)
	w.write("deep/file", "x")
	must(t, unix.Mkfifo(filepath.Join(w.dir, "deep/.gitignore"), 0o600))
	return w
}

func TestSnapshotHasADeadline(t *testing.T) {
	t.Parallel()
	w := stuckIn(t)
	l := newInspector(w.dir)
	l.limit = time.Second
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
	if _, err := TakeSnapshot(ctx, w.dir); !errors.Is(err, errStopped) {
		t.Fatal(err)
	}
}

func TestGitOutputIsBounded(t *testing.T) {
	t.Parallel()
	g := git{argv: []string{"sh", "-c", "yes"}, dir: t.TempDir()}
	if _, err := g.read(patient(t), ""); !errors.Is(err, ErrTooMuch) {
		t.Error(err)
	}
}
