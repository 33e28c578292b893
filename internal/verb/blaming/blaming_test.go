package blaming

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/provenance"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/internal/testkit/testgit"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// minute is a moment of a story.
func minute(n int) time.Time { return time.Date(2026, 11, 27, 1, n, 0, 0, time.UTC) }

// worked is an iteration from one minute to another, with the names of the work trees.
func worked(l *provenance.Loop, n, from, to int, before, after string) *provenance.Iteration {
	i := &provenance.Iteration{Loop: l, N: n, Began: minute(from), Before: provenance.Tree{Commit: before, At: minute(from)}}
	if to > 0 {
		i.Ended = minute(to)
	}
	if after != "" {
		i.After = provenance.Tree{Commit: after, At: minute(to)}
	}
	l.Iterations = append(l.Iterations, i)
	return i
}

func (s source) String() string {
	switch {
	case s.unknown:
		return "unknown"
	case s.by != nil:
		return fmt.Sprint(s.by.Loop.Name, s.by.N)
	}
	return "people"
}

func TestWhoChangedWorkTree(t *testing.T) {
	for name, row := range map[string]struct {
		work func(a, b *provenance.Loop)
		live bool
		want string // each work tree with what changed it, and what may have changed it since
	}{
		"two iterations with a person between them": {func(a, _ *provenance.Loop) {
			worked(a, 1, 0, 2, "s1", "e1")
			worked(a, 2, 3, 5, "s2", "e2")
		}, false, "s1 people, e1 a1, s2 people, e2 a2, people"},
		"an iteration without an end that is kept": {func(a, _ *provenance.Loop) {
			worked(a, 1, 0, 2, "s1", "")
			worked(a, 2, 3, 5, "s2", "e2")
		}, false, "s1 people, s2 unknown, e2 a2, people"},
		"the last iteration without an end that is kept": {func(a, _ *provenance.Loop) { worked(a, 1, 0, 2, "s1", "") }, false, "s1 people, unknown"},
		"a loop that runs":   {func(a, _ *provenance.Loop) { worked(a, 1, 0, 0, "s1", "") }, true, "s1 people, a1"},
		"a runner that died": {func(a, _ *provenance.Loop) { worked(a, 1, 0, 0, "s1", "") }, false, "s1 people, unknown"},
		"two loops at once": {func(a, b *provenance.Loop) {
			worked(a, 1, 0, 4, "s1", "e1")
			worked(b, 1, 2, 6, "t1", "u1")
		}, false, "s1 people, t1 a1, e1 unknown, u1 b1, people"},
		"work trees that are gone": {func(a, _ *provenance.Loop) {
			worked(a, 1, 0, 1, "s1", "")
			worked(a, 2, 2, 3, "", "")
			worked(a, 3, 4, 5, "s3", "e3")
		}, false, "s1 people, s3 unknown, e3 a3, people"},
		"a commit of the loop": {func(a, _ *provenance.Loop) {
			i := worked(a, 1, 0, 2, "s1", "e1")
			i.Commits = []provenance.Commit{{SHA: "own", At: minute(1), Agent: true}, {SHA: "c1", At: minute(3)}}
			worked(a, 2, 5, 6, "s2", "e2")
		}, false, "s1 people, e1 a1, c1 a1, s2 people, e2 a2, people"},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := &provenance.Loop{Name: "a"}, &provenance.Loop{Name: "b"}
			row.work(a, b)
			c := newChain("/", slices.Concat(a.Iterations, b.Iterations), func(*provenance.Loop) bool { return row.live })
			var got []string
			for _, s := range c.steps {
				got = append(got, fmt.Sprint(s.tree.Commit, " ", s.source))
			}
			if got := strings.Join(append(got, c.now.String()), ", "); got != row.want {
				t.Errorf("%s\nwant %s", got, row.want)
			}
		})
	}
}

func TestSamePatchHasSameID(t *testing.T) {
	w := testgit.Born(t)
	begin := w.Head()
	w.Write("a", "one\n-- two\n\n++ new\nthree\n")
	change := w.Commit("change")
	w.Git("revert", "--no-edit", change)
	back := w.Head()
	w.Git("cherry-pick", "--no-commit", change)
	w.Write("other file", "x\n")
	again := w.Commit("again, with another file")
	patchOf := func(from, to string) patch {
		t.Helper()
		for _, p := range parsePatches(w.Git(append(diffTree, from, to)...) + "\n") {
			if p.path == "a" {
				return p
			}
		}
		t.Fatal("no change of a")
		return patch{}
	}
	one, two, reverted := patchOf(begin, change), patchOf(back, again), patchOf(change, back)
	if one.id != two.id || one.id == reverted.id || one.id != reverted.reverse || one.reverse != reverted.id {
		t.Errorf("%+v\n%+v\n%+v", one, two, reverted)
	}
	if fmt.Sprint(one.added, one.removed, one.texts) != "[2 3 4] [2] [-- two  ++ new]" {
		t.Errorf("%+v", one)
	}
	head := w.Git("rev-parse", begin+"^{tree}") + " " + w.Git("rev-parse", change+"^{tree}") + "\n"
	if all := parsePatches(head + head + w.Git(append(diffTree, begin, change)...)); len(all) != 1 || all[0].pair != 1 {
		t.Errorf("of several pairs: %+v", all)
	}
}

func TestRunOfLinesCountsLetters(t *testing.T) {
	mine := []string{"a", "}", "a line with many letters in it", "}", "b"}
	theirs := []string{"}", "x", "}", "a line with many letters in it", "}", "y"}
	all := func(int) bool { return true }
	if m := longestRuns(number(mine), number(theirs), all)[3]; m.said != 24 || fmt.Sprint(m.places) != "[4]" {
		t.Errorf("%+v", m)
	}
	if m := longestRuns(number(mine), number(theirs), func(at int) bool { return at == 3 })[3]; m.said != 0 {
		t.Errorf("a line that counts has no letters, and the run has %d", m.said)
	}
	if m := longestRuns(number(mine), number(append(theirs, theirs...)), all)[2]; fmt.Sprint(m.places) != "[3 9]" {
		t.Errorf("two runs that say as much: %+v", m)
	}
	apart := []numbered{{"x", 1, "}"}, {"x", 3, "a line with many letters in it"}, {"y", 4, "}"}}
	if m := longestRuns(number(mine), apart, all)[2]; fmt.Sprint(m.places) != "[1]" || longestRuns(number(mine), apart, all)[1].said > 0 {
		t.Errorf("lines that are not one after the other: %+v", m)
	}
}

// A history of one file, as it is now.
func blameOf(t *testing.T, w testgit.Tree, name string, loops []*provenance.Loop, notes map[string][]provenance.Note) *Answer {
	t.Helper()
	h, err := open(t.Context(), w.Dir, os.Environ())
	testfile.Must(t, err)
	defer h.close()
	testfile.Must(t, h.use(t.Context(), loops, notes, func(*provenance.Loop) bool { return false }))
	h.traces = readTraces(h.root)
	a, _, err := h.answer(t.Context(), name, []byte(w.Content(name)), 1, 0)
	testfile.Must(t, err)
	return a
}

// A note about a loop whose journal is here counts only if the journal says the same.
func TestForgedNoteIsNotBelieved(t *testing.T) {
	w := testgit.Born(t)
	notes := map[string][]provenance.Note{w.Head(): {{Format: 1, Loop: "01DEMO", Name: "demo", Iteration: 3}}}
	if a := blameOf(t, w, "a", nil, notes); a.Ranges[0].By != byNote || a.Ranges[0].Verified {
		t.Errorf("without its journal: %+v", a.Ranges[0])
	}
	known := []*provenance.Loop{{ID: "01DEMO", Name: "demo"}}
	if a := blameOf(t, w, "a", known, notes); a.Ranges[0].By != byPerson {
		t.Errorf("with a journal that says nothing of it: %+v", a.Ranges[0])
	}
}

// Without the work tree before it, a commit of a loop may have lines that were there already.
func TestUnknownTreeBeforeCommit(t *testing.T) {
	w := testgit.Born(t)
	l := &provenance.Loop{ID: "01DEMO", Name: "demo", Root: w.Dir}
	i := worked(l, 1, 0, 2, "", "")
	i.Commits = []provenance.Commit{{SHA: w.Head(), At: minute(1)}}
	if a := blameOf(t, w, "a", []*provenance.Loop{l}, nil); a.Unknown != 3 {
		t.Errorf("%+v", a)
	}
}

func TestRepositoryIsNotChanged(t *testing.T) {
	w := testgit.Born(t)
	state := func() string {
		return w.Index() + w.Git("for-each-ref") + w.Git("count-objects") + w.Git("--no-optional-locks", "status", "--porcelain")
	}
	w.Write("a", "one\nchanged\nthree\n")
	before := state()
	a := blameOf(t, w, "a", nil, nil)
	if len(a.Ranges) != 3 || a.Ranges[1].By != byPerson || a.Ranges[1].Commit != nil || a.Committed {
		t.Errorf("%+v", a)
	}
	if after := state(); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

func TestFileOfRepositoryWithoutCommit(t *testing.T) {
	w := testgit.Unborn(t)
	w.Write("a", "one\n")
	if a := blameOf(t, w, "a", nil, nil); len(a.Ranges) != 1 || a.Ranges[0].By != byPerson || a.Head != "" {
		t.Errorf("%+v", a)
	}
}

// The end of an iteration that was cut off is not kept. What its tools wrote is its work.
func TestToolsOfCutOffIteration(t *testing.T) {
	w := testgit.Born(t)
	dir := filepath.Join(t.TempDir(), "demo")
	testfile.Must(t, os.Mkdir(dir, 0o755))
	rec, err := journal.Recover(dir, journal.Options{})
	testfile.Must(t, err)
	j, _, err := journal.Create(dir, rec, 0, nil, journal.Options{})
	testfile.Must(t, err)
	call := func(id, input string) event.Draft {
		d := event.Encode(event.ToolCalled{ID: id, Name: "edit", Input: []byte(input)}, "agent:claude")
		d.Iter = 1
		return d
	}
	returned := func(id string, ok bool) event.Draft {
		d := event.Encode(event.ToolReturned{ID: id, OK: ok}, "agent:claude")
		d.Iter = 1
		return d
	}
	_, err = j.Append([]event.Draft{
		event.Encode(event.LoopStarted{Name: "demo", ID: "01DEMO", Project: w.Dir}, "loop"),
		event.Encode(event.RepoInspected{Root: ".", When: event.MomentBegin, Head: w.Head()}, "loop"),
		event.Encode(event.IterationStarted{N: 1}, "loop"),
		call("1", `{"file_path":"/p/a","old_string":"a line that only the person can write","new_string":"a line that the agent has written\nx"}`), returned("1", true),
		call("2", `{"file_path":"/p/a","new_string":"a line of a call that has failed"}`), returned("2", false),
		call("3", `{"file_path":"/p/b","new_string":"a line that belongs to another file"}`), returned("3", true),
		event.Encode(event.IterationEnded{N: 1, Outcome: event.OutcomeInterrupted}, "loop"),
	})
	testfile.Must(t, err)
	testfile.Must(t, j.Close())
	l, err := provenance.Read(dir)
	testfile.Must(t, err)
	w.Write("a", "one\ntwo\nthree\na line that the agent has written\nx\na line that only the person can write\na line of a call that has failed\na line that belongs to another file\n")
	a := blameOf(t, w, "a", []*provenance.Loop{l}, nil)
	var got []string
	for _, r := range a.Ranges {
		got = append(got, fmt.Sprintf("%d-%d %s %s", r.From, r.To, r.By, r.How))
	}
	if all := strings.Join(got, ", "); all != "1-3 person git, 4-4 loop tool, 5-8 unknown " {
		t.Errorf("%s", all)
	}
}

func TestRecordsOfAgentTrace(t *testing.T) {
	for name, row := range map[string]struct{ part, want string }{
		"by an agent":             {`"contributor":{"type":"ai","model_id":"openai/gpt-4o"},"ranges":[{"start_line":2,"end_line":3}]`, "trace ai openai/gpt-4o"},
		"another one for a range": {`"contributor":{"type":"ai"},"ranges":[{"start_line":2,"end_line":2,"contributor":{"type":"mixed"}}]`, "trace mixed "},
		"of other lines":          {`"contributor":{"type":"ai"},"ranges":[{"start_line":3,"end_line":3}]`, "person"},
		"that does not know":      {`"contributor":{"type":"unknown"},"ranges":[{"start_line":2,"end_line":2}]`, "person"},
		"with a wrong hash":       {`"contributor":{"type":"ai"},"ranges":[{"start_line":2,"end_line":2,"content_hash":"sha256:00"}]`, "person"},
		"with another hash":       {`"contributor":{"type":"ai"},"ranges":[{"start_line":2,"end_line":2,"content_hash":"murmur3:9f2e8a1b"}]`, "trace ai "},
		"that contradict":         {`"contributor":{"type":"ai"},"ranges":[{"start_line":2,"end_line":2},{"start_line":2,"end_line":2,"contributor":{"type":"human"}}]`, "person"},
		"without a type":          {`"ranges":[{"start_line":2,"end_line":2}]`, "person"},
		"no ranges":               {`"ranges":7`, "person"},
	} {
		t.Run(name, func(t *testing.T) {
			w := testgit.Born(t)
			w.Write(".agent-trace/traces.jsonl", fmt.Sprintf(`{"version":"0.1.0","id":"x","vcs":{"type":"git","revision":%q},"files":[{"path":"a","conversations":[{%s}]}]}`, w.Head(), row.part)+"\n")
			a := blameOf(t, w, "a", nil, nil)
			at := slices.IndexFunc(a.Ranges, func(r Range) bool { return r.From <= 2 && r.To >= 2 })
			got := a.Ranges[at].By
			if s := a.Ranges[at].Trace; s != nil {
				got += " " + s.Contributor + " " + s.Model
			}
			if got != row.want || a.Ranges[at].Verified != (got == "person") {
				t.Errorf("%s, want %s: %+v", got, row.want, a.Ranges[at])
			}
		})
	}
}

// What ralph writes, ralph reads, and the same answer has the same id.
func TestOwnRecordIsRead(t *testing.T) {
	w := testgit.Born(t)
	l := &provenance.Loop{ID: "01DEMO", Name: "demo", Root: w.Dir}
	i := worked(l, 1, 0, 2, "", "")
	i.Before = provenance.Tree{Commit: w.Head(), At: minute(0), Head: true}
	i.Models = []string{"claude-opus-4-5"}
	w.Write("a", "one\nby the loop\nthree\n")
	i.Commits = []provenance.Commit{{SHA: w.Commit("work"), At: minute(1)}}
	a := blameOf(t, w, "a", []*provenance.Loop{l}, nil)
	lines := split([]byte(w.Content("a")))
	r, err := traceOf(a, lines, "dev", minute(9))
	testfile.Must(t, err)
	again, err := traceOf(a, lines, "dev", minute(10))
	testfile.Must(t, err)
	if len(r.ID) != 36 || r.ID != again.ID {
		t.Errorf("ids %s and %s", r.ID, again.ID)
	}
	h := newHistory(w.Dir)
	h.files[r.VCS.Revision+":a"], h.traces = lines, map[string][]traceRecord{r.VCS.Revision: {r}}
	o := origins{history: h}
	found, ok, err := o.ofTrace(t.Context(), &commit{sha: r.VCS.Revision}, blamed{path: "a", line: 2}, 1)
	if err != nil || !ok || found.trace.Contributor != "ai" || found.trace.Model != "anthropic/claude-opus-4-5" || found.trace.URL != "urn:ralph:01DEMO:1" {
		t.Errorf("%+v, %v, %v", found.trace, ok, err)
	}
	a.Committed = false
	if _, err := traceOf(a, lines, "dev", minute(9)); err == nil {
		t.Error("a record of a file that is not committed")
	}
}

// A folder of records may be a link out of the repository.
func TestLinkedTraceFolder(t *testing.T) {
	w := testgit.Born(t)
	elsewhere := t.TempDir()
	testfile.Must(t, os.WriteFile(filepath.Join(elsewhere, "t.json"), []byte(`{"vcs":{"type":"git","revision":"`+w.Head()+`"},"files":[]}`), 0o600))
	if err := os.Symlink(elsewhere, filepath.Join(w.Dir, ".agent-trace")); err != nil {
		t.Skip("no links here")
	}
	if found := readTraces(w.Dir); len(found) > 0 {
		t.Errorf("%+v", found)
	}
}

// The settings of a person for git blame change no answer.
func TestSettingsForBlame(t *testing.T) {
	w := testgit.Born(t)
	w.Write(".gitattributes", "a diff=upside\n")
	w.Write("a", "one\nchanged by Bea\nthree\n")
	w.Git("add", "-A")
	change := w.Commit("change")
	w.Write("ignored", change+"\n")
	w.Git("config", "blame.ignoreRevsFile", "ignored")
	w.Git("config", "diff.upside.textconv", "tac")
	a := blameOf(t, w, "a", nil, nil)
	if len(a.Ranges) != 3 || a.Ranges[1].Commit.SHA != change || a.Ranges[0].Commit.SHA == change {
		t.Errorf("%+v", a.Ranges)
	}
	w.Git("config", "blame.ignoreRevsFile", "nowhere")
	blameOf(t, w, "a", nil, nil)
}

// git quotes a name only with double quotes.
func TestFileWithQuotedName(t *testing.T) {
	w := testgit.Born(t)
	for _, name := range []string{"'a'", "`b`", `"c"`, "tab\tname", "café"} {
		w.Write(name, "one\n")
	}
	w.Git("add", "-A")
	w.Commit("names")
	for _, name := range []string{"'a'", "`b`", `"c"`, "tab\tname", "café"} {
		if a := blameOf(t, w, name, nil, nil); len(a.Ranges) != 1 || a.Ranges[0].Commit == nil {
			t.Errorf("%s: %+v", name, a.Ranges)
		}
	}
}

// The first commit of a shallow clone has all lines that older ones wrote.
func TestShallowCloneDoesNotKnow(t *testing.T) {
	w := testgit.Born(t)
	w.Write("a", "one\ntwo\nthree\nfour\n")
	w.Git("commit", "-qam", "four")
	clone := testgit.Tree{T: t, Dir: filepath.Join(t.TempDir(), "clone")}
	w.Git("clone", "-q", "--depth=1", "file://"+filepath.ToSlash(w.Dir), clone.Dir)
	clone.Write("a", clone.Content("a")+"five\n")
	a := blameOf(t, clone, "a", nil, nil)
	if a.Unknown != 4 || len(a.Ranges) != 2 || !strings.Contains(a.Ranges[0].Why, "shallow") || a.Ranges[1].By != byPerson {
		t.Errorf("%+v", a)
	}
}

// On the disk a file may have other ends of lines than for git.
func TestEndsOfLines(t *testing.T) {
	w := testgit.Born(t)
	w.Git("config", "core.autocrlf", "true")
	w.Write("a", strings.ReplaceAll(w.Content("a"), "\n", "\r\n")+"four\r\n")
	a := blameOf(t, w, "a", nil, nil)
	if len(a.Ranges) != 2 || a.Ranges[0].Commit == nil || a.Ranges[0].To != 3 || a.Committed {
		t.Errorf("%+v", a)
	}
	w.Git("commit", "-qam", "four")
	if a = blameOf(t, w, "a", nil, nil); !a.Committed {
		t.Errorf("%+v", a)
	}
}

// What a filter of git, such as that of Git LFS, made of a file is not compared.
func TestFilteredFileIsUnknown(t *testing.T) {
	w := testgit.Born(t)
	w.Git("config", "filter.upside.clean", "tac")
	w.Git("config", "filter.upside.smudge", "tac")
	w.Write(".gitattributes", "a filter=upside\n")
	w.Write("a", "one\ntwo\nmore\n")
	w.Git("add", "-A")
	w.Commit("filtered")
	if a := blameOf(t, w, "a", nil, nil); a.Unknown != 3 {
		t.Errorf("%+v", a)
	}
}

// git joins the notes of commits that become one.
func TestJoinedNotesAreUnknown(t *testing.T) {
	w := testgit.Born(t)
	note := provenance.Note{Format: 1, Loop: "01DEMO", Name: "demo", Iteration: 3}
	two := note
	two.Iteration = 4
	if a := blameOf(t, w, "a", nil, map[string][]provenance.Note{w.Head(): {note, two}}); a.Unknown != 3 {
		t.Errorf("%+v", a)
	}
	known := []*provenance.Loop{{ID: "01DEMO", Name: "demo"}}
	if a := blameOf(t, w, "a", known, map[string][]provenance.Note{w.Head(): {note, two}}); a.Unknown != 0 {
		t.Errorf("with a journal that says nothing of it: %+v", a)
	}
}

// The line here is of who wrote it here. What was moved stays whose it was; a copy is of who
// copied, be it a loop or a person, and whatever git's search for copies says.
func TestCopiesAndMoves(t *testing.T) {
	const person = "sign() {\n\topenssl dgst -sha256 -sign key file\n}\n"
	for name, row := range map[string]struct {
		person, loop, then func(w testgit.Tree)
		want               string // of sign.sh
	}{
		"a loop copies a person's lines from a script that changes too": {
			person: func(w testgit.Tree) { w.Write("agent.sh", person) },
			loop:   func(w testgit.Tree) { w.Write("sign.sh", "#!/bin/sh\n"+person) },
			then:   func(w testgit.Tree) { w.Write("agent.sh", person+"more\n") },
			want:   "1-1 person, 2-4 loop",
		},
		"a loop copies a person's lines within the file": {
			person: func(w testgit.Tree) { w.Write("sign.sh", person) },
			loop:   func(w testgit.Tree) { w.Write("sign.sh", person+"by the loop, a line of its own\n"+person) },
			want:   "1-3 person, 4-7 loop",
		},
		"a loop moves a person's lines from another file": {
			person: func(w testgit.Tree) { w.Write("agent.sh", "one\n"+person) },
			loop:   func(w testgit.Tree) { w.Write("agent.sh", "one\n"); w.Write("sign.sh", "#!/bin/sh\n"+person) },
			want:   "1-4 person",
		},
		"a person moves a loop's lines from another file": {
			loop: func(w testgit.Tree) { w.Write("agent.sh", person+"end\n") },
			then: func(w testgit.Tree) { w.Write("agent.sh", "end\n"); w.Write("sign.sh", "#!/bin/sh\n"+person) },
			want: "1-1 person, 2-4 loop",
		},
		"a person moves a loop's lines within the file": {
			person: func(w testgit.Tree) { w.Write("sign.sh", "#!/bin/sh\nan old line of the person, long enough\n") },
			loop:   func(w testgit.Tree) { w.Write("sign.sh", "#!/bin/sh\nan old line of the person, long enough\n"+person) },
			then: func(w testgit.Tree) {
				w.Write("sign.sh", "#!/bin/sh\n"+person+"an old line of the person, long enough\n")
			},
			want: "1-1 person, 2-4 loop, 5-5 person",
		},
		"a person copies a loop's lines to another file": {
			loop: func(w testgit.Tree) { w.Write("agent.sh", person) },
			then: func(w testgit.Tree) { w.Write("agent.sh", person+"more\n"); w.Write("sign.sh", "#!/bin/sh\n"+person) },
			want: "1-4 person",
		},
		"lines with few letters are not followed": {
			person: func(w testgit.Tree) { w.Write("agent.sh", "one\n}\n\n}\n") },
			loop:   func(w testgit.Tree) { w.Write("agent.sh", "one\n"); w.Write("sign.sh", "#!/bin/sh\n}\n\n}\n") },
			want:   "1-1 person, 2-4 loop",
		},
		"a loop moves and copies lines at once": {
			person: func(w testgit.Tree) { w.Write("agent.sh", "one\n"+person) },
			loop:   func(w testgit.Tree) { w.Write("agent.sh", "one\n"); w.Write("sign.sh", "#!/bin/sh\n"+person+person) },
			want:   "1-1 person, 2-7 unknown",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := testgit.Born(t)
			w.Write("sign.sh", "#!/bin/sh\n")
			w.Write("agent.sh", "")
			if row.person != nil {
				row.person(w)
			}
			w.Git("add", "-A")
			l := &provenance.Loop{ID: "01DEMO", Name: "demo", Root: w.Dir}
			i := worked(l, 1, 0, 2, "", "")
			i.Before = provenance.Tree{Commit: w.Commit("by a person"), At: minute(0), Head: true}
			row.loop(w)
			w.Git("add", "-A")
			i.After = provenance.Tree{Commit: w.Commit("by the loop"), At: minute(2), Head: true}
			i.Commits = []provenance.Commit{{SHA: i.After.Commit, At: minute(1)}}
			if row.then != nil {
				row.then(w)
				w.Git("add", "-A")
				w.Commit("by a person, later")
			}
			var got []string
			for _, r := range joinedByWho(blameOf(t, w, "sign.sh", []*provenance.Loop{l}, nil).Ranges) {
				got = append(got, fmt.Sprintf("%d-%d %s", r.From, r.To, r.By))
			}
			if all := strings.Join(got, ", "); all != row.want {
				t.Errorf("%s\nwant %s", all, row.want)
			}
		})
	}
}

// joinedByWho joins ranges in a row that differ only in their commits.
func joinedByWho(ranges []Range) (all []Range) {
	for _, r := range ranges {
		if n := len(all); n > 0 && all[n-1].By == r.By {
			all[n-1].To = r.To
			continue
		}
		all = append(all, r)
	}
	return all
}

// A line asks git about itself alone.
func TestOneLineIsReadAlone(t *testing.T) {
	w := testgit.Born(t)
	h, err := open(t.Context(), w.Dir, os.Environ())
	testfile.Must(t, err)
	defer h.close()
	lines, err := h.blame(t.Context(), w.Head(), "a", 2)
	testfile.Must(t, err)
	if len(lines) != 1 || lines[2].line != 2 {
		t.Errorf("%+v", lines)
	}
	if lines, err = h.blame(t.Context(), w.Head(), "a"); err != nil || len(lines) != 3 {
		t.Errorf("then all: %+v, %v", lines, err)
	}
	if got := spans([]int{7, 1, 2, 3, 9}); fmt.Sprint(got) != "[-L1,3 -L7,7 -L9,9]" {
		t.Errorf("%q", got)
	}
}

// What git ignores is in no work tree that is kept: who wrote it is not known.
func TestIgnoredFileIsUnknown(t *testing.T) {
	w := testgit.Born(t)
	w.Write(".gitignore", "built\n")
	w.Write("built", "one\n")
	w.Write(".ralph/notes", "one\n")
	for _, name := range []string{"built", ".ralph/notes"} {
		if a := blameOf(t, w, name, nil, nil); a.Unknown != 1 || !strings.Contains(a.Ranges[0].Why, "ignores") {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// The folder of a loop is none of the repository around it; its worktree is one itself.
func TestFolderOfLoop(t *testing.T) {
	w := testgit.Born(t)
	w.Write(".ralph/demo/run.lock", "")
	w.Write(".ralph/demo/journal/1.jsonl", "")
	w.Write(".ralph/demo/worktree/.git", "")
	for name, want := range map[string]string{
		".ralph/demo/run.lock": ".ralph/demo", ".ralph/demo/journal/1.jsonl": ".ralph/demo", ".ralph/demo/worktree/a": "", ".ralph/settings.json": "", "a": "",
	} {
		if want != "" {
			want = filepath.Join(w.Dir, want)
		}
		if got := folderOfLoop(filepath.Join(w.Dir, name)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
