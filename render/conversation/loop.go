package conversation

import (
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render/markdown"
	"github.com/ralph-loop/ralph/render/phrase"
	"github.com/ralph-loop/ralph/render/transcript"
)

// said is the phrase of the entry.
func (p *painter) said() phrase.Phrase {
	return p.item.Phrase(phrase.Known{Day: p.now, Location: p.now.Location()})
}

// facts are the circumstances of a phrase, after its text.
func facts(said phrase.Phrase) markdown.Span {
	if len(said.Facts) == 0 {
		return text("", faint)
	}
	return text(" · "+strings.Join(said.Facts, " · "), faint)
}

func (p *painter) loop(b transcript.Loop) {
	said := p.said()
	p.rule([]markdown.Span{text(said.Text, accent)}, p.clock(p.item.At))
	switch {
	case said.Why == "":
	case b.Resumed:
		p.wrap(text("! ", warning), text(said.Why, warning))
	default:
		p.wrap(text("", plain), text(said.Why, faint))
	}
}

// clock is a time of day, in the zone of the reader.
func (p *painter) clock(at time.Time) string { return at.In(p.now.Location()).Format(time.TimeOnly) }

func (p *painter) iteration(b transcript.Iteration) {
	title := []markdown.Span{text(p.said().Text, accent)}
	if b.Agent != "" {
		title = append(title, text(" · "+b.Agent, faint))
	}
	p.rule(title, p.clock(p.item.At))
	if b.Story != "" {
		p.wrap(text("", plain), text(b.Story, accent), text(" "+b.Title, strong))
	}
	prompt := strings.TrimSpace(b.Prompt)
	if prompt == "" {
		return
	}
	size := text(" · "+units.Bytes(int64(max(b.PromptBytes, len(b.Prompt)))), faint)
	if !p.unfolded {
		left := []markdown.Span{text("prompt: ", faint)}
		p.lines = append(p.lines, sides(left, text(units.FirstLine(prompt), faint), []markdown.Span{size}, p.width))
		return
	}
	p.add(text("prompt", faint), size)
	lines := markdown.Render(prompt, markdown.Options{Width: max(p.width-2, markdown.Narrowest), Marks: p.marks})
	for _, line := range lines[:min(len(lines), mostUnfolded)] {
		p.lines = append(p.lines, append(markdown.Line{text("  ", plain)}, line...))
	}
	p.left(len(lines) - min(len(lines), mostUnfolded))
}

func (p *painter) iterationEnd(b transcript.IterationEnd) {
	style := good
	if b.Outcome != event.OutcomeDone {
		style = failure
	}
	said := p.said()
	about := facts(said)
	title := text(said.Text, style)
	if all := []markdown.Span{title, about}; cut(all, 1<<16).Columns()+4 <= p.width {
		p.rule(all, "")
	} else {
		p.rule(all[:1], "")
		p.wrap(text("   ", plain), text(strings.Join(said.Facts, " · "), faint))
	}
	if said.Why != "" {
		p.wrap(text("   ", plain), text(said.Why, failure))
	}
}

// message lays out what a person asked for, and what became of it.
func (p *painter) message(b transcript.Message) {
	said := p.said()
	said.Facts = nil
	asked, mark, style := said.String(), "> ", person
	switch {
	case b.Command == event.CommandWait || b.Command == event.CommandBlocked: // of the agent, for a person
		mark, style = "? ", warning
	case b.Text != "" && (b.Command == "" || b.Command.IsMessage()):
		asked = b.Text
	}
	p.wrap(text(mark, style), text(strings.TrimSpace(asked), style))
	mark, style = "", faint
	switch b.State {
	case transcript.MessageRefused:
		mark, style = "✗ ", failure
	case transcript.MessageQueued:
		mark, style = "● ", warning
	case transcript.MessageDelivered:
		mark, style = "✓ ", good
	}
	from := ""
	if b.From != "" {
		from = " · from " + b.From
	}
	p.wrap(text("  "+mark, style), text(b.Became().String(), style), text(from+" · "+p.clock(p.item.At), faint))
}

// question lays out a question of the agent with its answer.
func (p *painter) question(b transcript.Question) {
	style := warning
	if b.Answered {
		style = faint
	}
	said := p.said()
	p.wrap(text("? ", style), text(said.Text, style), facts(said), text(" · "+p.clock(p.item.At), faint))
	if !b.Answered {
		p.wrap(text("  ", plain), text(said.Why, strong))
		return
	}
	p.wrap(text("  ", plain), text(b.Text, strong))
	reply := b.Reply()
	p.wrap(text("  ✓ ", good), text(reply.Why, person), facts(reply))
}

// wait says what the loop waits for, and how long it still does.
func (p *painter) wait(b transcript.Wait) {
	said := p.said()
	if b.Over {
		p.wrap(text("● ", faint), text(said.Text+" · "+units.Span(p.item.Changed.Sub(p.item.At)), faint))
		return
	}
	left := ""
	if d := b.Until.Sub(p.now); !b.Until.IsZero() && d > 0 {
		left = " · in " + units.Span(d.Round(time.Second))
	}
	p.wrap(text("● ", warning), text(said.Text+left, warning))
	if said.Why != "" {
		p.wrap(text("  ", plain), text(said.Why, strong))
	}
}

func (p *painter) pause(b transcript.Pause) {
	style := warning
	if b.Over {
		style = faint
	}
	p.wrap(text("● ", style), text(p.said().String(), style))
}

// end lays out the summary at the end of a loop.
func (p *painter) end(b transcript.End) {
	said := p.said()
	mark, style := "✗ ", failure
	switch said.Tone {
	case phrase.ToneGood:
		mark, style = "✓ ", good
	case phrase.ToneWarning:
		mark, style = "● ", warning
	}
	p.rule([]markdown.Span{text(mark+said.Text, style), facts(said)}, p.clock(p.item.At))
	for _, part := range []struct {
		said  string
		style markdown.Style
	}{{said.Why, plain}, {b.Strength, plain}, {b.Stories, plain}, {b.Hint, faint}} {
		if part.said != "" {
			p.wrap(text("", plain), text(part.said, part.style))
		}
	}
	for _, file := range b.Edited {
		p.wrap(text("! ", warning), text(file.String(), warning))
	}
	for _, question := range b.Questions {
		p.wrap(text("? ", warning), text(question, warning))
	}
}
