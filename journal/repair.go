package journal

import (
	"crypto/sha256"
	"encoding/hex"
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

// Recovery tells where a journal stands, for [Create] to go on from there. The
// zero value but for NextSeq 1 is a journal that has no event yet.
type Recovery struct {
	Segment   string // the last segment, empty where there is none
	Ordinal   int
	Iteration int
	NextSeq   uint64      // of the event to be written next
	At        time.Time   // of the last event
	Lost      *event.Lost // what was cut off, for loop.resumed
	Sealed    bool        // the writer before closed its journal
	SHA256    string      // of the segment's bytes, before the seal where it is sealed
	Position  Position    // behind the last event
}

// Recover makes a loop's journal ready for [Create]. dir is the loop's folder,
// and the caller holds the loop's lock.
//
// A process that dies while it writes leaves an unfinished last line: without a
// newline. Where a machine lost power it may not be JSON, or a line may lack blocks of the
// file that later ones have. Recover cuts such a line and what follows it off
// the last segment, after its bytes are safe in a side file beside it,
// journal/<segment>.torn-<n>, and reports it as Lost, again on every call until a
// new segment has begun. Nothing else is ever cut. Every line of the last segment
// is verified; damage there is a *[CorruptError]. Older segments are left to
// [Verify]. Calling it twice is the same as calling it once. A journal that another
// writer has open is [ErrBusy], and nothing of it is touched.
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
	folder Folder
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
		// What never got its name was never part of the journal.
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
		rec, whole, err := r.last(segments[len(segments)-1])
		if err == nil && whole {
			rec.Lost, err = r.untold(segments)
		}
		if err != nil || whole {
			return rec, err
		}
	}
}

// last reads the last segment and cuts its tail. It reports false where not even
// the first line of the segment was whole and the segment is gone.
func (r *repair) last(info SegmentInfo) (Recovery, bool, error) {
	src := &source{dir: r.folder, under: segmentsDir}
	l, err := src.open(info, 0)
	if err != nil {
		return Recovery{}, false, err
	}
	defer l.Close()
	seg := &events{lines: l, segment: info.Name, verify: true}
	rec := Recovery{Segment: info.Name, Ordinal: info.Ordinal, Iteration: info.Iteration}
	var e event.Event
	for {
		before := seg.at
		err = seg.next(&e)
		if err != nil {
			break
		}
		if err := rec.read(seg, e, before); err != nil {
			return Recovery{}, false, err
		}
	}
	if err != io.EOF && !seg.torn() {
		return Recovery{}, false, err
	}
	if l.packed != nil {
		if len(l.rest()) > 0 {
			return Recovery{}, false, seg.damage(seg.at, "it ends in the middle of a line")
		}
	} else if err := r.cut(info, l.file, seg.at); err != nil {
		return Recovery{}, false, err
	}
	if seg.seq == 0 {
		// The next segment has its ordinal, and perhaps another name: never are both there.
		return Recovery{}, false, r.folder.SyncFolder(segmentsDir)
	}
	if l.packed == nil {
		if err := r.renew(info, l.file, seg.at); err != nil {
			return Recovery{}, false, fmt.Errorf("make %s durable: %w", info.Name, err)
		}
	}
	rec.Position = seg.position()
	rec.NextSeq = seg.seq + 1
	if !rec.Sealed {
		if rec.SHA256, err = r.sum(src, info); err != nil {
			return Recovery{}, false, err
		}
	}
	return rec, true, nil
}

// read takes one event of the last segment into account.
func (rec *Recovery) read(seg *events, e event.Event, offset int64) error {
	if rec.Sealed {
		return seg.damage(offset, "it stands behind the seal")
	}
	if seg.count == 1 {
		opened, err := event.As[event.SegmentOpened](e)
		if err != nil || opened.Ordinal != rec.Ordinal {
			return seg.damage(offset, "it does not open a segment of this name")
		}
	}
	rec.At = e.At
	if e.Type != event.TypeSegmentSealed {
		return nil
	}
	sealed, err := event.As[event.SegmentSealed](e)
	if err != nil {
		return seg.damage(offset, err.Error())
	}
	if sealed.Bytes != offset || sealed.Events != seg.count-1 {
		return seg.damage(offset, fmt.Sprintf("the seal is for %d events in %d bytes, and there are %d in %d",
			sealed.Events, sealed.Bytes, seg.count-1, offset))
	}
	rec.Sealed, rec.SHA256 = true, sealed.SHA256
	return nil
}

// cut keeps what stands behind the whole lines of a segment in a side file, which is durable before
// the segment loses it: a crash in between leaves a copy too many. A segment without a whole line
// goes; of another one, renew keeps the whole lines.
func (r *repair) cut(info SegmentInfo, f File, whole int64) error {
	size, err := f.Size()
	if err != nil {
		return err
	}
	if size == whole && whole > 0 {
		return nil
	}
	if size > 0 {
		kept, err := r.keep(info.Name, f, whole, size)
		if err != nil {
			return fmt.Errorf("keep the unfinished line of %s: %w", info.Name, err)
		}
		r.lost = &event.Lost{Segment: info.Name, Bytes: size - whole, Kept: kept}
	}
	if whole == 0 {
		return r.folder.Remove(info.path)
	}
	return nil
}

// renew puts a copy of the segment's whole lines in its place, durable before any later segment
// names its lines. The process before may have died before it synced them, or of a
// sync that failed: the kernel reports that once and takes the lines for clean, so
// that syncing the same file again would prove nothing. Readers that have the old
// file open have the same lines.
func (r *repair) renew(info SegmentInfo, f File, size int64) error {
	tmp := info.path + tmpExt
	copied, err := r.folder.Create(tmp)
	if err != nil {
		return err
	}
	_, err = io.Copy(copied, io.NewSectionReader(f, 0, size))
	if err == nil {
		err = copied.Sync()
	}
	if err = errors.Join(err, copied.Close()); err != nil {
		return err
	}
	if err := r.folder.Rename(tmp, info.path); err != nil {
		return err
	}
	return r.folder.SyncFolder(segmentsDir)
}

func (r *repair) keep(segment string, f File, from, to int64) (string, error) {
	var side File
	var name string
	for n := 1; side == nil; n++ {
		var err error
		name = segmentsDir + "/" + segment + tornMark + strconv.Itoa(n)
		side, err = r.folder.Create(name)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	_, err := io.Copy(side, io.NewSectionReader(f, from, to-from))
	if err == nil {
		err = side.Sync()
	}
	if err = errors.Join(err, side.Close()); err != nil {
		return "", err
	}
	return name, r.folder.SyncFolder(segmentsDir)
}

// untold finds what this call and earlier ones cut off and nobody has recorded: the segment is still the last
// one, or those behind it have no more than their first line, because the power went before loop.resumed was synced.
func (r *repair) untold(segments []SegmentInfo) (*event.Lost, error) {
	newest := r.lost
	oldest := newest
	for _, info := range slices.Backward(segments) {
		lost, err := r.lostBefore(info.Name)
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
		if told, err := r.goesOn(info); told || err != nil {
			return newest, err
		}
	}
	return newest, nil
}

// goesOn reports whether a segment has more than the line that opens it.
func (r *repair) goesOn(info SegmentInfo) (bool, error) {
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

// lostBefore finds what an earlier call cut off a segment.
func (r *repair) lostBefore(segment string) (*event.Lost, error) {
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

// sum hashes a segment that has no seal, for the next one to name.
func (r *repair) sum(src *source, info SegmentInfo) (string, error) {
	l, err := src.open(info, 0)
	if err != nil {
		return "", err
	}
	defer l.Close()
	h := sha256.New()
	if _, err := io.Copy(h, l.from); err != nil {
		return "", fmt.Errorf("hash segment %s: %w", info.Name, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
