package repo_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/internal/testkit/testgit"
)

// What was fetched, picked or rebased is older than the moment, though its commits may be new here.
func TestMadeAreNewCommitsOnly(t *testing.T) {
	w := testgit.Born(t)
	begin := w.Head()
	w.Git("checkout", "-q", "-b", "other")
	earlier(t, "2020-01-01T00:00:00Z")
	w.Write("picked", "1\n")
	picked := w.Commit("picked")
	w.Write("pulled", "1\n")
	pulled := w.Commit("pulled")
	w.Git("checkout", "-q", "main")
	elsewhere := w.At("../elsewhere")
	w.Git("worktree", "add", "-q", "--detach", elsewhere.Dir, "main")
	since := time.Now()

	earlier(t, "")
	w.Write("own", "1\n")
	own := w.Commit("own")
	w.Git("cherry-pick", picked)
	w.Git("merge", "-q", "-m", "merged", pulled)
	merged := w.Head()
	w.Write("own", "2\n")
	w.Commit("will be amended")
	w.Git("commit", "-q", "--amend", "-m", "amended")
	amended := w.Head()

	made, err := repo.Made(t.Context(), w.Dir, begin, w.Head(), since, time.Now())
	testfile.Must(t, err)
	if want := []string{own, merged, amended}; !slices.Equal(sorted(made), sorted(want)) {
		t.Errorf("made: %v, want %v", made, want)
	}
	// Another work tree of the repository has not made them.
	elsewhere.Git("reset", "-q", "--hard", "main")
	if made, err := repo.Made(t.Context(), elsewhere.Dir, begin, w.Head(), since, time.Now()); err != nil || len(made) > 0 {
		t.Errorf("made elsewhere: %v, %v", made, err)
	}
	// Without a reflog the time counts.
	testfile.Must(t, os.RemoveAll(filepath.Join(w.Dir, ".git", "logs")))
	if made, err := repo.Made(t.Context(), w.Dir, begin, w.Head(), since, time.Now()); err != nil || slices.Contains(made, picked) || !slices.Contains(made, own) {
		t.Errorf("made without a reflog: %v, %v", made, err)
	}
	if made, err := repo.Made(t.Context(), w.Dir, begin, w.Head(), time.Now().Add(time.Hour), time.Now().Add(2*time.Hour)); err != nil || len(made) > 0 {
		t.Errorf("made later: %v, %v", made, err)
	}
}

func TestMadeAfterRebase(t *testing.T) {
	w := testgit.Born(t)
	earlier(t, "2020-01-01T00:00:00Z")
	w.Git("checkout", "-q", "-b", "side")
	w.Write("side", "1\n")
	w.Commit("side")
	begin := w.Head()
	w.Git("checkout", "-q", "main")
	w.Write("main", "1\n")
	w.Commit("main")
	w.Git("checkout", "-q", "side")
	earlier(t, "")
	since := time.Now()
	w.Git("rebase", "-q", "main")
	if made, err := repo.Made(t.Context(), w.Dir, begin, w.Head(), since, time.Now()); err != nil || len(made) > 0 {
		t.Errorf("a rebase made %v, %v", made, err)
	}
}

func TestObjectsOfManyNames(t *testing.T) {
	w := testgit.Born(t)
	w.Write("large", "123456\n")
	w.Commit("large")
	var got []string
	names := "HEAD:a\nHEAD:none\nHEAD:large\nHEAD:a\n"
	err := repo.In(w.Dir).Objects(t.Context(), []byte(names), 14, func(content []byte) { got = append(got, string(content)) })
	testfile.Must(t, err)
	if want := []string{"one\ntwo\nthree\n", "", "123456\n", "one\ntwo\nthree\n"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	got = nil
	err = repo.In(w.Dir).Objects(t.Context(), []byte(names), 7, func(content []byte) { got = append(got, string(content)) })
	if want := []string{"", "", "123456\n", ""}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}

// earlier sets the time of the commits that follow; "" is now.
func earlier(t *testing.T, at string) {
	t.Setenv("GIT_AUTHOR_DATE", at)
	t.Setenv("GIT_COMMITTER_DATE", at)
}

func sorted(all []string) []string { return slices.Sorted(slices.Values(all)) }
