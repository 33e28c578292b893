package provenance

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/internal/testkit/testgit"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestMain(m *testing.M) { testgit.Main(m) }

// written is the folder of a loop whose journal has these events.
func written(t *testing.T, iter int, all ...event.Payload) string {
	t.Helper()
	dir := t.TempDir()
	rec, err := journal.Recover(dir, journal.Options{})
	testfile.Must(t, err)
	w, _, err := journal.Create(dir, rec, iter, nil, journal.Options{})
	testfile.Must(t, err)
	for _, p := range all {
		by := "loop"
		switch p.(type) {
		case event.AgentStarted, event.AgentUsed:
			by = "agent:claude"
		}
		_, err = w.Append([]event.Draft{event.Encode(p, by)})
		testfile.Must(t, err)
	}
	testfile.Must(t, w.Close())
	return dir
}

func usd(amount float64) *float64 { return &amount }

var started = event.LoopStarted{Name: "demo", ID: "01DEMO", Project: "/p/web", Agent: event.Agent{Protocol: "claude"}}

func TestJournalSaysWhoDidWhat(t *testing.T) {
	dir := written(t, 0, started,
		event.RepoInspected{Root: "/p", When: event.MomentBegin, Head: "aa"},
		event.RepoInspected{Root: "inside", When: event.MomentBegin, Head: "zz"},
		event.IterationStarted{N: 1, Prompt: event.Blob{Text: "go"}},
		event.GuardrailEnded{Name: "go vet", OK: true}, event.GuardrailEnded{Name: "go test"}, event.CompletionRefused{Missing: []string{"2 boxes"}},
		event.IterationEnded{N: 1, Usage: event.Usage{USD: usd(1)}},
		event.IterationStarted{N: 2, Snapshot: "bb"},
		event.AgentStarted{Costs: true}, event.AgentUsed{USD: usd(0.25), Model: "m1"}, event.AgentUsed{USD: usd(0.5), Model: "m1"},
		event.RepoInspected{Root: "/p", When: event.MomentEnd, Head: "dd", Made: []string{"cc", "dd"}},
		event.IterationChecked{Snapshot: "ee"}, event.RepoCommitted{SHA: "ff"})
	l, err := Read(dir)
	testfile.Must(t, err)
	if l.ID != "01DEMO" || l.Root != "/p" || len(l.Iterations) != 2 {
		t.Fatalf("%+v", l)
	}
	one, two := l.Iterations[0], l.Iterations[1]
	if one.Before.Commit != "aa" || !one.Before.Head || *one.USD != 1 || one.Prompt.Text != "go" {
		t.Errorf("the first iteration: %+v", one)
	}
	if two.Before.Commit != "bb" || two.After.Commit != "ee" || two.Agent != "claude" || !slices.Equal(two.Models, []string{"m1"}) || *two.USD != 0.75 {
		t.Errorf("the second iteration: %+v", two)
	}
	var commits []string
	for _, c := range two.Commits {
		commits = append(commits, fmt.Sprint(c.SHA, c.Agent))
	}
	if got := strings.Join(commits, " "); got != "cctrue ddtrue fffalse" {
		t.Errorf("its commits: %s", got)
	}
	if got := strings.Join(two.Because(), "; "); got != "iteration 1: refused: 2 boxes; iteration 1: failed: go test" {
		t.Errorf("because: %s", got)
	}
	if now, err := Current(dir); err != nil || now.N != 2 {
		t.Errorf("current: %+v, %v", now, err)
	}
}

// The first iterations of a fork are those of another loop.
func TestForkHasForeignIterations(t *testing.T) {
	fork := started
	fork.ForkOf = &event.ForkOf{Name: "first", ID: "01FIRST", Iteration: 2}
	l, err := Read(written(t, 0, fork, event.IterationStarted{N: 1}, event.IterationStarted{N: 2}))
	testfile.Must(t, err)
	if len(l.Iterations) != 1 || l.Iterations[0].N != 2 || len(l.ForkOf.Iterations) != 1 || l.ForkOf.Iterations[0].Loop.Name != "first" {
		t.Errorf("%+v", l)
	}
}

func TestUnknownCostStaysUnknown(t *testing.T) {
	dir := written(t, 0, started, event.IterationStarted{N: 1}, event.AgentStarted{Costs: true}, event.AgentUsed{USD: usd(1)}, event.AgentUsed{},
		event.AgentUsed{USD: usd(1)})
	now, err := Current(dir)
	if err != nil || now.USD != nil {
		t.Errorf("%v, %v", now.USD, err)
	}
}

func TestPrefixIsHashOfLines(t *testing.T) {
	dir := written(t, 0, started, event.IterationStarted{N: 1}, event.IterationStarted{N: 2})
	p, err := PrefixAt(dir, 3)
	testfile.Must(t, err)
	content, err := os.ReadFile(filepath.Join(dir, "journal", p.Segment))
	testfile.Must(t, err)
	lines := strings.SplitAfter(string(content), "\n")
	prefix := strings.Join(lines[:3], "")
	if sum := sha256.Sum256([]byte(prefix)); p.SHA256 != hex.EncodeToString(sum[:]) || p.Bytes != int64(len(prefix)) || p.Seq != 3 {
		t.Errorf("%+v of %q", p, prefix)
	}
	if p, err := PrefixAt(dir, 99); p != nil || err != nil {
		t.Errorf("%v, %v", p, err)
	}
}

func TestNotesByManyLoops(t *testing.T) {
	w := testgit.Born(t)
	var commits []string
	for n := range 4 {
		w.Write("a", fmt.Sprint(n))
		commits = append(commits, w.Commit(fmt.Sprint(n)))
	}
	var all sync.WaitGroup
	for n, commit := range commits {
		all.Go(func() {
			note := Note{Loop: fmt.Sprint("01LOOP", n), Name: "demo", Iteration: n + 1, USD: usd(2), Checks: []Check{{"go test", true}}}
			if err := Write(t.Context(), w.Dir, note, []string{commit}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	notes, err := Notes(t.Context(), w.Dir)
	testfile.Must(t, err)
	for n, commit := range commits {
		if got := notes[commit]; len(got) != 1 || got[0].Iteration != n+1 || *got[0].USD != 2 || got[0].Checks[0].Name != "go test" {
			t.Errorf("the note of commit %d: %+v", n, got)
		}
	}
	if refs := w.Git("for-each-ref", "--format=%(refname)", "refs/notes"); refs != Ref {
		t.Errorf("refs: %s", refs)
	}
}

func TestNotesOfRepositoryWithoutAny(t *testing.T) {
	w := testgit.Born(t)
	if notes, err := Notes(t.Context(), w.Dir); err != nil || len(notes) > 0 {
		t.Errorf("%v, %v", notes, err)
	}
}

// Anyone may have written a note.
func TestHostileNotes(t *testing.T) {
	w := testgit.Born(t)
	head := w.Head()
	for name, row := range map[string]struct {
		text string
		want int
	}{
		"no JSON":               {"I wrote this.", 0},
		"another format":        {`{"ralph":2,"loop":"x","iteration":1}`, 0},
		"no loop":               {`{"ralph":1,"iteration":1}`, 0},
		"no iteration":          {`{"ralph":1,"loop":"x","iteration":-1}`, 0},
		"wrong types":           {`{"ralph":1,"loop":{"a":1},"iteration":1}`, 0},
		"two":                   {`{"ralph":1,"loop":"x","iteration":1}` + "\n\n" + `{"ralph":1,"loop":"y","iteration":2}`, 2},
		"too large":             {`{"ralph":1,"loop":"x","iteration":1,"name":"` + strings.Repeat("a", mostNote) + `"}`, 0},
		"what drives terminals": {`{"ralph":1,"loop":"x","iteration":1,"name":"\u001b[2J\u202e\nx","models":["\u0007"],"checks":[{"name":"\u001b]0;a"}]}`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w.Git("notes", "--ref="+Ref, "add", "-f", "-m", row.text, head)
			notes, err := Notes(t.Context(), w.Dir)
			if err != nil || len(notes[head]) != row.want {
				t.Errorf("%+v, %v", notes, err)
			}
			for _, n := range notes[head] {
				if all := fmt.Sprint(n.Name, n.Models, n.Checks); strings.ContainsAny(all, "\x1b\x07\n\u202e") {
					t.Errorf("%q", all)
				}
			}
		})
	}
}

// What a loop writes can be read again, however many and long its guardrails are.
func TestLargeNoteIsReadAgain(t *testing.T) {
	n := Note{Loop: "01DEMO", Name: "demo", Iteration: 1, Agent: "pi", Models: []string{"m"}}
	for range 60 {
		n.Checks = append(n.Checks, Check{strings.Repeat("<é\n", 5000), true})
	}
	text, err := n.text()
	if all := ParseNotes(text); err != nil || len(text) > mostNote || len(all) != 1 || len(all[0].Checks) != mostOfList || all[0].Agent != "pi" {
		t.Errorf("%d bytes, %+v, %v", len(text), all, err)
	}
}

// A repository inside of the project is read as if there were no other.
func TestJournalOfRepositoryInside(t *testing.T) {
	project, err := filepath.EvalSymlinks(t.TempDir())
	testfile.Must(t, err)
	inner := filepath.Join(project, "inside")
	testfile.Must(t, os.Mkdir(inner, 0o700))
	begun := started
	begun.Project = project
	l, err := ReadIn(written(t, 0, begun,
		event.RepoInspected{Root: ".", When: event.MomentBegin, Head: "aa"},
		event.RepoInspected{Root: "inside", When: event.MomentBegin, Head: "zz"},
		event.IterationStarted{N: 1, Snapshot: "bb"},
		event.RepoInspected{Root: ".", When: event.MomentEnd, Head: "cc", Made: []string{"cc"}},
		event.RepoInspected{Root: "inside", When: event.MomentEnd, Head: "yy", Made: []string{"yy"}},
		event.IterationChecked{Snapshot: "dd"}), inner)
	testfile.Must(t, err)
	i := l.Iterations[0]
	if l.Root != inner || i.Before.Commit != "zz" || i.After.Commit != "yy" || len(i.Commits) != 1 || i.Commits[0].SHA != "yy" {
		t.Errorf("%s: %+v", l.Root, i)
	}
}
