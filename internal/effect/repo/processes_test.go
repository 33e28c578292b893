package repo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An agent waits for the processes of git before each iteration: these numbers may only fall.
func TestProcessesBeforeAnIteration(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.Write("new", "untracked\n")
	for name, row := range map[string]struct {
		most int
		do   func(env []string) error
	}{
		"inspect": {3, func(env []string) error {
			return EachSnapshot(t.Context(), w.Dir, func(string, Snapshot, error) {}, env...)
		}},
	} {
		trace := filepath.Join(t.TempDir(), "trace")
		if err := row.do(append(os.Environ(), "GIT_TRACE2="+trace)); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(trace)
		must(t, err)
		if n := strings.Count(string(text), " version "); n != row.most {
			t.Errorf("%s: %d processes, want %d\n%s", name, n, row.most, text)
		}
	}
}

// EachSnapshot says of each repository what TakeSnapshot says of it.
func TestEachSnapshotSaysTheSame(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.Write("a", "changed\n")
	w.Write("inside/b", "one\n")
	w.at("inside").Git("init", "-q")
	seen := map[string]Snapshot{}
	err := EachSnapshot(t.Context(), filepath.Join(w.Dir, "inside", ".."), func(root string, s Snapshot, err error) {
		must(t, err)
		seen[root] = s
	})
	must(t, err)
	for _, root := range []string{w.Dir, filepath.Join(w.Dir, "inside")} {
		if want, err := TakeSnapshot(t.Context(), root); err != nil || seen[root] != want || !want.Dirty {
			t.Errorf("%s: %+v, want %+v, %v", root, seen[root], want, err)
		}
	}
	if len(seen) != 2 {
		t.Errorf("%d repositories", len(seen))
	}
	if err := EachSnapshot(t.Context(), t.TempDir(), nil); !Absent(err) {
		t.Errorf("an empty folder: %v", err)
	}
}

func TestHeadAndBranch(t *testing.T) {
	t.Parallel()
	none := treeIn(t, resolved(t, t.TempDir()))
	none.Git("init", "-q", "-b", "first")
	plain := born(t)
	plain.Git("branch", "-m", "topic/HEAD")
	detached := born(t)
	detached.Git("checkout", "-q", "--detach")
	both := born(t)
	both.Git("branch", "-m", "topic")
	both.Git("update-ref", "refs/heads/HEAD", "HEAD")
	for name, row := range map[string]struct {
		w            tree
		head, branch string
	}{
		"nothing committed":   {none, "", "refs/heads/first"},
		"a branch":            {plain, plain.Head(), "refs/heads/topic/HEAD"},
		"a commit":            {detached, detached.Head(), ""},
		"a branch named HEAD": {both, both.Git("rev-parse", "refs/heads/topic"), "refs/heads/topic"},
	} {
		head, branch, err := In(row.w.Dir).HeadAndBranch(t.Context())
		if err != nil || head != strings.TrimSpace(row.head) || branch != row.branch {
			t.Errorf("%s: %q %q, %v; want %q %q", name, head, branch, err, row.head, row.branch)
		}
	}
}
