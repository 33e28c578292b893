package journal

import (
	"fmt"

	"github.com/ralph-loop/ralph/journal/event"
)

// Dropped says what a journal does not hold any more: its oldest segments.
type Dropped struct {
	Through int    // the last iteration that is gone whole; 0 where nothing is
	First   uint64 // the first event that is there
	// Kept says that Options.KeepIterations accounts for it: as many iterations are left as it keeps. Otherwise somebody else
	// removed them, or a ralph that did not record the setting.
	Kept bool
}

// DroppedFrom looks at the beginning of a journal. src is a loop's folder, a copy of it, or a folder of segments.
func DroppedFrom(src string) (Dropped, error) {
	s, err := openSource(nil, src)
	if err != nil {
		return Dropped{}, err
	}
	defer s.Close()
	list, err := s.segments()
	if err != nil || len(list) == 0 || list[0].Ordinal == 1 || s.one != nil {
		return Dropped{}, err
	}
	first, last := list[0], list[len(list)-1]
	seq, err := s.firstSeq(first)
	if err != nil {
		return Dropped{}, err
	}
	d := Dropped{Through: first.Iteration - 1, First: seq}
	for _, info := range []SegmentInfo{first, last} {
		keep, err := s.keeps(info)
		if err != nil {
			return Dropped{}, err
		}
		d.Kept = d.Kept || keep > 0 && first.Iteration <= max(last.Iteration-keep, 1)
	}
	return d, nil
}

// keeps returns how many iterations a segment says are kept before its own.
func (s *source) keeps(info SegmentInfo) (int, error) {
	l, err := s.open(info, 0)
	if err != nil {
		return 0, err
	}
	defer l.Close()
	var e event.Event
	if err := (&events{lines: l, segment: info.Name, verify: true}).next(&e); err != nil {
		return 0, err
	}
	opened, err := event.As[event.SegmentOpened](e)
	if err != nil {
		return 0, fmt.Errorf("read segment %s: %w", info.Name, err)
	}
	return opened.Keep, nil
}
