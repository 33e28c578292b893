package repo

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChainOfBranch(t *testing.T) {
	t.Parallel()
	w, _ := withRemotes(t, "origin")
	w.Git("push", "-q", "origin", "main")
	begin := w.Head()
	w.Git("switch", "-q", "-c", "side")
	w.Write("side", "x")
	w.Commit("aside")
	w.Git("switch", "-q", "-c", "fix", "main")
	w.Write("a", "1")
	one := w.Commit("one")
	w.Git("merge", "-q", "--no-ff", "-m", "both", "side")
	both := w.Head()
	w.Git("branch", "-q", "lost")
	for name, row := range map[string]struct {
		since, from string
		want        []Commit
	}{
		"since the default branch":     {"", begin, []Commit{{one, "one"}, {both, "both"}}},
		"since a commit of the branch": {one, one, []Commit{{both, "both"}}},
		"since its last commit":        {both, both, nil},
		"since a commit of no branch":  {w.Git("commit-tree", "-m", "x", "HEAD^{tree}"), begin, []Commit{{one, "one"}, {both, "both"}}},
	} {
		from, chain, err := Chain(t.Context(), w.Dir, row.since)
		if err != nil || from != row.from || !cmp.Equal(chain, row.want) {
			t.Errorf("%s: %s, %v, %v", name, from, chain, err)
		}
	}
	if from, chain, err := Chain(t.Context(), born(t).Dir, ""); from != "" || chain != nil || err != nil {
		t.Errorf("without a remote: %s, %v, %v", from, chain, err)
	}
}

// A branch moves only from a commit that ralph pushed; forwards, or after the history was written
// again.
func TestPartsArePushed(t *testing.T) {
	t.Parallel()
	w, remotes := withRemotes(t, "origin")
	w.Git("push", "-q", "origin", "main")
	begin := w.Head()
	w.Git("switch", "-q", "-c", "fix")
	w.Write("a", "1")
	one := w.Commit("one")
	w.Write("a", "2")
	two := w.Commit("two")
	w.Git("commit", "-q", "--amend", "-m", "again")
	again := w.Head()
	for _, row := range []struct {
		name    string
		parts   []Part
		want    []string // where fix-1 and fix-2 are then
		foreign bool
	}{
		{"new ones", []Part{{"fix-1", one, nil}, {"fix-2", two, nil}}, []string{one, two}, false},
		{"once more", []Part{{"fix-1", one, nil}, {"fix-2", two, nil}}, []string{one, two}, false},
		{"one that nobody is known to have pushed", []Part{{"fix-1", two, nil}}, []string{one, two}, true},
		{"forwards", []Part{{"fix-1", two, []string{one}}}, []string{two, two}, false},
		{"another history", []Part{{"fix-2", again, []string{one, two}}}, []string{two, again}, false},
		{"none of two, if one is foreign", []Part{{"fix-1", begin, []string{two}}, {"fix-2", two, []string{one}}}, []string{two, again}, true},
	} {
		err := PushParts(t.Context(), Config{Dir: w.Dir}, row.parts)
		if errors.Is(err, ErrForeignBranch) != row.foreign || (err != nil) != row.foreign {
			t.Errorf("%s: %v", row.name, err)
		}
		if got := []string{remotes["origin"].Git("rev-parse", "fix-1"), remotes["origin"].Git("rev-parse", "fix-2")}; !cmp.Equal(got, row.want) {
			t.Errorf("%s: they are at %q, want %q", row.name, got, row.want)
		}
	}
}
