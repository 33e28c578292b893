package journal_test

import (
	"errors"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/testkit/simfs"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// After a write that failed because the disk was full, the next segment follows a durable one: an
// open one, or a sealed one if its successor could not be written.
func TestFindEndSyncsSegment(t *testing.T) {
	for name, fail := range map[string]struct {
		write int
		run   func(w *journal.Writer) error
	}{
		"append": {1, func(w *journal.Writer) error { _, err := w.Append(notices(6, 3)); return err }},
		"rotate": {2, func(w *journal.Writer) error { _, err := w.Rotate(2, nil); return err }},
	} {
		for seed := range uint64(20) {
			disk := newDisk(seed)
			opt := options()
			opt.FS = disk
			w, _ := begin(t, "loop", opt)
			add(t, w, notices(1, 5)...)
			disk.Plan(simfs.Plan{FailWrite: fail.write, Err: syscall.ENOSPC})
			if err := fail.run(w); !errors.Is(err, syscall.ENOSPC) {
				t.Fatal(err)
			}
			w.Abandon()
			before, err := readDisk(disk)
			if err != nil || len(before) < 6 {
				t.Fatalf("%s: %d events, %v", name, len(before), err)
			}
			disk.Plan(simfs.Plan{})
			rec, err := journal.FindEnd("loop", opt)
			if err != nil || rec.NextSeq != event.Seq(len(before)+1) {
				t.Fatalf("%s: %+v, %v", name, rec, err)
			}
			if _, _, err := journal.Create("loop", rec, 1, nil, opt); err != nil {
				t.Fatal(err)
			}
			disk = disk.Crash(simfs.PowerLostAnyOrder)
			after, err := readDisk(disk)
			if err != nil {
				t.Fatalf("%s, seed %d: %v", name, seed, err)
			}
			equal(t, "read", after[:len(before)], before)
			if err := journal.VerifyFS(disk, "loop", nil); err != nil {
				t.Fatalf("%s, seed %d: %v", name, seed, err)
			}
		}
	}
}

// What was written before the disk was full outlives a loss of power after the writer was closed:
// what a person does then comes after it.
func TestCloseSyncsAfterError(t *testing.T) {
	for seed := range uint64(20) {
		disk := newDisk(seed)
		opt := options()
		opt.FS = disk
		w, _ := begin(t, "loop", opt)
		add(t, w, notices(1, 5)...)
		disk.Plan(simfs.Plan{FailWrite: 1, Err: syscall.ENOSPC})
		if _, err := w.Append(notices(6, 3)); !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		if err := w.Close(); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("Close: %v", err)
		}
		before, err := readDisk(disk)
		if err != nil || len(before) < 6 {
			t.Fatalf("%d events, %v", len(before), err)
		}
		after, err := readDisk(disk.Crash(simfs.PowerLostAnyOrder))
		if err != nil || len(after) < len(before) {
			t.Fatalf("seed %d: %d of %d events are left: %v", seed, len(after), len(before), err)
		}
		equal(t, "read", after[:len(before)], before)
	}
}

// Only Recover cuts a torn line.
func TestFindEndRejectsTornLine(t *testing.T) {
	disk := newDisk(1)
	opt := options()
	opt.FS = disk
	w, _ := begin(t, "loop", opt)
	path := "loop/journal/" + w.Position().Segment
	disk.Drop(path, append(mustFile(t, disk, w.Position().Segment), `{"v":1`...))
	if rec, err := journal.FindEnd("loop", opt); err == nil {
		t.Errorf("%+v", rec)
	}
}
