package pi

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// turn is what is known of the turn that Open began.
type turn struct {
	begun    bool   // agent_start was seen
	aborting bool   // Abort was called
	aborted  bool   // pi said so in agent_settled (1.1.0 and later)
	last     ending // of the last assistant message
	gaveUp   string // finalError of the last retries

	// For a pi that may not say when it is done.
	ended  bool   // agent_end came and nothing has begun since
	probe  string // id of the get_state that asks whether it is
	probes int    // probes since agent_end
}

// ending is how an assistant message ended.
type ending struct {
	known   bool
	reason  string // pi's stopReason
	message string // pi's errorMessage
	// the HTTP status in pi's diagnostics (Bedrock, of 0.87.1); 0 if there is none
	status int
	raw    string // the provider's own stop reason, where pi has one
	// refusal is what a part of the message says that refuses
	refusal string
}

// kind names how the message went wrong.
func (e ending) kind(message string) event.FaultKind {
	f := readFault(message)
	if f.Status == 0 {
		f.Status = e.status
	}
	if e.raw != "" {
		f.Names = append(f.Names, strings.TrimPrefix(e.raw, "incomplete."))
	}
	return kindOf(f)
}

// worked says that pi is at work: the answer of an open probe would be outdated.
func (t *turn) worked() { t.ended, t.probe, t.probes = false, "", 0 }

// version is what pi's lines show of its version, which it does not name.
type version struct {
	settles bool // it is one that sends agent_settled
	noticed bool // that it is too old was said
}

func (d *Dialect) outdated(out *agent.Decoded) {
	if d.version.noticed {
		return
	}
	d.version.noticed = true
	out.Add(event.AgentNoticed{
		What: "pi.outdated",
		Text: "this pi is older than 0.84.4 and may not say when it is done; " +
			"install @earendil-works/pi-coding-agent 0.84.4 or later, which needs node 22.19 or later " +
			"(on an older node, npm installs an old pi without saying so)",
	})
}

func (d *Dialect) agentStart(_ jsonscan.Value, out *agent.Decoded) {
	d.turn.worked()
	switch d.phase {
	case prompted:
		d.accepted(out)
	case settling: // an extension began another run before the queue was cleared
		d.phase, d.clearID = running, ""
	}
	if d.turn.begun {
		return
	}
	d.turn.begun = true
	if d.turn.aborting && d.phase == running {
		out.Reply = append(out.Reply, d.abortLines()...)
	}
}

// accepted says that pi took the prompt.
func (d *Dialect) accepted(out *agent.Decoded) {
	d.phase = running
	if d.turn.aborting {
		out.Reply = append(out.Reply, d.abortLines()...)
		return
	}
	out.Reply = append(out.Reply, d.steers.held...)
	d.steers.held = nil
}

// agentEnd ends one run of pi's inner loop. A retry, a compaction or a queued
// message may begin another, and only pi knows: it says agent_settled when none
// does. A pi that may be too old to say so is asked.
func (d *Dialect) agentEnd(m jsonscan.Value, out *agent.Decoded) {
	out.DropRaw = true
	d.turn.ended = true
	willRetry := m.Get("willRetry")
	if !willRetry.Exists() {
		d.outdated(out)
	}
	if !willRetry.IsTrue() {
		d.sendProbe(out)
	}
}

// maxProbes bounds how often a pi that says it is still streaming is asked again
// at once.
const maxProbes = 16

func (d *Dialect) sendProbe(out *agent.Decoded) {
	if d.version.settles || d.phase != running || !d.turn.ended || d.turn.probes == maxProbes {
		return
	}
	d.turn.probes++
	d.turn.probe = d.requests.Next()
	out.Reply = append(out.Reply, request(d.turn.probe, "get_state"))
}

// probeAnswered takes the answer of a probe. A pi which sends agent_settled does so
// before it answers, and nothing else came meanwhile, or the probe would have
// been forgotten.
func (d *Dialect) probeAnswered(success bool, state jsonscan.Value, out *agent.Decoded) {
	d.turn.probe = ""
	if success && (state.Get("isStreaming").IsTrue() || state.Get("isCompacting").IsTrue()) {
		d.sendProbe(out)
		return
	}
	d.finishTurn(out)
}

// settled ends the turn but for the queue: what is left in it would reach the model with the next
// prompt.
func (d *Dialect) settled(m jsonscan.Value, out *agent.Decoded) {
	d.version.settles = true
	switch d.phase {
	case running:
		d.turn.aborted = m.Get("aborted").IsTrue()
		d.turn.worked()
		d.phase = settling
		d.clearID = d.requests.Next()
		out.Reply = append(out.Reply, request(d.clearID, "clear_queue"))
	case settling: // pi settles twice and has not answered: it will not
		d.finishTurn(out)
	}
}

func (d *Dialect) finishTurn(out *agent.Decoded) {
	finished := d.turn.outcome()
	if finished.Outcome == "error" {
		out.Limit(event.AgentLimited{Kind: finished.Kind, Until: until(finished.Error), Text: finished.Error})
	}
	d.finish(finished, out)
}

func (d *Dialect) finish(finished event.AgentFinished, out *agent.Decoded) {
	d.calls.Lose(out, func(agent.Call) bool { return true })
	out.Add(finished)
	d.phase = idle
	d.clearID, d.promptID, d.prompt = "", "", ""
	d.turn.worked()
	d.steers = steers{}
}

// outcome is that of the last assistant message: agent_settled itself does not distinguish success
// from failure.
func (t *turn) outcome() event.AgentFinished {
	last := t.last
	switch {
	case t.aborted, last.reason == "aborted",
		t.aborting && last.reason != "stop" && last.reason != "length":
		return event.AgentFinished{Outcome: "aborted"}
	case last.reason == "error":
		message := last.message
		if message == "" {
			message = t.gaveUp
		}
		kind := last.kind(message)
		if kind == event.KindContext {
			return event.AgentFinished{Outcome: "length", Error: message, Kind: kind}
		}
		return event.AgentFinished{Outcome: "error", Error: message, Kind: kind}
	case last.reason == "length":
		return event.AgentFinished{Outcome: "length"}
	case !last.known:
		return event.AgentFinished{Outcome: "error", Error: "pi settled without an answer of the model", Kind: "other"}
	case last.refusal != "":
		return agent.Refused(last.refusal)
	}
	return event.AgentFinished{Outcome: "ok"}
}

func (d *Dialect) retryStart(m jsonscan.Value, out *agent.Decoded) {
	d.turn.probe = ""
	message := m.Get("errorMessage").Text()
	out.Add(event.AgentRetried{
		Attempt: int(agent.Int(m.Get("attempt"))),
		Max:     int(agent.Int(m.Get("maxAttempts"))),
		Delay:   agent.Int(m.Get("delayMs")),
		Kind:    classify(message),
		Text:    message,
	})
}

func (d *Dialect) retryEnd(m jsonscan.Value, out *agent.Decoded) {
	final := m.Get("finalError").Text()
	out.Add(event.AgentNoticed{What: "auto_retry_end", Text: final})
	if !m.Get("success").IsTrue() {
		d.turn.gaveUp = final
		d.sendProbe(out)
	}
}

func (d *Dialect) compactionStart(m jsonscan.Value, out *agent.Decoded) {
	d.turn.probe = ""
	out.Add(event.AgentNoticed{What: "compaction_start", Text: m.Get("reason").Text()})
}

func (d *Dialect) compactionEnd(m jsonscan.Value, out *agent.Decoded) {
	result := m.Get("result")
	if result.IsObject() && !m.Get("aborted").IsTrue() {
		out.Add(event.AgentCompacted{
			Trigger: m.Get("reason").Text(),
			Before:  agent.Int(result.Get("tokensBefore")),
			After:   agent.Int(result.Get("estimatedTokensAfter")),
		})
		d.used(result.Get("usage"), jsonscan.Value{}, true, out)
	} else {
		out.Add(event.AgentNoticed{What: "compaction_end", Text: m.Get("errorMessage").Text()})
	}
	if !m.Get("willRetry").IsTrue() {
		d.sendProbe(out)
	}
}
