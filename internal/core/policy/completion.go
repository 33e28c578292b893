package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/journal/event"
)

// Completion says whether the work is done. The agent claims it with a marker in what it says: the
// promise, exactly as spelled, or the response, in any case. Only the assistant's own text counts:
// not tool output, not reasoning, not the prompt, not a subagent. With match "final" the marker has
// to be in the final message, alone on its line or at its end, and outside code; with "anywhere" it
// may be in any message of the iteration. Text that only resembles a marker, or is in the wrong
// place, is recorded and reported to the agent, and so is a claim of a turn that failed. The files
// claim as well: all boxes of task.md are ticked, or there is a file DONE in the loop's folder. A
// claim counts only when nothing is missing: the final message does not contradict it, the agent
// did some work, it has read all messages, no box is open, the guardrails have passed, and the
// change is no larger than limits.diff. In a loop over stories all of them have to be done, which
// is a claim itself.
type Completion struct {
	// Message is the message that is being said: the blocks of one message share a name.
	Message string `json:"message,omitempty"`
	Text    Tail   `json:"text"`
	// Anywhere is the marker that was seen outside the final message, with match "anywhere".
	Anywhere event.Claim `json:"anywhere,omitempty"`
	Tools    int         `json:"tools,omitempty"`
	// Earlier is what resembled a claim in a message before the one that is being said.
	Earlier  *event.CompletionIgnored `json:"earlier,omitempty"`
	Claimed  event.Claim              `json:"claimed,omitempty"`
	Accepted event.Claim              `json:"accepted,omitempty"`
	// Unproved says that the claim waits for the proof of the guardrails.
	Unproved bool `json:"unproved,omitempty"`
	// Refused is why the last claim did not count. The prompts say so until an agent has ended its
	// turn without a claim: an agent that does not know the reason makes the same claim again.
	Refused []string `json:"refused,omitempty"`
	// Ignored is what did not count as a claim; the prompts say so for as long as Refused.
	Ignored *Ignored `json:"ignored,omitempty"`
	// Early says that the file DONE existed, or all stories were done, before an iteration began,
	// so that none is needed.
	Early bool `json:"early,omitempty"`
	// Aside says that a file DONE was refused: it is put aside before the next iteration.
	Aside bool `json:"aside,omitempty"`
	// The marks in the loop's folder at its last inspection.
	Done   bool     `json:"done,omitempty"`
	Boxes  int      `json:"boxes,omitempty"`
	Ticked int      `json:"ticked,omitempty"`
	Open   []string `json:"open,omitempty"` // the first boxes that are not ticked
}

// Ignored is a text that did not count as a claim, with its iteration.
type Ignored struct {
	event.CompletionIgnored
	Iteration int `json:"iteration"`
}

// Apply folds one event of an iteration. was is the loop before it.
func (c *Completion) Apply(iteration int, p event.Payload, was *Lifecycle) {
	r := &was.Rules
	switch p := p.(type) {
	case event.IterationStarted:
		tools := c.Tools
		*c = Completion{Refused: c.Refused, Ignored: c.Ignored}
		if r.Context == "same" {
			c.Tools = tools // the work of one session counts as a whole
		}
	case event.FolderInspected:
		c.inspected(p, was)
	case event.StoriesRead:
		if was.Phase == Beginning && p.Done {
			c.Early = true
		}
	case event.AgentSaid:
		c.said(p, was.Rules)
	case event.ToolCalled:
		c.Tools++
		if p.Parent == "" {
			c.next("", was.Rules)
		}
	case event.CompletionClaimed:
		c.Claimed, c.Refused, c.Ignored, c.Unproved = p.How, nil, nil, p.Unproved
	case event.CompletionRefused:
		c.Refused, c.Unproved = p.Missing, false
		c.Aside, c.Early = c.Done, false
	case event.CompletionIgnored:
		c.Refused, c.Ignored = nil, &Ignored{p, iteration}
	case event.CompletionAccepted:
		c.Accepted, c.Unproved = p.How, false
	case event.IterationEnded:
		if p.Refunded || p.Outcome != event.OutcomeDone {
			return // only an agent that ends its turn by itself knows it, and no longer claims
		}
		if c.Claimed == "" {
			c.Refused = nil
		}
		if c.Ignored != nil && c.Ignored.Iteration != p.N {
			c.Ignored = nil
		}
	case event.LoopResumed:
		// After an accepted claim the dead runner had only the end left to record. A claim that
		// waits for the proof of the guardrails is still to be judged.
		accepted := c.Accepted
		if !p.Died || !c.Unproved {
			*c = Completion{Refused: c.Refused, Ignored: c.Ignored} // no agent has read them since
		}
		if p.Died {
			c.Accepted = accepted
		}
	}
}

func (c *Completion) inspected(p event.FolderInspected, was *Lifecycle) {
	c.Done, c.Boxes, c.Ticked, c.Open = p.Done, p.Boxes, p.Ticked, nil
	for _, box := range p.Open[:min(len(p.Open), openMost)] {
		c.Open = append(c.Open, firstBytes(box, 200))
	}
	if was.Rules.Completion.DoneFile && was.Phase == Beginning && p.Done {
		c.Early = true
	}
}

// openMost is how many open boxes are named.
const openMost = 5

func (c *Completion) said(p event.AgentSaid, r event.Rules) {
	if p.Parent != "" {
		return
	}
	message := p.Block
	if dot := strings.LastIndexByte(message, '.'); dot >= 0 {
		message = message[:dot]
	}
	if message != c.Message {
		c.next(message, r)
	}
	if r.Completion.Match == "anywhere" && c.Anywhere == "" {
		// Search before the tail is cut, and only if the text can end a marker.
		if text := p.Text.String(); strings.IndexByte(text, '>') >= 0 {
			c.Anywhere = anywhere(c.Text.String()+text, r)
		}
	}
	c.Text.AppendText(p.Text)
	if p.Final {
		c.Text.Append([]byte("\n"))
	}
}

// next begins another message: the previous one is not the final message.
func (c *Completion) next(message string, r event.Rules) {
	if miss := nearMiss(c.Text.String(), r); miss != nil {
		miss.Why = "it is not in the final message"
		c.Earlier = miss
	}
	c.Message = message
	c.Text = Tail{}
}

// Claim returns how completion is claimed after the turn; empty if it is not. The agent's text
// comes first.
func (c *Completion) Claim(r event.Rules) event.Claim {
	switch how := c.claimByText(r); {
	case how != "":
		return how
	case r.Completion.DoneFile && c.Done:
		return event.ClaimDoneFile
	case r.Completion.Checklist && c.Boxes > 0 && c.Ticked == c.Boxes:
		return event.ClaimChecklist
	}
	return ""
}

// claimByText returns how the agent's text claims completion.
func (c *Completion) claimByText(r event.Rules) event.Claim {
	if r.Completion.Match == "anywhere" {
		return c.Anywhere
	}
	lines := c.Text.outsideCode()
	if r.Completion.Promise != "" && hasMarker(lines, promiseMarker(r)) {
		return event.ClaimPromise
	}
	if text, ok := firstResponse(lines); ok && r.CompletionResponse != "" && strings.EqualFold(text, r.CompletionResponse) {
		return event.ClaimResponse
	}
	return ""
}

// NearMiss returns a text of the agent that resembles a claim, after a turn without a claim; nil if
// there is none. The final message comes before earlier ones.
func (c *Completion) NearMiss(r event.Rules) *event.CompletionIgnored {
	if miss := nearMiss(c.Text.String(), r); miss != nil {
		return miss
	}
	return c.Earlier
}

// Evidence is what other policies know about a claim.
type Evidence struct {
	ShowsTools   bool // the agent's protocol shows the tools that it uses
	Files        bool // there are files whose changes can be seen
	Moved        bool // they changed in this iteration or an earlier one
	Commands     *Commands
	Verification *Verification
	Stories      *Stories
	Oversized    string // why limits.diff speaks against it; empty if it does not
	Unsized      string // why limits.diff was not applied
}

// Missing returns what a claim lacks; nothing if it counts.
func (c *Completion) Missing(how event.Claim, r event.Rules, ev Evidence) []string {
	var missing []string
	if how == event.ClaimPromise || how == event.ClaimResponse {
		if but := contradiction(c.Text.outsideCode()); but != "" {
			missing = append(missing, fmt.Sprintf("the same message says: %q", but))
		}
	}
	if r.Completion.OnPromiseNoWork == "reject" {
		if why := c.noWork(how, r, ev); why != "" {
			missing = append(missing, why)
		}
	}
	if r.Completion.Checklist && c.Ticked < c.Boxes && how != event.ClaimDoneFile {
		why := fmt.Sprintf("%d of %d boxes in task.md are not ticked", c.Boxes-c.Ticked, c.Boxes)
		if len(c.Open) > 0 {
			why += ": " + strings.Join(c.Open, "; ")
		}
		missing = append(missing, why)
	}
	missing = append(missing, ev.Stories.Missing(r)...)
	missing = append(missing, ev.Verification.Missing(r)...)
	if ev.Oversized != "" {
		missing = append(missing, ev.Oversized)
	}
	return append(missing, ev.Commands.Unread()...)
}

// Warning returns what speaks against a claim that is still accepted.
func (c *Completion) Warning(how event.Claim, r event.Rules, ev Evidence) string {
	var warnings []string
	if r.Completion.OnPromiseNoWork == "warn" {
		warnings = append(warnings, c.noWork(how, r, ev))
	}
	warnings = append(warnings, ev.Unsized)
	return strings.Join(slices.DeleteFunc(warnings, func(w string) bool { return w == "" }), "; ")
}

// noWork says that the agent claimed without having worked. If its protocol shows no tools, a
// change of the files counts; without files to inspect, it is unknown. A file DONE or a ticked box
// is itself work.
func (c *Completion) noWork(how event.Claim, r event.Rules, ev Evidence) string {
	switch {
	case r.Stories: // stories that are done are work
		return ""
	case how != event.ClaimPromise && how != event.ClaimResponse, r.Completion.MinToolCalls == 0:
		return ""
	case ev.ShowsTools && c.Tools == 0:
		return "no work was done: the claim came without a single use of a tool"
	case ev.ShowsTools && c.Tools < r.Completion.MinToolCalls:
		return fmt.Sprintf("too little work was done: the claim came after %d uses of a tool, and %d are asked for", c.Tools, r.Completion.MinToolCalls)
	case !ev.ShowsTools && ev.Files && !ev.Moved:
		return "no work was done: no file has changed, and nothing was committed"
	}
	return ""
}

// Blocked returns why the agent cannot go on without a person: the content of the tag <blocked>,
// alone on a line of the final message, outside code. It is empty without such a tag.
func (c *Completion) Blocked() string {
	for _, line := range c.Text.outsideCode() {
		why, ok := strings.CutPrefix(strings.TrimSpace(line), "<blocked>")
		if !ok {
			continue
		}
		if why, ok = strings.CutSuffix(why, "</blocked>"); ok && strings.TrimSpace(why) != "" {
			return firstBytes(strings.TrimSpace(why), whyMost)
		}
	}
	return ""
}
