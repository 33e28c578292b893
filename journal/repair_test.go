package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-loop/ralph/internal/testkit/simfs"
	"github.com/ralph-loop/ralph/journal"
)

// An agent's output and the next prompt are stored by goroutines of their own, while the driver
// appends. Storing one text twice at the same time must work.
func TestPutBlobFromManyGoroutines(t *testing.T) {
	w, _ := begin(t, t.TempDir(), journal.Options{InlineBytes: 1})
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			for n := range 20 {
				text := strings.Repeat(fmt.Sprint("text ", (n+i)%10, " "), 100)
				if b, err := w.PutBlob([]byte(text)); err != nil || b.SHA256 == "" {
					t.Errorf("store: %+v, %v", b, err)
				}
			}
		})
	}
	wait.Wait()
	if _, err := w.Append(notices(1, 1)); err != nil {
		t.Error(err)
	}
}

// Lines that a killed writer left in the kernel, or could not sync, must be on the disk before a
// later segment refers to them: the power may be lost after the next start.
func TestRecoverSyncsUnsyncedLines(t *testing.T) {
	for _, test := range []struct {
		name string
		plan simfs.Plan
	}{
		{"the writer never synced", simfs.Plan{}},
		{"the writer's last sync failed", simfs.Plan{FailSync: 1}},
	} {
		for seed := range uint64(20) {
			t.Run(fmt.Sprint(test.name, " ", seed), func(t *testing.T) {
				disk := newDisk(seed)
				opt := options()
				opt.FS = disk
				w, _ := begin(t, "loop", opt)
				if _, err := w.Append(notices(1, 5)); err != nil {
					t.Fatal(err)
				}
				if disk.Plan(test.plan); test.plan.FailSync > 0 && w.Sync() == nil {
					t.Fatal("the sync did not fail")
				}
				opt.FS = disk.Crash(simfs.Killed)
				begin(t, "loop", opt)
				disk = opt.FS.(*simfs.FS).Crash(simfs.PowerLost)
				lines, err := readDisk(disk)
				if err != nil || len(lines) < 7 {
					t.Fatalf("%d lines are left of 7: %v", len(lines), err)
				}
			})
		}
	}
}

// The folder of blobs may be the work of a writer that was killed before it was durable.
func TestBlobSurvivesPowerLoss(t *testing.T) {
	text := []byte("a prompt that is long enough for a file of its own")
	for crash := 1; crash < 8; crash++ {
		for seed := range uint64(10) {
			disk := newDisk(seed)
			opt := options()
			opt.FS, opt.InlineBytes = disk, 10
			w, _ := begin(t, "loop", opt)
			disk.Plan(simfs.Plan{CrashAt: disk.Changes() + crash})
			_, _ = w.PutBlob(text) // it is cut short somewhere
			disk = disk.Crash(simfs.Killed)
			opt.FS = disk
			w, _ = begin(t, "loop", opt)
			blob, err := w.PutBlob(text)
			if err != nil {
				t.Fatal(err)
			}
			got, err := disk.Crash(simfs.PowerLost).ReadFile(string("loop/blobs/" + blob.SHA256))
			if err != nil || string(got) != string(text) {
				t.Fatalf("killed at change %d, seed %d: the blob has %d bytes, %v", crash, seed, len(got), err)
			}
		}
	}
}

// What Recover cuts off a segment is in the one file or in the other, and stays so when the power
// is lost at any moment from then on.
func TestTornBytesSurvivePowerLoss(t *testing.T) {
	sealed, left := twoSegments(t)
	left = left[:len(left)-7]
	torn := left[bytes.LastIndexByte(left, '\n')+1:]
	for crash := 1; crash < 12; crash++ {
		for seed := range uint64(20) {
			disk := newDisk(seed)
			if err := disk.MkdirAll("loop/journal"); err != nil {
				t.Fatal(err)
			}
			durable(t, disk, "loop")
			disk.Drop("loop/journal/000001-i0000.jsonl", sealed)
			disk.Drop("loop/journal/"+secondSegment, left)
			disk.Plan(simfs.Plan{CrashAt: disk.Changes() + crash})
			opt := options()
			opt.FS = disk
			_, err := journal.Recover("loop", opt)
			if err != nil && !errors.Is(err, simfs.ErrCrashed) {
				t.Fatal(err)
			}
			disk = disk.Crash(simfs.PowerLostAnyOrder)
			found := bytes.HasSuffix(mustFile(t, disk, secondSegment), torn)
			for _, name := range segmentNames(t, disk) {
				found = found || strings.Contains(name, ".torn-") && bytes.Equal(mustFile(t, disk, name), torn)
			}
			if !found {
				t.Fatalf("crash at change %d, seed %d: the bytes are gone; there are %q", crash, seed, segmentNames(t, disk))
			}
		}
	}
}

// A recovered segment is durable before the next one that names its lines, in any order in which
// the disk stores names.
func TestRecoveredSegmentIsDurable(t *testing.T) {
	sealed, left := twoSegments(t)
	for _, test := range []struct {
		name         string
		before, last []byte
	}{
		{"with a whole line", sealed, left[:len(left)-7]},
		{"without one", sealed, left[:bytes.IndexByte(left, '\n')]},
		{"the first, without one", nil, sealed[:bytes.IndexByte(sealed, '\n')]},
	} {
		t.Run(test.name, func(t *testing.T) {
			for crash := 1; crash < 20; crash++ {
				for seed := range uint64(20) {
					recoverAndCrash(t, test.before, test.last, crash, seed)
				}
			}
		})
	}
}

// recoverAndCrash finds a last segment as a killed writer leaves it that synced none of it.
func recoverAndCrash(t *testing.T, before, last []byte, crash int, seed uint64) {
	t.Helper()
	disk := newDisk(seed)
	opt := options()
	opt.FS = disk
	if err := disk.MkdirAll("loop/journal"); err != nil {
		t.Fatal(err)
	}
	durable(t, disk, "loop")
	name := "000001-i0000.jsonl"
	if before != nil {
		disk.Drop("loop/journal/"+name, before)
		name = secondSegment
	}
	if err := disk.WriteFile("loop/journal/"+name, last); err != nil {
		t.Fatal(err)
	}
	durable(t, disk, "loop/journal")
	disk.Plan(simfs.Plan{CrashAt: disk.Changes() + crash})
	if rec, err := journal.Recover("loop", opt); err == nil {
		_, _, _ = journal.Create("loop", rec, 5, nil, opt) // it is cut short somewhere, or not at all
	}
	opt.FS = disk.Crash(simfs.PowerLostAnyOrder)
	if l := live(opt.FS.(*simfs.FS), 6); l.err != nil {
		t.Fatalf("crash at change %d, seed %d: continuing: %v", crash, seed, l.err)
	}
	if err := journal.VerifyFS(opt.FS, "loop", nil); err != nil {
		t.Fatalf("crash at change %d, seed %d: verify: %v", crash, seed, err)
	}
}

func durable(t *testing.T, disk *simfs.FS, folder string) {
	t.Helper()
	root, err := disk.OpenFolder(folder)
	if err == nil {
		err = root.SyncFolder(".")
	}
	if err != nil {
		t.Fatal(err)
	}
}
