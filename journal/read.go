package journal

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path/filepath"

	"github.com/ralph-loop/ralph/journal/event"
)

// ReadOptions say where reading begins and what it trusts.
type ReadOptions struct {
	// FromSeq is the first event wanted. 0 is the first that the journal still
	// has; any other that it does not have is a *[RangeError].
	FromSeq uint64
	// FromCheckpoint begins with the event that opens the last segment, whose
	// checkpoint is the state of all that came before. It wins over FromSeq.
	FromCheckpoint bool
	// NoVerify leaves out the checksums. seq is still held to be dense.
	NoVerify bool
	// FS is where the journal lies; nil is the operating system.
	FS FS
}

// Read iterates over the events of a journal, in order and without a gap. src is
// a loop's folder, a copy of it, a folder of segments, or one segment file, of whatever name; a
// compressed segment reads like a plain one. It takes no lock and writes nothing,
// so it works on a copy as on a loop that is running, of which it reads what is
// there when it comes to the end.
//
// Every line is verified against the one before it. Damage ends the iteration
// with a *[CorruptError]; nothing is skipped. An unfinished last line of the last
// segment is not there yet.
//
// An event is valid until the next one is asked for: keep it with its Clone.
func Read(src string, opt ReadOptions) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		if f := renamed(src, opt); f != nil {
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

// renamed opens a segment that has the name of none; nil where src is something else, or cannot be opened.
func renamed(src string, opt ReadOptions) File {
	fsys := opt.FS
	if fsys == nil {
		fsys = osFS{}
	}
	if _, named := parseSegmentName(filepath.Base(src)); named {
		return nil
	}
	dir, err := fsys.OpenFolder(filepath.Dir(src))
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

// walk goes through segments in their order.
type walk struct {
	src     *source
	verify  bool
	current *events
	info    SegmentInfo
	last    bool // there was no later segment when the current one was opened
}

func openWalk(src string, opt ReadOptions) (*walk, error) {
	s, err := openSource(opt.FS, src)
	if err != nil {
		return nil, err
	}
	w := &walk{src: s, verify: !opt.NoVerify}
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
	if opt.FromCheckpoint {
		return w.enter(list, len(list)-1, Position{})
	}
	if opt.FromSeq == 0 {
		return w.enter(list, 0, Position{})
	}
	at, err := w.src.seek(list, opt.FromSeq)
	if err != nil {
		return err
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
	w.current = &events{lines: l, segment: list[i].Name, verify: w.verify, crc: at.CRC, seq: at.Seq}
	return nil
}

// segment yields what the current segment has left, and reports whether to go on.
func (w *walk) segment(yield func(event.Event, error) bool) bool {
	var e event.Event
	for {
		switch err := w.current.next(&e); {
		case err == nil:
			if !yield(e, nil) {
				return false
			}
		case err == io.EOF && (len(w.current.rest()) == 0 || w.last && w.current.packed == nil):
			// Whatever follows was written since. torn must not be asked: it would read on, and
			// find that the line has been finished meanwhile.
			return true
		case err != io.EOF && w.last && w.current.torn():
			return true
		case err == io.EOF:
			yield(event.Event{}, w.current.damage(w.current.at, "the segment ends in the middle of a line, and there is a later one"))
			return false
		default:
			yield(event.Event{}, err)
			return false
		}
	}
}

// advance goes on to the next segment; current is nil where there is none.
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
	for i, info := range list {
		if info.Ordinal <= w.info.Ordinal {
			continue
		}
		if err := w.follows(list, i); err != nil {
			return err
		}
		return w.enter(list, i, Position{Seq: w.current.seq})
	}
	return fmt.Errorf("open the segment behind %s: %w", w.info.Name, fs.ErrNotExist)
}

// follows checks that the segment to be entered is the one behind the current
// one. Dropping takes the oldest segments only, so a hole is damage unless
// everything before it is gone as well.
func (w *walk) follows(list []SegmentInfo, i int) error {
	if w.current.base == 0 && w.current.count == 0 {
		return w.current.damage(0, "it has no whole line, and there is a later segment")
	}
	if list[i].Ordinal == w.info.Ordinal+1 {
		return nil
	}
	if i > 0 {
		return &CorruptError{Segment: list[i].Name, Problem: fmt.Sprintf("segment %06d before it is missing", list[i].Ordinal-1)}
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

// Checkpoint returns the state that the last segment begins with, and the
// position right behind it: whoever has that state follows from there. A journal
// that has no event yet has no checkpoint and the zero Position.
func Checkpoint(loopDir string) (json.RawMessage, Position, error) {
	s, err := openSource(nil, loopDir)
	if err != nil {
		return nil, Position{}, err
	}
	defer s.Close()
	var state json.RawMessage
	var at Position
	err = s.listed(func(list []SegmentInfo) error {
		if len(list) == 0 {
			return nil
		}
		newest := list[len(list)-1]
		l, err := s.open(newest, 0)
		if err != nil {
			return err
		}
		defer l.Close()
		state, at, err = checkpoint(&events{lines: l, segment: newest.Name, verify: true})
		return err
	})
	return state, at, err
}

func checkpoint(seg *events) (json.RawMessage, Position, error) {
	var e event.Event
	err := seg.next(&e)
	if err == io.EOF || (err != nil && seg.torn()) {
		return nil, Position{}, nil
	}
	if err != nil {
		return nil, Position{}, err
	}
	if e.Type != event.TypeSegmentOpened {
		return nil, Position{}, seg.damage(0, "it does not open the segment")
	}
	state := append(json.RawMessage(nil), e.Field("checkpoint")...)
	return state, seg.position(), nil
}
