package conversation

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/markdown"
	"github.com/ralph-loop/ralph/render/transcript"
)

func (p *painter) loop(b transcript.Loop) {
	word := "loop "
	if b.Resumed {
		word = "resumed "
	}
	p.rule([]markdown.Span{text(word, faint), text(b.Name, accent)}, p.clock(p.item.At))
	var about []string
	if len(b.Agents) > 0 {
		agents := strings.Join(b.Agents, ", then ")
		if len(b.Reviewers) > 0 {
			agents += ", reviewed by " + render.And(b.Reviewers)
		}
		about = append(about, agents)
	}
	if b.Maximum > 0 {
		about = append(about, "at most "+units.Quantity(b.Maximum, "iteration"))
	}
	if b.Project != "" {
		about = append(about, b.Project)
	}
	if len(about) > 0 {
		p.wrap(text("", plain), text(strings.Join(about, " · "), faint))
	}
	for _, note := range b.Notes {
		p.wrap(text("! ", warning), text(note, warning))
	}
}

// clock is a time of day, in the zone of the reader.
func (p *painter) clock(at time.Time) string { return at.In(p.now.Location()).Format(time.TimeOnly) }

func (p *painter) iteration(b transcript.Iteration) {
	title := []markdown.Span{text("iteration "+b.Number(), accent)}
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
	size := text(" · "+render.Bytes(int64(max(b.PromptBytes, len(b.Prompt)))), faint)
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
	facts := []string{units.Span(time.Duration(b.Took) * time.Millisecond), render.Usage(b.Usage), units.Quantity(b.Tools, "tool")}
	switch b.Progress {
	case event.ProgressYes:
		facts = append(facts, "progress")
	case event.ProgressNo:
		facts = append(facts, "no progress")
	}
	if b.Refunded {
		facts = append(facts, "not counted")
	}
	if b.GuardrailsSkipped {
		facts = append(facts, "guardrails skipped")
	}
	spans := []markdown.Span{text(fmt.Sprintf("iteration %d ", b.N), faint), text(string(b.Outcome), style)}
	if all := cut(append(append([]markdown.Span{}, spans...), text(" · "+strings.Join(facts, " · "), faint)), 1<<16); all.Columns()+4 <= p.width {
		p.rule(all, "")
	} else {
		p.rule(spans, "")
		p.wrap(text("   ", plain), text(strings.Join(facts, " · "), faint))
	}
	if b.Error != "" {
		p.wrap(text("   ", plain), text(b.Error, failure))
	}
}

// message lays out what a person asked for, and what became of it.
func (p *painter) message(b transcript.Message) {
	asked, mark, style := b.Text, "> ", person
	switch b.Command {
	case event.CommandWait: // of the agent, for a person
		asked, mark, style = "the agent waits for a person: "+b.Text, "? ", warning
	case event.CommandBlocked:
		asked, mark, style = "the agent needs a person: "+b.Text, "? ", warning
	case event.CommandSteer, event.CommandFollowUp:
	case event.CommandAnswer:
		asked = fmt.Sprintf("answer to question %d: %s", b.Question, b.Text)
	case event.CommandSet:
		asked = strings.TrimSpace("set " + b.Key + "=" + b.Value + " " + b.Text)
	case "":
		if asked == "" {
			asked = "command " + b.ID
		}
	default:
		if asked = string(b.Command); b.Text != "" {
			asked += ": " + b.Text
		}
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
	p.wrap(text("  "+mark, style), text(became(b), style), text(from+" · "+p.clock(p.item.At), faint))
}

// question lays out a question of the agent with its answer.
func (p *painter) question(b transcript.Question) {
	style := warning
	if b.Answered {
		style = faint
	}
	title := fmt.Sprintf("question %d", b.Number)
	if b.Blocks {
		title += " · the work is not done without an answer"
	}
	p.wrap(text("? ", style), text(title, style), text(" · "+p.clock(p.item.At), faint))
	p.wrap(text("  ", plain), text(b.Text, strong))
	if len(b.Choices) > 0 && !b.Answered {
		p.wrap(text("  ", plain), text("choices: "+strings.Join(b.Choices, " | "), plain))
	}
	if !b.Answered {
		return
	}
	from := ""
	if b.By != "" {
		from = " · from " + b.By
	}
	p.wrap(text("  ✓ ", good), text(b.Answer, person), text(from, faint))
}

// became says what became of a message.
func became(b transcript.Message) string {
	switch {
	case b.State == transcript.MessageRefused:
		return "refused: " + b.Why
	case b.State == transcript.MessageWithdrawn:
		return "withdrawn: the agent did not get it"
	case b.State == transcript.MessageQueued && b.Command == event.CommandFollowUp:
		return "queued for the end of the turn"
	case b.State == transcript.MessageQueued:
		return "queued"
	case b.How == event.DeliveredLive && b.Turn > 0:
		return fmt.Sprintf("delivered at turn %d", b.Turn)
	case b.How == event.DeliveredLive:
		return "delivered into the running turn"
	case b.How == event.DeliveredPrompt:
		return fmt.Sprintf("delivered with the prompt of iteration %d", b.Iteration)
	}
	return "done"
}

// wait says what the loop waits for, and how long it still does.
func (p *painter) wait(b transcript.Wait) {
	what := b.For.String()
	if b.Over {
		p.wrap(text("● ", faint), text("waited: "+what+" · "+render.Span(p.item.Changed.Sub(p.item.At)), faint))
		return
	}
	said := "waits: " + what
	if !b.Until.IsZero() {
		until := b.Until.In(p.now.Location())
		clock := until.Format("15:04")
		if until.Format(time.DateOnly) != p.now.Format(time.DateOnly) {
			clock = until.Format("2006-01-02 15:04")
		}
		said += " until " + clock
		if left := until.Sub(p.now); left > 0 {
			said += ", in " + render.Span(left.Round(time.Second))
		}
	}
	p.wrap(text("● ", warning), text(said, warning))
	if b.Why != "" {
		p.wrap(text("  ", plain), text(b.Why, strong))
	}
}

func (p *painter) pause(b transcript.Pause) {
	said, style := "paused", warning
	if b.Over {
		said, style = "the pause is over", faint
	}
	if b.Why != "" {
		said += ": " + b.Why
	}
	p.wrap(text("● ", style), text(said, style))
}

// end lays out the summary at the end of a loop.
func (p *painter) end(b transcript.End) {
	mark, style := "✗ ", failure
	switch b.Status {
	case event.StatusCompleted:
		mark, style = "✓ ", good
	case event.StatusStopped:
		mark, style = "● ", warning
	}
	title := []markdown.Span{text(mark+string(b.Status), style)}
	if b.Reason != "" && string(b.Reason) != string(b.Status) {
		title = append(title, text(" · "+string(b.Reason), faint))
	}
	p.rule(title, p.clock(p.item.At))
	if changed := render.Changed(b.Changed); changed != "" {
		p.wrap(text("", plain), text(changed, strong))
	}
	for _, part := range []struct {
		said  string
		style markdown.Style
	}{{b.Why, plain}, {b.Stories, plain}, {b.Hint, faint}} {
		if part.said != "" {
			p.wrap(text("", plain), text(part.said, part.style))
		}
	}
	for _, file := range b.Edited {
		p.wrap(text("! ", warning), text(fmt.Sprintf("%s %s by the agent in iteration %d", file.Path, file.How, file.Iteration), warning))
	}
	for _, question := range b.Questions {
		p.wrap(text("? ", warning), text(question, warning))
	}
}
