package journal_test

import (
	"errors"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/simfs"
	"github.com/ralph-loop/ralph/journal"
)

// Where a write failed for want of room, the next segment follows one that is durable.
func TestAStandingSegmentIsDurableBeforeTheNext(t *testing.T) {
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
		w.Abandon()
		before, err := readDisk(disk)
		if err != nil || len(before) < 6 {
			t.Fatalf("%d events, %v", len(before), err)
		}
		disk.Plan(simfs.Plan{})
		rec, err := journal.Standing("loop", opt)
		if err != nil || rec.NextSeq != uint64(len(before)+1) {
			t.Fatalf("%+v, %v", rec, err)
		}
		if _, _, err := journal.Create("loop", rec, 1, nil, opt); err != nil {
			t.Fatal(err)
		}
		disk = disk.Crash(simfs.PowerLostAnyOrder)
		after, err := readDisk(disk)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		equal(t, "read", after[:len(before)], before)
		if err := journal.VerifyFS(disk, "loop", nil); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// An unfinished line is nobody's to cut but Recover's.
func TestAnUnfinishedLineDoesNotStand(t *testing.T) {
	disk := newDisk(1)
	opt := options()
	opt.FS = disk
	w, _ := begin(t, "loop", opt)
	path := "loop/journal/" + w.Position().Segment
	disk.Drop(path, append(mustFile(t, disk, w.Position().Segment), `{"v":1`...))
	if rec, err := journal.Standing("loop", opt); err == nil {
		t.Errorf("%+v", rec)
	}
}
