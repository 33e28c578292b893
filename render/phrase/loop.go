package phrase

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// named is the loop with its name, as far as that is known.
func (k Known) named(did string) string {
	return strings.Join(strings.Fields("loop "+k.Loop+" "+did), " ")
}

func loopStarted(p event.LoopStarted, k Known) Phrase {
	working, reviewing := Roles(p)
	return Started(p.Name, p.Project, working, reviewing, p.Rules.MaximumIterations)
}

// Started is the phrase of the beginning of a loop with these agents, as Roles returns them.
func Started(name, project string, working, reviewing []string, maximum int) Phrase {
	agents := strings.Join(working, ", then ")
	if len(reviewing) > 0 {
		agents += ", reviewed by " + And(reviewing)
	}
	if project != "" {
		agents += " in " + project
	}
	if maximum > 0 {
		agents += ", at most " + units.Quantity(maximum, "iteration")
	}
	return good(Known{Loop: name}.named("started"), agents)
}

func loopResumed(p event.LoopResumed, k Known) Phrase { return Resumed(Found(p), k) }

// Resumed is the phrase of a resume, with what the runner found.
func Resumed(found []string, k Known) Phrase {
	p := good(k.named("resumed"), strings.Join(found, "\n"))
	if len(found) > 0 {
		p.Tone = ToneWarning
	}
	return p
}

// Found says what the runner found that resumed a loop.
func Found(p event.LoopResumed) (found []string) {
	if p.Died {
		found = append(found, "the previous runner had died")
	}
	for lost := p.Lost; lost != nil; lost = lost.Before {
		found = append(found, fmt.Sprintf("%d bytes of an unfinished line were cut off segment %s and kept in %s", lost.Bytes, lost.Segment, lost.Kept))
	}
	if p.Swept > 0 {
		found = append(found, "ended "+units.Quantity(p.Swept, "process")+" of its agent that still ran")
	}
	return found
}

func loopConfigured(p event.LoopConfigured, _ Known) Phrase {
	return good(p.Key+" is now "+p.Value, "")
}

func loopPaused(p event.LoopPaused, _ Known) Phrase { return warning("paused", p.Why) }
func loopUnpaused(event.LoopUnpaused, Known) Phrase { return good("the pause is over", "") }
func segmentSealed(p event.SegmentSealed, _ Known) Phrase {
	return quiet("journal sha256 "+p.SHA256, "")
}

func loopWaiting(p event.LoopWaiting, k Known) Phrase {
	said := warning("waiting"+waited(p.For)+k.until(p.Until), p.Why)
	if left := p.Until.Sub(k.At); !k.At.IsZero() && left > 0 {
		said = said.with(units.Span(left))
	}
	return said
}

// waited is for what a loop waits, after a verb.
func waited(w event.Wait) string {
	if w == event.WaitPerson || w == event.WaitHeld {
		return " for " + w.String()
	}
	return ": " + w.String()
}

func loopWaited(p event.LoopWaited, _ Known) Phrase { return good("waited"+waited(p.For), "") }

func loopEnded(p event.LoopEnded, k Known) Phrase {
	tone := ToneGood
	switch p.Status {
	case event.StatusStopped:
		tone = ToneWarning
	case event.StatusFailed:
		tone = ToneFailure
	}
	return Phrase{tone, k.named(string(p.Status)), nil, p.Explained()}.with(string(p.Reason), Changed(p.Changed))
}

func loopFenced(p event.LoopFenced, k Known) Phrase {
	return warning(k.named("continues on "+p.Host), fmt.Sprintf("that host of the pool has it under epoch %d; nothing more is done here", p.Epoch))
}

func loopMoved(p event.LoopMoved, k Known) Phrase {
	return good(k.named("moved from "+p.From+" to "+p.Host), "").with(fmt.Sprintf("epoch %d", p.Epoch))
}

func loopHeld(p event.LoopHeld, k Known) Phrase {
	return quiet("the next iteration is held back"+k.until(p.Until), p.Why)
}

func loopReleased(p event.LoopReleased, _ Known) Phrase {
	if p.Person {
		return quiet("a person released the next iteration", "")
	}
	return quiet("the next iteration is no longer held back", "")
}

func segmentOpened(p event.SegmentOpened, _ Known) Phrase {
	return quiet(fmt.Sprintf("the journal began segment %d", p.Ordinal), "")
}

func iterationStarted(p event.IterationStarted, k Known) Phrase {
	count := units.Count{Begun: p.N, Refunded: k.Refunded, Maximum: k.Maximum}
	said := good("iteration "+count.Number(), "").with(k.Agent, strings.TrimSpace(k.Story+" "+k.Title))
	if p.Unkept != "" {
		said.Tone, said.Why = ToneWarning, "no snapshot: "+p.Unkept
	}
	return said
}

func iterationEnded(p event.IterationEnded, k Known) Phrase {
	tone := ToneGood
	if p.Outcome != event.OutcomeDone {
		tone = ToneWarning
	}
	said := Phrase{tone, fmt.Sprintf("iteration %d %s", p.N, p.Outcome), nil, p.Error}
	said = said.with(units.Span(units.Milliseconds(p.Took)), ToolsUsed(p.Tools, k.ToolsFailed), Usage(p.Usage))
	switch p.Progress {
	case event.ProgressYes:
		said = said.with("progress")
	case event.ProgressNo:
		note := "no progress"
		if p.Refusal != "" {
			note += ", refused again for the same reason"
		}
		said = said.with(note)
	}
	if p.Refunded {
		said = said.with("refunded")
	}
	if p.GuardrailsSkipped {
		said = said.with("guardrails did not run")
	}
	return said
}

func iterationChecked(p event.IterationChecked, _ Known) Phrase {
	if p.Warning != "" {
		return warning("checked", p.Warning)
	}
	if p.Guardrails == 0 {
		return quiet("the work was inspected, and no guardrail ran", "")
	}
	return quiet(fmt.Sprintf("checked: %s ran, %d failed", units.Quantity(p.Guardrails, "guardrail"), p.Failed), "")
}

func budgetWarned(p event.BudgetWarned, _ Known) Phrase { return warning(p.Limit, p.Why) }

func breakerTripped(p event.BreakerTripped, _ Known) Phrase {
	said := warning("no progress", p.Evidence)
	if p.Rule == "sameError" {
		said = warning(units.Quantity(p.Count, "iteration")+" in a row ended with this error", p.Evidence)
	}
	next := ""
	switch p.Step {
	case "hint":
		next = "the next prompt says so"
	case "backoff":
		next = "the next iteration waits " + units.Span(units.Milliseconds(p.Delay)) + ", and its prompt says so"
	default: // the end of the loop says it
		said.Tone = ToneQuiet
	}
	if said.Why == "" {
		said.Text = strings.TrimSpace(said.Text + "\n" + next)
	} else {
		said.Why = strings.TrimSpace(said.Why + "\n" + next)
	}
	return said
}

func clockJumped(p event.ClockJumped, _ Known) Phrase {
	return warning("the machine slept or its clock was set forward; no limit counts these "+units.Span(units.Milliseconds(p.By)), "")
}

func notificationSent(p event.NotificationSent, _ Known) Phrase {
	return quiet("a notification was sent by "+p.Channel, "").with(p.Occasion)
}

func notificationFailed(p event.NotificationFailed, _ Known) Phrase {
	return warning("no notification by "+p.Channel, p.Why)
}

func sandboxOpened(p event.SandboxOpened, _ Known) Phrase {
	if p.Why != "" {
		return warning("no sandbox holds here ("+p.Why+"): the guard hook is all that there is between the agent and this machine", "")
	}
	network := p.Network
	if len(p.Hosts) > 0 {
		network = strings.Join(p.Hosts, ", ")
	}
	return good("the agent works in a sandbox ("+p.Mode+"), the network is "+network, "")
}

func sandboxCorrected(p event.SandboxCorrected, _ Known) Phrase {
	return warning("ralph "+strings.Join(p.Did, "; ralph "), "")
}

func telemetryFailed(p event.TelemetryFailed, _ Known) Phrase {
	return warning("the trace is not sent", p.Why+"; the loop goes on, and the rest is sent later")
}

func telemetryRestored(event.TelemetryRestored, Known) Phrase {
	return good("the trace is sent again", "")
}

// doing says what each effect is.
var doing = map[event.Effect]string{
	event.DoStart: "give the agent its prompt", event.DoSteer: "steer the agent in its turn",
	event.DoRelease: "park the agent's process or end it", event.DoAbort: "end the turn and the agent's process",
	event.DoKill: "kill the agent's processes", event.DoCheck: "check the work", event.DoCommit: "commit the work",
	event.DoProve: "try whether the guardrails can fail", event.DoHoldout: "run the held-out guardrails",
	event.DoCancel: "end the check", event.DoObserve: "look at what the next iteration may have to wait for",
}

func decided(p event.Decided, _ Known) Phrase {
	text := cmp.Or(doing[p.Do], string(p.Do))
	switch {
	case p.Do == event.DoBegin:
		text = fmt.Sprintf("begin iteration %d", p.Iteration)
	case p.Do == event.DoCheck && p.Only != "":
		text = "inspect the work, without the guardrails"
	case p.Do == event.DoProve: // it may take minutes, in which nothing else is shown
		return good(text, p.Why)
	}
	return quiet(text, p.Why)
}

func effectFailed(p event.EffectFailed, _ Known) Phrase {
	said := failure(string(p.Do)+" failed", p.Error)
	if p.Hint != "" {
		said.Why += "\nhint: " + p.Hint
	}
	return said
}

// timeouts explains the deadlines that cut an iteration short. The others concern the loop alone.
var timeouts = map[string]string{
	"idle":      "the agent said nothing for as long as limits.idle allows",
	"tool":      "one of the agent's tools said nothing for as long as limits.tool allows",
	"iteration": "the iteration took as long as limits.iteration allows",
	"exitGrace": "the agent's process lived on after its final result for as long as limits.exitGrace allows",
}

func timerFired(p event.TimerFired, _ Known) Phrase {
	if text := timeouts[p.Name]; text != "" {
		return warning(text, "")
	}
	return quiet("the deadline "+p.Name+" passed", "")
}

func faultRaised(p event.FaultRaised, _ Known) Phrase {
	return failure("an error of ralph in "+p.Where, p.Error)
}
