package acp

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// ending is how one prompt of the turn was answered.
type ending struct {
	main     bool // the turn's own prompt, not a steer
	finished event.AgentFinished
	used     use
}

// good says that the model came to an end, of whatever kind.
func (e ending) good() bool { return e.finished.Outcome == "ok" || e.finished.Outcome == "length" }

// readOutcome reads the answer to a prompt.
func (d *Dialect) readOutcome(result, failed jsonscan.Value) ending {
	if failed.Exists() {
		if d.turn.aborting {
			return ending{finished: event.AgentFinished{Outcome: "aborted"}}
		}
		return ending{finished: d.fail(readFailure(failed))}
	}
	e := ending{used: readUse(result)}
	reason := result.Get("stopReason")
	switch string(reason.Inner()) {
	case "end_turn":
		e.finished = event.AgentFinished{Outcome: "ok"}
	case "cancelled":
		e.finished = event.AgentFinished{Outcome: "aborted"}
	case "max_tokens", "max_turn_requests":
		e.finished = event.AgentFinished{Outcome: "length", Error: reason.Text(), Kind: "other"}
	case "refusal":
		e.finished = event.AgentFinished{Outcome: "error", Error: "the agent refused to go on", Kind: event.KindRefusal}
	default:
		e.finished = event.AgentFinished{Outcome: "error", Error: agent.Cut("the agent stopped for an unknown reason: " + reason.Text()), Kind: "other"}
	}
	return e
}

// fail is a turn that ended with a fault.
func (d *Dialect) fail(f failure) event.AgentFinished {
	finished := event.AgentFinished{Outcome: "error", Error: agent.Cut(f.Words), Kind: f.kind()}
	if finished.Kind == event.KindContext {
		finished.Outcome = "length"
	}
	return finished
}

// endTurn ends the turn if no prompt of it is open any more. A steer's outcome counts if it is
// good: the steer may have taken the place of the prompt.
func (d *Dialect) endTurn(out *agent.Decoded) {
	if !d.turn.open || len(d.turn.ended) == 0 || d.prompted() {
		return
	}
	var finished event.AgentFinished
	for _, e := range d.turn.ended {
		if e.main || e.good() {
			finished = e.finished
		}
	}
	d.modelText(out)
	if finished.Outcome == "ok" {
		finished = d.findError(finished)
	}
	d.message.end(out)
	d.used(out)
	out.Limit(event.AgentLimited{Kind: finished.Kind, Text: finished.Error})
	d.finish(finished, out)
}

// findError finds the error of a turn with a good end: Copilot 1.0.102 reports it as if it were the
// model's last words. (pi-acp 0.0.34 says nothing at all when the model cannot be asked: that turn
// is empty.) A model may end with such words itself. They are taken for the agent's if no request
// of the turn was answered, so that nothing is counted, or if the last one had to be made again;
// else the next iteration meets the error with its first request.
func (d *Dialect) findError(finished event.AgentFinished) event.AgentFinished {
	if d.turn.failure != "" && (d.turn.proved || !slices.ContainsFunc(d.turn.ended, func(e ending) bool { return e.used.known })) {
		return d.fail(failureOf(d.turn.failure))
	}
	return finished
}

// again reports that a request is made again. Until the model answers it is held up, so that an
// agent which waits for longer than the loop does is not taken for one that hangs.
func (d *Dialect) again(r event.AgentRetried, out *agent.Decoded) {
	if r.Attempt == 1 || r.Kind != d.turn.stuck {
		d.turn.stuck = r.Kind
		out.Limit(event.AgentLimited{Kind: r.Kind, Text: r.Text})
	}
	out.Add(r)
}

// finish ends the turn. What was steered and not taken in has no delivery.
func (d *Dialect) finish(finished event.AgentFinished, out *agent.Decoded) {
	d.message.end(out)
	d.calls.Lose(out, func(agent.Call) bool { return true })
	clear(d.tools)
	out.Add(finished)
	d.phase = idle
	d.turn = turn{}
	d.prompt = ""
}
