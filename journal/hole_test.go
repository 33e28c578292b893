package journal_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// Until a sync, a disk writes the blocks of a file in any order. After a loss of power an earlier
// block may be missing while later ones are there; it reads as zeros.
func TestHoleInTailIsCut(t *testing.T) {
	const block = 512
	disk := newDisk(1)
	opt := options()
	opt.FS = disk
	w, _ := begin(t, "loop", opt)
	add(t, w, notices(1, 40)...)
	name := w.Position().Segment
	whole := mustFile(t, disk, name)
	if len(whole) < 8*block {
		t.Fatalf("%d bytes are too few", len(whole))
	}
	for hole := block; hole < len(whole); hole += block {
		for _, blocks := range []int{1, 3} {
			left := bytes.Clone(whole)
			clear(left[hole:min(hole+blocks*block, len(left))])
			start := bytes.LastIndexByte(left[:hole], '\n') + 1
			events := bytes.Count(left[:start], []byte("\n"))

			disk := newDisk(1)
			if err := disk.MkdirAll("loop/journal"); err != nil {
				t.Fatal(err)
			}
			disk.Drop("loop/journal/"+name, left)
			if got, err := readDisk(disk); err != nil || len(got) != events {
				t.Fatalf("a hole at %d: read %d events, %v; want %d", hole, len(got), err, events)
			}
			torn := int64(0)
			if err := journal.VerifyFS(disk, "loop", func(r journal.SegmentReport) { torn = r.Torn }); err != nil || torn != int64(len(left)-start) {
				t.Fatalf("a hole at %d: verify says %d bytes, %v; want %d", hole, torn, err, len(left)-start)
			}
			opt := options()
			opt.FS = disk
			rec, err := journal.Recover("loop", opt)
			if err != nil || rec.NextSeq != event.Seq(events+1) || rec.Lost == nil || rec.Lost.Bytes != torn {
				t.Fatalf("a hole at %d: %+v, %v; want next seq %d", hole, rec, err, events+1)
			}
			kept, err := disk.ReadFile("loop/" + rec.Lost.Kept)
			if err != nil || !bytes.Equal(kept, left[start:]) {
				t.Fatalf("a hole at %d: kept %d bytes, %v", hole, len(kept), err)
			}
			if l := live(disk, 1); l.err != nil {
				t.Fatalf("a hole at %d: continuing: %v", hole, l.err)
			}
			if err := journal.VerifyFS(disk, "loop", nil); err != nil {
				t.Fatalf("a hole at %d: verify: %v", hole, err)
			}
		}
	}
}

// A write that has reached the disk and one that has not may share a block: what is missing begins
// where a line ends.
func TestHoleAfterLineIsCut(t *testing.T) {
	disk := newDisk(1)
	opt := options()
	opt.FS = disk
	w, _ := begin(t, "loop", opt)
	add(t, w, notices(1, 40)...)
	name := w.Position().Segment
	left := mustFile(t, disk, name)
	end := bytes.IndexByte(left[1000:], '\n') + 1001
	clear(left[end : (end/512+1)*512])
	disk.Drop("loop/journal/"+name, left)
	rec, err := journal.Recover("loop", opt)
	if err != nil || rec.NextSeq != event.Seq(bytes.Count(left[:end], []byte("\n"))+1) || rec.Lost.Bytes != int64(len(left)-end) {
		t.Errorf("%+v, %v", rec, err)
	}
}

// Zeros in other places are not a lost block: they are damage, and are not cut.
func TestOtherZerosAreDamage(t *testing.T) {
	for _, zeros := range [][2]int{{1000, 1020}, {1000, 1024}, {1024, 1300}, {1023, 1024}} {
		disk := newDisk(1)
		opt := options()
		opt.FS = disk
		w, _ := begin(t, "loop", opt)
		add(t, w, notices(1, 40)...)
		name := w.Position().Segment
		left := mustFile(t, disk, name)
		if left[zeros[0]-1] == '\n' {
			t.Fatalf("a line ends before byte %d", zeros[0])
		}
		clear(left[zeros[0]:zeros[1]])
		disk.Drop("loop/journal/"+name, left)
		_, err := journal.Recover("loop", opt)
		if _, damaged := errors.AsType[*journal.CorruptError](err); !damaged {
			t.Errorf("zeros at %v: %v", zeros, err)
		}
		if got := mustFile(t, disk, name); !bytes.Equal(got, left) {
			t.Errorf("zeros at %v: the damaged segment was changed", zeros)
		}
	}
}
