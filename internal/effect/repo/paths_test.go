package repo

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

func TestCommitOfPaths(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.Write("sub/plan/a", "1")
	w.Write("sub/plan/b*", "1")
	w.Write("sub/plan/bc", "1")
	w.Write("other", "1")
	w.Write("staged", "1")
	w.Write(".gitignore", "*.log\n")
	w.Write("sub/plan/x.log", "1")
	w.Git("add", "staged")
	w.Write("a", "changed\n")
	paths := []string{"plan/a", "plan/b*", "plan/x.log"}
	sha, err := CommitPaths(t.Context(), filepath.Join(w.Dir, "sub"), "Archive the plan\n# x", paths)
	if err != nil || sha != w.Head() {
		t.Fatalf("%q, %v", sha, err)
	}
	if got := w.Git("show", "--format=%B", "--name-only", "HEAD"); got != "Archive the plan\n# x\n\n\nsub/plan/a\nsub/plan/b*" {
		t.Errorf("%q", got)
	}
	want := " M a\nA  staged\n?? .gitignore\n?? other\n?? sub/plan/bc"
	if got := w.Git("status", "--porcelain", "-uall"); got != strings.TrimSpace(want) && got != want {
		t.Errorf("left: %q", got)
	}
	// The same again, as after a crash.
	if again, err := CommitPaths(t.Context(), filepath.Join(w.Dir, "sub"), "x", paths); again != "" || err != nil || w.Head() != sha {
		t.Errorf("%q, %v", again, err)
	}
	if only, err := CommitPaths(t.Context(), w.Dir, "x", []string{"sub/plan/x.log"}); only != "" || err != nil {
		t.Errorf("an ignored path: %q, %v", only, err)
	}
}

func TestFirstCommitOfPaths(t *testing.T) {
	t.Parallel()
	w := unborn(t)
	w.Write("a", "1")
	w.Write("b", "1")
	sha, err := CommitPaths(t.Context(), w.Dir, "Begin", []string{"a"})
	if err != nil || sha != w.Head() || w.Git("ls-files") != "a" {
		t.Fatalf("%q, %v", sha, err)
	}
}

func TestFailedCommitOfPaths(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.Hook("pre-commit", "echo no >&2; exit 1")
	w.Write("b", "1")
	before := w.Head()
	sha, err := CommitPaths(t.Context(), w.Dir, "x", []string{"b"})
	if failed, ok := errors.AsType[*Error](err); sha != "" || !ok || !strings.Contains(failed.Output, "no") || w.Head() != before {
		t.Fatalf("%q, %v", sha, err)
	}
	if got := w.Git("status", "--porcelain"); got != "?? b" {
		t.Errorf("the index has changed: %q", got)
	}
	if _, err := CommitPaths(t.Context(), t.TempDir(), "x", []string{"b"}); !Absent(err) {
		t.Errorf("without a repository: %v", err)
	}
}
