package journal_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/testkit/simfs"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// retained writes iterations, each with a text of its own and one that all have, and keeps two of
// them. The first text is named by each checkpoint as well. It returns the blobs' names: that one,
// the common one, and those of the iterations.
func retained(disk *simfs.FS, from, to int) (first, common string, own []string, err error) {
	opt := options()
	opt.FS, opt.KeepIterations, opt.InlineBytes = disk, 1, 8
	rec, err := journal.Recover("loop", opt)
	if err != nil {
		return "", "", nil, err
	}
	put := func(w *journal.Writer, text string) string {
		if err != nil {
			return ""
		}
		var blob event.Blob
		if blob, err = w.PutBlob([]byte(text)); err == nil {
			_, err = w.Append([]event.Draft{event.Encode(event.IterationStarted{N: 1, Prompt: blob}, "loop")})
		}
		return string(blob.SHA256)
	}
	checkpoint := func() json.RawMessage { return fmt.Appendf(nil, `{"task":%q}`, first) }
	w, _, err := journal.Create("loop", rec, from, checkpoint(), opt)
	if err != nil {
		return "", "", nil, err
	}
	first = put(w, "the task of the loop")
	for n := from; n <= to && err == nil; n++ {
		if n > from {
			_, err = w.Rotate(n, checkpoint())
		}
		own = append(own, put(w, fmt.Sprintf("the prompt of iteration %d", n)))
		common = put(w, "what all of them say")
	}
	if err == nil {
		err = w.Close()
	}
	return first, common, own, err
}

// blobsOn lists the blobs, without what a crash left half written.
func blobsOn(t *testing.T, disk *simfs.FS) []string {
	t.Helper()
	names, err := disk.List("loop/blobs")
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(names, func(name string) bool { return strings.Contains(name, ".") })
}

func TestBlobsGoWithTheirSegments(t *testing.T) {
	disk := newDisk(1)
	first, common, own, err := retained(disk, 1, 6)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{first, common, own[4], own[5]}
	slices.Sort(want)
	if got := blobsOn(t, disk); !slices.Equal(got, want) {
		t.Errorf("the blobs are\n%q\nwant\n%q", got, want)
	}
}

// Wherever removal is interrupted, every event that is left has its blob, and the next writer
// removes the blobs without a reference.
func TestUnusedBlobsAreRemoved(t *testing.T) {
	whole := newDisk(1)
	if _, _, _, err := retained(whole, 1, 6); err != nil {
		t.Fatal(err)
	}
	for at := 1; at <= whole.Changes(); at++ {
		for _, how := range []simfs.Loss{simfs.Killed, simfs.PowerLostAnyOrder} {
			disk := newDisk(uint64(at))
			disk.Plan(simfs.Plan{CrashAt: at})
			_, _, _, _ = retained(disk, 1, 6)
			disk = disk.Crash(how)
			for e, err := range journal.Read("loop", journal.ReadOptions{FS: disk}) {
				if err != nil {
					t.Fatalf("cut at change %d, %v: %v", at, how, err)
				}
				if e.Type != event.TypeIterationStarted {
					continue
				}
				if p, err := event.As[event.IterationStarted](e); err != nil || !slices.Contains(blobsOn(t, disk), string(p.Prompt.SHA256)) {
					t.Fatalf("cut at change %d, %v: event %d has no blob: %v", at, how, e.Seq, err)
				}
			}
			first, common, own, err := retained(disk, 20, 22)
			if err != nil {
				t.Fatalf("cut at change %d, %v: %v", at, how, err)
			}
			want := []string{first, common, own[1], own[2]}
			slices.Sort(want)
			if got := blobsOn(t, disk); !slices.Equal(got, want) {
				t.Fatalf("cut at change %d, %v: the blobs are\n%q\nwant\n%q", at, how, got, want)
			}
		}
	}
}
