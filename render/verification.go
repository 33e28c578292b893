package render

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// Events of the verification after a turn: guardrails, files, repositories, limits.

// guardrailCalls is the prefix that separates guardrails from the agent's own calls.
const guardrailCalls = "guardrail\x00"

// ofVerification shows one event of a verification. Events without news are left out.
func (t *Text) ofVerification(e event.Event, p event.Payload) bool {
	switch p := p.(type) {
	case event.GuardrailStarted: // a line like a tool's: some run for minutes
		t.called = t.guardrail(e, p.Name, cyan, "- ")
	case event.GuardrailEnded:
		t.guardrailEnded(e, p)
	default:
		notes, known := t.notes.ofVerification(p)
		if !known {
			notes, known = t.notes.ofStories(p)
		}
		t.noted(e, notes)
		return known
	}
	return true
}

// guardrail writes the line of a guardrail and returns what it is called by.
func (t *Text) guardrail(e event.Event, name, style, marker string) string {
	t.part(e, work)
	t.paint(style, marker)
	t.head(call{name: "guardrail", about: firstLine(name)})
	return guardrailCalls + name
}

// guardrailEnded: the result, and of a failure the output and the file with all of it.
func (t *Text) guardrailEnded(e event.Event, p event.GuardrailEnded) {
	if t.called != guardrailCalls+p.Name {
		t.guardrail(e, p.Name, dim, "< ")
	}
	t.called = ""
	r := result{Text: t, style: green, margin: 2}
	took := " in " + Span(milliseconds(p.Took))
	if p.OK {
		r.line("passed" + took)
		r.warning(p.Warning)
		return
	}
	r.style = red
	action := ""
	if p.Action != "" {
		action = ", fail action " + Clean(p.Action)
	}
	switch {
	case p.TimedOut:
		r.line("timed out after " + Span(milliseconds(p.Took)) + action)
	case p.Code < 0:
		r.line("failed" + took + ", ended by a signal" + action)
	default:
		r.line(fmt.Sprintf("failed with exit code %d%s%s", p.Code, took, action))
	}
	if p.Message != nil {
		printed := CleanText(GuardrailOutput(p.Message.Text))
		r.lines, r.size = splitLines(printed), len(printed)
		r.show(t.outputLines("", false))
	}
	if p.Log != "" && p.Warning == "" {
		r.style = dim
		r.line("all of it: " + Clean(p.Log))
	}
	r.warning(p.Warning)
}

// warning says what went wrong beside a command.
func (r *result) warning(text string) {
	if text != "" {
		r.style = yellow
		r.line("warning: " + Clean(text))
	}
}

// GuardrailOutput returns a guardrail's output from the message to the agent; not clean.
func GuardrailOutput(message string) string {
	_, printed, _ := strings.Cut(message, "\nOutput (truncated):\n")
	return printed
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
