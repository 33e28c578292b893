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

// A page that is further behind than mostBehind events begins again with the end of the
// conversation: its person scrolls to what is between. A reconnect reads at most mostAgain events
// again, to know what is open; an entry that has been open for longer appears as a new one.
const (
	mostBehind = 20_000
	mostAgain  = 50_000
)

var errBehind = errors.New("the page is too far behind")

// aliveEvery is how often a live page checks that the runner lives.
const aliveEvery = 2 * time.Second

// live is one page that follows a loop.
type live struct {
	*stream
	b     *transcript.Builder
	first event.Seq // the first event of the page
	after event.Seq // the last event that the page has
	seq   event.Seq // the last event that was read
	sent  time.Time // when the last frame was sent
	pace  time.Duration

	mu   sync.Mutex
	loop *projector.View
	fold *projector.Loop
}

// liveFrame is the data of an event "entries". Its id is the number of the last event that it
// contains.
type liveFrame struct {
	Entries []entry `json:"entries"`
	State   Loop    `json:"state"`
}

// pageFrame is the data of an event "page", which replaces all that a page has.
type pageFrame struct {
	entryPage
	State Loop `json:"state"`
}

// getLive streams a conversation to a page: its end, and then the entries that began or changed, as
// HTML, with the state of the loop. A page that reconnects names the events that it has, from first
// to after, and neither misses nor repeats anything.
func (s *Server) getLive(w http.ResponseWriter, r *http.Request) {
	l, ok := s.loopOf(w, r)
	if !ok {
		return
	}
	first, err := seqOf(r, "first", 1)
	after, problem := seqOf(r, "after", 0)
	again := r.URL.Query().Has("after")
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		var n uint64
		n, problem = strconv.ParseUint(last, 10, 63)
		after, again = event.Seq(n), true
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
	p := &live{
		stream: st, first: max(first, 1), after: after, loop: l, fold: fold, pace: frameEvery,
		sent: s.env.Now().Add(-frameEvery),
		b:    transcript.New(optionsFor(l)),
	}
	st.beat(aliveEvery, p.look)
	if err := p.run(again && after <= fold.Seq() && after+mostBehind >= fold.Seq()); err != nil {
		_ = st.send("problem", 0, problemOf(err))
	}
}

// run sends frames until the client or the server is gone. again says that the page has events, and
// continues after them.
func (p *live) run(again bool) error {
	err := errBehind
	if again {
		if p.after > mostAgain {
			p.first = max(p.first, p.after-mostAgain)
		}
		if err = p.send("state", 0, p.state()); err == nil {
			err = p.follow(journal.FollowOptions{FromSeq: p.first})
		}
	}
	for errors.Is(err, errBehind) {
		var from journal.Position
		if from, err = p.begin(); err == nil {
			err = p.follow(journal.FollowOptions{From: from})
		}
	}
	if p.ctx.Err() != nil {
		return nil
	}
	return err
}

// begin sends the end of the conversation, and returns the position after it.
func (p *live) begin() (journal.Position, error) {
	page, b, from, problem, err := readTail(p.loop, 0)
	if err != nil {
		return from, err
	}
	fold, err := projector.Load(p.loop.Dir)
	if err != nil {
		return from, err
	}
	p.mu.Lock()
	p.fold = fold
	p.mu.Unlock()
	p.b, p.first, p.after, p.seq = b, page.First, page.Last, page.Last
	err = p.send("page", page.Last, pageFrame{pageFor(page, problem, true), p.state()})
	p.sent = p.s.env.Now()
	return from, err
}

// follow sends frames until the stream ends. The error is errBehind if the loop is faster than the
// page.
func (p *live) follow(opt journal.FollowOptions) error {
	opt.Idle = func(journal.Position) { p.idle() }
	for e, err := range journal.Follow(p.ctx, p.loop.Dir, opt) {
		if err == nil {
			err = p.add(e)
		}
		if _, dropped := errors.AsType[*journal.RangeError](err); dropped {
			return errBehind // the journal no longer has the events of the page
		}
		if err != nil {
			return err
		}
		if p.s.env.Now().Sub(p.sent) < max(frameLate, p.pace) {
			continue
		}
		if p.frames(); p.behind() {
			return errBehind
		}
	}
	return nil
}

// behind reports whether too many events wait to be read.
func (p *live) behind() bool {
	last, _, err := journal.Last(p.loop.Dir, 1)
	return err == nil && len(last) > 0 && last[0].Seq > p.seq+mostBehind
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

func (p *live) state() Loop {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.s.at(p.fold.ViewOf(p.loop.Found))
}

// look notices that a runner began or ended.
func (p *live) look() {
	now, err := registry.Probe(p.loop.Dir)
	p.mu.Lock()
	changed := err == nil && now.Alive != p.loop.Found.Live.Alive
	if changed {
		p.loop.Found.Live = now
	}
	p.mu.Unlock()
	if changed {
		_ = p.send("state", 0, p.state())
	}
}
