package phrase

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

func agentStarted(p event.AgentStarted, _ Known) Phrase {
	if p.Reused {
		return quiet("the agent's process has a fresh context and the prompt", "")
	}
	return quiet(fmt.Sprintf("the agent's process %d started", p.PID), "")
}

func agentSaid(p event.AgentSaid, _ Known) Phrase {
	return quiet("the agent said", strings.TrimSpace(p.Text.String()))
}

func agentThought(p event.AgentThought, _ Known) Phrase {
	return quiet("the agent thought", strings.TrimSpace(p.Text.String()))
}

func agentUsed(p event.AgentUsed, _ Known) Phrase {
	u := event.Usage{In: p.In, Out: p.Out, CacheRead: p.CacheRead, CacheWrite: p.CacheWrite, USD: p.USD}
	said := quiet("the agent used "+units.Tokens(u.Tokens())+" tokens", "")
	switch {
	case p.USD != nil:
		return said.with(units.Cost(p.USD))
	case p.Unpriced: // its price is said later
		return said
	}
	return said.with("cost unknown")
}

func agentPlanned(p event.AgentPlanned, _ Known) Phrase {
	done := 0
	for _, todo := range p.Todos {
		if todo.Status == event.TodoDone {
			done++
		}
	}
	return quiet(fmt.Sprintf("plan: %d of %d done", done, len(p.Todos)), "")
}

func agentAsked(p event.AgentAsked, _ Known) Phrase {
	return warning("the agent asked", p.What+"\nand was answered: "+p.Answer)
}

// lacks says in a few words what an agent is without. A login is no limit: it does not come back.
func lacks(kind event.FaultKind) string {
	if kind == event.KindAuth {
		return "not logged in"
	}
	return string(kind) + " limit"
}

func agentLimited(p event.AgentLimited, k Known) Phrase {
	text := lacks(p.Kind)
	if p.Until != "" {
		text += " until " + k.clock(p.Until)
	}
	return failure(text, p.Text)
}

func agentRetried(p event.AgentRetried, _ Known) Phrase {
	text := fmt.Sprintf("the agent tries again, attempt %d", p.Attempt)
	if p.Max > 0 {
		text += fmt.Sprintf(" of %d", p.Max)
	}
	if p.Delay > 0 {
		text += " in " + units.Span(units.Milliseconds(p.Delay))
	}
	return warning(text, p.Text).with(string(p.Kind))
}

func agentCompacted(p event.AgentCompacted, _ Known) Phrase {
	text := "the agent compacted its context"
	if p.Before > 0 {
		text += fmt.Sprintf(" from %s to %s tokens", units.Tokens(p.Before), units.Tokens(p.After))
	}
	return warning(text, "")
}

// important reports whether every reader sees a notice.
func important(what string) bool {
	switch what {
	case event.NoticeLingering, event.NoticeFallback, event.NoticeUnreadUsage, event.NoticeSentBack:
		return true
	}
	return false
}

func agentNoticed(p event.AgentNoticed, _ Known) Phrase {
	switch {
	case p.What == event.NoticeSentBack:
		return warning("a stop hook sent the agent back", p.Text)
	case important(p.What):
		return warning(p.Text, "")
	}
	return quiet("a notice of the agent", p.Text).with(p.What)
}

func agentUnparsed(p event.AgentUnparsed, _ Known) Phrase {
	return quiet("unparsed output", p.Line.String()).with(p.Stream)
}

func agentFinished(p event.AgentFinished, _ Known) Phrase {
	if p.Outcome == event.TurnOK {
		return quiet("the agent's turn ended well", "")
	}
	how := string(p.Outcome)
	if p.Kind == event.KindRefusal {
		how = "a refusal of the model"
	}
	return failure("the agent's turn ended with "+how, p.Error)
}

func agentParked(p event.AgentParked, _ Known) Phrase {
	said := quiet("the agent's process is parked", "")
	if p.Strays > 0 {
		said.Text += "\n" + strays(p.Strays, p.Ended)
	}
	return said
}

func strays(n int, ended []string) string {
	return colon("ended "+units.Quantity(n, "process")+" that the agent left behind", strings.Join(ended, ", "))
}

// agentExited is loud if the process did not end well, or left other processes running.
func agentExited(p event.AgentExited, _ Known) Phrase {
	took := ""
	if p.Took > 0 {
		took = units.Span(units.Milliseconds(p.Took))
	}
	said := quiet("the agent's process exited with code 0", "").with(took)
	switch {
	case p.Signal != "":
		said = warning("the agent's process was ended by signal "+p.Signal, lastLines(p.Stderr, 5)).with(took)
	case p.Code != 0:
		said = warning(fmt.Sprintf("the agent's process exited with code %d", p.Code), lastLines(p.Stderr, 5)).with(took)
	}
	switch {
	case p.Strays > 0 && said.Tone == ToneQuiet:
		return warning(strays(p.Strays, p.Ended), "")
	case p.Strays > 0:
		return warning(said.String()+"\n"+strays(p.Strays, p.Ended), "")
	}
	return said
}

// agentReplaced says which agent works from now on, and what becomes of the one before.
func agentReplaced(p event.AgentReplaced, k Known) Phrase {
	if p.Turn && p.NotBefore == "" {
		return good(p.Why, "")
	}
	text := p.Name + " takes over from " + p.Was
	if p.NotBefore != "" {
		text += ", not before " + k.clock(p.NotBefore)
	}
	said := good(text, p.Why)
	switch {
	case p.Reason != "":
		said.Tone = ToneWarning
		said.Why += "\n" + p.Was + " is not tried again before the loop is resumed"
		if p.Hint != "" {
			said.Why += "\nhint: " + p.Hint
		}
	case p.Until != "":
		said.Tone = ToneWarning
		said.Why += "\n" + p.Was + " is tried again at " + k.clock(p.Until)
	}
	return said
}

// agentQuota says how much of each window is used.
func agentQuota(p event.AgentQuota, _ Known) Phrase {
	var parts []string
	for _, w := range p.Windows {
		parts = append(parts, fmt.Sprintf("%.0f%% of %s", w.Used, units.Span(time.Duration(w.Minutes)*time.Minute)))
	}
	return quiet("quota used", strings.Join(parts, ", "))
}

func agentHeld(p event.AgentHeld, k Known) Phrase {
	return quiet(fmt.Sprintf("agent %d is held back%s", p.Agent+1, k.until(p.Until)), p.Why)
}

func toolCalled(p event.ToolCalled, _ Known) Phrase {
	return quiet("the agent called the tool "+p.Name, string(p.Input))
}

func toolProgressed(p event.ToolProgressed, _ Known) Phrase {
	return quiet("a tool printed", p.Text.String())
}

func toolReturned(p event.ToolReturned, _ Known) Phrase {
	if !p.OK {
		return quiet("a tool failed", p.Output.String())
	}
	return quiet("a tool returned", p.Output.String())
}
