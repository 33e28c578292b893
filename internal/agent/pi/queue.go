package pi

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// steers follows each steered text from the request to the model. pi says what
// its queue holds after each change and never which request an entry came from,
// so the queue is mirrored: entries leave at the front and come in at the back,
// which keeps two equal texts apart.
type steers struct {
	pending []*steer // asked for and not given to the model yet, oldest first
	queue   []entry  // pi's steering queue as last reported
	held    [][]byte // requests that wait until the prompt is accepted
}

type steer struct {
	command string // the id that the loop knows it by
	request string // the id that pi knows it by
	text    string // as pi's queue names it
	state   steerState
}

type steerState uint8

const (
	asked  steerState = iota
	queued            // an entry of pi's queue
	taken             // no longer in the queue: it is the next user message with that text
)

// entry of pi's queue. Its owner is nil if it is not ours or not known yet;
// maybe says that it came in while a request of ours had no entry.
type entry struct {
	text  string
	owner *steer
	maybe bool
}

// maxQueue is how much of pi's queue is mirrored: a person's steers are few, and
// matching two long queues takes time that grows with the square.
const maxQueue = 256

// update takes over the complete steering queue that pi reported.
func (s *steers) update(now []string) {
	kept := s.queue
	for !continues(kept, now) {
		if owner := kept[0].owner; owner != nil {
			owner.state = taken
		}
		kept = kept[1:]
	}
	next := make([]entry, len(now))
	copy(next, kept)
	for i := len(kept); i < len(now); i++ {
		owner := s.claim(now[i])
		next[i] = entry{now[i], owner, owner == nil && s.waiting()}
	}
	s.queue = next
}

// continues reports whether the queue begins with those entries.
func continues(entries []entry, queue []string) bool {
	return len(entries) <= len(queue) &&
		slices.EqualFunc(entries, queue[:len(entries)], func(e entry, text string) bool { return e.text == text })
}

// claim finds whose a new entry of the queue is.
func (s *steers) claim(text string) *steer {
	p := s.find(func(p *steer) bool { return p.state == asked && p.text == text })
	if p != nil {
		p.state = queued
	}
	return p
}

func (s *steers) waiting() bool {
	return s.find(func(p *steer) bool { return p.state == asked }) != nil
}

// accepted says that pi has queued the steer. If no entry is known to be the steer, pi has expanded
// its text (a prompt template, a skill): the oldest entry that may be it is taken for it.
func (s *steers) accepted(p *steer) {
	if p.state != asked {
		return
	}
	for i, e := range s.queue {
		if e.owner == nil && e.maybe {
			s.queue[i].owner = p
			p.text, p.state = e.text, queued
			return
		}
	}
}

// takenBy returns the steer that this user message is, and forgets it; nil if it
// is none.
func (s *steers) takenBy(text jsonscan.Value) *steer {
	p := s.find(func(p *steer) bool { return p.state == taken && text.Says(p.text) })
	if p != nil {
		s.forget(p)
	}
	return p
}

// answered returns the steer that was asked for with this request id.
func (s *steers) answered(id jsonscan.Value) *steer {
	return s.find(func(p *steer) bool { return id.Says(p.request) })
}

// find returns the first pending steer of a kind, nil if there is none.
func (s *steers) find(is func(*steer) bool) *steer {
	if i := slices.IndexFunc(s.pending, is); i >= 0 {
		return s.pending[i]
	}
	return nil
}

// forget drops a steer: delivered, or never to be.
func (s *steers) forget(p *steer) {
	s.pending = slices.DeleteFunc(s.pending, func(q *steer) bool { return q == p })
	for i := range s.queue {
		if s.queue[i].owner == p {
			s.queue[i].owner = nil
		}
	}
}

func (d *Dialect) queueUpdate(m jsonscan.Value, _ *agent.Decoded) {
	d.steers.update(agent.Texts(m.Get("steering"), maxQueue))
}

func (d *Dialect) userMessage(content jsonscan.Value, out *agent.Decoded) {
	if len(d.steers.pending) == 0 {
		return
	}
	text := content
	for part := range content.Items() {
		if part.Get("type").Is("text") {
			text = part.Get("text")
			break
		}
	}
	if !text.IsString() {
		return
	}
	if s := d.steers.takenBy(text); s != nil {
		out.Add(event.CommandDelivered{ID: s.command, How: "live"})
	}
}
