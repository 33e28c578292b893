package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// SegmentReport is the result of [Verify] for one segment.
type SegmentReport struct {
	SegmentInfo
	FirstSeq, LastSeq event.Seq
	Events            int
	Bytes             int64 // of complete lines, uncompressed
	// unfinished bytes at the end: a torn last line, or all from the line of the first lost block
	Torn    int64
	Sealed  bool   // ended by its writer, not by a crash
	SHA256  string // of the lines before the seal, or of all if there is none
	Blobs   int    // blobs that its events name
	Problem error  // nil if everything is as it was written
}

// Verify reads a complete journal, parses each line as JSON, and compares everything that is
// written twice: the checksum of each line, the order of events, the count and hash in each seal,
// the name and hash of each segment in the next one, and the blobs that events refer to. src is the
// same as for [Read]; blobs are checked if src is the folder of a loop. report, which may be nil,
// is called with each segment in order.
//
// Verify continues after a damaged segment, so that it finds every damaged one. The error is the
// first problem; each is a *[CorruptError] unless reading itself failed. A journal without any
// segment is [ErrNoSegment].
func Verify(src string, report func(SegmentReport)) error {
	return verify(nil, src, report)
}

func verify(fsys fileSystem, src string, report func(SegmentReport)) error {
	s, err := openSource(fsys, src)
	if err != nil {
		return err
	}
	defer s.Close()
	list, err := s.segments()
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return ErrNoSegment
	}
	v := verifier{src: s, json: jsonscan.NewDocument(), blobs: map[string]Code{}}
	var first error
	for i, info := range list {
		r := v.segment(info, i == len(list)-1)
		if first == nil {
			first = r.Problem
		}
		if report != nil {
			report(r)
		}
	}
	return first
}

type verifier struct {
	src   *source
	json  *jsonscan.Document
	prev  *SegmentReport // nil before the first, and after a damaged one
	blobs map[string]Code
}

func (v *verifier) segment(info SegmentInfo, last bool) SegmentReport {
	r := SegmentReport{SegmentInfo: info}
	r.Problem = v.read(&r, last)
	v.prev = nil
	if r.Problem == nil {
		v.prev = &r
	}
	return r
}

func (v *verifier) read(r *SegmentReport, last bool) error {
	l, err := v.src.open(r.SegmentInfo, 0)
	if err != nil {
		return err
	}
	defer l.Close()
	if stat, err := v.src.dir.Stat(r.path); err == nil {
		r.Size = stat.Size
	}
	seg := &eventReader{lineReader: l, segment: r.Name, verify: true, json: v.json}
	check := newSegmentCheck(seg, r.SegmentInfo)
	var e event.Event
	for {
		offset := seg.at
		err := check.next(&e, last)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if err := v.event(r, seg, e, offset); err != nil {
			return err
		}
	}
	r.Torn, r.Bytes, r.Sealed, r.SHA256 = int64(len(seg.rest())), seg.at, check.sealed, check.sha256()
	if bytes.IndexByte(seg.rest(), '\n') >= 0 { // it may be more than was read
		size, err := l.file.Size()
		if err != nil {
			return fmt.Errorf("read segment %s: %w", r.Name, err)
		}
		r.Torn = size - seg.at
	}
	if seg.count == 0 {
		return seg.damage(0, SegmentEmpty, "it has no complete line")
	}
	return nil
}

func (v *verifier) event(r *SegmentReport, seg *eventReader, e event.Event, offset int64) error {
	r.Events, r.LastSeq = seg.count, e.Seq
	if seg.count == 1 {
		r.FirstSeq = e.Seq
		if code, problem := v.opening(r, e); problem != "" {
			return seg.damage(offset, code, problem)
		}
	}
	for _, name := range blobsOf(e) {
		r.Blobs++
		code, err := v.blob(name)
		switch {
		case err != nil:
			return err
		case code == BlobMissing:
			return seg.damage(offset, code, "its blob "+name+" is missing")
		case code != "":
			return seg.damage(offset, code, "its blob "+name+" is not what was written")
		}
	}
	return nil
}

// opening checks the first line of a segment against the segment before.
func (v *verifier) opening(r *SegmentReport, e event.Event) (Code, string) {
	opened, err := event.As[event.SegmentOpened](e)
	p := v.prev
	switch {
	case err != nil:
		return WrongOpening, err.Error()
	case p == nil:
		return "", ""
	case p.Ordinal != r.Ordinal-1:
		return SegmentMissing, fmt.Sprintf("segment %06d before it is missing", r.Ordinal-1)
	case opened.Prev == nil || opened.Prev.Name != p.Name:
		return PrevName, "it does not name the segment before it, " + p.Name
	case opened.Prev.SHA256 != p.SHA256 || opened.Prev.Sealed != p.Sealed:
		return PrevHash, "the segment before it is not the one that it follows: its SHA-256 or its seal differs"
	case e.Seq != p.LastSeq+1:
		return WrongSeq, fmt.Sprintf("it is event %d instead of event %d", e.Seq, p.LastSeq+1)
	}
	return "", ""
}

// segmentCheck reads the events of one segment, and checks the line that opens it and its seal.
type segmentCheck struct {
	*eventReader
	info   SegmentInfo
	sum    hash.Hash // of all lines, or of those before the seal
	sealed bool
}

func newSegmentCheck(seg *eventReader, info SegmentInfo) *segmentCheck {
	return &segmentCheck{eventReader: seg, info: info, sum: sha256.New()}
}

func (c *segmentCheck) sha256() string { return hex.EncodeToString(c.sum.Sum(nil)) }

// next is [eventReader.nextOf].
func (c *segmentCheck) next(e *event.Event, last bool) error {
	offset := c.at
	if err := c.nextOf(e, last); err != nil {
		return err
	}
	if c.sealed {
		return c.damage(offset, AfterSeal, "it follows the seal")
	}
	if c.count == 1 {
		opened, err := event.As[event.SegmentOpened](*e)
		if err != nil || opened.Ordinal != c.info.Ordinal || opened.Iteration != c.info.Iteration {
			return c.damage(offset, WrongOpening, "it does not open a segment of this name")
		}
	}
	if e.Type != event.TypeSegmentSealed {
		c.sum.Write(e.Line())
		c.sum.Write([]byte{'\n'})
		return nil
	}
	c.sealed = true
	sealed, err := event.As[event.SegmentSealed](*e)
	switch {
	case err != nil:
		return c.damage(offset, BadSeal, err.Error())
	case sealed.Bytes != offset || sealed.Events != c.count-1:
		return c.damage(offset, SealCounts, fmt.Sprintf("the seal is for %d events in %d bytes, and there are %d in %d",
			sealed.Events, sealed.Bytes, c.count-1, offset))
	case sealed.SHA256 != c.sha256():
		return c.damage(offset, SealHash, "the seal has another SHA-256")
	}
	return nil
}

// blob checks one blob, once.
func (v *verifier) blob(name string) (code Code, err error) {
	if v.src.blobs == "" {
		return "", nil
	}
	if code, known := v.blobs[name]; known {
		return code, nil
	}
	code, err = v.src.checkBlob(name)
	v.blobs[name] = code
	return code, err
}

func (s *source) checkBlob(name string) (Code, error) {
	f, err := s.dir.Open(s.blobs + "/" + name)
	if errors.Is(err, fs.ErrNotExist) {
		return BlobMissing, nil
	}
	if err != nil {
		return "", fmt.Errorf("open blob: %w", err)
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, &fileFrom{f: f}); err != nil {
		return "", fmt.Errorf("read blob: %w", err)
	}
	if hex.EncodeToString(sum.Sum(nil)) != name {
		return BlobChanged, nil
	}
	return "", nil
}

// blobsOf returns the names of the blobs that an event refers to.
func blobsOf(e event.Event) (names []string) {
	add := func(value []byte) {
		if name := jsonscan.Unquote(value); isBlobName(name) {
			names = append(names, name)
		}
	}
	switch e.Type {
	case event.TypeLoopStarted:
		add(jsonscan.Get(e.Data(), "task", "text", "sha256"))
	case event.TypeIterationStarted:
		add(jsonscan.Get(e.Data(), "prompt", "sha256"))
	case event.TypeToolReturned:
		add(e.Field("blob"))
	}
	if bytes.Contains(e.Line(), []byte(`"blob"`)) { // else its raw need not be looked for
		if name := event.RawBlob(e.Raw()); name != "" {
			names = append(names, string(name))
		}
	}
	return names
}

// blobNameBytes is the length of a blob's name.
const blobNameBytes = 2 * sha256.Size

func isBlobName(name string) bool {
	if len(name) != blobNameBytes {
		return false
	}
	_, err := hex.DecodeString(name)
	return err == nil && strings.ToLower(name) == name
}
