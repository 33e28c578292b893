package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/ralph-loop/ralph/journal/event"
)

// FindEnd is [Recover] without the repair, which needs free space. It is for a writer whose disk is
// full; such a writer leaves complete lines. The last segment is durable on return, so that
// [Create] may begin the next one. This holds only if no sync has failed. A segment that ends in a
// torn line is an error.
func FindEnd(loopDir string, opt Options) (Recovery, error) {
	rec, err := findEnd(loopDir, opt)
	if err != nil {
		return Recovery{}, fmt.Errorf("find the end of the journal: %w", err)
	}
	return rec, nil
}

func findEnd(loopDir string, opt Options) (Recovery, error) {
	events, at, err := last(opt.FS, loopDir, 1)
	if err != nil {
		return Recovery{}, err
	}
	s, err := openSource(opt.FS, loopDir)
	if err != nil {
		return Recovery{}, err
	}
	defer s.Close()
	list, err := s.segments()
	if err != nil {
		return Recovery{}, err
	}
	if len(events) == 0 || len(list) == 0 || list[len(list)-1].Name != at.Segment {
		return Recovery{}, errors.New("the journal's last segment is not complete")
	}
	segment := list[len(list)-1]
	f, err := s.dir.Append(segment.path)
	if err != nil {
		return Recovery{}, err
	}
	sum, err := syncAndHash(f, at)
	if err = errors.Join(err, f.Close()); err != nil {
		return Recovery{}, err
	}
	rec := Recovery{
		Segment: segment.Name, Ordinal: segment.Ordinal, Iteration: segment.Iteration,
		NextSeq: at.Seq + 1, At: events[0].At, SHA256: sum, Position: at,
	}
	if sealed, err := event.As[event.SegmentSealed](events[0]); err == nil { // its successor could not be written
		rec.Sealed, rec.SHA256 = true, sealed.SHA256
	}
	return rec, nil
}

// syncAndHash makes a segment that ends at a position durable, and hashes it.
func syncAndHash(f file, at Position) (string, error) {
	size, err := f.Size()
	if err == nil && size != at.Offset {
		err = fmt.Errorf("segment %s has %d bytes after its last complete line", at.Segment, size-at.Offset)
	}
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(f, 0, size)); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), f.Sync()
}
