package journal_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/testkit/simfs"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

const secondSegment = "000002-i0000.jsonl"

// twoSegments is a sealed segment of four lines and one of three that was left.
func twoSegments(t *testing.T) (sealed, left []byte) {
	t.Helper()
	disk := newDisk(1)
	opt := options()
	opt.FS = disk
	for range 2 {
		rec, err := journal.Recover("loop", opt)
		if err != nil {
			t.Fatal(err)
		}
		w, _, err := journal.Create("loop", rec, 0, nil, opt)
		if err != nil {
			t.Fatal(err)
		}
		add(t, w, notices(1, 2)...)
		if rec.Ordinal == 0 {
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	return mustFile(t, disk, "000001-i0000.jsonl"), mustFile(t, disk, secondSegment)
}

func TestTornTailIsCut(t *testing.T) {
	sealed, left := twoSegments(t)
	for n := range len(left) + 1 {
		disk := newDisk(uint64(n))
		if err := disk.MkdirAll("loop/journal"); err != nil {
			t.Fatal(err)
		}
		disk.Drop("loop/journal/000001-i0000.jsonl", sealed)
		disk.Drop("loop/journal/"+secondSegment, left[:n])
		whole := bytes.Count(left[:n], []byte("\n"))
		torn := n - 1 - bytes.LastIndexByte(left[:n], '\n')

		if got, err := readDisk(disk); err != nil || len(got) != 4+whole {
			t.Fatalf("cut to %d bytes: read %d events, %v; want %d", n, len(got), err, 4+whole)
		}
		if got, at, err := journal.LastFS(disk, "loop", 2); err != nil || len(got) != 2 || at.Seq != event.Seq(4+whole) {
			t.Fatalf("cut to %d bytes: last is %d events up to %d, %v; want 2 up to %d", n, len(got), at.Seq, err, 4+whole)
		}
		opt := options()
		opt.FS = disk
		rec, err := journal.Recover("loop", opt)
		if err != nil {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
		if rec.NextSeq != event.Seq(5+whole) || (rec.Lost != nil) != (torn > 0) {
			t.Fatalf("cut to %d bytes: %+v, want next seq %d", n, rec, 5+whole)
		}
		if torn > 0 {
			kept, err := disk.ReadFile("loop/" + rec.Lost.Kept)
			if err != nil || !bytes.Equal(kept, left[n-torn:n]) || rec.Lost.Bytes != int64(torn) || rec.Lost.Segment != secondSegment {
				t.Fatalf("cut to %d bytes: kept %q, %v; lost %+v", n, kept, err, rec.Lost)
			}
			again, err := journal.Recover("loop", opt)
			if err != nil || whole > 0 && (again.Lost == nil || *again.Lost != *rec.Lost) {
				t.Fatalf("cut to %d bytes: a second recovery says %+v, %v", n, again.Lost, err)
			}
		}
		if l := live(disk, 1); l.err != nil {
			t.Fatalf("cut to %d bytes: continuing: %v", n, l.err)
		}
		if err := journal.VerifyFS(disk, "loop", nil); err != nil {
			t.Fatalf("cut to %d bytes: verify: %v", n, err)
		}
		disk.Crash(simfs.Killed)
	}
}

// The first event after a repair reports it. If the power is lost before that event is synced, the
// next repair reports both losses.
func TestUnreportedLossIsReportedAgain(t *testing.T) {
	sealed, left := twoSegments(t)
	disk := newDisk(1)
	if err := disk.MkdirAll("loop/journal"); err != nil {
		t.Fatal(err)
	}
	disk.Drop("loop/journal/000001-i0000.jsonl", sealed)
	disk.Drop("loop/journal/"+secondSegment, left[:len(left)-5])
	opt := options()
	opt.FS = disk
	recovered := func() journal.Recovery {
		t.Helper()
		rec, err := journal.Recover("loop", opt)
		if err != nil {
			t.Fatal(err)
		}
		return rec
	}
	names := func(lost *event.Lost) (names []string) {
		for ; lost != nil; lost = lost.Before {
			names = append(names, lost.Segment)
		}
		return names
	}
	begin := func() *journal.Writer {
		t.Helper()
		w, _, err := journal.Create("loop", recovered(), 0, nil, opt)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	begin() // and dies
	if got := names(recovered().Lost); !slices.Equal(got, []string{secondSegment}) {
		t.Fatalf("lost: %q", got)
	}
	third := mustFile(t, disk, "000003-i0000.jsonl")
	disk.Drop("loop/journal/000003-i0000.jsonl", append(third, "{\"v\":1"...))
	if got := names(recovered().Lost); !slices.Equal(got, []string{"000003-i0000.jsonl", secondSegment}) {
		t.Fatalf("lost: %q", got)
	}
	begin() // and dies
	if got := names(recovered().Lost); !slices.Equal(got, []string{"000003-i0000.jsonl", secondSegment}) {
		t.Fatalf("lost: %q", got)
	}
	w := begin()
	add(t, w, notices(1, 1)...) // the runner reports the loss
	if got := names(recovered().Lost); len(got) > 0 {
		t.Fatalf("reported again: %q", got)
	}
}
