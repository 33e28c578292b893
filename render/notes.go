package render

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

// Tone says how a note is meant.
type Tone string

// The closed list of tones.
const (
	ToneGood    Tone = "good"
	ToneWarning Tone = "warning"
	ToneFailure Tone = "failure"
)

// Note is what an event says in words, for a person. Its text is foreign in parts and not clean.
type Note struct {
	Tone Tone   `json:"tone"`
	Text string `json:"text"`
}

// Notes describes, in words, the events that need no more than that: what the agent and ralph
// report now and then, and what a verification found. It remembers what it described, so that it
// does not repeat the state of a file or repository. It belongs to one goroutine.
type Notes struct {
	Location *time.Location // of times of day
	Verbose  bool           // also notices that few readers need, and errors in full
	Day      time.Time      // a time on another day is described with its date; zero is any day

	boxes [2]int            // ticked and all, as last seen
	repos map[string]string // where each repository was last seen
}

func good(text string) []Note    { return note(ToneGood, text) }
func warning(text string) []Note { return note(ToneWarning, text) }
func failure(text string) []Note { return note(ToneFailure, text) }

// note returns a note; none without a text.
func note(tone Tone, text string) []Note {
	if text == "" {
		return nil
	}
	return []Note{{tone, text}}
}

// Resume sets what came before the first event.
func (n *Notes) Resume(v projector.View) { n.boxes = [2]int{v.Ticked, v.Boxes} }

// Of describes an event. known says that events of this type are described here, also if this one
// is no news.
func (n *Notes) Of(p event.Payload) (notes []Note, known bool) {
	if notes, known = n.ofVerification(p); known {
		return notes, true
	}
	if notes, known = n.ofStories(p); known {
		return notes, true
	}
	return n.ofAgent(p)
}

// Lacks says in a few words what an agent is without. A login is no limit: it does not come back.
func Lacks(kind event.FaultKind) string {
	if kind == event.KindAuth {
		return "not logged in"
	}
	return string(kind) + " limit"
}

// ofAgent describes what the agent and ralph report now and then.
func (n *Notes) ofAgent(p event.Payload) (notes []Note, known bool) {
	switch p := p.(type) {
	case event.AgentLimited:
		text := Lacks(p.Kind)
		if p.Until != "" {
			text += " until " + n.clock(p.Until)
		}
		return failure(colon(text, p.Text)), true
	case event.AgentRetried:
		return warning(retried(p)), true
	case event.AgentCompacted:
		text := "the agent compacted its context"
		if p.Before > 0 {
			text += fmt.Sprintf(" from %s to %s tokens", Tokens(p.Before), Tokens(p.After))
		}
		return warning(text), true
	case event.AgentAsked:
		return warning("the agent asked: " + p.What + "\nand was answered: " + p.Answer), true
	case event.AgentFinished:
		return turnEnded(p), true
	case event.AgentNoticed:
		switch {
		case p.What == event.NoticeSentBack:
			return warning(colon("a stop hook sent the agent back", p.Text)), true
		case !important[p.What]:
			return nil, false
		}
		return warning(p.Text), true
	case event.AgentExited:
		return warning(exited(p)), true
	case event.AgentReplaced:
		if p.Until == "" && p.Reason == "" { // nothing is wrong with the agent before
			return good(n.replaced(p)), true
		}
		return warning(n.replaced(p)), true
	case event.CompletionClaimed:
		return good("completion claimed by " + string(p.How)), true
	case event.CompletionAccepted:
		return append(good("completion accepted"), warning(p.Warning)...), true
	case event.CompletionRefused:
		return warning(colon("completion refused", strings.Join(p.Missing, "; "))), true
	case event.CompletionIgnored:
		return warning(colon(cmp.Or(p.Text, "the "+string(p.How))+" did not count as a claim", p.Why)), true
	case event.EffectFailed:
		text := colon(string(p.Do)+" failed", p.Error)
		if p.Hint != "" {
			text += "\nhint: " + p.Hint
		}
		return failure(text), true
	case event.FaultRaised:
		return failure(colon("ralph: "+p.Where, p.Error)), true
	case event.TimerFired:
		return warning(timeouts[p.Name]), true
	}
	return nil, false
}

// ofVerification describes what ralph found out after a turn, and the limits.
func (n *Notes) ofVerification(p event.Payload) (notes []Note, known bool) {
	switch p := p.(type) {
	case event.GuardrailEdited:
		return warning(edited(p)), true
	case event.FolderInspected:
		return good(n.folderInspected(p)), true
	case event.RepoInspected:
		return append(good(n.repoInspected(p)), warning(n.leftBranch(p))...), true
	case event.RepoUnreadable:
		return warning(n.repoUnreadable(p)), true
	case event.RepoCommitted:
		return good(committed(p)), true
	case event.SCMEnded:
		return n.scmEnded(p), true
	case event.BudgetWarned:
		return warning(colon(p.Limit, p.Why)), true
	case event.BreakerTripped:
		return warning(tripped(p)), true
	case event.NotificationFailed:
		return warning("no notification by " + p.Channel + ": " + p.Why), true
	case event.SandboxOpened:
		if p.Why != "" {
			return warning(sandboxed(p)), true
		}
		return good(sandboxed(p)), true
	case event.SandboxCorrected:
		return warning(corrected(p)), true
	case event.TelemetryFailed:
		return warning("the trace is not sent: " + p.Why + "; the loop goes on, and the rest is sent later"), true
	case event.TelemetryRestored:
		return good("the trace is sent again"), true
	case event.ClockJumped:
		return warning("the machine slept or its clock was set forward; no limit counts these " + Span(milliseconds(p.By))), true
	}
	return nil, false
}

// quotaText says how much of each window is used.
func quotaText(p event.AgentQuota) string {
	var parts []string
	for _, w := range p.Windows {
		parts = append(parts, fmt.Sprintf("%.0f%% of %s", w.Used, Span(time.Duration(w.Minutes)*time.Minute)))
	}
	return strings.Join(parts, ", ")
}

// corrected says what ralph put right around a sandbox.
func corrected(p event.SandboxCorrected) string { return "ralph " + strings.Join(p.Did, "; ralph ") }

// sandboxed says in which sandbox the agents work.
func sandboxed(p event.SandboxOpened) string {
	if p.Why != "" {
		return "no sandbox holds here (" + p.Why + "): the guard hook is all that there is between the agent and this machine"
	}
	network := "the network is " + p.Network
	if len(p.Hosts) > 0 {
		network = "the network is " + strings.Join(p.Hosts, ", ")
	}
	return "the agent works in a sandbox (" + p.Mode + "), " + network
}

// turnEnded describes the end of a turn that did not go well.
func turnEnded(p event.AgentFinished) []Note {
	if p.Outcome == event.TurnOK {
		return nil
	}
	how := string(p.Outcome)
	if p.Kind == event.KindRefusal {
		how = "a refusal of the model"
	}
	return failure(colon("the agent's turn ended with "+how, p.Error))
}

// important are the notices that every reader sees.
var important = map[string]bool{event.NoticeLingering: true, event.NoticeFallback: true, event.NoticeUnreadUsage: true, event.NoticeSentBack: true}

func retried(p event.AgentRetried) string {
	text := fmt.Sprintf("the agent tries again, attempt %d", p.Attempt)
	if p.Max > 0 {
		text += fmt.Sprintf(" of %d", p.Max)
	}
	if p.Delay > 0 {
		text += " in " + Span(milliseconds(p.Delay))
	}
	if p.Kind != "" {
		text += " (" + string(p.Kind) + ")"
	}
	return colon(text, p.Text)
}

// exited describes the end of a process that did not end well or left other processes running;
// empty otherwise.
func exited(p event.AgentExited) string {
	var notes []string
	switch {
	case p.Signal != "":
		notes = append(notes, colon("the agent's process was ended by signal "+p.Signal, lastLines(p.Stderr, 5)))
	case p.Code != 0:
		notes = append(notes, colon(fmt.Sprintf("the agent's process exited with code %d", p.Code), lastLines(p.Stderr, 5)))
	}
	if p.Strays > 0 {
		notes = append(notes, colon("ended "+units.Quantity(p.Strays, "process")+" that the agent left behind", strings.Join(p.Ended, ", ")))
	}
	return strings.Join(notes, "\n")
}

// replaced says which agent works from now on, and what becomes of the one before.
func (n *Notes) replaced(p event.AgentReplaced) string {
	if p.Turn && p.NotBefore == "" {
		return p.Why
	}
	text := p.Name + " takes over from " + p.Was
	if p.NotBefore != "" {
		text += ", not before " + n.clock(p.NotBefore)
	}
	text = colon(text, p.Why)
	switch {
	case p.Reason != "":
		text += "\n" + p.Was + " is not tried again before the loop is resumed"
		if p.Hint != "" {
			text += "\nhint: " + p.Hint
		}
	case p.Until != "":
		text += "\n" + p.Was + " is tried again at " + n.clock(p.Until)
	}
	return text
}

// timeouts explains the deadlines that cut an iteration short. The others concern the loop alone.
var timeouts = map[string]string{
	"idle":      "the agent said nothing for as long as limits.idle allows",
	"tool":      "one of the agent's tools said nothing for as long as limits.tool allows",
	"iteration": "the iteration took as long as limits.iteration allows",
	"exitGrace": "the agent's process lived on after its final result for as long as limits.exitGrace allows",
}

// clock formats an RFC 3339 time as a time of day, with the date if that is not the current one.
// Any other text is returned unchanged.
func (n *Notes) clock(rfc3339 string) string {
	at, err := time.Parse(time.RFC3339, rfc3339)
	if err != nil {
		return rfc3339
	}
	at = at.In(n.Location)
	if n.Day.IsZero() || at.YearDay() == n.Day.YearDay() && at.Year() == n.Day.Year() {
		return at.Format("15:04:05")
	}
	return at.Format("2006-01-02 15:04:05")
}

// colon joins a statement and its explanation, if there is one.
func colon(what, why string) string {
	if why == "" {
		return what
	}
	return what + ": " + why
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	if len(lines) == 1 {
		return lines[0]
	}
	return "\n" + strings.Join(lines[max(0, len(lines)-n):], "\n")
}
