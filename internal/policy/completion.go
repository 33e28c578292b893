package policy

import (
	"strings"

	"github.com/ralph-loop/ralph/journal/event"
)

// Completion says whether the work is done. The agent claims it with a marker in
// what it says: the promise, exactly as spelled, or the response, in any case.
// Only the assistant's own words count: not tool output, not reasoning, not the
// prompt, not a subagent. With match "final" the marker has to stand in the final message,
// alone on its line or as the last thing that is said, and outside code; with "anywhere" it may
// stand in any words of the iteration. A claim counts only when nothing is
// missing: the agent did some work, and it has read everything that people sent it.
type Completion struct {
	// Message is the message that is being said: the blocks of one message share a name.
	Message string `json:"message,omitempty"`
	Text    Tail   `json:"text"`
	// Anywhere is the marker that was seen outside the final message, with match "anywhere".
	Anywhere string `json:"anywhere,omitempty"`
	Tools    int    `json:"tools,omitempty"`
	Claimed  string `json:"claimed,omitempty"`
	Accepted string `json:"accepted,omitempty"`
	// Refused is why the last claim did not count; the next prompt says so.
	Refused []string `json:"refused,omitempty"`
}

// Ways to claim.
const (
	ByPromise  = "promise"
	ByResponse = "response"
)

// Apply folds one event. The rules are those in force when it happened.
func (c *Completion) Apply(e event.Event, r event.Rules) error {
	switch e.Type {
	case event.TypeIterationStarted:
		refused := c.Refused
		*c = Completion{Refused: refused}
	case event.TypeAgentSaid:
		return c.said(e, r)
	case event.TypeToolCalled:
		c.Tools++
		if len(e.Field("parent")) == 0 {
			c.next("")
		}
	case event.TypeCompletionClaimed:
		p, err := event.As[event.CompletionClaimed](e)
		if err != nil {
			return err
		}
		c.Claimed, c.Refused = p.How, nil
	case event.TypeCompletionRefused:
		p, err := event.As[event.CompletionRefused](e)
		if err != nil {
			return err
		}
		c.Refused = p.Missing
	case event.TypeCompletionAccepted:
		p, err := event.As[event.CompletionAccepted](e)
		if err != nil {
			return err
		}
		c.Accepted = p.How
	case event.TypeIterationEnded:
		if c.Claimed == "" {
			c.Refused = nil
		}
	case event.TypeLoopResumed:
		p, err := event.As[event.LoopResumed](e)
		if err != nil {
			return err
		}
		// A runner that died behind an accepted claim left only the end to be recorded.
		accepted := c.Accepted
		*c = Completion{}
		if p.Died {
			c.Accepted = accepted
		}
	}
	return nil
}

func (c *Completion) said(e event.Event, r event.Rules) error {
	p, err := event.As[event.AgentSaid](e)
	if err != nil {
		return err
	}
	if p.Parent != "" {
		return nil
	}
	message := p.Block
	if dot := strings.LastIndexByte(message, '.'); dot >= 0 {
		message = message[:dot]
	}
	if message != c.Message {
		c.next(message)
	}
	if r.CompletionMatch == "anywhere" && c.Anywhere == "" {
		// Looked for before the tail is cut, and only where the text can end a marker.
		if text := p.Text.String(); strings.IndexByte(text, '>') >= 0 {
			c.Anywhere = anywhere(c.Text.String()+text, r)
		}
	}
	c.Text.AppendText(p.Text)
	if p.Final {
		c.Text.Append([]byte("\n"))
	}
	return nil
}

// next begins another message: what was said before is not the final one.
func (c *Completion) next(message string) {
	c.Message = message
	c.Text = Tail{}
}

// Claim returns how the agent claimed completion in the turn that is over; empty
// where it did not.
func (c *Completion) Claim(r event.Rules) string {
	if r.CompletionMatch == "anywhere" {
		return c.Anywhere
	}
	lines := c.Text.outsideCode()
	if r.CompletionPromise != "" && stands(lines, promiseMarker(r)) {
		return ByPromise
	}
	if text, ok := firstResponse(lines); ok && r.CompletionResponse != "" && strings.EqualFold(text, r.CompletionResponse) {
		return ByResponse
	}
	return ""
}

// Missing says what a claim lacks to count; nothing where it counts.
func (c *Completion) Missing(r event.Rules, showsTools bool, m *Mailbox) []string {
	var missing []string
	if showsTools && c.Tools < r.MinToolCalls && r.OnPromiseNoWork == "reject" {
		missing = append(missing, "no work was done: the claim came without a single use of a tool")
	}
	for _, message := range m.Open {
		if message.Kind == Steer || message.Kind == FollowUp {
			missing = append(missing, "a message has not been read yet: "+lastBytes(message.Text, 200))
		}
	}
	return missing
}

func promiseMarker(r event.Rules) string {
	return "<promise>" + r.CompletionPromise + "</promise>"
}

func anywhere(text string, r event.Rules) string {
	if r.CompletionPromise != "" && strings.Contains(text, promiseMarker(r)) {
		return ByPromise
	}
	if _, said, ok := response(text); ok && r.CompletionResponse != "" && strings.EqualFold(said, r.CompletionResponse) {
		return ByResponse
	}
	return ""
}

// stands reports whether the marker is alone on a line or ends the last line.
func stands(lines []string, marker string) bool {
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		if trimmed == marker || i == len(lines)-1 && endsOutsideCode(trimmed, marker) {
			return true
		}
	}
	return false
}

// firstResponse returns what the first response tag says that is alone on its line
// or ends the last one.
func firstResponse(lines []string) (string, bool) {
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		whole, said, ok := response(trimmed)
		if ok && (trimmed == whole || i == len(lines)-1 && endsOutsideCode(trimmed, whole)) {
			return said, true
		}
	}
	return "", false
}

const responseOpen, responseClose = "<response>", "</response>"

// response returns the first response tag of the text that is closed on its line, and what it says.
func response(text string) (whole, said string, ok bool) {
	for line := range strings.Lines(text) {
		open := indexFold(line, responseOpen)
		if open < 0 {
			continue
		}
		from := open + len(responseOpen)
		if length := indexFold(line[from:], responseClose); length >= 0 {
			return line[open : from+length+len(responseClose)], line[from : from+length], true
		}
	}
	return "", "", false
}

// indexFold returns where the tag begins in s, in any case. Not by the lower case of s: some letters
// have another length there.
func indexFold(s, tag string) int {
	for at := 0; ; at++ {
		next := strings.IndexByte(s[at:], '<')
		if next < 0 {
			return -1
		}
		at += next
		if len(s)-at >= len(tag) && strings.EqualFold(s[at:at+len(tag)], tag) {
			return at
		}
	}
}

// endsOutsideCode reports whether the line ends with the marker, and not within
// a code span: an odd number of backticks before it leaves one open.
func endsOutsideCode(line, marker string) bool {
	before, ok := strings.CutSuffix(line, marker)
	return ok && strings.Count(before, "`")%2 == 0
}
