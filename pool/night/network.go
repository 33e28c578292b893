package night

import (
	"errors"
	"time"

	"github.com/ralph-loop/ralph/pool/store"
)

// simStore is a store that keeps its promises: what it says it has done is done, once and for good.
type simStore struct{ values map[string][]byte }

func (s *simStore) putIfAbsent(key string, value []byte) error {
	if _, exists := s.values[key]; exists {
		return store.ErrExists
	}
	s.values[key] = value
	return nil
}

func (s *simStore) get(key string) ([]byte, error) {
	value, exists := s.values[key]
	if !exists {
		return nil, store.ErrNotFound
	}
	return value, nil
}

var errNoAnswer = errors.New("no answer from the store")

// request sends something to the store, and says to a process of the host what came of it: an
// answer, or none. The request may arrive long after that.
func (h *host) request(p *process, do func() error, answered func(error)) {
	w := h.w
	timeout := w.span(5*time.Second, 30*time.Second)
	over := false
	finish := func(err error) {
		if !over && p.alive() {
			over = true
			answered(err)
		}
	}
	w.after(timeout, func() { h.whenAwake(func() { finish(errNoAnswer) }) })
	soon := w.span(time.Millisecond, 200*time.Millisecond)
	arrives, lost, doubled := soon, false, false
	if !w.healed {
		if roll := w.rng.IntN(100); roll < 3 {
			arrives = w.span(0, 5*time.Minute)
		} else if roll < 10 {
			arrives = w.span(0, 5*time.Second)
		}
		lost, doubled = w.chance(5), w.chance(5)
	}
	if h.cut > w.now && w.chance(80) || lost {
		w.LostAnswers++
		return
	}
	if arrives > timeout || doubled {
		w.Doubled++
	}
	deliver := func(last bool) {
		err := do()
		if !last || h.cut > w.now || !w.healed && w.chance(5) {
			return
		}
		w.after(w.span(time.Millisecond, 200*time.Millisecond), func() { h.whenAwake(func() { finish(err) }) })
	}
	w.after(arrives, func() { deliver(!doubled) })
	if doubled {
		w.after(arrives+w.span(0, []time.Duration{10 * time.Second, 3 * time.Minute}[w.rng.IntN(2)]), func() { deliver(true) })
	}
}
