package journal_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-loop/ralph/internal/simfs"
	"github.com/ralph-loop/ralph/journal"
)

// An agent's output and the next prompt are stored by goroutines of their own, while
// the driver appends. The same text must not trip over itself.
func TestBlobsMayBeStoredByManyAtOnce(t *testing.T) {
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

// What a killed writer left in the kernel, or could not sync, must be on the disk
// before a later segment counts on it: the power may go after the next start.
func TestRecoverMakesDurableWhatTheDeadWriterLeft(t *testing.T) {
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
func TestABlobOutlivesALossOfPowerWhoeverMadeItsFolder(t *testing.T) {
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
			got, err := disk.Crash(simfs.PowerLost).ReadFile("loop/blobs/" + blob.SHA256)
			if err != nil || string(got) != string(text) {
				t.Fatalf("killed at change %d, seed %d: the blob has %d bytes, %v", crash, seed, len(got), err)
			}
		}
	}
}
