package render

import (
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// Running knows what runs in a loop at the moment: tools, guardrails, the model. Its texts are
// clean. It belongs to one goroutine.
type Running struct {
	// Project is the folder to which the names of its files are relative.
	Project string

	tools, guardrails []task
	doing             string // what the agent does while no tool runs
	since             time.Time
}

// task is a tool or a guardrail that runs.
type task struct {
	id, text string
	at       time.Time
}

// tasksKept is how many tasks are remembered; the oldest are forgotten.
const tasksKept = 256

// Event updates what runs. An unreadable payload changes nothing: the viewer that shows it reports
// it.
func (r *Running) Event(e event.Event) {
	payload, err := event.Decode(e)
	if err != nil {
		return
	}
	switch p := payload.(type) {
	case event.AgentSaid:
		r.doing, r.since = "the agent writes", e.At
	case event.AgentThought:
		r.doing, r.since = "the agent thinks", e.At
	case event.ToolCalled:
		r.tools = begun(r.tools, p.ID, r.called(p), e.At)
	case event.ToolReturned:
		r.tools = ended(r.tools, p.ID)
		r.doing, r.since = "the agent works", e.At
	case event.GuardrailStarted:
		r.guardrails = begun(r.guardrails, p.Name, "guardrail  "+FirstLine(p.Name), e.At)
	case event.GuardrailEnded:
		r.guardrails = ended(r.guardrails, p.Name)
	case event.AgentStarted:
		r.tools, r.guardrails = nil, nil
		r.doing, r.since = "the agent works", e.At
	case event.IterationStarted, event.AgentFinished, event.AgentExited, event.IterationEnded, event.LoopEnded:
		r.tools, r.guardrails = nil, nil
		r.doing, r.since = "", e.At
	}
}

// called is the text of a call, as on its line.
func (r *Running) called(p event.ToolCalled) string {
	about := Summary(p.Input)
	if r.Project != "" {
		about = strings.TrimPrefix(about, r.Project+"/")
	}
	return strings.TrimSpace(Clean(p.Name) + "  " + about)
}

func begun(tasks []task, id, text string, at time.Time) []task {
	tasks = append(ended(tasks, id), task{id: id, text: text, at: at})
	return tasks[max(len(tasks)-tasksKept, 0):]
}

func ended(tasks []task, id string) []task {
	return slices.DeleteFunc(tasks, func(t task) bool { return t.id == id })
}

// Now returns what runs and since when: the tool that was called last and the number of others, a
// guardrail, or what the agent does. what is empty if none of that is known.
func (r *Running) Now() (what string, since time.Time) {
	for _, tasks := range [][]task{r.guardrails, r.tools} {
		if n := len(tasks); n > 0 {
			what = tasks[n-1].text
			if n > 1 {
				what += " (and " + units.Quantity(n-1, "other") + ")"
			}
			return what, tasks[n-1].at
		}
	}
	return r.doing, r.since
}
