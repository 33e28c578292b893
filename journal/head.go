package journal

import (
	"errors"
	"io/fs"

	"github.com/ralph-loop/ralph/journal/event"
)

// Head returns the hash that stands for the whole journal: the SHA-256 in the seal of its last segment, as 64 hexadecimal digits. That
// segment's first line has the hash of the segment before it, and so on back to the first that there is. It is empty where
// the journal has no segment, or its last one has no seal: it is being written, or its writer died. The time does not
// depend on the size, unless the segment is compressed.
func Head(loopDir string) (string, error) {
	s, err := openSource(nil, loopDir)
	if err != nil {
		return "", err
	}
	defer s.Close()
	list, err := s.segments()
	if err != nil || len(list) == 0 {
		return "", err
	}
	last, _, err := s.tail(list[len(list)-1], 1, true)
	switch {
	case errors.Is(err, fs.ErrNotExist): // compressed meanwhile: it is not the last any more
		return "", nil
	case err != nil:
		return "", err
	case len(last) == 0 || last[0].Type != event.TypeSegmentSealed:
		return "", nil
	}
	sealed, err := event.As[event.SegmentSealed](last[0])
	return sealed.SHA256, err
}
