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
	failingKept = 100
)

// chunk are the entries of one iteration, or of the time between two. Of a long one it keeps the
// beginning, the end, and what failed between them.
type chunk struct {
	first    []transcript.Entry
	failing  []transcript.Entry
	last     []transcript.Entry
	Left     int // entries that are not shown
	LeftFrom event.Seq
}

// put adds an entry, or the later state of one.
func (c *chunk) put(e transcript.Entry) {
	for _, part := range []*[]transcript.Entry{&c.first, &c.failing, &c.last} {
		if at, found := slices.BinarySearchFunc(*part, e.Seq, bySeq); found {
			(*part)[at] = e
			return
		}
	}
	switch {
	case len(c.first) < firstKept && len(c.last) == 0:
		c.first = insert(c.first, e)
	case len(c.last) > 0 && e.Seq < c.last[0].Seq:
		c.drop(e, false) // it was left out before
	default:
		c.last = insert(c.last, e)
	}
	if len(c.last) > 2*lastKept {
		over := len(c.last) - lastKept
		for _, e := range c.last[:over] {
			c.drop(e, true)
		}
		c.last = slices.Clone(c.last[over:])
	}
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
	case transcript.Claim, transcript.Message, transcript.Commit, transcript.Wait, transcript.Pause, transcript.End:
		return true
	case transcript.Note:
		return b.Tone == "failure"
	}
	return false
}
