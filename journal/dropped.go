package journal

import (
	"fmt"

	"github.com/ralph-loop/ralph/journal/event"
)

// Dropped describes the oldest segments that a journal no longer has.
type Dropped struct {
	Through int       // the last iteration without any event left; 0 if nothing is missing
	First   event.Seq // the first event that is left
	// Kept: Options.KeepIterations explains what is missing: as many iterations are left as it
	// keeps. Otherwise another program removed segments, or the writer did not record the setting.
	Kept bool
}

// DroppedFrom reports what is missing at the beginning of a journal. src is the folder of a loop, a
// copy of it, or a folder of segments.
func DroppedFrom(src string) (d Dropped, err error) {
	err = withSegments(nil, src, func(s *source, list []SegmentInfo) error {
		if len(list) == 0 || list[0].Ordinal == 1 || s.one != nil {
			return nil
		}
		first, last := list[0], list[len(list)-1]
		d = Dropped{Through: first.Iteration - 1}
		for _, info := range []SegmentInfo{last, first} {
			e, err := s.firstEvent(info)
			if err != nil {
				return err
			}
			opened, err := event.As[event.SegmentOpened](e)
			if err != nil {
				return fmt.Errorf("read segment %s: %w", info.Name, err)
			}
			d.First = e.Seq
			d.Kept = d.Kept || opened.Keep > 0 && first.Iteration <= max(last.Iteration-opened.Keep, 1)
		}
		return nil
	})
	return d, err
}
