package journal

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/journal/event"
)

// The folder and file names of a journal inside its loop's folder.
const (
	segmentsDir = "journal"
	blobsDir    = "blobs"
	notifyName  = "notify"
	plainExt    = ".jsonl"
	packedExt   = ".jsonl.zst"
	tmpExt      = ".tmp"
	tornMark    = ".torn-"
)

// SegmentInfo describes one segment by its name and its file.
type SegmentInfo struct {
	Name      string // "000007-i0003.jsonl", the same whether it is compressed or not
	Ordinal   int
	Iteration int
	Packed    bool  // only the compressed file is there
	Size      int64 // of the file on disk, in bytes

	path string // in the source's folder
}

// Position is a place between two lines: after the event Seq, which the segment contains up to
// Offset. The zero Position is the beginning of the journal.
type Position struct {
	Segment string    `json:"segment"`
	Offset  int64     `json:"offset"` // in the bytes of the segment, uncompressed
	Seq     event.Seq `json:"seq"`    // of the event before it
	CRC     uint32    `json:"crc"`    // of that event's line
}

func segmentName(ordinal, iteration int) string {
	return fmt.Sprintf("%06d-i%04d%s", ordinal, iteration, plainExt)
}

// parseSegmentName reads a name of at least six and four digits: a loop may have more than 9,999
// iterations.
func parseSegmentName(name string) (s SegmentInfo, ok bool) {
	base, packed := strings.CutSuffix(name, packedExt)
	if !packed {
		if base, ok = strings.CutSuffix(name, plainExt); !ok {
			return s, false
		}
	}
	ordinal, iteration, ok := strings.Cut(base, "-i")
	if !ok || len(ordinal) < 6 || len(iteration) < 4 {
		return s, false
	}
	o, err1 := strconv.ParseUint(ordinal, 10, 31)
	i, err2 := strconv.ParseUint(iteration, 10, 31)
	s = SegmentInfo{Name: base + plainExt, Ordinal: int(o), Iteration: int(i), Packed: packed}
	return s, err1 == nil && err2 == nil && o > 0 && segmentName(s.Ordinal, s.Iteration) == s.Name
}

// listSegments returns the segments in a folder, oldest first. Where a crash left a segment both
// plain and compressed, the plain one counts.
func listSegments(dir folder, under string) ([]SegmentInfo, error) {
	names, err := dir.List(under)
	if err != nil {
		return nil, err
	}
	var segments []SegmentInfo
	for _, name := range names {
		s, ok := parseSegmentName(name)
		if !ok {
			continue
		}
		s.path = under + "/" + name
		segments = append(segments, s)
	}
	slices.SortFunc(segments, func(a, b SegmentInfo) int {
		if c := cmp.Compare(a.Ordinal, b.Ordinal); c != 0 {
			return c
		}
		return len(a.path) - len(b.path) // plain first
	})
	kept := segments[:0]
	for _, s := range segments {
		last := len(kept) - 1
		switch {
		case last < 0 || kept[last].Ordinal != s.Ordinal:
			kept = append(kept, s)
		case kept[last].Name != s.Name:
			return nil, &CorruptError{Segment: s.Name, Code: SameOrdinal, Problem: "another segment has the same ordinal: " + kept[last].Name}
		}
	}
	return kept, nil
}

// Segments lists the segments of a journal, oldest first. src is the same as for [Read]. A journal
// that has none yet is an empty list.
func Segments(src string) ([]SegmentInfo, error) {
	var segments []SegmentInfo
	err := withSegments(nil, src, func(s *source, list []SegmentInfo) error {
		for i, info := range list {
			stat, err := s.dir.Stat(info.path)
			if err != nil {
				return fmt.Errorf("examine segment %s: %w", info.Name, err)
			}
			list[i].Size = stat.Size
		}
		segments = list
		return nil
	})
	return segments, err
}

// source is where segments are read from: the folder of a loop, a folder of segments, or one
// segment.
type source struct {
	dir   folder
	under string       // the folder of segments in dir
	one   *SegmentInfo // set if src is one segment
	blobs string       // the folder of blobs in dir, empty if there is none to look in
}

func openSource(fsys fileSystem, src string) (*source, error) {
	fsys = orOS(fsys)
	if one, ok := parseSegmentName(filepath.Base(src)); ok {
		dir, err := fsys.OpenFolder(filepath.Dir(src))
		if err != nil {
			return nil, fmt.Errorf("open journal: %w", err)
		}
		one.path = filepath.Base(src)
		info, err := dir.Stat(one.path)
		if err == nil && !info.Folder {
			return &source{dir: dir, under: ".", one: &one}, nil
		}
		dir.Close()
		if err != nil {
			return nil, fmt.Errorf("open journal: %w", err)
		}
	}
	dir, err := fsys.OpenFolder(src)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	s := &source{dir: dir, under: segmentsDir, blobs: blobsDir}
	if info, err := dir.Stat(segmentsDir); err != nil || !info.Folder {
		if !errors.Is(err, fs.ErrNotExist) {
			dir.Close()
			return nil, fmt.Errorf("open journal: %w", errors.Join(err, errNotPlain))
		}
		s.under, s.blobs = ".", ""
	}
	return s, nil
}

func (s *source) Close() error { return s.dir.Close() }

func (s *source) segments() ([]SegmentInfo, error) {
	if s.one != nil {
		return []SegmentInfo{*s.one}, nil
	}
	var before []SegmentInfo
	for try := 0; ; try++ {
		list, err := listSegments(s.dir, s.under)
		if err != nil {
			return nil, fmt.Errorf("list segments: %w", err)
		}
		if try > 0 && sameNames(before, list) || try == listTries {
			return list, nil
		}
		before = list
	}
}

// withSegments calls do with the segments of a journal. If do misses a segment, which was then
// dropped or compressed meanwhile, it lists them again and repeats the call, at most listTries
// times. After those, or if the journal itself is gone, the error is fs.ErrNotExist.
func withSegments(fsys fileSystem, src string, do func(*source, []SegmentInfo) error) error {
	s, err := openSource(fsys, src)
	if err != nil {
		return err
	}
	defer s.Close()
	for try := 0; ; try++ {
		list, err := s.segments()
		if err == nil {
			if err = do(s, list); errors.Is(err, fs.ErrNotExist) && try < listTries {
				continue
			}
		}
		return err
	}
}

// listTries bounds how often a folder is listed that changes faster than it can be read.
const listTries = 20

// sameNames reports whether two lists contain the same segments. A single list may lack the end of
// a journal: when a segment is compressed while the folder is read, both its names may be missed,
// together with a segment that was created in between. The next list contains them.
func sameNames(a, b []SegmentInfo) bool {
	return slices.EqualFunc(a, b, func(a, b SegmentInfo) bool { return a.Name == b.Name })
}

// open opens a segment that may have been compressed or removed since the listing. If it was
// removed, the error is fs.ErrNotExist, and the caller lists again.
func (s *source) open(info SegmentInfo, at int64) (*lineReader, error) {
	f, err := s.dir.Open(info.path)
	if errors.Is(err, fs.ErrNotExist) && !info.Packed && s.one == nil {
		info.Packed = true
		info.path += ".zst"
		f, err = s.dir.Open(info.path)
	}
	if err != nil {
		return nil, fmt.Errorf("open segment: %w", err)
	}
	l := &lineReader{file: f, base: at, at: at}
	if !info.Packed {
		l.from = &fileFrom{f: f, at: at}
		return l, nil
	}
	z, err := unpack(&fileFrom{f: f})
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("open segment: %w", err)
	}
	l.packed = z
	l.from = z
	if _, err := io.CopyN(io.Discard, z, at); err != nil {
		l.Close()
		return nil, &CorruptError{Segment: info.Name, Offset: at, Code: SegmentCut, Problem: "it ends before that offset: " + err.Error()}
	}
	return l, nil
}

// fileFrom reads a file from an offset on, and further when it has grown. After a read that reached
// the end comes one io.EOF without a system call.
type fileFrom struct {
	f   file
	at  int64
	end bool
}

func (r *fileFrom) Read(p []byte) (int, error) {
	if r.end {
		r.end = false
		return 0, io.EOF
	}
	n, err := r.f.ReadAt(p, r.at)
	r.at += int64(n)
	if n > 0 {
		r.end = err == io.EOF
		err = nil
	}
	return n, err
}
