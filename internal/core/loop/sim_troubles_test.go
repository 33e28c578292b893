package loop_test

import (
	"strings"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// What agents do in the second edition and did not do in the first.

// otherwise ends the turn in one of the ways of the second edition, if it does.
func (a *agent) otherwise() bool {
	w := a.w
	switch {
	case a.member.outages && w.unreachable():
		a.limited(event.KindNetwork)
	case a.member.limits > 0 && w.chance(a.member.limits):
		a.limited(a.member.kinds[w.rng.IntN(len(a.member.kinds))])
	case w.scenario.asks > 0 && w.chance(w.scenario.asks):
		a.ask()
	default:
		return false
	}
	return true
}

// unreachable reports whether there is an outage.
func (w *world) unreachable() bool {
	from := w.began.Add(w.scenario.outage)
	return w.scenario.outage > 0 && !w.now.Before(from) && w.now.Before(from.Add(w.scenario.outageFor))
}

// limited is a turn that meets a limit. Now and then the agent goes on after it.
func (a *agent) limited(kind event.FaultKind) {
	w := a.w
	limit := event.AgentLimited{Kind: kind, Text: w.long(string(kind + " says no"))}
	if kind == event.KindRate || kind == event.KindOverload || kind == event.KindQuota {
		limit.Until = w.stated()
	}
	if w.chance(80) {
		a.print(limit)
	}
	switch w.rng.IntN(6) {
	case 0:
		for _, p := range a.saying("it works again") {
			a.print(p)
		}
		a.finished("ok", "")
	case 1:
		a.exit(1, "", 0)
	case 2:
		a.print(event.AgentLimited{Kind: kind, Until: limit.Until})
		a.failed(string(kind), "429 too many words")
	default:
		a.failed(string(kind), "")
	}
}

// failed ends the turn with an error of a kind.
func (a *agent) failed(kind, problem string) {
	if a.able.exitEnds {
		a.exit(1, "", 0)
		return
	}
	a.turning = false
	if a.refuses() {
		kind = string(event.KindRefusal)
	}
	a.print(event.AgentFinished{Outcome: "error", Kind: event.FaultKind(kind), Error: a.w.long(problem)})
	if a.w.scenario.edition >= 3 && a.w.chance(20) {
		a.reportLate()
	}
}

// refuses reports whether the turn that fails now is one that the model refused. It draws no random
// number, so that the runs of older seeds do not change.
func (a *agent) refuses() bool { return a.w.scenario.edition >= 3 && a.w.now.UnixMilli()%4 == 0 }

// stated returns the stated end of a limit: in a while, or a text that must not be believed.
func (w *world) stated() string {
	now := w.wall()
	switch w.rng.IntN(8) {
	case 0:
		return ""
	case 1:
		return now.Add(-w.span(0, time.Hour)).Format(time.RFC3339)
	case 2:
		return now.Add(60 * 24 * time.Hour).Format(time.RFC3339)
	case 3:
		return []string{"tomorrow", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "1764547200"}[w.rng.IntN(4)]
	}
	if w.scenario.droughts == 0 {
		return ""
	}
	w.scenario.droughts--
	most := []time.Duration{time.Minute, 5 * time.Hour, 7 * 24 * time.Hour}[w.rng.IntN(3)]
	return now.Add(w.span(0, most)).Format(time.RFC3339)
}

// ask is a turn at whose end the agent asks for a person.
func (a *agent) ask() {
	switch a.w.rng.IntN(5) {
	case 0:
		for _, p := range a.saying("I need a key.\n<blocked>" + a.w.long("no key") + "</blocked>") {
			a.print(p)
		}
		a.finished("ok", "")
	case 1:
		a.w.users.drop(event.CommandReceived{Kind: event.CommandBlocked, Text: a.w.long("which way?")})
		a.finished("ok", "")
	case 2:
		a.w.users.drop(event.CommandReceived{Kind: event.CommandWait, Text: a.w.long("come and see")})
		a.finished("ok", "")
	case 3:
		a.exit(42, "", 0)
	case 4:
		a.w.project.wait = true
		a.finished("ok", "")
	}
}

// slowTool is a tool that is silent for long.
func (a *agent) slowTool(id string) []event.Payload {
	a.soon(a.w.span(0, time.Hour), func() {
		a.print(event.ToolReturned{ID: id, OK: true, Output: event.Plain("at last")})
	})
	return []event.Payload{event.ToolCalled{ID: id, Name: "bash", Input: []byte(`{"command":"make"}`)}}
}

// linger lets the process exit while what it started goes on.
func (a *agent) linger(code int) {
	if !a.alive {
		return
	}
	a.print(event.AgentNoticed{What: event.NoticeLingering, Text: "it may go on"})
	a.h.r.heard.turn = false // its silence does not count
	a.exit(code, "", a.w.span(0, 2*time.Hour))
}

// long makes a text long in a wordy scenario.
func (w *world) long(text string) string {
	if w.scenario.wordily {
		return text + strings.Repeat(" and so on", 100+w.rng.IntN(800)) + "\n" + text
	}
	return text
}
