package why

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
)

// textMost is how many characters an event has in an answer.
const textMost = 300

// note describes an event.
func (t *trace) note(e event.Event) Note {
	return Note{Seq: e.Seq, At: e.At, Iteration: e.Iter, Type: e.Type, Text: units.Cut(words(e), textMost), Rule: t.made[e.Seq].rule}
}

// words says in one line what happened. An event whose payload has no sentence of its own, or
// cannot be read, is shown as 'ralph logs' shows it.
func words(e event.Event) string {
	p, err := event.Decode(e)
	if err != nil {
		return logged(e)
	}
	text := ofAgent(p)
	for _, more := range []func(event.Payload) string{ofLoop, ofChecks, ofStories, ofPeople} {
		text = cmp.Or(text, more(p))
	}
	return render.Clean(cmp.Or(text, logged(e)))
}

func ofLoop(p event.Payload) string {
	switch p := p.(type) {
	case event.LoopStarted:
		return "the loop started"
	case event.LoopResumed:
		if p.Died {
			return "another runner resumed the loop, whose runner had died"
		}
		return "the loop was resumed"
	case event.LoopConfigured:
		return fmt.Sprintf("%s was set to %s", p.Key, p.Value)
	case event.LoopPaused:
		return joined("the loop paused", p.Why)
	case event.LoopUnpaused:
		return "the pause ended"
	case event.LoopWaiting:
		return joined("the loop waits for "+p.For.String()+until(p.Until), p.Why)
	case event.LoopWaited:
		return "the wait for " + p.For.String() + " ended"
	case event.LoopEnded:
		return joined(fmt.Sprintf("the loop %s, reason %s", ended[p.Status], p.Reason), p.Why)
	case event.IterationStarted:
		return fmt.Sprintf("iteration %d got its prompt", p.N)
	case event.IterationEnded:
		return iterationEnded(p)
	case event.BudgetWarned:
		return joined("warning about "+p.Limit, p.Why)
	case event.BreakerTripped:
		return fmt.Sprintf("circuit breaker (%s), step %s: %s", p.Rule, p.Step, p.Evidence)
	case event.StoriesRead:
		if p.Done {
			return "all stories of tasks.json are done"
		}
		return joined("the iteration is for "+cmp.Or(p.Story, "what the claim lacked"), string(p.Mode))
	case event.StoriesJudged:
		return fmt.Sprintf("tasks.json was judged: %s", units.Quantity(len(p.Problems), "problem"))
	case event.AgentReplaced:
		return joined(fmt.Sprintf("%s works instead of %s", p.Name, p.Was), p.Why)
	case event.TimerFired:
		return "the deadline " + p.Name + " passed"
	case event.ClockJumped:
		return "the clock jumped by " + units.Span(time.Duration(p.By)*time.Millisecond)
	case event.FaultRaised:
		return fmt.Sprintf("a fault of ralph's own in %s: %s", p.Where, p.Error)
	case event.Decided:
		return joined(doing(p), p.Why)
	case event.EffectFailed:
		return fmt.Sprintf("%s failed: %s", p.Do, p.Error)
	}
	return ""
}

// ended says how a loop ended, for each status.
var ended = map[event.Status]string{
	event.StatusCompleted: "completed", event.StatusStopped: "stopped", event.StatusFailed: "failed",
}

func iterationEnded(p event.IterationEnded) string {
	text := fmt.Sprintf("iteration %d ended: %s", p.N, p.Outcome)
	switch p.Progress {
	case event.ProgressYes:
		text += ", with progress"
	case event.ProgressNo:
		text += ", without progress"
		if p.Refusal != "" {
			text += " (refused again: " + p.Refusal + ")"
		}
	}
	if p.Usage.USD != nil {
		text += ", " + units.Cost(p.Usage.USD)
	}
	if p.Refunded {
		text += ", refunded"
	}
	return joined(text, p.Error)
}

// doing says what was decided.
func doing(p event.Decided) string {
	switch p.Do {
	case event.DoBegin:
		return fmt.Sprintf("begin iteration %d", p.Iteration)
	case event.DoStart:
		return "give the agent its prompt"
	case event.DoSteer:
		return "steer the agent in its turn"
	case event.DoRelease:
		return "park the agent's process or end it"
	case event.DoAbort:
		return "end the turn and the agent's process"
	case event.DoKill:
		return "kill the agent's processes"
	case event.DoCheck:
		if p.Only != "" {
			return "inspect the work, without the guardrails"
		}
		return "check the work"
	case event.DoCommit:
		return "commit the work"
	case event.DoCancel:
		return "end the check"
	case event.DoObserve:
		return "look at what the next iteration may have to wait for"
	}
	return string(p.Do)
}

func ofChecks(p event.Payload) string {
	switch p := p.(type) {
	case event.GuardrailEnded:
		return guardrailEnded(p)
	case event.GuardrailEdited:
		return fmt.Sprintf("a file of a guardrail or of the settings, %s, %s", p.Path, p.How.Past())
	case event.IterationChecked:
		if p.Guardrails == 0 {
			return "the work was inspected, and no guardrail ran"
		}
		return fmt.Sprintf("checked: %s ran, %d failed", units.Quantity(p.Guardrails, "guardrail"), p.Failed)
	case event.FolderInspected:
		return folder(p)
	case event.RepoInspected:
		found := fmt.Sprintf("repository %s at the %s: %s not committed (+%d/-%d)", p.Root, p.When, units.Quantity(p.Files, "file"), p.Insertions, p.Deletions)
		if away := p.Away(); away != "" {
			found += ", " + away
		}
		return found
	case event.RepoUnreadable:
		return joined("a repository could not be read", p.Error)
	case event.RepoCommitted:
		return "the work was committed"
	case event.SCMEnded:
		return joined("version control is done", p.Error)
	case event.CompletionClaimed:
		return "the agent claimed by " + string(p.How) + " that the work is done"
	case event.CompletionRefused:
		return "the claim was refused: " + strings.Join(p.Missing, "; ")
	case event.CompletionIgnored:
		return joined("a claim by "+string(p.How)+" did not count", p.Why)
	case event.CompletionAccepted:
		return joined("the claim was accepted", p.Warning)
	}
	return ""
}

func guardrailEnded(p event.GuardrailEnded) string {
	switch {
	case p.OK:
		return fmt.Sprintf("guardrail %q passed", p.Name)
	case p.TimedOut:
		return fmt.Sprintf("guardrail %q took too long", p.Name)
	case p.Code < 0:
		return fmt.Sprintf("guardrail %q was ended by a signal", p.Name)
	}
	text := fmt.Sprintf("guardrail %q failed with exit code %d", p.Name, p.Code)
	if p.Message != nil {
		return joined(text, outputOf(p.Message.Text))
	}
	return text
}

// outputOf is the end of what a guardrail printed, from the message about its failure.
func outputOf(message string) string {
	_, output, _ := strings.Cut(message, event.OutputFollows)
	lines := strings.Split(strings.TrimSpace(output), "\n")
	const shown = 3
	return strings.Join(lines[max(0, len(lines)-shown):], " / ")
}

func folder(p event.FolderInspected) string {
	var found []string
	if p.Done {
		found = append(found, "the file DONE is there")
	}
	if p.Wait {
		found = append(found, joined("the file WAIT_WITHOUT_RESTART is there", p.Text))
	}
	if p.Boxes > 0 {
		found = append(found, fmt.Sprintf("%d of %s in task.md are ticked", p.Ticked, units.Quantity(p.Boxes, "box")))
	}
	if len(found) == 0 {
		return "the loop's folder has neither a file DONE nor boxes in task.md"
	}
	return strings.Join(found, "; ")
}

func ofPeople(p event.Payload) string {
	switch p := p.(type) {
	case event.CommandReceived:
		text := fmt.Sprintf("command %s from %s", p.Kind, cmp.Or(p.From, "an unknown sender"))
		if p.Key != "" {
			text += fmt.Sprintf(": %s=%s", p.Key, p.Val)
		}
		return joined(text, p.Text)
	case event.CommandDelivered:
		switch p.How {
		case event.DeliveredLive:
			return "the message reached the agent in its turn"
		case event.DeliveredPrompt:
			return fmt.Sprintf("the message is in the prompt of iteration %d", p.Iteration)
		}
		return "the command took effect"
	case event.CommandRefused:
		return joined("the command was refused", p.Why)
	case event.CommandWithdrawn:
		return joined("a person took the message back", p.Text)
	}
	return ""
}

func ofAgent(p event.Payload) string {
	switch p := p.(type) {
	case event.AgentStarted:
		if p.Reused {
			return "the agent's process got the prompt"
		}
		return fmt.Sprintf("the agent's process %d started", p.PID)
	case event.AgentSaid:
		return "the agent said: " + strings.TrimSpace(p.Text.String())
	case event.AgentUsed:
		text := fmt.Sprintf("the agent used %s tokens", units.Tokens(event.Usage{In: p.In, Out: p.Out, CacheRead: p.CacheRead, CacheWrite: p.CacheWrite}.Tokens()))
		switch {
		case p.USD != nil:
			return text + ", " + units.Cost(p.USD)
		case p.Unpriced:
			return text // its price is said later
		}
		return text + ", cost unknown"
	case event.AgentLimited:
		text := "the agent is limited (" + string(p.Kind) + ")"
		if p.Kind == event.KindAuth {
			text = "the agent is not logged in"
		}
		if p.Until != "" {
			text += " until " + p.Until
		}
		return joined(text, p.Text)
	case event.AgentFinished:
		return joined("the agent's turn ended: "+string(p.Outcome), p.Error)
	case event.AgentParked:
		return "the agent's process is parked"
	case event.AgentExited:
		if p.Signal != "" {
			return "the agent's process ended by signal " + p.Signal
		}
		return fmt.Sprintf("the agent's process ended with exit code %d", p.Code)
	}
	return ""
}

// joined adds an explanation to a text, if there is one.
func joined(text, why string) string {
	if why == "" {
		return text
	}
	return text + ": " + why
}

func until(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return " until " + at.Format(time.RFC3339)
}

// logged is an event as 'ralph logs' shows it: its type and its data.
func logged(e event.Event) string {
	return strings.TrimSpace(string(e.Type) + " " + render.Fields(e))
}
