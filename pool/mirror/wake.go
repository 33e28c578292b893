package mirror

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/pool/command"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/live"
	"github.com/ralph-loop/ralph/registry"
)

// beats writes the host's sign of life until ctx ends, and reads whether the host was woken: a
// watch may be silent.
func (m *Mirror) beats(ctx context.Context) {
	for {
		if m.beatOnce(ctx) {
			m.hear(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(live.BeatEvery):
		}
	}
}

// beatOnce also says, for all loops, whether the store is reached.
func (m *Mirror) beatOnce(ctx context.Context) (reached bool) {
	b := live.Beat{Version: 1, Host: m.opt.Host, At: m.opt.Now().UTC()}
	m.mu.Lock()
	b.Loops = len(m.loops)
	for _, l := range m.loops {
		if !l.busy && l.alive {
			b.Alive++
		}
	}
	m.mu.Unlock()
	err := m.beat.Put(ctx, m.store, 0, b)
	if ctx.Err() != nil {
		return false
	}
	m.mu.Lock()
	was := m.unreachable
	m.unreachable = err != nil
	m.mu.Unlock()
	switch {
	case err != nil && !was:
		m.opt.Say(fmt.Sprintf("the store is not reached: loops go on, and what they write is mirrored later: %v", err))
	case err == nil && was:
		m.opt.Say("the store is reached again")
		m.retry()
	}
	return err == nil
}

// retry has all loops looked at that an error has put off.
func (m *Mirror) retry() {
	m.mu.Lock()
	for _, l := range m.loops {
		if l.fails > 0 && !l.busy {
			l.fails, l.due = 0, m.opt.Now()
		}
	}
	m.mu.Unlock()
	m.wake()
}

// wakes waits for commands and take-overs until ctx ends.
func (m *Mirror) wakes(ctx context.Context) {
	for ctx.Err() == nil {
		for _, err := range m.store.Watch(ctx, keys.Wake(m.opt.Host)) {
			if err != nil {
				break // beats say that the store is not reached
			}
			m.hear(ctx)
		}
		select {
		case <-ctx.Done():
		case <-time.After(live.BeatEvery):
		}
	}
}

// heard is for what the host was woken until now.
type heard struct {
	sync.Mutex
	command.Listener
	began bool
}

// hear has the loops looked at for which the host was woken. Without an answer, the next beat does.
func (m *Mirror) hear(ctx context.Context) {
	m.heard.Lock()
	defer m.heard.Unlock()
	loops, unknown, err := m.heard.Woken(ctx, m.store, m.opt.Host)
	if err != nil {
		return
	}
	first := !m.heard.began // then all loops are asked about anyway
	m.heard.began = true
	if len(loops) == 0 && !unknown {
		return
	}
	doubt := m.opt.Now().Add(doubtFor)
	m.kick(func(l *loop) bool {
		if !unknown && !slices.Contains(loops, l.id) {
			return false
		}
		if !unknown || !first {
			l.doubt = doubt
		}
		l.woken.Store(true)
		return true
	}, 0)
	m.wake()
}

// listen has the loop looked at once its journal is written to. The watch ends with the first
// write: a loop that writes a thousand times a second wakes the mirror once.
func (m *Mirror) listen(l *loop) { m.listenTo(filepath.Join(l.dir, "notify")) }

// listenTo is best effort: what is not announced is found on time all the same.
func (m *Mirror) listenTo(path string) {
	if m.watch != nil {
		_ = m.watch.Add(path)
	}
}

// written takes the report of a change.
func (m *Mirror) written(path string) {
	if filepath.Dir(path) == registry.Folder(m.opt.Home) {
		m.mu.Lock()
		m.find, m.relist = m.opt.Now().Add(lookAfter), time.Time{}
		m.mu.Unlock()
		return
	}
	if m.watch != nil {
		_ = m.watch.Remove(path)
	}
	dir := filepath.Dir(path)
	m.kick(func(l *loop) bool { return l.dir == dir }, lookAfter)
}
