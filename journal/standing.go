package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// Standing returns what [Recover] would, without its repairs, which need room: a writer whose disk is full leaves whole
// lines. The last segment is durable on return, so that [Create] may begin the next one. That is only so
// where no sync has failed; of a segment that ends in an unfinished line it is an error.
func Standing(loopDir string, opt Options) (Recovery, error) {
	rec, err := standing(loopDir, opt)
	if err != nil {
		return Recovery{}, fmt.Errorf("take up a journal as it stands: %w", err)
	}
	return rec, nil
}

func standing(loopDir string, opt Options) (Recovery, error) {
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
		return Recovery{}, errors.New("the journal's last segment is not whole")
	}
	segment := list[len(list)-1]
	f, err := s.dir.Append(segment.path)
	if err != nil {
		return Recovery{}, err
	}
	sum, err := settle(f, at)
	if err = errors.Join(err, f.Close()); err != nil {
		return Recovery{}, err
	}
	return Recovery{
		Segment: segment.Name, Ordinal: segment.Ordinal, Iteration: segment.Iteration,
		NextSeq: at.Seq + 1, At: events[0].At, SHA256: sum, Position: at,
	}, nil
}

// settle makes a segment that ends at a position durable, and hashes it.
func settle(f File, at Position) (string, error) {
	size, err := f.Size()
	if err == nil && size != at.Offset {
		err = fmt.Errorf("segment %s has %d bytes after its last whole line", at.Segment, size-at.Offset)
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
