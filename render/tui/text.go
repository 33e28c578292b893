package tui

import (
	"strings"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render/phrase"
	"github.com/ralph-loop/ralph/render/transcript"
)

// plainText is all text of an entry that a person may look for: its phrase, and what it unfolds.
func plainText(e transcript.Entry) string {
	var text []string
	add := func(parts ...string) { text = append(text, parts...) }
	switch b := e.Body.(type) {
	case transcript.Words:
		return b.Text
	case transcript.Thinking:
		return b.Text
	case transcript.Iteration:
		add(b.Prompt)
	case transcript.Tools:
		for _, c := range b.Calls {
			add(c.Name, c.About, c.Output)
			for _, line := range c.Diff {
				add(line.Text)
			}
		}
	case transcript.Plan:
		for _, t := range b.Todos {
			add(t.Text)
		}
	case transcript.Guardrail:
		add(b.Output, b.Warning)
	case transcript.Message:
		add(b.Became().String())
	case transcript.Question:
		add(b.Reply().String())
	case transcript.Commit:
		add(b.SHA, b.Message)
	case transcript.End:
		add(b.Strength, b.Stories, b.Hint)
	}
	return strings.Join(append(text, e.Phrase(phrase.Known{}).String()), "\n")
}

// What a person jumps to, by name.
var targets = map[string]func(transcript.Entry) bool{
	"iteration": func(e transcript.Entry) bool { return e.Body.Kind() == transcript.KindIteration },
	"commit":    func(e transcript.Entry) bool { return e.Body.Kind() == transcript.KindCommit },
	"message": func(e transcript.Entry) bool {
		return e.Body.Kind() == transcript.KindMessage || e.Body.Kind() == transcript.KindQuestion
	},
	"failure": failed,
}

// failed reports whether something in an entry went wrong.
func failed(e transcript.Entry) bool {
	switch b := e.Body.(type) {
	case transcript.Tools:
		return b.State() == transcript.StateFailed
	case transcript.Guardrail:
		return b.State == transcript.StateFailed
	case transcript.Claim:
		return b.State == transcript.ClaimRefused
	case transcript.IterationEnd:
		return b.Outcome != event.OutcomeDone
	case transcript.Message:
		return b.State == transcript.MessageRefused
	case transcript.Note:
		return b.Tone == "failure"
	case transcript.End:
		return b.Status == event.StatusFailed
	}
	return false
}
