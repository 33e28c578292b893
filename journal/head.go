package journal

import (
	"github.com/ralph-loop/ralph/journal/event"
)

// Head returns the hash of the complete journal: the SHA-256 in the seal of its last segment, as 64
// hexadecimal digits. The first line of that segment has the hash of the segment before, and so on
// back to the first one. Head is empty if the journal has no segment or its last one has no seal,
// because it is being written or its writer died. The time that Head takes does not depend on the
// size of the journal, unless the segment is compressed.
func Head(loopDir string) (head string, err error) {
	err = withSegments(nil, loopDir, func(s *source, list []SegmentInfo) error {
		if len(list) == 0 {
			return nil
		}
		last, _, err := s.tail(list[len(list)-1], 1, true)
		if err != nil || len(last) == 0 || last[0].Type != event.TypeSegmentSealed {
			return err
		}
		sealed, err := event.As[event.SegmentSealed](last[0])
		head = sealed.SHA256
		return err
	})
	return head, err
}
