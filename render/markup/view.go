package markup

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/phrase"
	"github.com/ralph-loop/ralph/render/transcript"
)

// view is what the templates read of an entry.
type view struct {
	transcript.Entry

	opt Options
}

// Kind is the kind of the entry, which chooses its template.
func (v view) Kind() transcript.Kind { return v.Body.Kind() }

// State is the word for how the entry went, for style sheets and scripts; empty for most.
func (v view) State() string {
	switch b := v.Body.(type) {
	case transcript.Tools:
		return string(b.State())
	case transcript.Guardrail:
		return string(b.State)
	case transcript.Message:
		return string(b.State)
	case transcript.Question:
		if b.Answered {
			return "answered"
		}
		return "open"
	case transcript.Claim:
		return string(b.State)
	case transcript.Note:
		return string(b.Tone)
	case transcript.End:
		return string(b.Status)
	case transcript.IterationEnd:
		return string(b.Outcome)
	}
	return ""
}

// Clock is a time of day.
func (v view) Clock(at time.Time) string { return at.In(v.opt.Location).Format(time.TimeOnly) }

// Said is the phrase of the entry.
func (v view) Said() phrase.Phrase {
	return v.Phrase(phrase.Known{Day: v.At, Location: v.opt.Location})
}

// Heading is the level of the heading of an iteration, from 1 to 6.
func (v view) Heading() int { return min(max(v.opt.Heading, 1), 6) }

// Words is the highest level of a heading in an agent's words: below that of an iteration.
func (v view) Words() int { return min(v.Heading()+1, 6) }

// Word says how a guardrail went.
func (v view) Word() string {
	g, _ := v.Body.(transcript.Guardrail)
	return cmp.Or(g.Verdict(), stateWord(g.State))
}

// Became says what became of a message.
func (v view) Became() string {
	m, _ := v.Body.(transcript.Message)
	return phrase.Capital(m.Became().String())
}

// Reply is the answer to a question.
func (v view) Reply() phrase.Phrase {
	q, _ := v.Body.(transcript.Question)
	return q.Reply()
}

// Calls are the tools of the entry.
func (v view) Calls() (calls []call) {
	t, _ := v.Body.(transcript.Tools)
	for _, c := range t.Calls {
		calls = append(calls, call{c, v})
	}
	return calls
}

// Names says in one line what a group of tools read.
func (v view) Names() string {
	t, _ := v.Body.(transcript.Tools)
	var names []string
	for _, c := range t.Calls {
		if c.About != "" {
			names = append(names, c.About)
		}
	}
	return units.Cut(strings.Join(names, ", "), 120)
}

// Span is the time from the first call to the end of the last, where that is known.
func (v view) Span() time.Duration {
	t, _ := v.Body.(transcript.Tools)
	var end time.Time
	for _, c := range t.Calls {
		if ended := c.Began.Add(c.Took); ended.After(end) {
			end = ended
		}
	}
	return max(end.Sub(v.At), 0)
}

// Text shortens a text to what the options allow.
func (v view) Text(s string) text { return shorten(strings.Trim(s, "\n"), v.opt.Most) }

// text is the end of a text.
type text struct {
	Left  int // bytes before it that are not shown
	Shown string
}

func shorten(s string, most int) text {
	if most <= 0 || len(s) <= most {
		return text{Shown: s}
	}
	from := len(s) - most
	if line := strings.IndexByte(s[from:], '\n'); line >= 0 && line < most/2 {
		from += line + 1
	}
	shown := strings.ToValidUTF8(s[from:], "")
	return text{Left: len(s) - len(shown), Shown: shown}
}

// FirstLine is the beginning of a text, for the line that unfolds it.
func (v view) FirstLine(s string) string {
	return units.Cut(units.FirstLine(strings.TrimSpace(s)), 100)
}

// call is what the templates read of a tool.
type call struct {
	transcript.Call

	view view
}

// Own reports whether the call has a number of its own: the first one has that of the entry.
func (c call) Own() bool { return c.Seq != c.view.Seq }

// Result is the number of the event that ended the call, if it needs a line of its own.
func (c call) Result() event.Seq {
	if c.Returned == c.Seq || c.Returned == c.view.Seq {
		return 0
	}
	return c.Returned
}

// Word says how the call went.
func (c call) Word() string { return stateWord(c.State) }

// Open reports whether the call is shown unfolded.
func (c call) Open() bool {
	return c.State == transcript.StateFailed || c.view.opt.Diffs && len(c.Diff) > 0
}

// Hunk are the lines of the change with their signs.
func (c call) Hunk() (lines []changed) {
	for _, line := range c.Diff {
		lines = append(lines, changedLine(line))
	}
	return lines
}

// changed is one line of a change.
type changed struct{ Class, Sign, Text string }

func changedLine(line render.DiffLine) changed {
	switch line.Sign {
	case '+':
		return changed{"added", "+", line.Text}
	case '-':
		return changed{"removed", "-", line.Text}
	}
	return changed{"kept", " ", line.Text}
}

// Input is the input of the call, where neither the change nor the line of the call says it.
func (c call) Input() text {
	if len(c.Diff) > 0 || len(c.Call.Input) == 0 {
		return text{}
	}
	if only, ok := onlyText(c.Call.Input); ok {
		if only = string(render.CleanText(only)); only == c.About {
			return text{}
		}
		return c.view.Text(only)
	}
	return c.view.Text(c.InputText())
}

// onlyText returns the text that an input consists of, such as a command, besides how the agent
// describes it.
func onlyText(input []byte) (only string, ok bool) {
	var members map[string]any
	if json.Unmarshal(input, &members) != nil {
		return "", false
	}
	delete(members, "description")
	if len(members) != 1 {
		return "", false
	}
	for _, value := range members {
		only, ok = value.(string)
	}
	return only, ok
}

// Output is what the tool printed.
func (c call) Output() text { return c.view.Text(c.Call.Output) }

// File is the name of the file that all of the output is in.
func (c call) File() string {
	if c.Blob == "" {
		return ""
	}
	return "blobs/" + render.Clean(string(c.Blob))
}

// Address is the address of all output; empty if there is none.
func (c call) Address() string {
	if c.Blob == "" || c.view.opt.Blob == nil {
		return ""
	}
	return c.view.opt.Blob(c.Blob)
}

// Language is the name of the file that the output is the content of; empty if it is not one.
func (c call) Language() string {
	if c.Reads && len(c.Paths) == 1 {
		return c.Paths[0]
	}
	return ""
}

func stateWord(s transcript.State) string {
	if s == transcript.StateLost {
		return "no result"
	}
	return string(s)
}

func planWord(s event.TodoStatus) string {
	switch s {
	case event.TodoDone:
		return "done"
	case event.TodoActive:
		return "in progress"
	}
	return "open"
}
