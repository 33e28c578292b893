package acpserver

import (
	"encoding/json"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/transcript"
)

// showState sends what changed of the plan, the budget, the title and the state.
func (w *watch) showState() {
	if w.view.Plan != nil {
		w.showPlan(stories(w.view.Plan.Stories, w.view.Story))
	}
	w.showUsage()
	w.showTitle(&w.view, false)
	if w.x.s.speaks().version == draft {
		w.showActivity(&w.view, false)
	}
}

// showTitle sends the title of the session.
func (w *watch) showTitle(state *projector.View, died bool) {
	w.once(&w.shown.title, object{"sessionUpdate": "session_info_update", "title": titleOf(registry.Status{Entry: w.loop, Head: state.Summary, Died: died})})
}

// showActivity sends the state of version 2: running, idle, or requires_action.
func (w *watch) showActivity(state *projector.View, died bool) {
	u := object{"sessionUpdate": "state_update", "state": "running"}
	switch stop, failed, over := outcome(state, died); {
	case over && !died && state.Ended == nil:
		u["state"] = "requires_action"
	case over:
		u["state"], u["stopReason"] = "idle", stop
		if failed != nil {
			u["error"] = failed
		}
	}
	w.once(&w.shown.state, u)
}

// once sends an update that differs from the last of its kind.
func (w *watch) once(last *string, u object) {
	text, err := json.Marshal(u)
	if err == nil && string(text) != *last {
		*last = string(text)
		w.x.update(u)
	}
}

// noLimit is the size of a budget of tokens that has no limit: the largest number that every
// client reads exactly.
const noLimit = 1<<53 - 1

// showUsage sends the budget: the tokens used, of limits.tokens, and the money spent.
func (w *watch) showUsage() {
	s := w.view.Summary
	used := int64(0)
	if s.TokensIn != nil && s.TokensOut != nil {
		used = *s.TokensIn + *s.TokensOut
	}
	if used == 0 && s.Cost == nil {
		return
	}
	size := int64(noLimit)
	if rules := w.view.Rules; rules != nil && rules.Limits.Tokens > 0 {
		size = rules.Limits.Tokens
	}
	u := object{"sessionUpdate": "usage_update", "used": used, "size": size}
	if s.Cost != nil {
		u["cost"] = object{"amount": *s.Cost, "currency": "USD"}
	}
	w.once(&w.shown.usage, u)
}

// Of a plan, so many entries are sent, each so long.
const (
	planMost  = 200
	entryMost = 300
)

// showPlan sends the list of what is to be done.
func (w *watch) showPlan(entries []object) {
	u := object{"sessionUpdate": "plan", "entries": entries}
	if w.x.s.speaks().version == draft {
		u = object{"sessionUpdate": "plan_update", "plan": object{"type": "items", "planId": "plan", "entries": entries}}
	}
	w.once(&w.shown.plan, u)
}

func planEntry(text, status string) object {
	return object{"content": units.Cut(text, entryMost), "priority": "medium", "status": status}
}

// todos is the agent's own list as a plan.
func todos(p transcript.Plan) []object {
	entries := []object{}
	for _, t := range p.Todos[:min(len(p.Todos), planMost)] {
		status := "pending"
		switch t.Status {
		case event.TodoActive:
			status = "in_progress"
		case event.TodoDone:
			status = "completed"
		}
		entries = append(entries, planEntry(clean(t.Text), status))
	}
	return entries
}

// stories are the stories of a plan as a plan of ACP; current is the one that is worked on, or nil.
func stories(all []event.StoryState, current *projector.Story) []object {
	entries := []object{}
	for _, s := range all[:min(len(all), planMost)] {
		status := "pending"
		switch {
		case s.Passes:
			status = "completed"
		case current != nil && s.ID == current.ID:
			status = "in_progress"
		}
		entries = append(entries, planEntry(render.Clean(s.ID+" "+s.Title), status))
	}
	return entries
}
