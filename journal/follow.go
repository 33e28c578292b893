package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"

	"github.com/ralph-loop/ralph/internal/ground/journalfs"
	"github.com/ralph-loop/ralph/journal/event"
)

// FollowOptions define where following begins and when it ends.
type FollowOptions struct {
	// From is the position to continue from, as [Last] or [Writer.Position] returned it. If it is
	// zero, FromSeq applies.
	From Position
	// FromSeq is the first event; 0 is the first that the journal has.
	FromSeq event.Seq
	// UntilEnded ends the iteration when the loop has ended and its journal is closed.
	UntilEnded bool
	// Idle is called, by the iterating goroutine, each time all events on disk have been returned.
	// The first call marks the switch from history to live events.
	Idle func(Position)
	// FS is where the folder of the loop is; nil is the operating system. Any other one is polled.
	FS journalfs.FS
}

// Follow iterates over the events of a loop from a position on: first the existing ones, then each
// one as it is written, across rotations and restarts, until ctx ends, which is no error. No event
// is lost or reordered, and only complete lines are returned. Follow takes no lock and writes
// nothing: any number of processes may follow a loop, and the writer does not wait for them. If a
// loop has no journal yet, Follow waits for it.
//
// It sleeps until the loop's notify file is written to. Where there are no file events (the user's
// watches are used up, a file system without them, a writer that does not notify) it polls: every
// 100 ms while events come, every second while none do.
//
// An event is valid until the next one is requested. Errors are those of [Read] and end the
// iteration. It makes no difference when a segment is compressed meanwhile. If a segment is dropped
// before Follow reaches it, the error is a *[RangeError]; [Read] with FromCheckpoint continues from
// there.
func Follow(ctx context.Context, loopDir string, opt FollowOptions) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		f, err := newFollower(ctx, loopDir, opt)
		if err != nil {
			yield(event.Event{}, err)
			return
		}
		defer f.close()
		w := newWaiter(loopDir, f.src.dir)
		defer w.close()
		for {
			news, err := f.drain(yield)
			if err == errStop || ctx.Err() != nil {
				return
			}
			if err != nil {
				yield(event.Event{}, err)
				return
			}
			if news == 0 {
				if err := f.checkCut(); err != nil {
					yield(event.Event{}, err)
					return
				}
			}
			if opt.Idle != nil {
				opt.Idle(f.at)
			}
			if opt.UntilEnded && f.ended && f.sealed || !w.wait(ctx, news) {
				return
			}
		}
	}
}

// errStop: the caller stops the iteration.
var errStop = errors.New("stop")

type follower struct {
	walk
	ctx      context.Context
	opt      FollowOptions
	at       Position
	caughtUp bool // all history was read
	ended    bool // only a seal came after loop.ended
	// sealed says that the last event ends its segment.
	sealed bool
}

func newFollower(ctx context.Context, loopDir string, opt FollowOptions) (*follower, error) {
	dir, err := orOS(opt.FS).OpenFolder(loopDir)
	if err != nil {
		return nil, fmt.Errorf("open loop folder: %w", err)
	}
	f := &follower{ctx: ctx, opt: opt, at: opt.From}
	f.src = &source{dir: dir, under: segmentsDir}
	return f, nil
}

// drain returns all events on disk to yield, and counts them.
func (f *follower) drain(yield func(event.Event, error) bool) (news int, err error) {
	for {
		if f.current == nil {
			if found, err := f.start(); err != nil || !found {
				return news, err
			}
		}
		n, err := f.readRest(yield)
		news += n
		if err != nil {
			return news, err
		}
		// While a segment grows, it is the last one: looking for the next with each line would cost
		// more than the line.
		if f.caughtUp && news > 0 && !f.sealed {
			return news, nil
		}
		more, err := f.nextSegment(yield)
		if err != nil {
			return news, err
		}
		if !more {
			f.caughtUp = true
			return news, nil
		}
	}
}

// start opens the segment in which following begins, once there is one.
func (f *follower) start() (bool, error) {
	list, err := f.list()
	if err != nil {
		return false, err
	}
	if len(list) == 0 && f.opt.From == (Position{}) && f.opt.FromSeq <= 1 {
		return false, nil // not yet
	}
	if err := f.enterFrom(list, f.opt.From, f.opt.FromSeq); err != nil {
		return false, err
	}
	if f.opt.UntilEnded {
		err = f.checkEnded()
	}
	return true, err
}

// checkEnded finds out whether the loop had ended before the position where following begins.
func (f *follower) checkEnded() error {
	if f.current.base == 0 || f.current.packed != nil {
		return nil // loop.ended is still to be read, or a later segment follows
	}
	before, _, err := tailOf(f.current.file, f.info, f.current.base, 2, false)
	for _, e := range before {
		f.sealed = e.Type == event.TypeSegmentSealed
		f.ended = e.Type == event.TypeLoopEnded || f.ended && f.sealed
	}
	return err
}

func (f *follower) list() ([]SegmentInfo, error) {
	list, err := f.src.segments()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // not yet
	}
	return list, err
}

// readRest yields the complete lines that the current segment has left.
func (f *follower) readRest(yield func(event.Event, error) bool) (n int, err error) {
	var e event.Event
	for ; ; n++ {
		if f.ctx.Err() != nil {
			return n, errStop
		}
		err := f.current.next(&e)
		if err == io.EOF || err != nil && f.current.torn() {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		f.at = f.current.position()
		f.sealed = e.Type == event.TypeSegmentSealed
		f.ended = e.Type == event.TypeLoopEnded || f.ended && f.sealed
		if !yield(e, nil) {
			return n, errStop
		}
	}
}

// checkCut reports a segment that has become shorter than what was read of it. It would never yield
// another event.
func (f *follower) checkCut() error {
	if f.current == nil || f.current.packed != nil {
		return nil
	}
	size, err := f.current.file.Size()
	if err == nil && size < f.at.Offset {
		return f.current.damage(size, SegmentCut, fmt.Sprintf("it was cut to %d bytes, and had %d", size, f.at.Offset))
	}
	return err
}

// nextSegment enters the next segment, if there is one. Once that exists, the current one no longer
// grows; its remaining lines are yielded first. A torn line at its end was cut off by the writer of
// the next segment.
func (f *follower) nextSegment(yield func(event.Event, error) bool) (bool, error) {
	list, err := f.list()
	if err != nil {
		return false, err
	}
	if len(list) == 0 || list[len(list)-1].Ordinal <= f.info.Ordinal {
		return false, nil
	}
	if _, err := f.readRest(yield); err != nil {
		return false, err
	}
	err = f.enterNext(list)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil // dropped since it was listed: list again
	}
	return err == nil, err
}
