package repo

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// withRemotes returns a repository with one commit and bare remotes of these names.
func withRemotes(t *testing.T, names ...string) (tree, map[string]tree) {
	t.Helper()
	w, remotes := born(t), map[string]tree{}
	for _, name := range names {
		remotes[name] = treeIn(t, t.TempDir())
		remotes[name].Git("init", "-q", "--bare")
		w.Git("remote", "add", name, remotes[name].Dir)
	}
	return w, remotes
}

func TestPushOfANewBranch(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		prepare  func(w tree)
		to       string // the remote that gets the branch
		upstream string
	}{
		"without an upstream branch": {func(w tree) {}, "origin", "origin/fix"},
		"with another preferred remote": {func(w tree) {
			w.Git("config", "remote.pushDefault", "fork")
		}, "fork", "fork/fix"},
		"made from the remote's main": {func(w tree) {
			w.Git("push", "-q", "origin", "main")
			w.Git("branch", "-q", "--set-upstream-to=origin/main")
		}, "origin", "origin/main"},
		"with a name that could be an option": {func(w tree) {
			w.Git("config", "branch.fix.remote", "--receive-pack=touch hacked")
		}, "origin", ""},
		"of a repository that pushes nothing by itself": {func(w tree) {
			w.Git("config", "push.default", "nothing")
		}, "origin", "origin/fix"},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "without an upstream branch" {
				leaveToLong(t)
			}
			t.Parallel()
			w, remotes := withRemotes(t, "origin", "fork")
			w.Git("switch", "-q", "-c", "fix")
			row.prepare(w)
			w.Write("a", "1")
			r, err := w.run(Config{Message: "x", Tasks: []string{"commit", "push"}})
			if err != nil || !cmp.Equal(r.Done, []string{"commit", "push"}) || remotes[row.to].Git("rev-parse", "fix") != r.SHA {
				t.Fatalf("%+v, %v", r, err)
			}
			if got, _ := w.Try("rev-parse", "--abbrev-ref", "@{upstream}"); row.upstream != "" && strings.TrimSpace(got) != row.upstream {
				t.Errorf("the upstream branch is %s", got)
			}
			w.Write("a", "2")
			if r, err := w.run(Config{Message: "x", Tasks: []string{"commit", "push"}}); err != nil || remotes[row.to].Git("rev-parse", "fix") != r.SHA {
				t.Errorf("again: %+v, %v", r, err)
			}
		})
	}
}

func TestPushIsNeverForced(t *testing.T) {
	leaveToLong(t)
	t.Parallel()
	w, remotes := withRemotes(t, "origin")
	w.Git("push", "-q", "-u", "origin", "main")
	other := treeIn(t, t.TempDir())
	other.Git("clone", "-q", remotes["origin"].Dir, ".")
	other.Git("-c", "user.name=B", "-c", "user.email=b@example.org", "commit", "-q", "--allow-empty", "-m", "theirs")
	other.Git("push", "-q", "origin", "HEAD")
	theirs := remotes["origin"].Git("rev-parse", "main")

	w.Write("a", "1")
	r, err := w.run(Config{Message: "x", Tasks: []string{"commit", "push"}})
	e, ok := errors.AsType[*Error](err)
	if !ok || !strings.Contains(e.Hint(), "git pull --rebase") || strings.Contains(err.Error(), "hint:") || !r.Committed {
		t.Fatalf("%+v, %v", r, err)
	}
	if remotes["origin"].Git("rev-parse", "main") != theirs {
		t.Error("their commit is gone")
	}
	w.Git("pull", "-q", "--rebase")
	if r, err := w.run(Config{Tasks: []string{"commit", "push"}}); err != nil || !cmp.Equal(r.Done, []string{"push"}) {
		t.Errorf("afterwards: %+v, %v", r, err)
	}
}

func TestPushFailuresHaveHints(t *testing.T) {
	leaveToLong(t)
	t.Parallel()
	for name, row := range map[string]struct {
		prepare func(w tree, remote tree)
		hint    string
	}{
		"no remote":           {func(w, _ tree) { w.Git("remote", "remove", "origin") }, "git remote add origin"},
		"no branch":           {func(w, _ tree) { w.Git("checkout", "-q", "--detach") }, "git switch -c"},
		"a remote that moved": {func(w, remote tree) { must(w.T, os.RemoveAll(remote.Dir)) }, "after the next iteration"},
		"a server's hook": {func(_, remote tree) {
			must(remote.T, os.WriteFile(filepath.Join(remote.Dir, "hooks/pre-receive"), []byte("#!/bin/sh\necho every message names a ticket\nexit 1\n"), 0o755))
		}, "hook of the server"},
		"a protected branch": {func(_, remote tree) {
			must(remote.T, os.WriteFile(filepath.Join(remote.Dir, "hooks/pre-receive"), []byte("#!/bin/sh\necho error: GH006: Protected branch update failed for refs/heads/fix.\nexit 1\n"), 0o755))
		}, "branch of its own"},
		"several remotes, none preferred": {func(w, _ tree) {
			w.Git("remote", "rename", "origin", "a")
			w.Git("remote", "add", "b", w.Dir)
		}, "remote.pushDefault"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, remotes := withRemotes(t, "origin")
			must(t, os.MkdirAll(filepath.Join(remotes["origin"].Dir, "hooks"), 0o755))
			row.prepare(w, remotes["origin"])
			r, err := w.run(Config{Tasks: []string{"push"}})
			if e, ok := errors.AsType[*Error](err); !ok || e.Doing != "git push" || !strings.Contains(e.Hint(), row.hint) || len(r.Done)+len(r.Skipped) > 0 {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

func TestRemotes(t *testing.T) {
	t.Parallel()
	w := born(t)
	if got := Remotes(t.Context(), w.Dir); got != nil {
		t.Errorf("without remotes: %q", got)
	}
	w.Git("remote", "add", "alpha", "https://example.org/alpha.git")
	w.Git("remote", "add", "origin", "git@example.org:origin.git")
	w.Git("remote", "add", "mine", "https://example.org/mine (copy).git")
	w.Git("config", "remote.pushDefault", "mine")
	want := []string{"https://example.org/mine (copy).git", "git@example.org:origin.git", "https://example.org/alpha.git"}
	if diff := cmp.Diff(want, Remotes(t.Context(), w.Dir)); diff != "" {
		t.Error(diff)
	}
}

func TestOnDefaultBranch(t *testing.T) {
	t.Parallel()
	w, _ := withRemotes(t, "origin")
	on := func(want bool) {
		t.Helper()
		if got := OnDefaultBranch(t.Context(), w.Dir); got != want {
			t.Errorf("%s: %v", w.Git("status", "--short", "--branch"), got)
		}
	}
	on(true) // main, by its name
	w.Git("switch", "-q", "-c", "fix")
	on(false)
	w.Git("push", "-q", "origin", "main", "fix")
	w.Git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/fix")
	on(true)
	w.Git("switch", "-q", "main")
	on(false)
	w.Git("checkout", "-q", "--detach")
	on(false)
}

func TestSubjects(t *testing.T) {
	t.Parallel()
	w, _ := withRemotes(t, "origin")
	w.Git("push", "-q", "origin", "main")
	w.Git("switch", "-q", "-c", "fix")
	for _, subject := range []string{"One", "Two \x1b[31mred", "Three"} {
		w.Git("commit", "-q", "--allow-empty", "-m", subject)
	}
	for most, want := range map[int][]string{10: {"One", "Two red", "Three"}, 2: {"Two red", "Three"}} {
		got, err := Subjects(t.Context(), w.Dir, most)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	w.Git("update-ref", "-d", "refs/remotes/origin/main")
	if got, err := Subjects(t.Context(), w.Dir, 10); err != nil || !cmp.Equal(got, []string{"Three"}) {
		t.Errorf("without a known base: %q, %v", got, err)
	}
}
