package queue

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/pool/chunk"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/mirror/decide"
	"github.com/ralph-loop/ralph/pool/spec"
	"github.com/ralph-loop/ralph/pool/store"
)

// A Claim is an attempt to get a loop. It may be stored before it is tried: a process that finds it
// later knows by the nonce whether it has the loop.
type Claim struct {
	Loop  string    `json:"loop"`
	Host  string    `json:"host"`
	Nonce string    `json:"nonce"`
	At    time.Time `json:"at"`
	// After is the epoch of a host that has never begun the loop, and that the claim takes it from;
	// 0 for a loop of the queue. It was decided about that epoch and no later one.
	After uint64 `json:"after,omitempty"`
	// Record is the specification, or that it was withdrawn: what chunk 0 has.
	Record json.RawMessage `json:"record"`
}

// NewClaim returns an attempt by a host.
func NewClaim(loop, host string, record []byte) Claim {
	return Claim{Loop: loop, Host: host, Nonce: rand.Text(), At: time.Now().UTC(), Record: record}
}

// A Holder is who has a loop.
type Holder struct {
	Host  string
	Epoch uint64 // 0: no host has it
	// Nonces are those of the claims in the log, the last one's last.
	Nonces    []string
	Begun     bool   // the log has events
	Withdrawn bool   // no host runs it
	Record    []byte // of chunk 0
}

// By is the host that has the loop, as a part of a key; a person withdraws one by another name.
func (h Holder) By() string {
	if h.Withdrawn {
		return "withdrawn"
	}
	return h.Host
}

// Mine reports whether a claim has the loop.
func (h Holder) Mine(c Claim) bool { return h.Epoch > 0 && h.Nonces[len(h.Nonces)-1] == c.Nonce }

// Try makes the claim, and returns who has the loop. After an error that is unknown: Try again, or
// read [Hold]. A loop stays with its host that has a log, or one beyond the epoch After.
func (c Claim) Try(ctx context.Context, s store.Store) (held Holder, err error) {
	claim := decide.NewBeginning(c.Loop, c.Host, c.Nonce, c.At, c.Record)
	if c.After > 0 {
		claim = decide.NewClaim(c.Loop, c.Host, c.Nonce, c.At)
	}
	for puts := 0; ; {
		switch step := claim.Next(); step.Do {
		case decide.Read:
			entry, err := s.Get(ctx, keys.Chunk(c.Loop, step.Number))
			switch {
			case errors.Is(err, store.ErrNotFound) && (held.Begun || held.Withdrawn || held.Mine(c) || held.Epoch != c.After):
				return held, nil
			case errors.Is(err, store.ErrNotFound):
				claim.Missing()
			case err != nil:
				return held, fmt.Errorf("claim loop %s: %w", c.Loop, err)
			default:
				held.add(claim.Found(entry.Value))
			}
		case decide.Put:
			_, err := s.PutIfAbsent(ctx, keys.Chunk(c.Loop, step.Number), step.Stored)
			claim.Answered(err)
			if puts++; puts == tries {
				return held, fmt.Errorf("claim loop %s: %w", c.Loop, err)
			}
			if err == nil {
				held.add(chunk.Header{Host: c.Host, Epoch: claim.Tail().Epoch, Nonce: c.Nonce, Number: step.Number}, c.lines(step.Number))
			}
		case decide.Stop:
			return held, fmt.Errorf("claim loop %s: %w", c.Loop, step.Why)
		default: // won, or lost
			return held, nil
		}
	}
}

func (c Claim) lines(number uint64) []byte {
	if number > 0 {
		return nil
	}
	return c.Record
}

// add takes the next chunk of the log.
func (h *Holder) add(c chunk.Header, lines []byte) {
	if c.Epoch > h.Epoch {
		h.Host, h.Epoch, h.Nonces = c.Host, c.Epoch, append(h.Nonces, c.Nonce)
	}
	h.Begun = h.Begun || c.Last > 0
	if c.Number == 0 && c.Last == 0 {
		var record spec.Spec
		h.Record = bytes.TrimSpace(lines)
		h.Withdrawn = json.Unmarshal(h.Record, &record) == nil && record.Withdrawn != ""
	}
}

// ErrDamaged is the error of a log that cannot be understood.
var ErrDamaged = errors.New("its log is damaged, or a newer ralph wrote it")

// Hold reads who has a loop that may not have begun. It reads chunks until one has events.
func Hold(ctx context.Context, s store.Store, loop string) (held Holder, err error) {
	tail := decide.Tail{Loop: loop}
	for !held.Begun {
		entry, err := s.Get(ctx, keys.Chunk(loop, tail.Next))
		if errors.Is(err, store.ErrNotFound) {
			return held, nil
		}
		if err != nil {
			return held, fmt.Errorf("read who has loop %s: %w", loop, err)
		}
		h, lines, err := chunk.Decode(entry.Value)
		if err == nil {
			tail, err = tail.Follow(h, chunk.Hash(entry.Value))
		}
		if err != nil {
			return held, fmt.Errorf("read who has loop %s: %w: %w", loop, ErrDamaged, err)
		}
		held.add(h, lines)
	}
	return held, nil
}
