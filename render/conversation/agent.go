package conversation

import (
	"cmp"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render/markdown"
	"github.com/ralph-loop/ralph/render/phrase"
	"github.com/ralph-loop/ralph/render/transcript"
)

// thinking lays out reasoning: its last lines while it is written, one line when it is complete.
func (p *painter) thinking(b transcript.Thinking) {
	said := strings.TrimSpace(b.Text)
	switch {
	case said == "":
	case p.unfolded:
		p.wrap(text("~ ", faint), text(said, thought))
	case b.Done:
		left := []markdown.Span{text("~ thought: ", faint)}
		var right []markdown.Span
		if n := strings.Count(said, "\n"); n > 0 {
			right = append(right, text(" … "+units.Quantity(n, "more line"), faint))
		}
		p.lines = append(p.lines, sides(left, text(units.FirstLine(said), thought), right, p.width))
	default:
		// Only the end is laid out: reasoning can be long.
		from := max(len(said)-thinkingRuns*4*p.width, 0)
		end := strings.ToValidUTF8(said[from:], "")
		lines := markdown.Wrap([]markdown.Span{text(end, thought)}, max(p.width-2, 1))
		p.add(text("~ thinking …", faint))
		for _, line := range lines[max(len(lines)-thinkingRuns, 0):] {
			p.lines = append(p.lines, append(markdown.Line{text("  ", plain)}, line...))
		}
	}
}

// todoMost is how many entries of a plan are shown folded.
const todoMost = 40

func (p *painter) plan(b transcript.Plan) {
	p.add(text(p.said().String(), strong))
	for i, todo := range b.Todos {
		if i >= todoMost && !p.unfolded && i+1 < len(b.Todos) {
			p.left(len(b.Todos) - i)
			return
		}
		switch todo.Status {
		case event.TodoDone:
			p.wrap(text("[x] ", good), text(todo.Text, faint))
		case event.TodoActive:
			p.wrap(text("[>] ", warning), text(todo.Text, strong))
		default:
			p.wrap(text("[ ] ", faint), text(todo.Text, plain))
		}
	}
}

// How many lines are shown of what a guardrail printed, and of a note.
const (
	guardrailFolded = 10
	noteFolded      = 6
)

func (p *painter) guardrail(b transcript.Guardrail) {
	mark, word, style := stateMark(b.State)
	verdict := b.Verdict()
	if word = cmp.Or(verdict, word); b.State == transcript.StateFailed {
		word = "" // the line below says it
	}
	took := b.Took
	if b.State == transcript.StateRunning && p.now.After(b.Began) {
		took = p.now.Sub(b.Began)
	}
	left := []markdown.Span{text(marked(mark, word), style), text("guardrail ", faint)}
	p.lines = append(p.lines, sides(left, text(b.Name, strong), right(took, 0), p.width))
	if b.State == transcript.StateFailed {
		p.wrap(text("    ", plain), text(verdict, failure))
	}
	if p.unfolded {
		p.last(b.Output, mostUnfolded, failure)
	} else {
		p.last(b.Output, guardrailFolded, failure)
	}
	if b.Warning != "" {
		p.wrap(text("  ! ", warning), text(b.Warning, warning))
	}
	if b.Log != "" && b.State == transcript.StateFailed {
		p.wrap(text("    ", plain), text("all of it is in "+b.Log, faint))
	}
}

func (p *painter) claim(b transcript.Claim) {
	said := p.said()
	mark, style := "! ", warning
	switch b.State {
	case transcript.ClaimMade:
		mark, style = "● ", strong
	case transcript.ClaimAccepted:
		mark, style = "✓ ", good
	case transcript.ClaimRefused:
		p.wrap(text("✗ ", failure), text(said.Text, failure))
		for _, missing := range b.Missing {
			p.wrap(text("  - ", failure), text(missing, plain))
		}
		return
	}
	p.wrap(text(mark, style), text(said.Text, style), facts(said))
	if said.Why != "" {
		p.most(said.Why, noteFolded, plain)
	}
}

func (p *painter) commit(b transcript.Commit) {
	said := p.said()
	p.wrap(text("● ", good), text(said.Text, strong), facts(said))
	if p.unfolded {
		_, rest, _ := strings.Cut(b.Message, "\n")
		p.most(rest, mostUnfolded, plain)
	}
}

func (p *painter) note(b transcript.Note) {
	mark, style := "! ", warning
	switch {
	case b.Type == event.TypeRepoInspected, b.Type == event.TypeFolderInspected: // facts
		mark, style = "· ", faint
	case b.Tone == phrase.ToneGood:
		mark, style = "✓ ", good
	case b.Tone == phrase.ToneFailure:
		mark, style = "✗ ", failure
	}
	before := len(p.lines)
	p.wrap(text(mark, style), text(strings.TrimSpace(b.Text), style))
	if n := len(p.lines) - before - noteFolded; n > 1 && !p.unfolded {
		p.lines = p.lines[:before+noteFolded]
		p.left(n)
	}
}
