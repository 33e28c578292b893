package journal

import (
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/ground/journalfs"
	"github.com/ralph-loop/ralph/journal/event"
)

// ReadOptions define where reading begins.
type ReadOptions struct {
	// FromSeq is the first event. 0 is the first that the journal still has; any other that it does
	// not have is a *[RangeError].
	FromSeq event.Seq
	// FromIteration begins with the end of the iteration before, at the event that opens a segment:
	// those before it are not read. FromSeq is then ignored.
	FromIteration int
	// FromCheckpoint begins with the event that opens the last segment. Its checkpoint is the state
	// of all earlier events. FromSeq is then ignored.
	FromCheckpoint bool
	// FS is where the journal is; nil is the operating system.
	FS journalfs.FS
}

// Read iterates over the events of a journal, in order and without a gap. src is the folder of a
// loop, a copy of it, a folder of segments, or one segment file of any name; a compressed segment
// reads like a plain one. Read takes no lock and writes nothing. It works on a copy, and on a
// running loop, where it ends after the last event that exists when it gets there.
//
// Every line is verified against the one before it. Damage ends the iteration with a
// *[CorruptError]; nothing is skipped. A torn line at the end of the last segment is ignored.
//
// An event is valid until the next one is requested; its Clone stays valid.
func Read(src string, opt ReadOptions) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		if f := openFile(src, opt); f != nil {
			defer f.Close()
			for e, err := range ReadStream(&fileFrom{f: f}, filepath.Base(src)) {
				if (err != nil || e.Seq >= opt.FromSeq) && !yield(e, err) {
					return
				}
			}
			return
		}
		w, err := openWalk(src, opt)
		if err != nil {
			yield(event.Event{}, err)
			return
		}
		defer w.close()
		for w.current != nil {
			if !w.segment(yield) {
				return
			}
			if err := w.advance(); err != nil {
				yield(event.Event{}, err)
				return
			}
		}
	}
}

// openFile opens a segment file that does not have the name of a segment. It returns nil if src
// is something else or cannot be opened.
func openFile(src string, opt ReadOptions) file {
	if _, named := parseSegmentName(filepath.Base(src)); named {
		return nil
	}
	dir, err := orOS(opt.FS).OpenFolder(filepath.Dir(src))
	if err != nil {
		return nil
	}
	defer dir.Close()
	if info, err := dir.Stat(filepath.Base(src)); err != nil || info.Folder {
		return nil
	}
	f, err := dir.Open(filepath.Base(src))
	if err != nil {
		return nil
	}
	return f
}

// walk reads segments in their order.
type walk struct {
	src     *source
	current *eventReader
	info    SegmentInfo
	last    bool // there was no later segment when the current one was opened
}

func openWalk(src string, opt ReadOptions) (*walk, error) {
	s, err := openSource(opt.FS, src)
	if err != nil {
		return nil, err
	}
	w := &walk{src: s}
	if err := w.begin(opt); err != nil {
		s.Close()
		return nil, err
	}
	return w, nil
}

func (w *walk) begin(opt ReadOptions) error {
	list, err := w.src.segments()
	if err != nil || len(list) == 0 {
		return err
	}
	switch {
	case opt.FromCheckpoint:
		return w.enter(list, len(list)-1, Position{})
	case opt.FromIteration > 0:
		later := slices.IndexFunc(list, func(s SegmentInfo) bool { return s.Iteration >= opt.FromIteration })
		if later < 0 {
			later = len(list)
		}
		return w.enter(list, max(later-1, 0), Position{})
	}
	return w.enterFrom(list, Position{}, opt.FromSeq)
}

// enterFrom opens the segment in which reading begins: at a position, or where that is zero, before
// the event seq. The list may be empty only if at or seq is after the first event.
func (w *walk) enterFrom(list []SegmentInfo, at Position, seq event.Seq) error {
	if at == (Position{}) {
		if seq == 0 {
			return w.enter(list, 0, at)
		}
		var err error
		if at, err = w.src.seek(list, seq); err != nil {
			return err
		}
	}
	return w.enterAt(list, at)
}

// enterAt opens the segment that a position is in.
func (w *walk) enterAt(list []SegmentInfo, at Position) error {
	for i, info := range list {
		if info.Name == at.Segment {
			return w.enter(list, i, at)
		}
	}
	named, ok := parseSegmentName(at.Segment)
	if ok && len(list) > 0 && named.Ordinal < list[0].Ordinal {
		first, err := w.src.firstSeq(list[0])
		if err != nil {
			return err
		}
		return &RangeError{Seq: at.Seq + 1, First: first}
	}
	return fmt.Errorf("open segment %s: %w", at.Segment, fs.ErrNotExist)
}

func (w *walk) enter(list []SegmentInfo, i int, at Position) error {
	l, err := w.src.open(list[i], at.Offset)
	if err != nil {
		return err
	}
	if w.current != nil {
		l.buf = w.current.buf
		w.current.Close()
	}
	w.info, w.last = list[i], i == len(list)-1
	w.current = &eventReader{lineReader: l, segment: list[i].Name, verify: true, crc: at.CRC, seq: at.Seq}
	return nil
}

// segment yields what the current segment has left, and reports whether to continue.
func (w *walk) segment(yield func(event.Event, error) bool) bool {
	var e event.Event
	for {
		err := w.current.nextOf(&e, w.last)
		if err == io.EOF {
			return true
		}
		if err != nil {
			yield(event.Event{}, err)
			return false
		}
		if !yield(e, nil) {
			return false
		}
	}
}

// advance enters the next segment; current is nil if there is none.
func (w *walk) advance() error {
	if w.last {
		w.current.Close()
		w.current = nil
		return nil
	}
	list, err := w.src.segments()
	if err != nil {
		return err
	}
	return w.enterNext(list)
}

// enterNext opens the segment after the current one.
func (w *walk) enterNext(list []SegmentInfo) error {
	i := slices.IndexFunc(list, func(info SegmentInfo) bool { return info.Ordinal > w.info.Ordinal })
	if i < 0 {
		return fmt.Errorf("open the segment after %s: %w", w.info.Name, fs.ErrNotExist)
	}
	if err := w.follows(list, i); err != nil {
		return err
	}
	return w.enter(list, i, Position{Seq: w.current.seq})
}

// follows checks that the segment to be entered is the one after the current one. Only the oldest
// segments are dropped, so a hole is damage unless everything before it is gone as well.
func (w *walk) follows(list []SegmentInfo, i int) error {
	if w.current.base == 0 && w.current.count == 0 {
		return w.current.damage(0, SegmentEmpty, "it has no complete line, and there is a later segment")
	}
	if list[i].Ordinal == w.info.Ordinal+1 {
		return nil
	}
	if i > 0 {
		return &CorruptError{Segment: list[i].Name, Code: SegmentMissing, Problem: fmt.Sprintf("segment %06d before it is missing", list[i].Ordinal-1)}
	}
	first, err := w.src.firstSeq(list[0])
	if err != nil {
		return err
	}
	return &RangeError{Seq: w.current.seq + 1, First: first}
}

func (w *walk) close() {
	if w.current != nil {
		w.current.Close()
	}
	w.src.Close()
}
