package decide

import (
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/pool/chunk"
)

// A Claim decides about a loop that its host takes over, or begins from the queue. It is won once a
// chunk without events is in the log under the next epoch. Only then may the loop be put on the
// disk of the host, and only after that may it run there.
//
// A process that does not know whether it has won makes a new claim, also for a loop that the log
// gives to its own host: an earlier process of that name may be alive.
type Claim struct {
	header  chunk.Header
	spec    []byte // of a queued loop
	tail    Tail
	rival   uint64 // the lowest epoch in which another has won; 0 until the log was read once
	reading bool
	put     *attempt
	won     bool
	wrong   error
}

// NewClaim returns the claim of host to a loop that has a log. No other chunk has the nonce.
func NewClaim(loop, host, nonce string, at time.Time) *Claim {
	return &Claim{header: chunk.Header{Host: host, Nonce: nonce, At: at}, tail: Tail{Loop: loop}, reading: true}
}

// NewClaimAfter is [NewClaim] for a log that was read and verified up to its tail. A host that
// claims the loop after that has it: the caller has decided about the host of the tail.
func NewClaimAfter(tail Tail, host, nonce string, at time.Time) *Claim {
	c := NewClaim(tail.Loop, host, nonce, at)
	c.tail, c.rival = tail, tail.Epoch+1
	return c
}

// NewBeginning returns the claim to a queued loop. Chunk 0 of its log has the specification.
func NewBeginning(loop, host, nonce string, at time.Time, spec []byte) *Claim {
	c := NewClaim(loop, host, nonce, at)
	c.spec, c.rival = append(spec[:len(spec):len(spec)], '\n'), 1
	return c
}

// Tail returns the end of the log. After [Won] it ends with the claim.
func (c *Claim) Tail() Tail { return c.tail }

// Next returns what to do: Read, Put, and at last Won, Lost or Stop. Before the first Put, the
// caller has read all of the log and may still give up; after it, the claim may be in the log
// whatever the caller does.
func (c *Claim) Next() Step {
	switch {
	case c.wrong != nil:
		return Step{Do: Stop, Why: c.wrong}
	case c.won:
		return Step{Do: Won, Host: c.tail.Host, Epoch: c.tail.Epoch}
	case c.rival != 0 && c.tail.Epoch >= c.rival:
		return Step{Do: Lost, Host: c.tail.Host, Epoch: c.tail.Epoch}
	case c.reading:
		return Step{Do: Read, Number: c.tail.Next}
	}
	return Step{Do: Put, Number: c.tail.Next, Stored: c.put.stored}
}

// Missing says that there is no chunk with the number that was to be read. The claim is made for
// it, unless it is being put there already.
func (c *Claim) Missing() {
	switch c.reading = false; {
	case c.tail.Next == 0 && c.spec == nil:
		c.wrong = fmt.Errorf("the pool has no log of loop %s", c.tail.Loop)
	case c.put == nil:
		c.header.Epoch, c.header.Tree = c.tail.Epoch+1, c.tail.Tree
		c.rival = c.header.Epoch
		c.put, c.wrong = c.tail.encode(c.header, c.spec)
	}
}

// Answered takes the answer to a put. After every error the chunk is read.
func (c *Claim) Answered(err error) {
	if err != nil {
		c.reading = true
		return
	}
	c.tail, c.wrong = c.tail.Follow(c.put.header, c.put.hash)
	c.won = c.wrong == nil
}

// Found takes the chunk with the number that was to be read, and returns what it has. If
// the host that had the loop has sealed it meanwhile, the claim is made again after it.
func (c *Claim) Found(stored []byte) (h chunk.Header, lines []byte) {
	h, lines, err := chunk.Decode(stored)
	if err != nil {
		c.wrong = fmt.Errorf("the log of loop %s is broken at chunk %d: %w", c.tail.Loop, c.tail.Next, err)
		return h, nil
	}
	hash := chunk.Hash(stored)
	if c.put.is(h, hash) {
		c.Answered(nil) // its answer was lost
		return h, lines
	}
	c.tail, c.wrong = c.tail.Follow(h, hash)
	c.put = nil
	return h, lines
}
