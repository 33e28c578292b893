package render

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

func (t *Text) commandReceived(e event.Event, p event.CommandReceived) {
	if len(t.commands) >= commandsKept {
		clear(t.commands)
	}
	t.commands[p.ID] = string(p.Kind)
	if p.Kind == event.CommandAsk || p.Kind == event.CommandAnswer {
		return // the question, and its answer, are shown when the loop has them
	}
	text := string(p.Kind)
	if p.Key != "" {
		text += " " + p.Key + "=" + p.Val
	}
	if p.From != "" {
		text += " (" + p.From + ")"
	}
	if p.Text != "" {
		text += ": " + p.Text
	}
	t.note(e, green, "> ", text)
	if p.Doubt != "" && !t.doubted {
		t.doubted = true
		t.warn(e, "whether an agent gave this command is not known: "+p.Doubt)
	}
}

func (t *Text) commandDelivered(e event.Event, p event.CommandDelivered) {
	how := string(p.How)
	switch p.How {
	case event.DeliveredLive:
		how = "delivered into the running turn"
	case event.DeliveredPrompt:
		how = fmt.Sprintf("delivered with the prompt of iteration %d", p.Iteration)
	case event.DeliveredLoop:
		how = "done"
	}
	kind := t.command(p.ID)
	switch {
	case kind == "ask":
		return
	case kind == "wait" || kind == "blocked":
		how = "noted" // it takes effect only when a person comes
	case kind == "stop" && t.current > 0:
		how = fmt.Sprintf("taken: stopping after iteration %d", t.current)
	case kind == "pause" && t.current > 0:
		how = fmt.Sprintf("taken: pausing after iteration %d", t.current)
	}
	t.note(e, green, "> ", kind+" "+how)
}

func (t *Text) commandRefused(e event.Event, p event.CommandRefused) {
	t.warn(e, t.command(p.ID)+" refused: "+p.Why)
}

// questionAsked shows a question with what to type.
func (t *Text) questionAsked(e event.Event, p event.QuestionAsked) {
	title := fmt.Sprintf("question %d", p.Number)
	if p.Blocks {
		title += " (the work is not done without an answer)"
	}
	t.note(e, yellow, "? ", title+": "+p.Text)
	if len(p.Choices) > 0 {
		t.entry("", "  ", CleanText("choices: "+strings.Join(p.Choices, " | ")))
	}
	t.entry(dim, "  ", CleanText(fmt.Sprintf("'%s %d TEXT' answers it", t.call("answer"), p.Number)))
}

// call is how a person calls a verb for the loop.
func (t *Text) call(verb string) string {
	return strings.TrimSpace("ralph " + verb + " " + t.loop)
}

func (t *Text) questionAnswered(e event.Event, p event.QuestionAnswered) {
	title := fmt.Sprintf("answer to question %d", p.Number)
	if p.From != "" {
		title += " (" + p.From + ")"
	}
	t.note(e, green, "> ", title+": "+p.Text)
}

// command names a command that was answered.
func (t *Text) command(id string) string {
	kind, known := t.commands[id]
	if !known {
		return "command " + id
	}
	delete(t.commands, id)
	return kind
}

// planned shows the agent's own list if it differs from the last one shown.
func (t *Text) planned(e event.Event, p event.AgentPlanned) {
	done := 0
	var b strings.Builder
	for _, todo := range p.Todos {
		mark := "[ ] "
		switch todo.Status {
		case event.TodoDone:
			mark = "[x] "
			done++
		case event.TodoActive:
			mark = "[>] "
		}
		fmt.Fprintf(&b, "%s%s\n", mark, Clean(todo.Text))
	}
	if b.String() == t.plan || len(p.Todos) == 0 {
		return
	}
	t.plan = b.String()
	t.part(e, work)
	t.line(bold, "", fmt.Sprintf("plan  %d of %d done (%d%%)", done, len(p.Todos), 100*done/len(p.Todos)))
	for line := range strings.Lines(t.plan) {
		t.line("", "  ", strings.TrimSuffix(line, "\n"))
	}
}

// rare shows what the agent and ralph report now and then.
func (t *Text) rare(e event.Event, p event.Payload) bool {
	if p, ok := p.(event.AgentReplaced); ok {
		t.totals.worker = p.Name
	}
	switch p := p.(type) {
	case event.StoriesRead:
		does, title := Story(p)
		t.story, t.stories = strings.TrimSpace(does+" "+units.FirstLine(title)), StoriesSum(p.Stories)
	case event.StoriesJudged:
		t.stories = StoriesSum(p.Stories)
	}
	notes, known := t.notes.ofAgent(p)
	t.noted(e, notes)
	return known
}

// noted shows what an event says in words.
func (t *Text) noted(e event.Event, notes []Note) {
	for _, n := range notes {
		switch n.Tone {
		case ToneGood:
			t.note(e, green, "> ", n.Text)
		case ToneWarning:
			t.warn(e, n.Text)
		case ToneFailure:
			t.fail(e, n.Text)
		}
	}
}
