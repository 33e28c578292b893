package conversation

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/testkit/testevent"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/phrase"
	"github.com/ralph-loop/ralph/render/transcript"
)

// recorded returns the entries of a file of journal lines.
func recorded(t testing.TB, path string) []transcript.Entry {
	t.Helper()
	b := transcript.New(transcript.Options{Project: "/tmp/p", Location: time.UTC})
	for _, e := range testevent.Read(t, path) {
		b.Add(e)
	}
	return b.Take()
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// entries numbers bodies, a minute apart.
func entries(bodies ...transcript.Body) (list []transcript.Entry) {
	for i, body := range bodies {
		at := noon.Add(time.Duration(i) * time.Minute)
		list = append(list, transcript.Entry{Seq: event.Seq(10 * (i + 1)), Last: event.Seq(10*(i+1) + 1), At: at, Changed: at.Add(30 * time.Second), Iteration: 1, Body: body})
	}
	return list
}

func usd(v float64) *float64 { return &v }

// each has entries of every kind, in every state.
func each() []transcript.Entry {
	diff := []render.DiffLine{
		{Sign: ' ', Text: "func Scan() Token {"}, {Sign: '-', Text: "\treturn next(\"a\") // old"}, {Sign: '+', Text: "\tif done {"}, {Sign: '+', Text: "\t\treturn EOF"},
		{Sign: '+', Text: "\t}"}, {Sign: '+', Text: "\treturn next(\"a\")"}, {Sign: ' ', Text: "}"}, {Sign: ' ', Text: ""}, {Sign: '+', Text: "// end"},
	}
	list := entries(
		transcript.Loop{Name: "parser", Project: "~/src/parser", Agents: []string{"claude 2.1.4", "pi 0.87"}, Maximum: 10},
		transcript.Iteration{N: 3, Maximum: 10, Agent: "claude", Prompt: "Make the parser work.\nRead task.md first.", PromptBytes: 3210},
		transcript.Thinking{Text: "The lexer drops the last token.\nI should look at scan.go first.\nThen at its tests.", Done: true},
		transcript.Words{Text: "I will **fix** the `lexer`:\n\n1. read `scan.go`\n2. write a test\n\n```go\nfunc Scan() Token { return next(\"a\") } // a comment\n```\n", Done: true},
		transcript.Tools{Calls: []transcript.Call{
			{Name: "Read", About: "scan.go", Paths: []string{"scan.go"}, Reads: true, State: transcript.StateOK, Began: noon, Took: 20 * time.Millisecond, Output: "package lex\n", Size: 12},
			{Name: "Read", About: "scan_test.go", Paths: []string{"scan_test.go"}, Reads: true, State: transcript.StateOK, Began: noon, Took: 20 * time.Millisecond, Output: "package lex\n", Size: 12},
			{Name: "Grep", About: "EOF", Reads: true, State: transcript.StateOK, Began: noon, Took: 2 * time.Second, Output: "scan.go:3\n", Size: 9},
			{Name: "Grep", About: "next", Reads: true, State: transcript.StateFailed, Began: noon, Took: time.Second, Output: "no such file\n", Size: 9},
		}},
		transcript.Tools{Calls: []transcript.Call{{Name: "Edit", About: "scan.go", Paths: []string{"scan.go"}, State: transcript.StateOK, Began: noon, Took: 15 * time.Millisecond, Diff: diff, Output: "done", Size: 4}}},
		transcript.Tools{Calls: []transcript.Call{{Name: "Bash", About: "go test ./... -run TestScan -count=1 -race", Input: json.RawMessage(`{"command":"go test ./... -run TestScan -count=1 -race","timeout":1000}`), State: transcript.StateFailed, Began: noon, Took: 12500 * time.Millisecond,
			Output: "--- FAIL: TestScan\n    scan_test.go:12: got 3 tokens, want 4\n    and more\n    and more\n    and more\nFAIL\nexit 1\n", Size: 3400, Blob: "ab12"}}},
		transcript.Tools{Calls: []transcript.Call{{Name: "Bash", About: "make", State: transcript.StateOK, Began: noon, Took: 90 * time.Second, Output: "built\n", Size: 6}}},
		transcript.Tools{Calls: []transcript.Call{{Name: "Bash", About: "sleep 1000", State: transcript.StateLost, Began: noon}}},
		transcript.Tools{Calls: []transcript.Call{{Name: "Bash", About: "go build ./...", State: transcript.StateRunning, Began: noon.Add(time.Hour - 42*time.Second), Output: "one\ntwo\nthree\nfour\nfive\n"}}},
		transcript.Plan{Todos: []event.Todo{{Text: "read the code", Status: event.TodoDone}, {Text: "write a test that is described at some length", Status: event.TodoActive}, {Text: "fix it", Status: event.TodoPending}}},
		transcript.Message{ID: "1", Command: event.CommandSteer, From: "cli:ada@mill", Text: "Leave the schema alone.\nIt is right.", State: transcript.MessageDelivered, How: event.DeliveredLive, Turn: 3, Iteration: 3},
		transcript.Message{ID: "2", Command: event.CommandFollowUp, Text: "then the docs", State: transcript.MessageQueued},
		transcript.Message{ID: "3", Command: event.CommandSet, Key: "maximumIterations", Value: "x", State: transcript.MessageRefused, Why: "maximumIterations is a number"},
		transcript.Message{ID: "4", Command: event.CommandStop, Text: "enough", State: transcript.MessageDelivered, How: event.DeliveredLoop},
		transcript.Message{ID: "5", Command: event.CommandWait, From: "agent:pi", Text: "Which schema?", State: transcript.MessageDelivered, How: event.DeliveredLoop},
		transcript.Note{Tone: phrase.ToneWarning, Text: "the agent tries again in 4s: overloaded"},
		transcript.Note{Tone: phrase.ToneFailure, Text: "rate limit until 14:05: too many requests"},
		transcript.Note{Tone: phrase.ToneGood, Text: "4 of 7 boxes are ticked"},
		transcript.Claim{How: event.ClaimPromise, State: transcript.ClaimMade},
		transcript.Guardrail{Name: "go test ./...", State: transcript.StateFailed, Code: 1, Began: noon, Took: 8 * time.Second, Output: "--- FAIL: TestScan\n    scan_test.go:12: got 3 tokens, want 4\nFAIL", Log: "guardrails/3-1.log"},
		transcript.Guardrail{Name: "gofmt -l .", State: transcript.StateOK, Began: noon, Took: 200 * time.Millisecond},
		transcript.Guardrail{Name: "make lint", State: transcript.StateRunning, Began: noon.Add(time.Hour - 3*time.Second)},
		transcript.Claim{How: event.ClaimPromise, State: transcript.ClaimRefused, Missing: []string{"guardrail go test ./... failed", "2 boxes of task.md are not ticked"}},
		transcript.Claim{How: event.ClaimResponse, State: transcript.ClaimIgnored, Why: "it is within a quote", Text: "> done"},
		transcript.Claim{State: transcript.ClaimAccepted, How: event.ClaimDoneFile, Warning: "no file was changed"},
		transcript.Commit{SHA: "0123456789abcdef", Subject: "Lex: the last token is not lost", Message: "Lex: the last token is not lost\n\nIt was.", Files: 2, Insertions: 12, Deletions: 3},
		transcript.IterationEnd{N: 3, Outcome: event.OutcomeDone, Usage: event.Usage{In: 12_000, Out: 3400, CacheRead: 80_000, USD: usd(0.42)}, Tools: 9, Took: 754_000, Progress: event.ProgressYes},
		transcript.IterationEnd{N: 4, Outcome: event.OutcomeFailed, Error: "the agent's process ended with exit 1", Tools: 1, Took: 3000, Refunded: true, Usage: event.Usage{TokensUnknown: true}},
		transcript.Wait{For: event.WaitRate, Until: noon.Add(time.Hour + 125*time.Second)},
		transcript.Wait{For: event.WaitPerson, Why: "Which of the two schemas is right?"},
		transcript.Wait{For: event.WaitRestart, Until: noon.Add(time.Hour), Over: true},
		transcript.Pause{Why: "a person asked for it"},
		transcript.Pause{Over: true},
		transcript.Detail{Type: "segment.opened", Text: "segment.opened ordinal=4 iteration=4 and more text that does not fit into a narrow terminal"},
		transcript.Loop{Name: "parser", Resumed: true, Notes: []string{"the runner before this one died"}},
		transcript.End{Status: event.StatusFailed, Reason: "breaker", Result: "3 of 7 boxes are ticked", Why: "Nothing changed in 3 iterations.", Hint: "'ralph why parser' explains it", Edited: []event.EditedFile{{Path: "Makefile", How: "changed", Iteration: 2}}},
	)
	list[5].Parent = "toolu_1"
	return list
}
