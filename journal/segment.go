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
)

// The folder and file names of a journal inside its loop's folder.
const (
	segmentsDir = "journal"
	blobsDir    = "blobs"
	bellName    = "bell"
	plainExt    = ".jsonl"
	packedExt   = ".jsonl.zst"
	tmpExt      = ".tmp"
	tornMark    = ".torn-"
)

// SegmentInfo is one segment as its name and its file tell it.
type SegmentInfo struct {
	Name      string // "000007-i0003.jsonl", the same whether it is compressed or not
	Ordinal   int
	Iteration int
	Packed    bool  // only the compressed file is there
	Size      int64 // of the file in bytes, compressed where it is

	path string // in the source's folder
	both bool   // a compressed one lies beside the plain one
}

// Position is a place between two lines: behind the event Seq, which the segment
// has up to Offset. The zero Position is the beginning of the journal.
type Position struct {
	Segment string `json:"segment"`
	Offset  int64  `json:"offset"` // in the bytes of the segment, uncompressed
	Seq     uint64 `json:"seq"`    // of the event before it
	CRC     uint32 `json:"crc"`    // of that event's line
}

func segmentName(ordinal, iteration int) string {
	return fmt.Sprintf("%06d-i%04d%s", ordinal, iteration, plainExt)
}

// parseSegmentName reads a name of at least six and four digits, so that a
// loop's ten-thousandth iteration still has one.
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

// listSegments returns the segments in a folder, oldest first. Where a crash left
// a segment both plain and compressed, the plain one counts.
func listSegments(dir Folder, under string) ([]SegmentInfo, error) {
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
			return nil, &CorruptError{Segment: s.Name, Problem: "another segment has the same ordinal: " + kept[last].Name}
		default:
			kept[last].both = true
		}
	}
	return kept, nil
}

// Segments lists the segments of a journal, oldest first. src is what [Read]
// takes. A journal that has none yet is an empty list.
func Segments(src string) ([]SegmentInfo, error) {
	s, err := openSource(nil, src)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	list, err := s.segments()
	if err != nil {
		return nil, err
	}
	kept := list[:0]
	for _, info := range list {
		stat, err := s.dir.Stat(info.path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // compressed or dropped since
		}
		if err != nil {
			return nil, fmt.Errorf("look at segment %s: %w", info.Name, err)
		}
		info.Size = stat.Size
		kept = append(kept, info)
	}
	return kept, nil
}

// source is where segments are read from: a loop's folder, a folder of segments,
// or one segment.
type source struct {
	dir   Folder
	under string       // the folder of segments in dir
	one   *SegmentInfo // set where src is one segment
	blobs string       // the folder of blobs in dir, empty where there is none to look in
}

func openSource(fsys FS, src string) (*source, error) {
	if fsys == nil {
		fsys = osFS{}
	}
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

// listed does something with the segments, and again where one of them is not there: it may have been dropped or compressed since they were
// listed. Where that stays so, or the journal itself is gone, the error is fs.ErrNotExist.
func (s *source) listed(do func([]SegmentInfo) error) error {
	for try := 0; ; try++ {
		list, err := s.segments()
		if err != nil {
			return err
		}
		if err = do(list); !errors.Is(err, fs.ErrNotExist) || try == listTries {
			return err
		}
	}
}

// listTries bounds the looks at a folder that changes faster than it can be read.
const listTries = 20

// sameNames reports whether two looks at the folder saw the same segments. One look alone
// may miss the end of a journal: a segment that is compressed while the folder is read has
// its new name where the reading has been and its old one no more where it comes to, and the
// segment behind it may have been made in between. What is missed so is there a moment later.
func sameNames(a, b []SegmentInfo) bool {
	return slices.EqualFunc(a, b, func(a, b SegmentInfo) bool { return a.Name == b.Name })
}

// open opens a segment that may be compressed or gone by now: gone is
// fs.ErrNotExist, and the caller lists again.
func (s *source) open(info SegmentInfo, at int64) (*lines, error) {
	f, err := s.dir.Open(info.path)
	if errors.Is(err, fs.ErrNotExist) && !info.Packed && s.one == nil {
		info.Packed = true
		info.path += ".zst"
		f, err = s.dir.Open(info.path)
	}
	if err != nil {
		return nil, fmt.Errorf("open segment: %w", err)
	}
	l := &lines{file: f, base: at, at: at}
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
		return nil, &CorruptError{Segment: info.Name, Offset: at, Problem: "it ends before that offset: " + err.Error()}
	}
	return l, nil
}

// fileFrom reads a file on from an offset, and further when it has grown. A read
// that reached the end is followed by one io.EOF that costs no system call.
type fileFrom struct {
	f   File
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
