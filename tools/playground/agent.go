package playground

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// agentName is the author of what the agent reports.
const agentName = "agent:claude"

// agent is one process of an agent and its turn. The seed decides what it does, unless a person has
// chosen its next fault.
type agent struct {
	r         *runner
	pid       int
	alive     bool
	turning   bool
	hangs     bool
	iteration int
	born      time.Time
	blocks    int
	tools     int
	steps     int // done in this turn
	pause     int // serial number of the pause that it is in
}

// start starts a process with the prompt.
func (x executor) start(cause event.Seq) {
	w := x.w
	w.pids++
	a := &agent{r: x.runner, pid: 5000 + w.pids, alive: true, turning: true, iteration: x.engine.State().Lifecycle.Iteration, born: w.now}
	w.agent = a
	x.report(event.AgentStarted{PID: a.pid, Argv: []string{"claude", "--output-format", "stream-json"}, Live: true, Costs: true, Tools: true}, agentName, cause)
	a.soon(a.r.w.span(time.Second, 4*time.Second))
}

// soon lets the agent act after a pause. A fault that a person chooses cuts it short.
func (a *agent) soon(d time.Duration) {
	a.pause++
	pause := a.pause
	a.r.soon(d, func() {
		if a.pause == pause && a.alive && a.turning && !a.hangs {
			a.act()
		}
	})
}

func (a *agent) print(payloads ...event.Payload) {
	var drafts []event.Draft
	for _, p := range payloads {
		drafts = append(drafts, event.Encode(p, agentName))
	}
	a.r.step(drafts...)
}

func (a *agent) say(text string) {
	a.blocks++
	a.print(event.AgentSaid{Block: fmt.Sprintf("m%d.0", a.blocks), Text: event.Plain(text), Final: true}, a.used())
}

// tool is a tool that the agent uses, which takes no time.
func (a *agent) tool(name, key, value, output string, ok bool) {
	a.tools++
	id := fmt.Sprintf("t%d.%d", a.pid, a.tools)
	input, err := json.Marshal(map[string]string{key: value})
	if err != nil {
		panic(err)
	}
	a.print(event.ToolCalled{ID: id, Name: name, Input: input}, event.ToolReturned{ID: id, OK: ok, Output: event.Plain(output)}, a.used())
}

func (a *agent) used() event.AgentUsed {
	r := a.r.w.rng
	usd := float64(10+r.IntN(40)) / 1000
	return event.AgentUsed{In: 200 + r.Int64N(900), Out: 100 + r.Int64N(700), CacheRead: 4000 + r.Int64N(20000), USD: &usd}
}

// act does one thing, and then the next one.
func (a *agent) act() {
	w := a.r.w
	if w.now.Before(w.outage) {
		a.limited(event.KindOverload, "", "529 overloaded")
		return
	}
	if fault := w.fault; fault != "" {
		w.fault = ""
		a.faulty(fault)
		return
	}
	a.steps++
	p := &w.project
	switch {
	case a.steps == 1:
		a.say("I read task.md and the tests, then do the next box.")
	case a.steps == 2:
		a.tool("Read", "file_path", "task.md", fmt.Sprintf("%d of %d boxes are ticked", p.ticked, len(boxes)), true)
	case a.steps == 3:
		edit := p.work()
		a.tool("Edit", "file_path", edit, "edited", true)
	case a.steps == 4:
		a.tool("Bash", "command", "go vet ./...", "no problems", true)
	case a.steps == 5 && w.chance(40):
		edit := p.work()
		a.tool("Edit", "file_path", edit, "edited", true)
	default:
		a.finish()
		return
	}
	a.soon(w.span(3*time.Second, 25*time.Second))
}

// finish ends the turn, with a claim if the agent takes the work for done. That may be too early.
func (a *agent) finish() {
	p := &a.r.w.project
	if p.done == len(boxes) || p.done == len(boxes)-1 && a.r.w.chance(25) {
		a.claim("All boxes are done.")
		return
	}
	a.say(fmt.Sprintf("%d of %d boxes are done. The next iteration continues.", p.done, len(boxes)))
	a.finished(event.AgentFinished{Outcome: event.TurnOK})
}

func (a *agent) claim(text string) {
	a.say(text + "\n<promise>COMPLETE</promise>")
	a.finished(event.AgentFinished{Outcome: event.TurnOK})
}

func (a *agent) finished(p event.AgentFinished) {
	if a.turning {
		a.turning = false
		a.print(p)
	}
}

func (a *agent) limited(kind event.FaultKind, until, text string) {
	a.print(event.AgentLimited{Kind: kind, Until: until, Text: text})
	a.finished(event.AgentFinished{Outcome: event.TurnError, Kind: kind, Error: text})
}

// faulty does what a person has chosen.
func (a *agent) faulty(fault string) {
	w := a.r.w
	switch fault {
	case "rate":
		a.limited(event.KindRate, w.now.Add(15*time.Minute).Truncate(time.Minute).Format(time.RFC3339), "429 rate limit")
	case "hang":
		a.hangs = true
		w.note("warning", "The agent hangs: its process lives, and it says nothing any more.")
	case "crash":
		a.exit(-1, "segmentation fault", 0)
	case "claim":
		a.claim("I am sure that everything works now.")
	case "game":
		w.project.game()
		a.tool("Edit", "file_path", guardrailFile+": func TestCounts(t *testing.T) {}", "edited", true)
		a.tool("Edit", "file_path", "task.md: tick all boxes", "edited", true)
		a.claim("All tests pass, and all boxes are ticked.")
	}
}

// endAgent ends an agent's process that lives, without a report.
func (w *Run) endAgent() (lived bool) {
	if w.agent == nil || !w.agent.alive {
		return false
	}
	w.agent.alive = false
	return true
}

// exit ends the process, which is reported once.
func (a *agent) exit(code int, signal string, cause event.Seq) {
	if a == nil || !a.alive {
		return
	}
	a.alive, a.turning = false, false
	took := a.r.w.now.Sub(a.born).Milliseconds()
	a.r.report(event.AgentExited{Code: code, Signal: signal, Took: took}, agentName, cause)
}
