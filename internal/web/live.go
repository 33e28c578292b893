package web

import (
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render/transcript"
)

// How often a live page gets a frame: at most every 100 ms, less often if frames take long to
// make, and also while events come without a pause.
const (
	frameEvery = 100 * time.Millisecond
	frameShare = 10 // of the time, one part is spent on making frames
	frameLate  = 250 * time.Millisecond
)

// A page that is further behind than mostBehind events has to begin again: its person reads the end
// of the conversation, and scrolls to what is between. A reconnect reads at most mostAgain events
// again, to know what is open; an entry that has been open for longer appears as a new one.
const (
	mostBehind = 20_000
	mostAgain  = 50_000
)

// aliveEvery is how often a live page checks that the runner lives.
const aliveEvery = 2 * time.Second

// live is one page that follows a loop.
type live struct {
	*stream
	b     *transcript.Builder
	after event.Seq // the last event that the page has
	seq   event.Seq // the last event that was read
	sent  time.Time // when the last frame was sent
	pace  time.Duration

	mu   sync.Mutex
	loop registry.Status
	fold *projector.Loop
}

// liveFrame is the data of an event "entries". Its id is the number of the last event that it
// contains.
type liveFrame struct {
	Entries []entry `json:"entries"`
	State   Detail  `json:"state"`
}

// getLive streams a conversation to a page that has its events from first to after: entries that
// began or changed, as HTML, and the state of the loop. A page that reconnects names the last event
// that it has, and neither misses nor repeats anything.
func (s *Server) getLive(w http.ResponseWriter, r *http.Request) {
	l, ok := s.loopOf(w, r)
	if !ok {
		return
	}
	first, err := seqOf(r, "first", 1)
	after, problem := seqOf(r, "after", 0)
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		var n uint64
		n, problem = strconv.ParseUint(last, 10, 63)
		after = event.Seq(n)
	}
	if err = errors.Join(err, problem); err != nil {
		refuse(w, http.StatusBadRequest, err.Error(), "")
		return
	}
	fold, err := projector.Load(l.Dir)
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error(), "'ralph journal verify' shows what is wrong")
		return
	}
	st := s.openStream(w, r, kindSSE)
	if st == nil {
		return
	}
	defer st.close()
	if last := fold.Seq(); last < after || last > after+mostBehind {
		_ = st.send("reset", 0, struct{}{})
		return
	}
	p := &live{
		stream: st, after: after, loop: l, fold: fold, pace: frameEvery,
		sent: s.env.Now().Add(-frameEvery),
		b:    transcript.New(transcript.Options{Project: l.Project, Maximum: l.Head.MaximumIterations}),
	}
	if st.send("state", 0, p.state()) != nil {
		return
	}
	st.beat(aliveEvery, p.look)
	if after > mostAgain {
		first = max(first, after-mostAgain)
	}
	p.follow(max(first, 1))
}

// follow sends frames until the client or the server is gone.
func (p *live) follow(first event.Seq) {
	opt := journal.FollowOptions{FromSeq: first, Idle: func(journal.Position) { p.idle() }}
	for e, err := range journal.Follow(p.ctx, p.loop.Dir, opt) {
		if err == nil {
			err = p.add(e)
		}
		if gone, ok := errors.AsType[*journal.RangeError](err); ok && first < gone.First && p.after < gone.First {
			_ = p.send("reset", 0, struct{}{})
			return
		} else if ok && first < gone.First {
			p.follow(gone.First)
			return
		}
		if err != nil {
			_ = p.send("problem", 0, problemOf(err))
			return
		}
		if p.s.env.Now().Sub(p.sent) >= max(frameLate, p.pace) {
			p.frames()
		}
	}
}

// add takes in an event. What the page has already is only needed for what is open.
func (p *live) add(e event.Event) error {
	if e.Seq > p.after && p.seq <= p.after {
		p.b.Take()
	}
	p.b.Add(e)
	p.seq = e.Seq
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.Seq <= p.fold.Seq() {
		return nil
	}
	return p.fold.Fold(e)
}

// idle sends what there is, but not sooner than the pace allows.
func (p *live) idle() {
	if p.seq <= p.after {
		return
	}
	if wait := p.pace - p.s.env.Now().Sub(p.sent); wait > 0 {
		pause := time.NewTimer(wait)
		defer pause.Stop()
		select {
		case <-pause.C:
		case <-p.ctx.Done():
			return
		}
	}
	p.frames()
}

// frames sends what changed since the last frame. On an error the stream ends.
func (p *live) frames() {
	if p.seq <= p.after {
		return
	}
	began := p.s.env.Now()
	_ = p.send("entries", p.seq, liveFrame{entriesFor(p.b.Take(), true), p.state()})
	p.sent = p.s.env.Now()
	p.after = p.seq
	p.pace = max(frameEvery, min(p.sent.Sub(began)*frameShare, 2*time.Second))
}

func (p *live) state() Detail {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.s.detailOf(p.loop, p.fold.View())
}

// look notices that a runner began or ended.
func (p *live) look() {
	now, err := registry.Probe(p.loop.Dir)
	p.mu.Lock()
	changed := err == nil && now.Alive != p.loop.Live.Alive
	if changed {
		p.loop.Live = now
	}
	p.mu.Unlock()
	if changed {
		_ = p.send("state", 0, p.state())
	}
}
