package loop_test

import (
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/internal/testkit/simfs"
	"github.com/ralph-loop/ralph/journal/event"
)

// agent is one process of an agent and its session. The seed decides what it does: it says things,
// uses tools, claims to be done, falls silent, dies.
type agent struct {
	w     *world
	h     *simExecutor
	pid   int
	place int // in the loop's list
	able  abilities
	alive bool
	born  time.Time

	turn      int // number of turns it was given
	turning   bool
	iteration int
	message   int
	sent      []event.Decided // messages that it was given and has not confirmed
	causes    []event.Seq     // of these
	leaving   bool
	resting   bool
	endCause  event.Seq
	gone      []func()
	stderr    string
	lingered  bool
	jobs      []*job // in the background
	held      bool   // its result waits for the jobs

	member member
}

// abilities are what the agent's protocol can do.
type abilities struct{ live, costs, tools, exitEnds, reset, same bool }

// begin gives the agent its prompt.
func (a *agent) begin(iteration int, reused bool, cause event.Seq) {
	a.turn++
	a.turning, a.resting, a.iteration, a.sent, a.causes = true, false, iteration, nil, nil
	a.jobs, a.held = nil, false
	d := event.Encode(event.AgentStarted{
		PID: a.pid, Argv: []string{"agent", "--frobnicate"}, Reused: reused, Live: a.able.live, Costs: a.able.costs, Tools: a.able.tools, ExitEnds: a.able.exitEnds,
		Uncounted: !a.able.costs && !a.able.tools,
	}, a.by())
	d.Cause = cause
	a.h.r.heard.last, a.h.r.heard.turn = a.w.now, a.alive
	a.h.r.send(input{Input: loop.Input{Drafts: []event.Draft{d}}})
	a.act(a.w.rng.IntN(12))
}

func (a *agent) by() string { return "agent:" + a.member.name }

// soon calls do after a while, if the agent is alive and in the same turn.
func (a *agent) soon(d time.Duration, do func()) {
	turn := a.turn
	a.w.schedule(a.h.r, d, func() {
		if a.alive && a.turn == turn {
			do()
		}
	})
}

// act does one thing after another, and then finishes the turn in one of many ways.
func (a *agent) act(left int) {
	if a.member.refuses {
		a.stderr = "error: unknown option --frobnicate"
	}
	if a.member.hopeless || a.member.refuses {
		a.exit(1, "", a.w.span(0, 100*time.Millisecond))
		return
	}
	pause := a.w.span(time.Millisecond, 20*time.Second)
	if a.w.broken.dicey {
		pause += time.Duration(dice(1000)) * time.Microsecond
	}
	if a.w.chance(3) {
		pause = a.w.span(0, 40*time.Minute)
	}
	a.soon(pause, func() {
		if !a.turning {
			return
		}
		if left == 0 {
			a.finish()
			return
		}
		a.confirm()
		a.wonder()
		var batch []event.Draft
		var facts []int
		for range 1 + a.w.rng.IntN(4) {
			for _, p := range a.doing() {
				d, n := a.fact(p)
				batch, facts = append(batch, d), append(facts, n)
			}
		}
		a.h.r.sign()
		a.h.r.send(input{loop.Input{Drafts: batch}, facts})
		a.act(left - 1)
	})
}

// fact makes a draft of one line that the agent printed; lines are numbered, so that a lost one is
// noticed.
func (a *agent) fact(p event.Payload) (event.Draft, int) {
	a.w.facts++
	d := event.Encode(p, a.by())
	d.Raw = fmt.Appendf(nil, `{"n":%d}`, a.w.facts)
	return d, a.w.facts
}

func (a *agent) print(p event.Payload) {
	d, n := a.fact(p)
	a.h.r.sign()
	if p.EventType() == event.TypeAgentFinished {
		a.h.r.heard.turn = false
	}
	a.h.r.send(input{loop.Input{Drafts: []event.Draft{d}}, []int{n}})
}

// doing is what an agent does in the middle of its turn.
func (a *agent) doing() []event.Payload {
	r := a.w.rng
	if a.w.scenario.background > 0 && a.w.chance(a.w.scenario.background) {
		return a.putAside()
	}
	switch roll := r.IntN(100); {
	case roll < 30:
		return a.saying(a.w.long([]string{"I count.", "One more.", "Look: `<promise>COMPLETE</promise>` is what I will say.", "All is well\n"}[r.IntN(4)]))
	case roll < 40:
		return []event.Payload{event.AgentThought{Block: a.block(), Text: event.Plain("hm"), Final: true}}
	case roll < 60 && a.able.tools:
		id := fmt.Sprint("t", a.w.facts)
		a.w.project.work(a.iteration)
		if a.w.scenario.silences > 0 && a.w.chance(a.w.scenario.silences) {
			return a.slowTool(id)
		}
		return []event.Payload{
			event.ToolCalled{ID: id, Name: "bash", Input: []byte(`{"command":"ls"}`)},
			event.ToolProgressed{ID: id, Text: event.Plain("a.go\n")},
			event.ToolReturned{ID: id, OK: r.IntN(4) > 0, Output: event.Plain("a.go\nb.go\n")},
		}
	case roll < 80:
		used := event.AgentUsed{In: r.Int64N(500), Out: r.Int64N(200), CacheRead: r.Int64N(1000)}
		if a.able.costs && r.IntN(10) > 0 {
			usd := float64(r.IntN(100)) / 1000
			used.USD = &usd
		}
		return []event.Payload{used}
	case roll < 85:
		return []event.Payload{event.AgentRetried{Attempt: 1, Kind: "overload", Delay: 1000}}
	case roll < 90:
		return []event.Payload{event.AgentPlanned{Todos: []event.Todo{{Text: "count", Status: "active"}}}}
	case roll < 95:
		return []event.Payload{event.AgentUnparsed{}}
	}
	return []event.Payload{event.AgentNoticed{What: "weather", Text: "rain"}}
}

func (a *agent) block() string {
	a.message++
	return fmt.Sprintf("m%d.0", a.message)
}

// saying returns one message, in one piece or in two.
func (a *agent) saying(text string) []event.Payload {
	block := a.block()
	if a.w.chance(50) {
		return []event.Payload{event.AgentSaid{Block: block, Text: event.Plain(text), Final: true}}
	}
	half := len(text) / 2
	return []event.Payload{
		event.AgentSaid{Block: block, Text: event.Plain(text[:half])},
		event.AgentSaid{Block: block, Text: event.Plain(text[half:]), Final: true},
	}
}

// confirmLate is what an agent must not do: see mutation.
func (a *agent) confirmLate() {
	d := event.Encode(event.CommandDelivered{ID: a.sent[0].Command, How: "live", Iteration: a.iteration}, a.by())
	d.Cause = a.causes[0]
	a.h.r.send(input{Input: loop.Input{Drafts: []event.Draft{d}}})
}

// confirm reports that the agent has read the messages that were put into its turn.
func (a *agent) confirm() {
	for len(a.sent) > 0 && a.w.chance(60) && !a.w.broken.confirms {
		d, n := a.fact(event.CommandDelivered{ID: a.sent[0].Command, How: "live", Iteration: a.iteration})
		d.Cause = a.causes[0]
		a.sent, a.causes = a.sent[1:], a.causes[1:]
		a.h.r.send(input{loop.Input{Drafts: []event.Draft{d}}, []int{n}})
	}
}

// finish ends the turn in one of the ways in which turns end.
func (a *agent) finish() {
	w := a.w
	if a.waits() {
		return
	}
	if w.chance(w.scenario.claims) {
		claim := []string{
			"<promise>COMPLETE</promise>", "Done.\n<promise>COMPLETE</promise>", "<response>done</response>",
			"```\n<promise>COMPLETE</promise>\n```", "I will soon say <promise>COMPLETE</promise>, but not now",
		}[w.rng.IntN(5)]
		for _, p := range a.saying(claim) {
			a.print(p)
		}
	}
	if w.scenario.edition >= 2 && a.otherwise() {
		return
	}
	roll := w.rng.IntN(100)
	if roll >= w.scenario.trouble {
		a.finished("ok", "")
		return
	}
	switch w.rng.IntN(8) {
	case 0:
		a.turning = false // it hangs, and says nothing any more
	case 1, 2:
		a.finished("error", "the model is tired")
	case 3:
		a.exit(0, "", 0)
	case 4:
		a.exit(1, "", 0)
	case 5:
		a.exit(-1, "segmentation fault", 0)
	case 6:
		a.finished("error", "the model is tired")
		a.exit(1, "", w.span(0, time.Second))
	case 7:
		a.finished("ok", "")
		a.exit(0, "", w.span(0, time.Second))
	}
}

func (a *agent) finished(outcome, problem string) {
	a.turning = false
	a.w.project.leave()
	if a.able.exitEnds {
		code := 0
		if outcome != "ok" {
			code = 1
		}
		a.exit(code, "", 0)
		return
	}
	finished := event.AgentFinished{Outcome: event.TurnOutcome(outcome), Error: problem}
	if outcome == "error" && a.refuses() {
		finished.Kind = event.KindRefusal
	}
	a.print(finished)
	if a.w.scenario.edition >= 2 && a.w.chance(5) {
		a.reportLate()
	}
	if a.w.chance(20) {
		a.soon(a.w.span(0, 50*time.Millisecond), a.confirm)
	}
}

// reportLate reports a turn's usage after the turn, as some agents do.
func (a *agent) reportLate() {
	a.w.schedule(a.h.r, a.w.span(0, 5*time.Second), func() {
		if a.alive && !a.turning {
			a.print(event.AgentUsed{In: 300, Out: 100})
		}
	})
}

// rest parks the process for the next iteration. It may still die.
func (a *agent) rest(cause event.Seq) {
	d := event.Encode(event.AgentParked{Strays: a.strays()}, a.by())
	d.Cause = cause
	a.h.r.send(input{Input: loop.Input{Drafts: []event.Draft{d}}})
	if a.w.broken.confirms && len(a.sent) > 0 {
		a.confirmLate()
	}
	a.sent, a.causes = nil, nil
	a.turn++
	a.resting = !a.w.broken.hasty
	if a.w.chance(15) {
		a.exit(1, "", a.w.span(0, 3*time.Second))
	}
}

// leave asks the process to exit. Some do not.
func (a *agent) leave(cause event.Seq) {
	a.turning, a.leaving, a.endCause = false, true, cause
	if a.w.chance(10) {
		return
	}
	a.exit(0, "", a.w.span(0, graceMost))
}

// abort ends the turn and the process, politely first.
func (a *agent) abort(cause event.Seq) {
	wasTurning := a.turning
	a.turning, a.leaving, a.endCause = false, true, cause
	if wasTurning && a.able.live && a.w.chance(50) {
		a.soon(a.w.span(0, graceMost), func() { a.print(event.AgentFinished{Outcome: "aborted"}) })
	}
	if a.w.chance(30) {
		a.exit(-1, "killed", 4*graceMost)
		return
	}
	a.exit(143, "", a.w.span(0, 2*graceMost))
}

// kill ends the process tree at once.
func (a *agent) kill() {
	if a.alive {
		a.turning, a.leaving = false, true
		a.turn++
		a.exit(-1, "killed", a.w.span(0, 100*time.Millisecond))
	}
}

// exit ends the process after a while; its end is delivered once.
func (a *agent) exit(code int, signal string, in time.Duration) {
	a.turning = false
	if a.w.scenario.lingers && a.w.project.done && code >= 0 && !a.lingered && a.w.chance(70) {
		a.lingered = true
		a.w.schedule(a.h.r, in, func() { a.linger(code) })
		return
	}
	a.w.schedule(a.h.r, in, func() {
		if !a.alive {
			return
		}
		a.alive = false
		a.h.r.heard.turn = false
		if a.w.broken.immortal && a.w.chance(30) {
			a.alive = true
		}
		a.w.note("agent %d exits with %d %s", a.pid, code, signal)
		d := event.Encode(event.AgentExited{Code: code, Signal: signal, Took: a.w.now.Sub(a.born).Milliseconds(), Strays: a.strays(), Stderr: a.stderr}, a.by())
		d.Cause = a.endCause
		drafts := []event.Draft{d}
		if a.w.broken.exitsTwice {
			drafts = append(drafts, d)
		}
		a.h.r.send(input{Input: loop.Input{Drafts: drafts}})
		for _, do := range a.gone {
			do()
		}
		a.gone = nil
	})
}

// whenGone does something once the end of the process is delivered.
func (a *agent) whenGone(do func()) {
	if !a.alive {
		do()
		return
	}
	a.gone = append(a.gone, do)
}

// orphan decides the fate of the process when its runner dies: it dies with the machine; otherwise
// it may exit at the end of its input, or live on.
func (a *agent) orphan(how simfs.Loss) {
	switch {
	case !a.alive:
	case how != simfs.Killed:
		a.alive = false
	case a.w.chance(30):
		a.w.after(a.w.span(0, time.Minute), func() { a.alive = false })
	}
}
