package markup_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/testkit/golden"
	"github.com/ralph-loop/ralph/internal/testkit/testevent"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/markup"
	"github.com/ralph-loop/ralph/render/phrase"
	"github.com/ralph-loop/ralph/render/transcript"
)

// read returns the entries of a file of events.
func read(t testing.TB, path string) []transcript.Entry {
	t.Helper()
	b := transcript.New(transcript.Options{Location: time.UTC, Verbose: true})
	for _, e := range testevent.Read(t, path) {
		b.Add(e)
	}
	return b.Take()
}

func fragments(t testing.TB, entries []transcript.Entry, o markup.Options) string {
	t.Helper()
	o.Location = time.UTC
	var b bytes.Buffer
	for _, e := range entries {
		if err := markup.Entry(&b, e, o); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

var at = time.Date(2026, 11, 21, 1, 52, 28, 0, time.UTC)

// each has an entry of each kind, in each of its states that look different.
func each() (entries []transcript.Entry) {
	usd := 0.125
	call := transcript.Call{
		Seq: 9, Returned: 10, ID: "a", Name: "bash", About: "make test", Input: json.RawMessage(`{"command":"make test"}`),
		State: transcript.StateOK, Began: at, Took: 3200 * time.Millisecond, Output: "ok\n", Size: 3,
	}
	failed := call
	failed.State, failed.Output, failed.Size, failed.Blob = transcript.StateFailed, "1 of 12 failed\n", 40960, "abc"
	edit := transcript.Call{
		Seq: 9, Returned: 10, ID: "a", Name: "Edit", About: "a.go", Paths: []string{"a.go"}, State: transcript.StateOK, Began: at,
		Diff: []render.DiffLine{{Sign: ' ', Text: "if a {"}, {Sign: '-', Text: "\treturn <b>"}, {Sign: '+', Text: "\treturn c"}},
	}
	first := transcript.Call{Seq: 9, Returned: 10, Name: "Read", About: "a.go", Paths: []string{"a.go"}, Reads: true, State: transcript.StateOK, Began: at, Output: "package a // <x>\n", Size: 17}
	second := transcript.Call{Seq: 11, Name: "Grep", About: "func main", Reads: true, State: transcript.StateLost, Began: at, Took: time.Second}
	for i, body := range []transcript.Body{
		transcript.Loop{Name: "demo", Project: "/tmp/<project>", Agents: []string{"pi 0.87", "claude 2"}, Maximum: 10},
		transcript.Loop{Resumed: true, Notes: []string{"the previous runner had died"}},
		transcript.Iteration{N: 3, Refunded: 1, Maximum: 10, Agent: "pi", Prompt: "Do <it>.\n", PromptBytes: 9},
		transcript.Iteration{N: 3, Prompt: "Do", PromptBytes: 4096},
		transcript.IterationEnd{
			N: 3, Outcome: event.OutcomeDone, Usage: event.Usage{In: 1200, Out: 300, USD: &usd}, Tools: 14, Took: 182000, Progress: event.ProgressYes,
		},
		transcript.IterationEnd{
			N: 4, Outcome: event.OutcomeFailed, Error: "no <more>", Usage: event.Usage{TokensUnknown: true}, Refunded: true,
			Progress: event.ProgressNo, GuardrailsSkipped: true,
		},
		transcript.Words{Text: "# Done\n\nThe **tests** pass: `make test`.\n\n```go\nfunc main() {}\n```\n", Done: true},
		transcript.Thinking{Text: "I look first.\nThen I write.", Done: true},
		transcript.Tools{Calls: []transcript.Call{call}},
		transcript.Tools{Calls: []transcript.Call{failed}},
		transcript.Tools{Calls: []transcript.Call{edit}},
		transcript.Tools{Calls: []transcript.Call{first, second}},
		transcript.Plan{Todos: []event.Todo{{Text: "look", Status: event.TodoDone}, {Text: "<write>", Status: event.TodoActive}, {Text: "test"}}},
		transcript.Guardrail{Name: "make test", State: transcript.StateFailed, Code: 2, Took: 3 * time.Second, Action: "APPEND", Output: "FAIL <a>", Log: "guardrails/1.log", Warning: "its log is incomplete"},
		transcript.Guardrail{Name: "make lint", State: transcript.StateFailed, TimedOut: true, Code: -1, Took: time.Minute},
		transcript.Guardrail{Name: "make vet", State: transcript.StateOK, Took: time.Second},
		transcript.Guardrail{Name: "make vet", State: transcript.StateRunning},
		transcript.Message{ID: "1", Command: event.CommandSteer, From: "anna", Text: "Use <b>tabs</b>.\nPlease.", State: transcript.MessageDelivered, How: event.DeliveredLive, Iteration: 3, Turn: 2},
		transcript.Message{ID: "1", Command: event.CommandFollowUp, Text: "Go on.", State: transcript.MessageDelivered, How: event.DeliveredPrompt, Iteration: 4},
		transcript.Message{ID: "1", Command: event.CommandSet, Key: "limits.cost", Value: "20", State: transcript.MessageQueued},
		transcript.Message{ID: "1", State: transcript.MessageRefused, Why: "the loop has ended"},
		transcript.Message{ID: "1", Command: event.CommandAnswer, From: "anna", Text: "sqlite", Question: 2, State: transcript.MessageDelivered, How: event.DeliveredPrompt, Iteration: 4},
		transcript.Question{Number: 2, Text: "Postgres or <sqlite>?", Choices: []string{"postgres", "<sqlite>"}, Blocks: true},
		transcript.Question{Number: 3, Text: "Tabs?", Answered: true, Answer: "Use <b>tabs</b>.", By: "cli:anna"},
		transcript.Claim{How: event.ClaimPromise, State: transcript.ClaimRefused, Missing: []string{"make test fails", "<2> boxes are open"}},
		transcript.Claim{How: event.ClaimPromise, State: transcript.ClaimAccepted, Warning: "no tool was used"},
		transcript.Claim{How: event.ClaimPromise, State: transcript.ClaimIgnored, Text: "<promise>done</promise>", Why: "the text differs"},
		transcript.Commit{SHA: "0123456789abcdef", Subject: "Add <it>", Message: "Add <it>\n\nWith tests.", Files: 2, Insertions: 10, Deletions: 1},
		transcript.Note{Type: event.TypeAgentLimited, Tone: phrase.ToneWarning, Text: "limited: rate"},
		transcript.Note{Type: event.TypeEffectFailed, Tone: phrase.ToneFailure, Text: "two\nlines"},
		transcript.Wait{For: event.WaitRate, Until: at.Add(26 * time.Hour), Over: true},
		transcript.Wait{For: event.WaitPerson, Why: "Which <database>?"},
		transcript.Pause{Why: "lunch"},
		transcript.End{Status: event.StatusStopped, Reason: event.ReasonCost, Why: "$20 of $20 is spent.", Hint: "ralph start demo --resume", Questions: []string{"question 2 has no answer: <b>?"}, Edited: []event.EditedFile{{Path: "Makefile", How: event.EditChanged, Iteration: 2}}},
		transcript.Detail{Type: event.TypeDecided, Text: "do=agent.start"},
	} {
		seq := event.Seq(100 + i)
		if tools, ok := body.(transcript.Tools); ok {
			seq = tools.Calls[0].Seq
		}
		entries = append(entries, transcript.Entry{Seq: seq, Last: seq, At: at, Changed: at, Iteration: 3, Body: body})
	}
	return entries
}

func TestEachKind(t *testing.T) {
	entries := each()
	seen := map[transcript.Kind]bool{}
	for _, e := range entries {
		seen[e.Body.Kind()] = true
	}
	for _, kind := range transcript.Kinds {
		if !seen[kind] {
			t.Errorf("no entry of kind %s is tested", kind)
		}
	}
	got := fragments(t, entries, markup.Options{})
	check(t, got)
	golden.Check(t, "testdata/kinds.golden", got)
}

func TestRuns(t *testing.T) {
	for _, run := range []string{"claude-subagent", "pi-tools", "stories"} {
		got := fragments(t, read(t, filepath.Join("../testdata/runs", run+".jsonl")), markup.Options{Heading: 3})
		check(t, got)
		golden.Check(t, filepath.Join("testdata", run+".golden"), got)
	}
}

func TestEachTypeOfEvent(t *testing.T) {
	check(t, fragments(t, read(t, "../../journal/event/testdata/catalogue.jsonl"), markup.Options{}))
}

func TestMost(t *testing.T) {
	e := transcript.Entry{Seq: 1, At: at, Body: transcript.Tools{Calls: []transcript.Call{{
		Seq: 1, Name: "bash", State: transcript.StateOK, Output: strings.Repeat("line ü\n", 100) + "the end",
	}}}}
	got := fragments(t, []transcript.Entry{e}, markup.Options{Most: 64})
	if !strings.Contains(got, "744 B before this are left out") || strings.Count(got, "line ü") != 7 || !strings.Contains(got, "the end") {
		t.Error(got)
	}
	if got := fragments(t, []transcript.Entry{e}, markup.Options{}); strings.Contains(got, "left out") {
		t.Error(got)
	}
}

func TestOptionsOfCalls(t *testing.T) {
	edit := transcript.Entry{Seq: 1, At: at, Body: transcript.Tools{Calls: []transcript.Call{{
		Seq: 1, Name: "Edit", State: transcript.StateOK, Diff: []render.DiffLine{{Sign: '+', Text: "a"}}, Blob: "abc",
	}}}}
	folded := fragments(t, []transcript.Entry{edit}, markup.Options{})
	if strings.Contains(folded, "open=") || !strings.Contains(folded, "<code>blobs/abc</code>") {
		t.Error(folded)
	}
	open := fragments(t, []transcript.Entry{edit}, markup.Options{Diffs: true, Blob: func(b event.BlobRef) string { return "/blobs/" + string(b) }})
	if !strings.Contains(open, "open=") || !strings.Contains(open, `href="/blobs/abc"`) {
		t.Error(open)
	}
}
