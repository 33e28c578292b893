package report

import (
	"slices"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render/transcript"
)

// How many entries are shown at most of one iteration: at its beginning, at its end, and between
// them those that failed.
const (
	firstKept   = 150
	lastKept    = 250
	failingKept = 60
)

// How many bytes of text the first and the last of them have at most, about.
const (
	firstBytes = 256 << 10
	lastBytes  = 512 << 10
)

// chunk are the entries of one iteration, or of the time between two. Of a long one it keeps the
// beginning, the end, and what failed between them.
type chunk struct {
	first    []transcript.Entry
	failing  []transcript.Entry
	last     []transcript.Entry
	size     struct{ first, last int } // bytes of text
	Left     int                       // entries that are not shown
	LeftFrom event.Seq
}

// put adds an entry, or the later state of one.
func (c *chunk) put(e transcript.Entry) {
	var none int
	for _, part := range []struct {
		entries []transcript.Entry
		size    *int
	}{{c.first, &c.size.first}, {c.failing, &none}, {c.last, &c.size.last}} {
		if at, found := slices.BinarySearchFunc(part.entries, e.Seq, bySeq); found {
			*part.size += size(e) - size(part.entries[at])
			part.entries[at] = e
			return
		}
	}
	switch {
	case len(c.last) > 0 && e.Seq < c.last[0].Seq:
		c.drop(e, false) // it was left out before
	case len(c.last) == 0 && c.LeftFrom == 0 && len(c.first) < firstKept && c.size.first < firstBytes:
		c.first = insert(c.first, e)
		c.size.first += size(e)
	default:
		c.last = insert(c.last, e)
		c.size.last += size(e)
	}
	if len(c.last) > 2*lastKept || len(c.last) > 1 && c.size.last > 2*lastBytes {
		c.shorten()
	}
}

// shorten leaves out entries at the beginning of the last ones.
func (c *chunk) shorten() {
	n := 0
	for n < len(c.last)-1 && (len(c.last)-n > lastKept || c.size.last > lastBytes) {
		c.size.last -= size(c.last[n])
		c.drop(c.last[n], true)
		n++
	}
	c.last = slices.Clone(c.last[n:])
}

// size is about how many bytes an entry adds to a page.
func size(e transcript.Entry) int {
	switch b := e.Body.(type) {
	case transcript.Words:
		return len(b.Text)
	case transcript.Thinking:
		return len(b.Text)
	case transcript.Tools:
		n := 0
		for _, call := range b.Calls {
			n += min(len(call.Output), textMost) + min(len(call.Input), textMost)
		}
		return n
	}
	return 0
}

// drop leaves an entry out unless it failed. Left counts it once.
func (c *chunk) drop(e transcript.Entry, counted bool) {
	if failed(e) && len(c.failing) < failingKept {
		c.failing = insert(c.failing, e)
		if !counted {
			c.Left--
		}
		return
	}
	if counted {
		c.Left++
		if c.LeftFrom == 0 {
			c.LeftFrom = e.Seq
		}
	}
}

func insert(part []transcript.Entry, e transcript.Entry) []transcript.Entry {
	at, _ := slices.BinarySearchFunc(part, e.Seq, bySeq)
	return slices.Insert(part, at, e)
}

func bySeq(e transcript.Entry, seq event.Seq) int {
	switch {
	case e.Seq < seq:
		return -1
	case e.Seq > seq:
		return 1
	}
	return 0
}

// failed reports whether an entry should be read even where others are left out.
func failed(e transcript.Entry) bool {
	switch b := e.Body.(type) {
	case transcript.Tools:
		return b.State() == transcript.StateFailed
	case transcript.Guardrail:
		return b.State == transcript.StateFailed
	case transcript.Claim, transcript.Message, transcript.Question, transcript.Commit, transcript.Wait, transcript.Pause, transcript.End:
		return true
	case transcript.Note:
		return b.Tone == "failure"
	}
	return false
}
