package report_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/ground/frame"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render/report"
	"github.com/ralph-loop/ralph/render/transcript"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

var began = time.Date(2026, 11, 21, 22, 0, 0, 0, time.UTC)

// step is an event and how long after the one before it happened.
type step struct {
	after time.Duration
	event.Payload
}

// events makes the events of a loop.
func events(steps ...step) (all []event.Event) {
	var crc uint32
	at, iteration := began, 0
	for i, s := range steps {
		at = at.Add(s.after)
		if p, ok := s.Payload.(event.IterationStarted); ok {
			iteration = p.N
		}
		draft := event.Encode(s.Payload, "loop")
		draft.Iter = iteration
		var line []byte
		line, crc = frame.Append(nil, frame.Stamp{Seq: event.Seq(i + 1), ID: [26]byte([]byte("01JD0000000000000000000000")), At: at}, draft, crc)
		e, err := event.Parse(line)
		if err != nil {
			panic(err)
		}
		all = append(all, e)
	}
	return all
}

func fold(t testing.TB, all []event.Event) *report.Report {
	t.Helper()
	f := report.New(report.Options{Location: time.UTC})
	for _, e := range all {
		if err := f.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	return f.Report()
}

// folder writes events as the journal of a loop.
func folder(t testing.TB, all []event.Event) string {
	t.Helper()
	dir := t.TempDir()
	w, _, err := journal.Create(dir, journal.Recovery{NextSeq: 1}, 1, nil, journal.Options{Now: func() time.Time { return began }})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if _, err := w.Append([]event.Draft{{Type: e.Type, By: e.By(), Iter: e.Iter, Data: e.Data()}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func usd(v float64) *float64 { return &v }

func started(rules event.Rules) event.LoopStarted {
	rules.Context, rules.WaitEnds = "fresh", true
	return event.LoopStarted{
		Name: "night", ID: "01JD", Project: "/work/shop", Host: "vm", Agent: event.Agent{Name: "pi", Protocol: "pi", Version: "0.87"}, Rules: rules,
		Task: event.Source{Text: &event.Blob{Text: "Write a parser.\nWith tests.", Bytes: 27}},
	}
}

// overspent is a loop that spends its money: three iterations, of which the first changes files.
func overspent() []event.Event {
	iteration := func(n int, cost float64, steps ...step) []step {
		before := []step{{time.Second, event.IterationStarted{N: n, Prompt: event.Blob{Text: "Do it.", Bytes: 6}}}, {0, event.AgentStarted{PID: 7, Costs: true}}}
		return append(append(before, steps...), step{time.Second, event.AgentUsed{In: 1000, CacheRead: 500, Out: 100, USD: &cost, Model: "sonnet"}})
	}
	check := func(ok bool, p event.IterationEnded) []step {
		ended := event.GuardrailEnded{Name: "make test", OK: ok, Took: 1200}
		if !ok {
			ended.Code = 2
			ended.Message = &event.Blob{Text: "Guardrail failed.\nOutput (truncated):\nFAIL <b>TestParse</b>\n"}
		}
		return []step{{0, event.AgentFinished{Outcome: event.TurnOK}}, {0, event.AgentParked{}}, {0, event.GuardrailStarted{Name: "make test"}}, {time.Second, ended}, {0, event.IterationChecked{Guardrails: 1}}, {0, p}}
	}
	steps := []step{{0, started(event.Rules{MaximumIterations: 40, Guardrails: 1, Limits: event.LimitRules{Cost: 3}})}}
	steps = append(steps, iteration(1, 1, step{0, event.ToolCalled{ID: "a", Name: "bash", Input: json.RawMessage(`{"command":"make test"}`)}},
		step{time.Second, event.ToolReturned{ID: "a", OK: false, Output: event.Plain("1 of 12 failed")}}, step{0, event.AgentSaid{Block: "1.0", Text: event.Plain("A first **parser**."), Final: true}})...)
	steps = append(steps, check(false, event.IterationEnded{N: 1, Outcome: event.OutcomeDone, Usage: event.Usage{In: 1000, CacheRead: 500, Out: 100, USD: usd(1)}, Tools: 1, Took: 4000, Progress: event.ProgressYes})...)
	steps = append(steps, step{0, event.LoopWaiting{For: event.WaitOverload, Until: began.Add(time.Hour)}}, step{time.Hour, event.LoopWaited{For: event.WaitOverload}})
	steps = append(steps, iteration(2, 1.5, step{0, event.CommandReceived{ID: "c1", Kind: event.CommandFollowUp, From: "anna", Text: "Use tabs."}})...)
	steps = append(steps, check(false, event.IterationEnded{N: 2, Outcome: event.OutcomeDone, Usage: event.Usage{In: 1000, CacheRead: 500, Out: 100, USD: usd(1.5)}, Took: 3000, Progress: event.ProgressNo})...)
	steps = append(steps, iteration(3, 0.7)...)
	steps = append(steps, step{0, event.AgentFinished{Outcome: event.TurnError, Error: "it <i>broke</i>"}}, step{0, event.AgentExited{Code: 1}},
		step{0, event.IterationEnded{N: 3, Outcome: event.OutcomeFailed, Error: "it <i>broke</i>", Usage: event.Usage{In: 1000, CacheRead: 500, Out: 100, USD: usd(0.7)}, Took: 2000, Progress: event.ProgressNo}},
		step{0, event.LoopEnded{Status: event.StatusStopped, Reason: event.ReasonCost, Why: "$3.20 of $3.00 are spent"}})
	return events(steps...)
}

func TestReportOfFailedLoop(t *testing.T) {
	r := fold(t, overspent())
	r.Judge(report.Facts{Name: "shop/night"})
	got, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "night.json", append(got, '\n'))

	var text bytes.Buffer
	if err := report.Markdown(&text, r, time.UTC); err != nil {
		t.Fatal(err)
	}
	golden(t, "night.md", text.Bytes())
}

func TestPageOfFailedLoop(t *testing.T) {
	dir := folder(t, overspent())
	r, err := report.Read(dir, report.Options{Location: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	r.Judge(report.Facts{})
	var page bytes.Buffer
	if err := report.HTML(&page, r, dir, report.PageOptions{Location: time.UTC}); err != nil {
		t.Fatal(err)
	}
	body := withoutAssets(t, page.String())
	golden(t, "night.html", []byte(body))
	for _, forbidden := range []string{"<b>TestParse", "<i>broke", "style=", "onclick", "http://", "src="} {
		if strings.Contains(body, forbidden) {
			t.Errorf("the page contains %q", forbidden)
		}
	}
}

// withoutAssets cuts out the style and the script, which are in files of their own.
func withoutAssets(t *testing.T, page string) string {
	t.Helper()
	for _, tag := range []string{"style", "script"} {
		before, rest, ok := strings.Cut(page, "<"+tag+">")
		_, after, ended := strings.Cut(rest, "</"+tag+">")
		if !ok || !ended {
			t.Fatalf("the page has no %s", tag)
		}
		page = before + "<" + tag + "></" + tag + ">" + after
	}
	before, rest, _ := strings.Cut(page, "style-src")
	_, after, _ := strings.Cut(rest, "; base-uri")
	return before + "style-src; base-uri" + after
}

func TestUnknownCostIsNotZero(t *testing.T) {
	steps := []step{
		{0, started(event.Rules{MaximumIterations: 2})},
		{0, event.IterationStarted{N: 1}}, {0, event.AgentStarted{PID: 1, Uncounted: true}}, {0, event.AgentFinished{Outcome: event.TurnOK}}, {0, event.AgentParked{}},
		{0, event.IterationEnded{N: 1, Outcome: event.OutcomeDone, Usage: event.Usage{TokensUnknown: true}}},
	}
	r := fold(t, events(steps...))
	if r.Used.Cost() != "unknown" || r.Used.Counted() != "unknown" || r.Done[0].Used.Cost() != "unknown" {
		t.Errorf("nothing is known: %s, %s, %s", r.Used.Cost(), r.Used.Counted(), r.Done[0].Used.Cost())
	}
	steps = append(steps, step{0, event.IterationStarted{N: 2}}, step{0, event.AgentStarted{PID: 1}}, step{0, event.AgentUsed{In: 10, Out: 5, USD: usd(0.5)}})
	r = fold(t, events(steps...))
	if r.Used.Cost() != "at least $0.50" || r.Used.Counted() != "at least 15" || r.Open == nil {
		t.Errorf("a part is known: %s, %s", r.Used.Cost(), r.Used.Counted())
	}
}

// What was changed before an iteration is not its own, and commits of the agent are.
func TestChangedIsOfTheIteration(t *testing.T) {
	inspected := func(when event.Moment, head, print string, files, insertions, deletions int) event.RepoInspected {
		return event.RepoInspected{Root: ".", When: when, Head: head, Dirty: files > 0, Fingerprint: print, Files: files, Insertions: insertions, Deletions: deletions}
	}
	begin := inspected(event.MomentBegin, "a", "x", 2, 10, 1)
	made := inspected(event.MomentEnd, "b", "z", 0, 0, 0)
	made.Commits, made.Committed = 2, &event.Difference{Files: 3, Insertions: 7}
	some := made
	some.Dirty, some.Files, some.Insertions = true, 1, 4
	unknown := made
	unknown.Committed = nil
	for name, row := range map[string]struct {
		between []event.Payload
		want    string
	}{
		"nothing":                   {[]event.Payload{begin, inspected(event.MomentEnd, "a", "x", 2, 10, 1)}, "nothing"},
		"a new file":                {[]event.Payload{begin, inspected(event.MomentEnd, "a", "y", 3, 15, 1)}, "1 file +5 −0, not committed"},
		"what was known at its end": {[]event.Payload{inspected(event.MomentEnd, "a", "y", 3, 15, 1)}, "3 files +15 −1, not committed"},
		"commits of the agent":      {[]event.Payload{begin, made}, "3 files +7 −0"},
		"of an unknown size":        {[]event.Payload{begin, unknown}, "2 commits"},
		"commits and more":          {[]event.Payload{begin, some}, "3 files +7 −0; not committed: 1 file +4 −0"},
		"a commit of ralph":         {[]event.Payload{begin, inspected(event.MomentEnd, "a", "y", 3, 15, 1), event.RepoCommitted{SHA: "c", Files: 3, Insertions: 15, Deletions: 1}}, "3 files +15 −1"},
	} {
		steps := []step{{0, started(event.Rules{})}, {0, event.IterationStarted{N: 1}}}
		for _, p := range row.between {
			steps = append(steps, step{0, p})
		}
		steps = append(steps, step{0, event.IterationEnded{N: 1, Outcome: event.OutcomeDone, Progress: event.ProgressNo}})
		if got := fold(t, events(steps...)).Done[0].Changed(); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

// What the loop changed in all is what its end says.
func TestReportShowsWholeChange(t *testing.T) {
	r := fold(t, events(step{0, started(event.Rules{})}, step{0, event.LoopEnded{Status: event.StatusCompleted, Reason: event.ReasonPromise, Changed: &event.Difference{Files: 2, Insertions: 26, Deletions: 4}}}))
	r.Judge(report.Facts{Name: "night"})
	var text bytes.Buffer
	if err := report.Markdown(&text, r, time.UTC); err != nil || !strings.Contains(text.String(), "2 files +26 −4") {
		t.Errorf("%v\n%s", err, text.String())
	}
	if err := report.HTML(&text, r, t.TempDir(), report.PageOptions{}); err != nil || !strings.Contains(text.String(), "<dt>Changed</dt><dd>2 files &#43;26 −4</dd>") {
		t.Errorf("%v\n%s", err, text.String())
	}
}

// Edits count once they are done, by file.
func TestReportCountsEdits(t *testing.T) {
	call := func(id, input string) step {
		return step{0, event.ToolCalled{ID: id, Name: "Edit", Input: json.RawMessage(input)}}
	}
	r := fold(t, events(step{0, started(event.Rules{})}, step{0, event.IterationStarted{N: 1}},
		call("a", `{"file_path":"/work/shop/a.go","old_string":"x\n","new_string":"y\nz\n"}`), step{0, event.ToolReturned{ID: "a", OK: true}},
		call("b", `{"file_path":"/work/shop/a.go","old_string":"x\n","new_string":"y\n"}`), step{0, event.ToolReturned{ID: "b", OK: false}},
		call("c", `{"changes":[{"path":"b.go","kind":{"type":"add"},"diff":"one\ntwo\n"},{"path":"/work/shop/a.go","kind":{"type":"delete"},"diff":"y\n"}]}`), step{0, event.ToolReturned{ID: "c", OK: true}},
		call("d", `{"command":"ls"}`), step{0, event.ToolReturned{ID: "d", OK: true}},
	))
	want := []report.FileUse{{Edit: transcript.Edit{Path: "a.go", Insertions: 2, Deletions: 2}, Last: 1}, {Edit: transcript.Edit{Path: "b.go", Insertions: 2}, Last: 1}}
	if diff := cmp.Diff(want, r.Files); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// future is an event of a version that does not exist yet.
type future struct{ Type event.Type }

func (f future) EventType() event.Type { return f.Type }

func TestReportCountsNewerEvents(t *testing.T) {
	r := fold(t, events(
		step{0, started(event.Rules{})}, step{0, future{"dream.began"}}, step{0, future{"dream.began"}},
		step{0, event.LoopEnded{Status: event.StatusCompleted, Reason: "promise"}},
	))
	r.Judge(report.Facts{Name: "night"})
	var text bytes.Buffer
	if err := report.Markdown(&text, r, time.UTC); err != nil {
		t.Fatal(err)
	}
	if want := "2 events of a newer ralph are not shown: dream.began"; r.Newer == nil || !strings.Contains(text.String(), want) {
		t.Errorf("%+v\n%s", r.Newer, text.String())
	}
}
