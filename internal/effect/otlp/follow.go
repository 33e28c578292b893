package otlp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

const (
	batchMost  = 512             // spans of one request
	batchEvery = 2 * time.Second // how long a span may wait for others
	retryFirst = time.Second
	retryMost  = time.Minute
)

// Follower sends the spans of a running loop as they end. It remembers what the collector has in
// the loop's folder, and begins there. While it waits for the collector, it does not read on: the
// journal is the queue.
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

	out     outbox
	trouble string          // that was reported
	live    context.Context // ends with the loop
	hurry   context.CancelFunc
	stop    context.CancelFunc
	done    chan struct{}
}

// Start begins to follow the loop. The error is about the position in the loop's folder.
func (f *Follower) Start() error {
	position, err := ReadPosition(f.Dir, f.Target)
	if err != nil {
		return err
	}
	position.Fold.mapping.Mask = f.Mask
	f.out = outbox{position: position, sender: NewSender(f.Target, f.Now), dir: f.Dir}
	f.every, f.retry = cmp.Or(f.every, batchEvery), cmp.Or(f.retry, retryFirst)
	ctx, stop := context.WithCancel(context.Background())
	f.stop, f.done = stop, make(chan struct{})
	f.live, f.hurry = context.WithCancel(ctx)
	go func() {
		defer close(f.done)
		f.follow(ctx)
	}()
	return nil
}

// Finish waits until the spans of the loop, which has ended, are sent, but not longer than limit.
// It returns why some are not sent; what is not sent is still in the journal.
func (f *Follower) Finish(limit time.Duration) error {
	f.hurry()
	select {
	case <-f.done:
	case <-time.After(limit):
	}
	f.stop()
	<-f.done
	f.out.sender.Close()
	if len(f.out.spans) > 0 {
		return fmt.Errorf("spans of the loop's end were not sent to %s: %s", f.Target.Shown(), cmp.Or(f.trouble, "there was no time"))
	}
	return nil
}

// follow sends spans while the loop lives, and then those of what the journal still has.
func (f *Follower) follow(ctx context.Context) {
	idle := func(journal.Position) {
		if len(f.out.spans) > 0 {
			pause(f.live, f.every)
			f.deliver(ctx)
		}
	}
	f.read(ctx, func(from event.Seq) iter.Seq2[event.Event, error] {
		return journal.Follow(f.live, f.Dir, journal.FollowOptions{FromSeq: from, UntilEnded: true, Idle: idle})
	})
	f.read(ctx, func(from event.Seq) iter.Seq2[event.Event, error] {
		return journal.Read(f.Dir, journal.ReadOptions{FromSeq: from})
	})
	f.deliver(ctx)
}

// read folds what the journal has from the last event of the fold on.
func (f *Follower) read(ctx context.Context, events func(from event.Seq) iter.Seq2[event.Event, error]) {
	for ctx.Err() == nil {
		fold := f.out.position.Fold
		damage, _ := f.out.fold(events(fold.Seq), func() error { f.deliver(ctx); return ctx.Err() })
		missing, ok := errors.AsType[*journal.RangeError](damage)
		switch {
		case !ok:
			return // it ended, or the runner reports the damage
		case missing.First > fold.Seq: // segments were dropped before they could be sent
			f.out.spans = append(f.out.spans, fold.Cut()...)
			fold.Seq = 0
		case fold.Seq > 0: // a loss of power took events that were read before
			*fold, f.out.spans = *NewFold(fold.mapping), nil
		default:
			return
		}
	}
}

// deliver sends the spans until the collector has them. If it never takes them, following ends. At
// the end of the loop it hurries, unless the collector asks for a delay.
func (f *Follower) deliver(ctx context.Context) {
	for delay := time.Duration(0); len(f.out.spans) > 0 && ctx.Err() == nil; {
		answer, kept := f.out.send(ctx)
		if ctx.Err() != nil {
			return
		}
		if kept != nil && answer.Why == "" {
			answer.Why = kept.Error()
		}
		f.report(answer.Why)
		ending := f.live.Err() != nil
		switch {
		case answer.Verdict == Blocked, answer.Verdict == Later && ending && delay > 0:
			f.stop() // 'ralph journal export' sends the rest
		case answer.Verdict == Later:
			delay = max(min(2*delay, retryMost), f.retry, answer.After)
			if answer.After > 0 {
				pause(ctx, delay)
			} else {
				pause(f.live, delay)
			}
		}
	}
}

// pause waits, but not after the end of ctx.
func pause(ctx context.Context, wait time.Duration) {
	select {
	case <-time.After(wait):
	case <-ctx.Done():
	}
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

// outbox has the spans that ended and were not sent yet.
type outbox struct {
	position Position // after the spans
	spans    []Span
	sender   *Sender
	dir      string // where the position is remembered; empty for nowhere
	sent     Sent
}

// fold folds the events after those of the position, and calls full whenever there are enough spans
// for a request. It ends at an error of full, or of the events, which is damage.
func (o *outbox) fold(events iter.Seq2[event.Event, error], full func() error) (damage, err error) {
	for e, err := range events {
		if err != nil {
			return err, nil
		}
		if e.Seq <= o.position.Fold.Seq {
			continue
		}
		if o.spans = append(o.spans, o.position.Fold.Event(e)...); len(o.spans) >= batchMost {
			if err := full(); err != nil {
				return nil, err
			}
		}
	}
	return nil, nil
}

// send sends the spans. What the collector did not take stays; the position is remembered when it
// has all of them; kept is the error of that.
func (o *outbox) send(ctx context.Context) (answer Answer, kept error) {
	sent, answer := o.sender.SendAll(ctx, o.position.Fold.Trace(), o.spans)
	o.spans = o.spans[sent.Taken+sent.Rejected:]
	o.sent.Taken, o.sent.Rejected = o.sent.Taken+sent.Taken, o.sent.Rejected+sent.Rejected
	o.position.Sent, o.position.Lost = o.position.Sent+sent.Taken, o.position.Lost+sent.Rejected
	if len(o.spans) == 0 && o.dir != "" {
		kept = o.position.keep(o.dir)
	}
	return answer, kept
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
