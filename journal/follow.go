package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"

	"github.com/ralph-loop/ralph/journal/event"
)

// FollowOptions say where following begins and when it ends.
type FollowOptions struct {
	// From is the place to go on from, as [Last], [Checkpoint] or
	// [Writer.Position] gave it. The zero Position leaves it to FromSeq.
	From Position
	// FromSeq is the first event wanted; 0 is the first that the journal has.
	FromSeq uint64
	// UntilEnded ends the iteration when the loop has ended and its journal is
	// closed.
	UntilEnded bool
	// Idle is called, by the iterating goroutine, each time everything that is
	// on disk has been handed out: the first time is the switch from history to
	// live.
	Idle func(Position)
	// NoVerify leaves out the checksums. seq is still held to be dense.
	NoVerify bool
	// FS is where the loop's folder lies; nil is the operating system. Another
	// one is polled.
	FS FS
}

// Follow iterates over the events of a loop from a place on, first those that are
// there and then each one as it is written, across rotations and restarts, until
// ctx ends, which is no error. It is lossless and ordered, and hands out whole
// lines only. It takes no lock and writes nothing: any number may follow a loop,
// from any process, and the writer does not wait for them. A loop that has no
// journal yet is waited for.
//
// It sleeps until the loop's bell rings. Where there are no file events (the
// user's watches are used up, a file system without them, a writer that does not
// ring) it looks by itself, every 100 ms while events come and every second while
// none do.
//
// An event is valid until the next one is asked for. Errors are those of [Read]
// and end the iteration. A segment that is compressed meanwhile makes no
// difference; one that is dropped before it was reached is a *[RangeError], and
// the way on is the [Checkpoint].
func Follow(ctx context.Context, loopDir string, opt FollowOptions) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		f, err := newFollower(ctx, loopDir, opt)
		if err != nil {
			yield(event.Event{}, err)
			return
		}
		defer f.close()
		w := newWaiter(ctx, loopDir, f.src.dir)
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
				if err := f.cut(); err != nil {
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

// errStop says that the one who iterates wants no more.
var errStop = errors.New("stop")

type follower struct {
	walk
	ctx   context.Context
	opt   FollowOptions
	at    Position
	live  bool // history is behind it
	ended bool // nothing but a seal came since loop.ended
	// sealed says that the last event ends its segment.
	sealed bool
}

func newFollower(ctx context.Context, loopDir string, opt FollowOptions) (*follower, error) {
	fsys := opt.FS
	if fsys == nil {
		fsys = osFS{}
	}
	dir, err := fsys.OpenFolder(loopDir)
	if err != nil {
		return nil, fmt.Errorf("open loop folder: %w", err)
	}
	f := &follower{ctx: ctx, opt: opt, at: opt.From}
	f.src = &source{dir: dir, under: segmentsDir}
	f.verify = !opt.NoVerify
	return f, nil
}

// drain hands out everything that is on disk and returns how much that was.
func (f *follower) drain(yield func(event.Event, error) bool) (news int, err error) {
	for {
		if f.current == nil {
			if found, err := f.start(); err != nil || !found {
				return news, err
			}
		}
		n, err := f.rest(yield)
		news += n
		if err != nil {
			return news, err
		}
		// While a segment grows, there is none behind it: looking for one with
		// each line would cost more than the line.
		if f.live && news > 0 && !f.sealed {
			return news, nil
		}
		more, err := f.turn(yield)
		if err != nil {
			return news, err
		}
		if !more {
			f.live = true
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
	if len(list) == 0 {
		if f.opt.From != (Position{}) {
			return false, fmt.Errorf("open segment %s: %w", f.opt.From.Segment, fs.ErrNotExist)
		}
		if f.opt.FromSeq > 1 {
			return false, &RangeError{Seq: f.opt.FromSeq}
		}
		return false, nil
	}
	switch {
	case f.opt.From != (Position{}):
		err = f.enterAt(list, f.opt.From)
	case f.opt.FromSeq == 0:
		err = f.enter(list, 0, Position{})
	default:
		var at Position
		if at, err = f.src.seek(list, f.opt.FromSeq); err == nil {
			err = f.enterAt(list, at)
		}
	}
	if err != nil {
		return false, err
	}
	if f.opt.UntilEnded {
		err = f.remember()
	}
	return true, err
}

// remember finds out whether the loop had ended already where following begins.
func (f *follower) remember() error {
	if f.current.base == 0 || f.current.packed != nil {
		return nil // what matters comes, or a later segment does
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

// rest hands out the whole lines that the current segment has left.
func (f *follower) rest(yield func(event.Event, error) bool) (n int, err error) {
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

// cut is the damage of a segment that has become shorter than what was read of it: nothing would
// ever come behind that.
func (f *follower) cut() error {
	if f.current == nil || f.current.packed != nil {
		return nil
	}
	size, err := f.current.file.Size()
	if err == nil && size < f.at.Offset {
		return f.current.damage(size, fmt.Sprintf("it was cut to %d bytes, and had %d", size, f.at.Offset))
	}
	return err
}

// turn goes on to the next segment, if there is one. Its existence says that the
// current one will not grow again; what it grew by until then is handed out
// first. An unfinished line that is left was cut by the writer who began the next
// segment.
func (f *follower) turn(yield func(event.Event, error) bool) (bool, error) {
	list, err := f.list()
	if err != nil {
		return false, err
	}
	for i, info := range list {
		if info.Ordinal <= f.info.Ordinal {
			continue
		}
		if _, err := f.rest(yield); err != nil {
			return false, err
		}
		err := f.follows(list, i)
		if err == nil {
			err = f.enter(list, i, Position{Seq: f.current.seq})
		}
		if errors.Is(err, fs.ErrNotExist) {
			return true, nil // dropped since it was listed: look again
		}
		return err == nil, err
	}
	return false, nil
}
