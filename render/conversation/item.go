package conversation

import (
	"strings"
	"time"

	"github.com/ralph-loop/ralph/render/markdown"
	"github.com/ralph-loop/ralph/render/transcript"
)

// gutter is how many columns at the left are for the mark of the selection.
const gutter = 2

// An item is an entry and how it was laid out last.
type item struct {
	transcript.Entry

	chosen   bool // a person folded or unfolded it
	unfolded bool // if chosen

	laid  []markdown.Line
	by    layout
	words *words
}

// A layout is what the lines of an item depend on, besides the entry.
type layout struct {
	width    int
	unfolded bool
	marks    bool
	second   int64 // of an item that shows the time
}

// set replaces the entry by a later state.
func (it *item) set(e transcript.Entry) {
	it.Entry = e
	it.laid = nil
}

// drop forgets the lines.
func (it *item) drop() { it.laid, it.words = nil, nil }

// open reports whether an item is shown unfolded.
func (v *View) open(it *item) bool {
	if it.chosen {
		return it.unfolded
	}
	return v.unfolded
}

// Toggle folds or unfolds the selected entry.
func (v *View) Toggle() {
	if at, found := v.index(v.selected); found && v.selected != 0 {
		it := v.items[at]
		it.chosen, it.unfolded = true, !v.open(it)
		v.settle()
		v.show(at)
	}
}

// ToggleAll folds or unfolds all entries.
func (v *View) ToggleAll() {
	v.unfolded = !v.unfolded
	for _, it := range v.items {
		it.chosen = false
	}
}

// lines returns the lines of an item, from its cache if they would be the same.
func (v *View) lines(i int) []markdown.Line {
	it := v.items[i]
	by := layout{width: max(v.columns-gutter, 1), unfolded: v.open(it), marks: v.theme.Bold.Open() == ""}
	if runs(it.Body) {
		by.second = v.now.Unix()
	}
	if it.laid != nil && it.by == by {
		return it.laid
	}
	if it.laid == nil {
		v.laid++
	}
	if it.words != nil && it.words.options != (markdown.Options{Width: max(by.width, markdown.Narrowest), Marks: by.marks}) {
		it.words = nil
	}
	p := &painter{layout: by, now: v.now, item: it}
	p.entry()
	it.laid, it.by = p.lines, by
	if it.laid == nil {
		it.laid = []markdown.Line{}
	}
	return it.laid
}

// runs reports whether an entry shows the time.
func runs(body transcript.Body) bool {
	switch b := body.(type) {
	case transcript.Tools:
		return b.State() == transcript.StateRunning
	case transcript.Guardrail:
		return b.State == transcript.StateRunning
	case transcript.Wait:
		return !b.Over && !b.Until.IsZero()
	}
	return false
}

// apart reports whether an empty line separates two entries.
func apart(a, b transcript.Body) bool {
	x, y := a.Kind(), b.Kind()
	if x == y && (x == transcript.KindTools || x == transcript.KindNote || x == transcript.KindGuardrail || x == transcript.KindDetail) {
		return false
	}
	return group(x) != group(y) || group(x) == 0
}

// group is the number of kinds that no empty line separates, 0 for one that is always apart.
func group(k transcript.Kind) int {
	switch k {
	case transcript.KindGuardrail, transcript.KindClaim, transcript.KindCommit:
		return 1
	case transcript.KindNote, transcript.KindDetail:
		return 2
	}
	return 0
}

// words are the lines of a text that is being written.
type words struct {
	options markdown.Options
	stream  *markdown.Stream
	text    string
}

// layOut lays out a text. What was laid out before is not laid out again if the text continues it.
func (it *item) layOut(text string, o markdown.Options) []markdown.Line {
	if it.words == nil || !strings.HasPrefix(text, it.words.text) {
		it.words = &words{options: o, stream: markdown.NewStream(o)}
	}
	it.words.stream.Append(text[len(it.words.text):])
	it.words.text = text
	return it.words.stream.Lines()
}

// A painter lays out one entry.
type painter struct {
	layout
	now   time.Time
	item  *item
	lines []markdown.Line
}

// entry lays out the entry, with a mark before each line if a subagent did it.
func (p *painter) entry() {
	if p.item.Parent == "" || p.width < 2*markdown.Narrowest {
		p.body()
		return
	}
	p.width -= 2
	p.body()
	p.width += 2
	mark := markdown.Line{{Text: "┊ ", Style: faint}}
	for i, line := range p.lines {
		p.lines[i] = append(mark[:1:1], line...)
	}
}

func (p *painter) body() {
	switch b := p.item.Body.(type) {
	case transcript.Words:
		p.lines = p.item.layOut(b.Text, markdown.Options{Width: max(p.width, markdown.Narrowest), Marks: p.marks})
	case transcript.Thinking:
		p.thinking(b)
	case transcript.Tools:
		p.tools(b)
	case transcript.Plan:
		p.plan(b)
	case transcript.Guardrail:
		p.guardrail(b)
	case transcript.Message:
		p.message(b)
	case transcript.Question:
		p.question(b)
	case transcript.Claim:
		p.claim(b)
	case transcript.Commit:
		p.commit(b)
	case transcript.Note:
		p.note(b)
	case transcript.Wait:
		p.wait(b)
	case transcript.Pause:
		p.pause(b)
	case transcript.Loop:
		p.loop(b)
	case transcript.Iteration:
		p.iteration(b)
	case transcript.IterationEnd:
		p.iterationEnd(b)
	case transcript.End:
		p.end(b)
	case transcript.Detail:
		p.add(text(b.Text, faint))
	}
}
