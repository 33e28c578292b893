package night

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/pool/chunk"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/mirror/decide"
	"github.com/ralph-loop/ralph/pool/store"
)

// mirroring is what the mirror of a host has in memory.
type mirroring struct {
	core     *decide.Mirror
	of       *folder       // that core is about
	since    time.Duration // of its last step
	commands []string      // of the store, which the loop does not have; a copy of the list as it was read
	told     time.Duration // when the store said that another host has the loop; 0 for never
}

func (h *host) startMirror() {
	if h.down || h.mirror.alive() {
		return
	}
	h.mirror, h.mirroring = new(process), mirroring{}
	h.step(h.mirror)
}

// step does one step of the mirror, and plans the next.
func (h *host) step(p *process) {
	f, w := h.folder, h.w
	if f == nil || f.moved {
		h.later(p, 10*time.Second, func() { h.step(p) })
		return
	}
	if h.of != f {
		tail := f.tail
		if w.chance(50) {
			tail = decide.Tail{}
		}
		h.mirroring = mirroring{core: decide.NewMirror(loop, h.name, f.epoch, tail), of: f, since: w.now}
	}
	again := func() { h.step(p) }
	unsealed := strings.Join(f.lines[min(int(h.core.Tail().Last), len(f.lines)):], "")
	due := decide.Due(len(unsealed), w.now-h.since, strings.Contains(unsealed, "ended")) || len(h.commands) > 0
	step := h.core.Next(decide.Journal{Last: event.Seq(len(f.lines)), Due: due})
	if step.Do != decide.Wait {
		h.since = w.now
	}
	switch step.Do {
	case decide.Wait:
		h.later(p, w.span(time.Second, 5*time.Second), again)
		if w.chance(20) {
			h.list(p, f)
		}
	case decide.Read:
		var stored []byte
		h.request(p, func() (err error) { stored, err = w.store.get(keys.Chunk(loop, step.Number)); return err }, func(err error) {
			h.read(f, stored, err)
			h.answered(p, f, err)
		})
	case decide.Seal:
		h.seal(f, step.First)
		h.later(p, w.span(0, time.Second), again)
	case decide.Put:
		h.request(p, func() error { return w.store.putIfAbsent(keys.Chunk(loop, step.Number), step.Stored) }, func(err error) {
			if w.variant == UnknownIsWritten && errors.Is(err, errNoAnswer) {
				err = nil
			}
			if w.variant == NoNonce && errors.Is(err, store.ErrExists) {
				err = nil
			}
			h.note(f, func() { h.core.Answered(err) })
			h.answered(p, f, err)
		})
	case decide.Fence:
		if h.told == 0 {
			h.told = w.now
			w.note("%s hears that %s has the loop under epoch %d", h.name, step.Host, step.Epoch)
		}
		h.later(p, w.span(0, fenceTakes), func() {
			h.fence(f)
			h.core.Fenced()
			w.Fences++
			w.Slowest = max(w.Slowest, w.now-h.told)
			again()
		})
	case decide.Stop:
		w.violate("the mirror of %s gives up: %v", h.name, step.Why)
	}
}

// answered goes on after an answer of the store, or without one.
func (h *host) answered(p *process, f *folder, err error) {
	if h.folder == f && len(h.commands) > 0 && h.core.Owns() {
		for _, id := range h.commands {
			if h.w.variant == Forgetful || !f.has(id) && !slices.Contains(f.inbox, id) {
				f.inbox = append(f.inbox, id)
			}
		}
		h.commands = nil
	}
	pause := time.Duration(0)
	if errors.Is(err, errNoAnswer) {
		pause = h.w.span(0, 10*time.Second)
	}
	h.later(p, pause, func() { h.step(p) })
}

// read gives the core the chunk that was read, or that there is none.
func (h *host) read(f *folder, stored []byte, err error) {
	switch {
	case errors.Is(err, store.ErrNotFound):
		h.core.Missing()
		return
	case err != nil:
		return
	}
	if h.w.variant == NoEpoch {
		stored = ownEpoch(stored, h.name, f.epoch)
	}
	h.note(f, func() {
		err = h.core.Found(stored, func(first, last event.Seq) ([]byte, error) {
			return []byte(strings.Join(f.lines[min(int(first)-1, len(f.lines)):min(int(last), len(f.lines))], "")), nil
		})
	})
	if err != nil {
		h.w.violate("%v", err)
	}
}

// ownEpoch takes the epoch and the host of a chunk for the host's own.
func ownEpoch(stored []byte, name string, epoch uint64) []byte {
	header, lines, err := chunk.Decode(stored)
	if err == nil && header.Epoch > epoch {
		header.Host, header.Epoch = name, epoch
		stored, err = chunk.Encode(header, lines)
	}
	if err != nil {
		panic(err)
	}
	return stored
}

// note remembers which events the host knows to be in the store once the core has taken an answer.
func (h *host) note(f *folder, take func()) {
	before := h.core.Tail()
	take()
	after := h.core.Tail()
	if after.Epoch > f.epoch {
		return
	}
	f.tail = after
	for seq := uint64(before.Last) + 1; seq <= uint64(after.Last) && seq <= uint64(len(f.lines)); seq++ {
		line := f.lines[seq-1]
		if was, known := h.w.acked[seq]; known && was != line {
			h.w.violate("event %d is acknowledged as %q, and now as %q", seq, was, line)
		}
		h.w.acked[seq] = line
	}
}

// chunkLines bounds how many lines a chunk has, so that it takes several to catch up.
const chunkLines = 20

func (h *host) seal(f *folder, first event.Seq) {
	last := min(int(first)-1+chunkLines, len(f.lines))
	if h.w.variant != Unsynced {
		f.synced = max(f.synced, last)
	}
	err := h.core.Seal(decide.Lines{
		Text: []byte(strings.Join(f.lines[first-1:last], "")), Last: event.Seq(last), At: h.at(), Nonce: h.w.name(),
	})
	if err != nil {
		h.w.violate("%v", err)
	}
}

// list reads which commands are in the store.
func (h *host) list(p *process, f *folder) {
	var all []string
	h.request(p, func() error { all = slices.Clone(h.w.inbox); return nil }, func(err error) {
		if err == nil && h.of == f {
			h.commands = slices.DeleteFunc(all, func(id string) bool { return f.has(id) && h.w.variant != Forgetful })
		}
	})
}
