package otlp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/journal"
)

const (
	batchMost  = 512             // spans of one request
	heldMost   = 4 * batchMost   // spans that wait for a request; then reading the journal waits
	batchEvery = 2 * time.Second // how long a span may wait for others
	retryFirst = time.Second
	retryMost  = time.Minute
)

// Follower sends the spans of a running loop as they end. It remembers what the collector has in
// the loop's folder, and begins there.
type Follower struct {
	Dir    string // of the loop
	Target *Target
	Mask   func([]byte) []byte
	Now    func() time.Time
	// Report is called when the collector stops to take spans, with the reason, and with "" when it
	// takes them again. It is called from one goroutine.
	Report func(why string)

	every time.Duration // how long a span may wait for others; 0 is batchEvery
	retry time.Duration // how long to wait after the first failure; 0 is retryFirst

	sender   *Sender
	position Position
	trouble  string // that was reported

	mu    sync.Mutex
	held  []Span          // that ended, and were not sent
	trace string          // theirs
	after json.RawMessage // the fold after them
	more  chan struct{}   // there are spans to send
	room  chan struct{}   // there is room for more
	read  chan struct{}   // closed when the journal is read to its end
	hurry chan struct{}   // closed when the loop has ended
	once  sync.Once
	done  chan struct{}
	stop  context.CancelFunc
}

// Start begins to follow the loop. The error is about the position in the loop's folder.
func (f *Follower) Start() (err error) {
	if f.position, err = ReadPosition(f.Dir, f.Target); err != nil {
		return err
	}
	f.position.Fold.mapping.Mask = f.Mask
	f.every, f.retry = cmp.Or(f.every, batchEvery), cmp.Or(f.retry, retryFirst)
	f.sender = NewSender(f.Target, f.Now)
	f.more, f.room = make(chan struct{}, 1), make(chan struct{}, 1)
	f.read, f.hurry, f.done = make(chan struct{}), make(chan struct{}), make(chan struct{})
	fold, err := f.position.Fold.clone() // the reader has a fold of its own
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	f.stop = stop
	go func() {
		defer close(f.read)
		f.readJournal(ctx, fold)
	}()
	go func() {
		defer close(f.done)
		f.send(ctx)
	}()
	return nil
}

// Finish waits until the spans of the loop, which has ended, are sent, but not longer than limit.
// It returns why some are not sent; what is not sent is still in the journal.
func (f *Follower) Finish(limit time.Duration) error {
	f.once.Do(func() { close(f.hurry) })
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-f.done:
	case <-timer.C:
		f.stop()
		<-f.done
	}
	f.stop()
	<-f.read
	f.sender.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.held) > 0 {
		why := f.trouble
		if why == "" {
			why = "there was no time"
		}
		return fmt.Errorf("%d spans of the loop's end were not sent to %s: %s", len(f.held), f.Target.Shown(), why)
	}
	return nil
}

// readJournal folds the events until the loop has ended.
func (f *Follower) readJournal(ctx context.Context, fold *Fold) {
	for ctx.Err() == nil {
		err := f.readOn(ctx, fold)
		missing, ok := errors.AsType[*journal.RangeError](err)
		switch {
		case !ok:
			return // it ended, or the runner reports the damage
		case missing.First > fold.Seq: // segments were dropped before they could be sent
			f.hold(fold, fold.Cut())
			fold.Seq = 0
		case fold.Seq > 0: // a loss of power took events that were read before
			*fold = *NewFold(fold.mapping)
		default:
			return
		}
	}
}

// readOn reads from the last event of the fold on.
func (f *Follower) readOn(ctx context.Context, fold *Fold) error {
	var ended []Span
	release := func() {
		if len(ended) > 0 {
			f.hold(fold, ended)
			ended = nil
		}
	}
	options := journal.FollowOptions{FromSeq: fold.Seq, UntilEnded: true, Idle: func(journal.Position) { release() }}
	for e, err := range journal.Follow(ctx, f.Dir, options) {
		if err != nil {
			release()
			return err
		}
		if e.Seq <= fold.Seq {
			continue
		}
		if ended = append(ended, fold.Event(e)...); len(ended) >= batchMost {
			release()
			f.wait(ctx)
		}
	}
	release()
	return nil
}

// hold gives spans to the sender.
func (f *Follower) hold(fold *Fold, spans []Span) {
	after, err := json.Marshal(fold)
	if err != nil {
		return // numbers that JSON lacks are not in a fold
	}
	f.mu.Lock()
	f.held, f.trace, f.after = append(f.held, spans...), fold.Trace(), after
	f.mu.Unlock()
	signal(f.more)
}

// wait returns when the sender has room for more.
func (f *Follower) wait(ctx context.Context) {
	for {
		f.mu.Lock()
		n := len(f.held)
		f.mu.Unlock()
		if n < heldMost {
			return
		}
		select {
		case <-f.room:
		case <-ctx.Done():
			return
		}
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// send sends what is held until the journal is read to its end and all of it is sent.
func (f *Follower) send(ctx context.Context) {
	delay, asked := time.Duration(0), false
	for {
		if !f.await(ctx, delay, asked) {
			return
		}
		answer := f.sendHeld(ctx)
		if ctx.Err() != nil {
			return
		}
		asked = answer.After > 0
		switch answer.Verdict {
		case Later:
			if f.ending() && delay > 0 {
				return // 'ralph journal export' sends the rest
			}
			delay = max(min(2*delay, retryMost), f.retry, answer.After)
			f.report(answer.Why)
		case Blocked:
			f.report(answer.Why)
			return
		default:
			delay = 0
			f.report(answer.Why)
		}
	}
}

// await waits until there is something to send: after a failure for the delay, else until spans
// have had time to gather. It returns false when nothing more can come. At the end of the loop it
// hurries, unless the collector asked for the delay.
func (f *Follower) await(ctx context.Context, delay time.Duration, asked bool) bool {
	for {
		f.mu.Lock()
		n := len(f.held)
		f.mu.Unlock()
		if n > 0 {
			break
		}
		select {
		case <-f.more:
		case <-f.read:
			f.mu.Lock()
			n := len(f.held)
			f.mu.Unlock()
			if n == 0 {
				return false
			}
		case <-ctx.Done():
			return false
		}
	}
	if delay == 0 {
		delay = f.every
	}
	hurry, read := f.hurry, f.read
	if asked {
		hurry, read = nil, nil
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-hurry:
	case <-read:
	case <-ctx.Done():
		return false
	}
	return true
}

// ending reports whether the loop has ended.
func (f *Follower) ending() bool {
	select {
	case <-f.hurry:
		return true
	case <-f.read:
		return true
	default:
		return false
	}
}

// sendHeld sends all spans that are held now. The position is remembered when the collector has all
// of them.
func (f *Follower) sendHeld(ctx context.Context) Answer {
	f.mu.Lock()
	spans, trace, after := f.held[:len(f.held):len(f.held)], f.trace, f.after
	f.mu.Unlock()
	sent, answer := f.sender.SendAll(ctx, trace, spans)
	f.position.Sent, f.position.Lost = f.position.Sent+sent.Taken, f.position.Lost+sent.Rejected
	f.mu.Lock()
	f.held = append([]Span(nil), f.held[sent.Taken+sent.Rejected:]...)
	f.mu.Unlock()
	signal(f.room)
	if sent.Taken+sent.Rejected < int64(len(spans)) {
		return answer
	}
	fold := NewFold(f.position.Fold.mapping)
	if json.Unmarshal(after, fold) == nil {
		f.position.Fold = fold
		if err := f.position.keep(f.Dir); err != nil && answer.Why == "" {
			answer.Why = err.Error()
		}
	}
	return answer
}

// report reports a trouble once, and its end.
func (f *Follower) report(why string) {
	if (why == "") == (f.trouble == "") {
		return
	}
	f.trouble = why
	if f.Report != nil {
		f.Report(why)
	}
}

// Sent counts the spans of several requests.
type Sent struct {
	Taken    int64
	Rejected int64 // the collector will never take them
}

// SendAll sends spans in as many requests as they need, in order. A request that the collector
// finds too large or faulty is divided. It stops at an answer other than Taken; the spans after
// Sent are to be sent again. The answer is the last one, or the last one with a reason.
func (s *Sender) SendAll(ctx context.Context, trace string, spans []Span) (sent Sent, last Answer) {
	size := batchMost
	for len(spans) > 0 {
		n := min(size, len(spans))
		a := s.Send(ctx, trace, spans[:n])
		switch {
		case a.Verdict == Refused && n > 1:
			size = n / 2
			continue
		case a.Verdict == Refused:
			sent.Rejected++
			a.Verdict = Taken
		case a.Verdict == Taken:
			a.Rejected = min(a.Rejected, int64(n))
			sent.Taken, sent.Rejected = sent.Taken+int64(n)-a.Rejected, sent.Rejected+a.Rejected
		default:
			return sent, a
		}
		if a.Why != "" {
			last = a
		}
		spans, size = spans[n:], min(2*size, batchMost)
	}
	return sent, last
}
