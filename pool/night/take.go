package night

import (
	"errors"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/pool/chunk"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/mirror/decide"
	"github.com/ralph-loop/ralph/pool/store"
)

// watch looks now and then whether the log gives the loop to this host without its knowing.
func (h *host) watch() {
	h.w.after(h.w.span(time.Minute, 2*time.Minute), func() {
		h.whenAwake(func() {
			if h.w.owner() == h.name { // else it is not worth reading the log
				h.take(false)
			}
		})
		h.watch()
	})
}

// owner is the host of the last chunk. It is only a guess: the log may go on meanwhile.
func (w *world) owner() string {
	stored, err := w.store.get(keys.Chunk(loop, uint64(len(w.store.values))-1))
	if err != nil {
		return ""
	}
	header, _, err := chunk.Decode(stored)
	if err != nil {
		w.violate("%v", err)
	}
	return header.Host
}

// take takes the loop over: from any other host, or only where the log gives it to this host and it
// is not here.
func (h *host) take(others bool) {
	if h.down || h.taking.alive() {
		return
	}
	h.taking = new(process)
	t := &takeover{h: h, p: h.taking, others: others, claim: decide.NewClaim(loop, h.name, h.w.name(), h.at())}
	t.step()
}

// takeover is one attempt.
type takeover struct {
	h      *host
	p      *process
	others bool
	claim  *decide.Claim
	lines  []string // of the log
	goes   bool     // it was decided to claim the loop
}

func (t *takeover) step() {
	h, w := t.h, t.h.w
	switch step := t.claim.Next(); step.Do {
	case decide.Read:
		var stored []byte
		h.request(t.p, func() (err error) { stored, err = w.store.get(keys.Chunk(loop, step.Number)); return err }, func(err error) {
			switch {
			case errors.Is(err, store.ErrNotFound):
				t.claim.Missing()
			case err == nil:
				if _, text := t.claim.Found(stored); len(text) > 0 {
					t.lines = append(t.lines, strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")...)
					t.lines[len(t.lines)-1] += "\n"
				}
			}
			t.step()
		})
	case decide.Put:
		if !t.goes && !t.wanted() {
			t.p.kill()
			if t.claim.Tail().Host == h.name {
				h.resume() // a take-over that was killed before it did
			}
			return
		}
		if !t.goes && w.variant == ResumesFirst {
			t.bring(t.claim.Tail().Epoch+1, func() {})
		}
		t.goes = true
		h.request(t.p, func() error { return w.store.putIfAbsent(keys.Chunk(loop, step.Number), step.Stored) }, func(err error) {
			t.claim.Answered(err)
			t.step()
		})
	case decide.Won:
		w.Claims++
		w.note("%s has the loop under epoch %d, up to event %d", h.name, step.Epoch, len(t.lines))
		if w.variant == ResumesFirst {
			t.p.kill()
			return
		}
		t.bring(step.Epoch, t.p.kill)
	case decide.Lost:
		w.Lost++
		t.p.kill()
	case decide.Stop:
		if t.claim.Tail().Next > 0 {
			w.violate("%s cannot take the loop over: %v", h.name, step.Why)
		}
		t.p.kill()
	}
}

// wanted reports whether the loop is to be claimed, once the end of its log is known.
func (t *takeover) wanted() bool {
	tail, f := t.claim.Tail(), t.h.folder
	if tail.Host == t.h.name {
		return f == nil || f.moved || f.epoch != tail.Epoch
	}
	return t.others
}

// bring puts the loop on the disk, with its epoch, and resumes it. A process may be killed between
// any two of these steps; a service may resume the loop before it does.
func (t *takeover) bring(epoch uint64, then func()) {
	h := t.h
	h.later(t.p, h.w.span(time.Second, 20*time.Second), func() {
		if h.folder != nil {
			h.fence(h.folder) // what ran here under an earlier epoch
		}
		f := &folder{epoch: epoch, lines: t.lines[:len(t.lines):len(t.lines)], synced: len(t.lines)}
		if h.folder = f; h.w.variant == LateEpoch {
			f.epoch = 1
		}
		h.later(t.p, h.w.span(0, 2*time.Second), func() {
			f.epoch = epoch
			h.resume()
			then()
		})
	})
}
