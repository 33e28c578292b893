package agenttest

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/journal/event"
)

// rebuilt gathers what is kept of a stream, to see whether a line that was dropped
// can be found in it: each text of it that is long enough to be more than a name.
type rebuilt struct {
	droppable []string
	piecemeal func(line []byte) bool
	texts     map[string]*strings.Builder // of blocks and tools
	kept      []string                    // strings of lines that are kept, and of other facts
	dropped   []droppedText
}

type droppedText struct{ key, text string }

// aName is the length up to which a string may be an id, a model, a state.
const aName = 24

// newRebuilt knows the prompt, which is in the journal before the agent has said a word.
func newRebuilt(a Agent) *rebuilt {
	return &rebuilt{
		droppable: a.Droppable, piecemeal: a.Piecemeal,
		texts: make(map[string]*strings.Builder), kept: []string{Finish},
	}
}

func (r *rebuilt) add(line []byte, facts []fact, drop bool) {
	for _, f := range facts {
		switch p := f.Payload.(type) {
		case event.AgentSaid:
			r.text("said " + p.Block).Write(p.Text.AppendTo(nil))
		case event.AgentThought:
			r.text("thought " + p.Block).Write(p.Text.AppendTo(nil))
		case event.ToolProgressed:
			r.text("tool " + p.ID).Write(p.Text.AppendTo(nil))
		default:
			leavesOf([]byte(f.Data), func(_, text string) { r.kept = append(r.kept, text) })
		}
	}
	if drop && r.piecemeal != nil && r.piecemeal(line) {
		return
	}
	leavesOf(line, func(key, text string) {
		switch {
		case !drop:
			r.kept = append(r.kept, text)
		case len(text) > aName && strings.Contains(text, " ") && !slices.Contains(r.droppable, key):
			r.dropped = append(r.dropped, droppedText{key, text})
		}
	})
}

func (r *rebuilt) text(of string) *strings.Builder {
	if r.texts[of] == nil {
		r.texts[of] = new(strings.Builder)
	}
	return r.texts[of]
}

func (r *rebuilt) report(t *testing.T) {
	t.Helper()
	for _, d := range r.dropped {
		if !r.holds(d.text) {
			t.Errorf("a line was dropped, and its %q is nowhere else: %s", d.key, short([]byte(d.text)))
		}
	}
}

func (r *rebuilt) holds(text string) bool {
	for _, built := range r.texts {
		if strings.Contains(built.String(), text) {
			return true
		}
	}
	return slices.ContainsFunc(r.kept, func(kept string) bool { return strings.Contains(kept, text) })
}
