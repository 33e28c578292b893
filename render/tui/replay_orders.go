package tui

import (
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render/playback"
)

// This file has what a person asks of a player. All of it runs on the player's goroutine.

// togglePause pauses or continues. At the end it plays again from the beginning.
func (p *player) togglePause() {
	if p.ended && !p.awaited {
		p.to(p.beginning())
		p.pause(false)
		return
	}
	p.pause(!p.clock.Paused())
}

func (p *player) pause(paused bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clock.Pause(paused, p.o.Now())
}

// setSpeed changes the speed with one of the clock's methods.
func (p *player) setSpeed(change func(*playback.Clock, time.Time)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(p.clock, p.o.Now())
}

// step pauses, and shows events until something is seen: with whole, until an entry begins.
func (p *player) step(whole bool) {
	p.pause(true)
	for {
		if p.await(); !p.awaited {
			return
		}
		seq := p.coming.Seq
		p.show()
		p.mu.Lock()
		entries := p.builder.Take()
		p.taken = append(p.taken, entries...)
		p.mu.Unlock()
		for _, e := range entries {
			if !whole || e.Seq == seq {
				return
			}
		}
	}
}

// to goes to an event, or says why it cannot.
func (p *player) to(seq event.Seq, err error) {
	if err == nil {
		err = p.jump(seq)
	}
	if err != nil {
		p.say(err.Error())
	}
}

func (p *player) say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.saying = text
}

// again is how soon a second jump back means the iteration before.
const again = 2 * time.Second

// iterate goes to the next iteration, or back to the beginning of this one, and from there to the
// one before.
func (p *player) iterate(forward bool) {
	n, now := p.playing, p.o.Now()
	switch {
	case forward:
		n++
	case now.Sub(p.jumped) < again:
		n--
	}
	p.toIteration(n)
	p.jumped = now
}

// toIteration goes to the border of an iteration.
func (p *player) toIteration(n int) {
	if n < 1 {
		p.to(0, nil)
		return
	}
	from, err := beginningOf(p.o.Dir, n)
	if err != nil {
		p.say(fmt.Sprintf("the journal has no iteration %d", n))
		return
	}
	p.find(from, func(e event.Event) bool { return e.Type == event.TypeIterationStarted && e.Iter == n },
		fmt.Sprintf("the journal has no beginning of iteration %d", n))
}

// toFailure goes to the next event at which something did not go well.
func (p *player) toFailure() {
	const none = "nothing fails after this event"
	if p.at >= p.last {
		p.say(none)
		return
	}
	p.find(p.at+1, playback.Failed, none)
}

// find goes to the first event from one on that matches. Another key ends a search that takes long.
func (p *player) find(from event.Seq, match func(event.Event) bool, none string) {
	p.say("looking for it …; any key of the replay stops")
	p.ring()
	for e, err := range journal.Read(p.o.Dir, journal.ReadOptions{FromSeq: from}) {
		if err != nil {
			p.say(err.Error())
			return
		}
		if match(e) {
			p.say("")
			p.to(e.Seq, nil)
			return
		}
		if p.ctx.Err() != nil || len(p.orders) > 0 {
			return
		}
	}
	p.say(none)
}

// goTo goes to what a person typed: the number of an event, or i and that of an iteration.
func (p *player) goTo(typed string) {
	typed = strings.ToLower(strings.TrimSpace(typed))
	if rest, ok := strings.CutPrefix(typed, "i"); ok {
		if n, err := strconv.Atoi(strings.TrimSpace(rest)); err == nil && n > 0 {
			p.toIteration(n)
			return
		}
	}
	if n, err := strconv.ParseUint(strings.TrimPrefix(typed, "#"), 10, 63); err == nil {
		if seq := event.Seq(n); seq > p.last {
			p.say(fmt.Sprintf("the last event is %d", p.last))
		} else {
			p.to(seq, nil)
		}
		return
	}
	p.say("type the number of an event, such as 412, or i3 for iteration 3")
}

// segmentOf returns the first event of the segment that has an event.
func segmentOf(dir string, seq event.Seq) (event.Seq, error) {
	segments, err := journal.Segments(dir)
	if err != nil {
		return 0, err
	}
	var failed error
	first := func(i int) event.Seq {
		seq, err := firstIn(dir, segments[i])
		failed = errors.Join(failed, err)
		return seq
	}
	after := sort.Search(len(segments), func(i int) bool { return first(i) > seq })
	if failed != nil {
		return 0, failed
	}
	if after == 0 {
		return 0, fmt.Errorf("the journal no longer has event %d", seq)
	}
	return first(after - 1), failed
}
