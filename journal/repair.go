package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// Recovery is the end of a journal, from where [Create] continues. For a journal without events it
// is the zero value with NextSeq 1.
type Recovery struct {
	Segment   string // the last segment, empty if there is none
	Ordinal   int
	Iteration int
	NextSeq   event.Seq   // of the event to be written next
	At        time.Time   // of the last event
	Lost      *event.Lost // the torn tail that was cut off, for loop.resumed
	Sealed    bool        // the previous writer closed its journal
	SHA256    string      // of the segment's bytes before its seal, if it has one
	Position  Position    // after the last event
}

// Recover prepares the journal of a loop for [Create]. dir is the folder of the loop, and the
// caller holds the lock of the loop.
//
// A process that dies while it writes leaves a torn line without a newline. After a loss of power
// the last line may not be JSON, or lines may lack blocks of the file while later blocks are there.
// Recover cuts such a torn tail off the last segment and reports it as Lost, again on every call
// until a new segment has begun. Before that it saves the bytes in the file
// journal/<segment>.torn-<n>. Nothing else is ever cut. Every line of the last segment is verified;
// damage there is a *[CorruptError]. Older segments are left to [Verify]. Calling Recover twice is
// the same as calling it once. The error is [ErrBusy] if another writer has the journal open, which
// then stays as it is.
func Recover(dir string, opt Options) (Recovery, error) {
	opt = opt.withDefaults(time.Time{})
	folder, err := opt.FS.OpenFolder(dir)
	if err != nil {
		return Recovery{}, fmt.Errorf("open loop folder: %w", err)
	}
	defer folder.Close()
	r := repair{folder: folder}
	var rec Recovery
	lock, err := lockSegments(folder)
	switch {
	case err == nil:
		rec, err = r.run()
		unlock(lock)
	case errors.Is(err, fs.ErrNotExist):
		rec, err = Recovery{NextSeq: 1}, nil
	}
	if err != nil {
		return Recovery{}, fmt.Errorf("recover journal: %w", err)
	}
	return rec, nil
}

type repair struct {
	folder folder
	lost   *event.Lost
}

func (r *repair) run() (Recovery, error) {
	names, err := r.folder.List(segmentsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return Recovery{NextSeq: 1}, nil
	}
	if err != nil {
		return Recovery{}, err
	}
	for _, name := range names {
		// A file that was not renamed was never part of the journal.
		if strings.HasSuffix(name, tmpExt) {
			if err := r.folder.Remove(segmentsDir + "/" + name); err != nil {
				return Recovery{}, err
			}
		}
	}
	for {
		segments, err := listSegments(r.folder, segmentsDir)
		if err != nil {
			return Recovery{}, err
		}
		if len(segments) == 0 {
			return Recovery{NextSeq: 1, Lost: r.lost}, nil
		}
		rec, complete, err := r.last(segments[len(segments)-1])
		if err == nil && complete {
			rec.Lost, err = r.unreportedLoss(segments)
		}
		if err != nil || complete {
			return rec, err
		}
	}
}

// last reads the last segment and cuts its torn tail. It returns false where the segment had no
// complete line and was removed.
func (r *repair) last(info SegmentInfo) (Recovery, bool, error) {
	src := &source{dir: r.folder, under: segmentsDir}
	l, err := src.open(info, 0)
	if err != nil {
		return Recovery{}, false, err
	}
	defer l.Close()
	seg := &eventReader{lineReader: l, segment: info.Name, verify: true}
	check := newSegmentCheck(seg, info)
	rec := Recovery{Segment: info.Name, Ordinal: info.Ordinal, Iteration: info.Iteration}
	var e event.Event
	for {
		err := check.next(&e, true)
		if err == io.EOF {
			break
		}
		if err != nil {
			return Recovery{}, false, err
		}
		rec.At = e.At
	}
	if l.packed == nil {
		if err := r.saveTornTail(info, l.file, seg.at); err != nil {
			return Recovery{}, false, err
		}
	}
	if seg.seq == 0 {
		// The next segment has the same ordinal and may have another name: they must not both
		// exist.
		return Recovery{}, false, r.folder.SyncFolder(segmentsDir)
	}
	if l.packed == nil {
		if err := r.rewrite(info, l.file, seg.at); err != nil {
			return Recovery{}, false, fmt.Errorf("make %s durable: %w", info.Name, err)
		}
	}
	rec.Position, rec.NextSeq = seg.position(), seg.seq+1
	rec.Sealed, rec.SHA256 = check.sealed, check.sha256()
	return rec, true, nil
}

// saveTornTail saves what follows the complete lines of a segment in a side file. That file is
// durable before the segment loses the bytes: a crash in between leaves an unneeded copy. A segment
// without a complete line is removed; rewrite keeps the complete lines of another one.
func (r *repair) saveTornTail(info SegmentInfo, f file, complete int64) error {
	size, err := f.Size()
	if err != nil {
		return err
	}
	if size == complete && complete > 0 {
		return nil
	}
	if size > 0 {
		kept, err := r.saveTail(info.Name, f, complete, size)
		if err != nil {
			return fmt.Errorf("keep the unfinished line of %s: %w", info.Name, err)
		}
		r.lost = &event.Lost{Segment: info.Name, Bytes: size - complete, Kept: kept}
	}
	if complete == 0 {
		return r.folder.Remove(info.path)
	}
	return nil
}

// rewrite replaces the segment by a copy of its complete lines, which is durable before any later
// segment refers to them. The previous process may have died before it synced them, or because a
// sync failed. The kernel reports that failure once and then treats the lines as clean, so another
// sync of the same file would prove nothing. Readers that have the old file open have the same
// lines.
func (r *repair) rewrite(info SegmentInfo, f file, size int64) error {
	return replaceFile(r.folder, info.path, copyOf(f, 0, size))
}

func (r *repair) saveTail(segment string, f file, from, to int64) (string, error) {
	for n := 1; ; n++ {
		name := segmentsDir + "/" + segment + tornMark + strconv.Itoa(n)
		err := writeFile(r.folder, name, copyOf(f, from, to))
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		return name, r.folder.SyncFolder(segmentsDir)
	}
}

// unreportedLoss finds the torn tails, of this call and of earlier ones, that no event has
// reported: their segment is still the last one, or the later segments have only their first line,
// because the power was lost before loop.resumed was synced.
func (r *repair) unreportedLoss(segments []SegmentInfo) (*event.Lost, error) {
	newest := r.lost
	oldest := newest
	for _, info := range slices.Backward(segments) {
		lost, err := r.keptTail(info.Name)
		if err != nil {
			return nil, err
		}
		switch {
		case lost == nil, newest != nil && newest.Segment == lost.Segment:
		case newest == nil:
			newest, oldest = lost, lost
		default:
			oldest.Before, oldest = lost, lost
		}
		if reported, err := r.hasEvents(info); reported || err != nil {
			return newest, err
		}
	}
	return newest, nil
}

// hasEvents reports whether a segment has more than the line that opens it.
func (r *repair) hasEvents(info SegmentInfo) (bool, error) {
	src := &source{dir: r.folder, under: segmentsDir}
	l, err := src.open(info, 0)
	if err != nil {
		return false, err
	}
	defer l.Close()
	for range 2 {
		if _, err := l.next(); err != nil {
			if err == io.EOF {
				err = nil
			}
			return false, err
		}
	}
	return true, nil
}

// keptTail finds the torn tail that an earlier call cut off a segment.
func (r *repair) keptTail(segment string) (*event.Lost, error) {
	names, err := r.folder.List(segmentsDir)
	if err != nil {
		return nil, err
	}
	newest := 0
	for _, name := range names {
		if n, ok := strings.CutPrefix(name, segment+tornMark); ok {
			if i, err := strconv.Atoi(n); err == nil {
				newest = max(newest, i)
			}
		}
	}
	if newest == 0 {
		return nil, nil
	}
	kept := segmentsDir + "/" + segment + tornMark + strconv.Itoa(newest)
	info, err := r.folder.Stat(kept)
	if err != nil {
		return nil, err
	}
	return &event.Lost{Segment: segment, Bytes: info.Size, Kept: kept}, nil
}
