package decide

import (
	"bytes"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/pool/chunk"
)

// Do is what the caller does next.
type Do string

// The steps of a mirror and of a claim.
const (
	Wait  Do = "wait"
	Read  Do = "read"
	Seal  Do = "seal"
	Put   Do = "put"
	Fence Do = "fence"
	Stop  Do = "stop"
	// Won and Lost end a claim.
	Won  Do = "won"
	Lost Do = "lost"
)

// A Step is what the caller does next, with what it needs for it.
type Step struct {
	Do     Do
	Number uint64    // Read, Put: of the chunk
	Stored []byte    // Put: the bytes
	First  event.Seq // Seal: the first event of the lines
	Host   string    // Fence, Lost: where the loop is
	Epoch  uint64    // Fence, Won, Lost
	Why    error     // Stop
}

// Interval is how long a mirror waits at most until it seals what is there, or, once it was woken
// for a loop, reads whether the loop is still its own: that long, at most, an agent goes on that is
// to be fenced, while the store is reached.
const Interval = 30 * time.Second

// A Journal is what a mirror knows of the loop's journal on its own host.
type Journal struct {
	Last event.Seq // its last event
	Due  bool      // it is time to seal, or to read: see [Due], and before a command is delivered
}

// Due reports whether lines of that many bytes, which are not sealed, are to be sealed now: since
// is the time since the last step that was not [Wait], and ended says that an iteration has ended
// in them.
func Due(unsealed int, since time.Duration, ended bool) bool {
	return unsealed >= chunk.MaxLines || since >= Interval || ended && unsealed > 0
}

// A Mirror decides about one loop that runs on its host.
type Mirror struct {
	host    string
	epoch   uint64 // under which the host has the loop
	tail    Tail
	reading bool     // the log may go on after tail
	put     *attempt // what is being put; nil if nothing is
	fenced  bool     // by the host and epoch of tail
	stopped bool     // the runner has ended
	wrong   error
}

// NewMirror returns the mirror of a loop that host has under that epoch: 1 for a loop that began
// there, else the one of its claim. tail is where to begin to read the log: the zero Tail, or one
// that this host had before. All of the log is read before anything is written.
func NewMirror(loop, host string, epoch uint64, tail Tail) *Mirror {
	tail.Loop = loop
	return &Mirror{host: host, epoch: epoch, tail: tail, reading: true, fenced: tail.Epoch > epoch}
}

// Tail returns the end of the log.
func (m *Mirror) Tail() Tail { return m.tail }

// Owns reports whether the loop was this host's when the store last answered. Only then may
// commands be delivered.
func (m *Mirror) Owns() bool { return m.wrong == nil && !m.fenced && !m.reading }

// Next returns what to do. It changes nothing.
func (m *Mirror) Next(j Journal) Step {
	switch {
	case m.wrong != nil:
		return Step{Do: Stop, Why: m.wrong}
	case m.fenced && m.stopped:
		return Step{Do: Wait}
	case m.fenced:
		return Step{Do: Fence, Host: m.tail.Host, Epoch: m.tail.Epoch}
	case m.reading:
		return Step{Do: Read, Number: m.tail.Next}
	case m.put != nil:
		return Step{Do: Put, Number: m.tail.Next, Stored: m.put.stored}
	case !j.Due:
		return Step{Do: Wait}
	case j.Last > m.tail.Last:
		return Step{Do: Seal, First: m.tail.Last + 1}
	}
	return Step{Do: Read, Number: m.tail.Next}
}

// Lines are lines of the journal that are sealed as one chunk. They must be durable: what the log
// has, the journal may never lose.
type Lines struct {
	Text  []byte
	Last  event.Seq // the first is that of the step
	Tree  uint64    // the number of the newest tree in the store, plus 1; 0 if there is none
	At    time.Time
	Nonce string // that no other chunk has
}

// Seal takes the lines of a step [Seal].
func (m *Mirror) Seal(l Lines) error {
	a, err := m.tail.encode(chunk.Header{
		Epoch: m.epoch, Host: m.host, First: m.tail.Last + 1, Last: l.Last, Tree: max(l.Tree, m.tail.Tree), At: l.At, Nonce: l.Nonce,
	}, l.Text)
	if err != nil {
		return fmt.Errorf("seal events %d to %d: %w", m.tail.Last+1, l.Last, err)
	}
	m.put = a
	return nil
}

// Answered takes the answer to a put. After every error the chunk is read: also one that says that
// it exists may be about this host's own chunk.
func (m *Mirror) Answered(err error) {
	if err != nil || m.put == nil {
		m.reading = true
		return
	}
	m.accept(m.put.header, m.put.hash)
}

// accept makes a chunk the last of the log; an error says how it breaks the chain.
func (m *Mirror) accept(h chunk.Header, hash string) {
	m.tail, m.wrong = m.tail.Follow(h, hash)
	m.put = nil
}

// Missing says that there is no chunk with the number that was to be read: the log ends there.
func (m *Mirror) Missing() {
	m.reading = false
	begins := m.tail.Next == 0 && m.epoch == 1
	if !begins && (m.tail.Epoch != m.epoch || m.tail.Host != m.host) {
		m.wrong = fmt.Errorf("this host has loop %s under epoch %d, and the log ends in epoch %d of %q", m.tail.Loop, m.epoch, m.tail.Epoch, m.tail.Host)
	}
}

// Found takes the chunk with the number that was to be read. journal returns the lines of these
// events as the journal of this host has them; nil if it has removed them, and fewer if it never
// had them.
func (m *Mirror) Found(stored []byte, journal func(first, last event.Seq) ([]byte, error)) error {
	h, lines, err := chunk.Decode(stored)
	if err != nil {
		m.wrong = fmt.Errorf("the log of loop %s is broken at chunk %d: %w", m.tail.Loop, m.tail.Next, err)
		return nil
	}
	hash := chunk.Hash(stored)
	if m.put.is(h, hash) {
		m.reading = false // its answer was lost
		m.accept(h, hash)
		return nil
	}
	next, err := m.tail.Follow(h, hash)
	switch {
	case err != nil:
		m.wrong = err
		return nil
	case h.Epoch == m.epoch && h.Host != m.host:
		m.wrong = fmt.Errorf("the pool has loop %s from %q, and this host has a copy of it", h.Loop, h.Host)
		return nil
	case h.Epoch == m.epoch && h.Last > 0:
		own, err := journal(h.First, h.Last)
		if err != nil {
			return fmt.Errorf("compare chunk %d of loop %s with the journal: %w", h.Number, h.Loop, err)
		}
		if own != nil && !bytes.Equal(own, lines) {
			m.wrong = fmt.Errorf("chunk %d of loop %s has other lines than the journal of this host: events %d to %d", h.Number, h.Loop, h.First, h.Last)
			return nil
		}
	}
	m.tail, m.put, m.reading, m.fenced = next, nil, true, h.Epoch > m.epoch
	return nil
}

// Fenced says that the loop's runner and agent have ended here and cannot begin again.
func (m *Mirror) Fenced() { m.stopped = true }
