package night

import (
	"errors"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/pool/chunk"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/mirror/decide"
	"github.com/ralph-loop/ralph/pool/store"
)

// checkRunning is called after everything that happens.
func (w *world) checkRunning() {
	for _, h := range w.hosts {
		if h.runner.alive() && h.folder != nil && h.folder.moved {
			w.violate("%s is fenced, and runs the loop", h.name)
		}
	}
}

// judge checks the run when all hosts had time to agree.
func (w *world) judge() {
	tail, lines := w.log()
	if tail.Next == 0 {
		if len(w.acked) > 0 || w.Disks == 0 {
			w.violate("nothing is in the store, and %d events were acknowledged", len(w.acked))
		}
		return // the disk of the only host that had the loop was lost at once
	}
	for seq, line := range w.acked {
		if seq > uint64(len(lines)) || lines[seq-1] != line {
			w.violate("event %d was acknowledged as %q, and is not in the log of %d events", seq, line, len(lines))
		}
	}
	for _, id := range w.inbox {
		n := 0
		for _, line := range lines {
			if strings.HasSuffix(line, " "+id+"\n") {
				n++
			}
		}
		if n != 1 {
			w.violate("command %s is in the log %d times", id, n)
		}
	}
	for _, h := range w.hosts {
		f := h.folder
		if has := h.name == tail.Host; has != h.runner.alive() || !has && h.agent {
			w.violate("the log gives the loop to %s, and %s runs it: %v, with an agent: %v", tail.Host, h.name, h.runner.alive(), h.agent)
		} else if has && (f.epoch != tail.Epoch || len(f.lines) < len(lines) || !slices.Equal(f.lines[:len(lines)], lines)) {
			w.violate("%s has the loop under epoch %d of %d, and another journal than the log", h.name, f.epoch, tail.Epoch)
		}
	}
}

// log reads the chain in the store.
func (w *world) log() (decide.Tail, []string) {
	tail, text := decide.Tail{Loop: loop}, strings.Builder{}
	for {
		stored, err := w.store.get(keys.Chunk(loop, tail.Next))
		if errors.Is(err, store.ErrNotFound) {
			break
		}
		header, lines, err := chunk.Decode(stored)
		if err == nil {
			tail, err = tail.Follow(header, chunk.Hash(stored))
		}
		if err != nil {
			w.violate("%v", err)
		}
		text.Write(lines)
	}
	w.Chunks = int(tail.Next)
	if len(w.store.values) != w.Chunks {
		w.violate("the store has %d chunks, and the chain %d", len(w.store.values), w.Chunks)
	}
	return tail, slices.DeleteFunc(strings.SplitAfter(text.String(), "\n"), func(line string) bool { return line == "" })
}
