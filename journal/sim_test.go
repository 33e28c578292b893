package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/testkit/simfs"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

func newDisk(seed uint64) *simfs.FS {
	disk := simfs.New(rand.New(rand.NewPCG(seed, 1)))
	if err := disk.MkdirAll("loop"); err != nil {
		panic(err)
	}
	root, err := disk.OpenFolder(".")
	if err == nil {
		err = root.SyncFolder(".")
	}
	if err != nil {
		panic(err)
	}
	return disk
}

// life is what one process saw of its journal before it died.
type life struct {
	appended []string // lines that Append returned: they have left the process
	durable  int      // how many of those were synced
	err      error
}

func (l *life) keep(events []event.Event, err error) bool {
	for _, e := range events {
		l.appended = append(l.appended, string(e.Line()))
	}
	l.err = err
	return err == nil
}

// live is one process: it continues the journal and does all that a writer can.
func live(disk *simfs.FS, run int) life { return liveWith(disk, run, false) }

// liveWith compresses on request. It then waits for the compression before it continues, so that a
// plan always gives the same life.
func liveWith(disk *simfs.FS, run int, compress bool) (l life) {
	opt := options()
	opt.FS = disk
	opt.InlineBytes = 10
	opt.KeepIterations = 50
	rec, err := journal.Recover("loop", opt)
	if err != nil {
		return life{err: err}
	}
	w, opened, err := journal.Create("loop", rec, run, []byte(`{"run":1}`), opt)
	if !l.keep(opened, err) {
		return l
	}
	l.durable = 1
	defer func() {
		if err := w.Close(); l.err == nil {
			l.err = err
		}
	}()
	if rec.Lost != nil {
		if !l.keep(w.Append([]event.Draft{event.Encode(event.LoopResumed{Lost: rec.Lost}, "loop")})) {
			return l
		}
	}
	for i := range 3 {
		if !l.keep(w.Append(notices(i, 1))) || !l.keep(w.Append(notices(i, 3))) {
			return l
		}
		if l.err = w.Sync(); l.err != nil {
			return l
		}
		l.durable = len(l.appended)
		blob, err := w.PutBlob([]byte(fmt.Sprint("a prompt that is long enough for a file of its own ", i)))
		if err != nil {
			l.err = err
			return l
		}
		prompt := event.Encode(event.IterationStarted{N: i, Prompt: blob}, "loop")
		if !l.keep(w.Append([]event.Draft{prompt})) {
			return l
		}
		if !l.keep(w.Rotate(run, []byte(`{}`))) {
			return l
		}
		l.durable = len(l.appended)
		if compress {
			w.Pack()
		}
	}
	return l
}

func readDisk(disk *simfs.FS) ([]string, error) {
	return read("loop", journal.ReadOptions{FS: disk})
}

func TestNoCrashLosesAnEvent(t *testing.T) {
	disk := newDisk(1)
	before := disk.Changes()
	if l := live(disk, 1); l.err != nil {
		t.Fatal(l.err)
	}
	changes := disk.Changes() - before
	if changes < 40 {
		t.Fatalf("a life has only %d changes", changes)
	}
	for _, how := range losses {
		for first := 1; first <= changes; first++ {
			for seed := range uint64(3) {
				crashTwice(t, how, first, seed)
			}
		}
	}
}

// losses are all ways to die.
var losses = []simfs.Loss{simfs.Killed, simfs.PowerLost, simfs.PowerLostAnyOrder}

// A segment is in the one file or in the other, whichever change of its compression is the last.
func TestCrashesKeepCompressedSegments(t *testing.T) {
	disk := newDisk(1)
	before := disk.Changes()
	if l := liveWith(disk, 1, true); l.err != nil {
		t.Fatal(l.err)
	}
	if names := segmentNames(t, disk); !strings.HasSuffix(names[0], ".zst") {
		t.Fatalf("nothing is compressed: %q", names)
	}
	changes := disk.Changes() - before
	anyOrder := uint64(12)
	if testing.Short() {
		anyOrder = 2 // make long takes all
	}
	for how, seeds := range map[simfs.Loss]uint64{simfs.Killed: 1, simfs.PowerLost: min(3, anyOrder), simfs.PowerLostAnyOrder: anyOrder} {
		for crash := 1; crash <= changes; crash++ {
			for seed := range seeds {
				disk := newDisk(seed)
				disk.Plan(simfs.Plan{CrashAt: disk.Changes() + crash})
				l := liveWith(disk, 1, true)
				disk = disk.Crash(how)
				who := fmt.Sprintf("loss %d, crash at %d, seed %d", how, crash, seed)
				lines, err := readDisk(disk)
				if err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Fatalf("%s: %v; there are %q", who, err, segmentNames(t, disk))
				}
				mustHold(t, who, lines, nil, l.appended[:l.durable])
			}
		}
	}
}

// crashTwice kills one process at a change, and the next one while it recovers.
func crashTwice(t *testing.T, how simfs.Loss, first int, seed uint64) {
	t.Helper()
	disk := newDisk(seed)
	disk.Plan(simfs.Plan{CrashAt: disk.Changes() + first})
	var sure []string
	for run, second := range []int{0, 1 + int(seed)*3 + first%7, 0} {
		if run > 0 {
			disk.Plan(simfs.Plan{CrashAt: second})
		}
		l := live(disk, run)
		if run < 2 != errors.Is(l.err, simfs.ErrCrashed) {
			t.Fatalf("loss %d, crash at %d, seed %d: process %d ended with %v", how, first, seed, run, l.err)
		}
		seen := l.appended
		if how != simfs.Killed && run < 2 {
			seen = seen[:l.durable]
		}
		disk = disk.Crash(how)
		lines, err := readDisk(disk)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("loss %d, crash at %d, seed %d: after process %d: %v", how, first, seed, run, err)
		}
		beginWhole(t, disk)
		sure = mustHold(t, fmt.Sprintf("loss %d, crash at %d, seed %d, process %d", how, first, seed, run), lines, sure, seen)
	}
	if err := journal.VerifyFS(disk, "loop", nil); err != nil {
		t.Fatalf("loss %d, crash at %d, seed %d: verify: %v", how, first, seed, err)
	}
}

// beginWhole checks that each segment has its first line: it appears with it or not at all.
func beginWhole(t *testing.T, disk *simfs.FS) {
	t.Helper()
	for _, name := range segmentNames(t, disk) {
		if text := mustFile(t, disk, name); strings.HasSuffix(name, ".jsonl") && !bytes.Contains(text, []byte("\n")) {
			t.Fatalf("segment %s has no whole line: %q", name, text)
		}
	}
}

// mustHold checks that the lines begin with those that were sure before, and have
// those that this process saw, and returns what is sure from now on: a line that
// could be read is never lost to a later kill, nor to a loss of power once it has
// survived one.
func mustHold(t *testing.T, who string, lines, sure, seen []string) []string {
	t.Helper()
	if len(lines) < len(sure) {
		t.Fatalf("%s: %d events, and there were %d", who, len(lines), len(sure))
	}
	for i := range sure {
		if lines[i] != sure[i] {
			t.Fatalf("%s: event %d has changed", who, i+1)
		}
	}
	if len(seen) > 0 {
		text := strings.Join(lines, "\n") + "\n"
		if !strings.Contains(text, strings.Join(seen, "\n")+"\n") {
			t.Fatalf("%s: not all of the %d events that were handed back are there", who, len(seen))
		}
	}
	return lines
}

func TestAFullDisk(t *testing.T) {
	for space := int64(1); ; space += 61 {
		disk := newDisk(uint64(space))
		disk.Plan(simfs.Plan{Space: space})
		l := live(disk, 1)
		if l.err == nil && space > 4000 {
			break // room for all of it
		}
		if !errors.Is(l.err, syscall.ENOSPC) {
			t.Fatalf("%d bytes: %v", space, l.err)
		}
		lines, err := readDisk(disk)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("%d bytes: read: %v", space, err)
		}
		mustHold(t, fmt.Sprintf("%d bytes", space), lines, nil, l.appended)
		// The half line that did not fit is gone already.
		for _, name := range segmentNames(t, disk) {
			text, err := disk.ReadFile("loop/journal/" + name)
			if err != nil || !strings.HasSuffix(string(text), "\n") && !strings.HasSuffix(name, ".tmp") {
				t.Fatalf("%d bytes: segment %s ends in the middle of a line (%v)", space, name, err)
			}
		}
		disk.Plan(simfs.Plan{})
		if l := live(disk, 2); l.err != nil {
			t.Fatalf("%d bytes: with room again: %v", space, l.err)
		}
		if err := journal.VerifyFS(disk, "loop", nil); err != nil {
			t.Fatalf("%d bytes: verify: %v", space, err)
		}
	}
}

func segmentNames(t *testing.T, disk *simfs.FS) []string {
	names, err := disk.List("loop/journal")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return names
}

func TestFailedSyncIsFinal(t *testing.T) {
	for k := 1; k <= 30; k++ {
		disk := newDisk(uint64(k))
		disk.Plan(simfs.Plan{FailSync: k})
		l := live(disk, 1)
		if l.err == nil {
			if k < 15 {
				t.Errorf("sync %d failed and no call returned an error", k)
			}
			break
		}
		if !errors.Is(l.err, syscall.EIO) {
			t.Fatalf("sync %d: %v", k, l.err)
		}
		disk = disk.Crash(simfs.PowerLost)
		lines, err := readDisk(disk)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("sync %d: read: %v", k, err)
		}
		mustHold(t, fmt.Sprint("sync ", k), lines, nil, l.appended[:l.durable])
		if l := live(disk, 2); l.err != nil {
			t.Fatalf("sync %d: the next life: %v", k, l.err)
		}
	}
}

func TestFailureIsSticky(t *testing.T) {
	for what, plan := range map[string]simfs.Plan{
		"a sync":  {FailSync: 1},
		"a write": {FailWrite: 1},
	} {
		t.Run(what, func(t *testing.T) {
			disk := newDisk(7)
			opt := options()
			opt.FS = disk
			w, _, err := journal.Create("loop", journal.Recovery{NextSeq: 1}, 0, nil, opt)
			if err != nil {
				t.Fatal(err)
			}
			disk.Plan(plan)
			_, err = w.Append(notices(1, 1))
			if err == nil {
				err = w.Sync()
			}
			if !errors.Is(err, syscall.EIO) {
				t.Fatalf("the failure itself is %v", err)
			}
			size := len(mustFile(t, disk, w.Position().Segment))
			_, appending := w.Append(notices(2, 1))
			_, rotating := w.Rotate(1, nil)
			_, storing := w.PutBlob(make([]byte, 1<<20))
			for call, err := range map[string]error{
				"append": appending, "sync": w.Sync(), "rotate": rotating, "put blob": storing, "close": w.Close(),
			} {
				if !errors.Is(err, syscall.EIO) {
					t.Errorf("%s says %v", call, err)
				}
			}
			if after := len(mustFile(t, disk, w.Position().Segment)); after != size {
				t.Errorf("the segment went from %d to %d bytes", size, after)
			}
		})
	}
}

func mustFile(t *testing.T, disk *simfs.FS, segment string) []byte {
	t.Helper()
	text, err := disk.ReadFile("loop/journal/" + segment)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestReadOnlyDiskFails(t *testing.T) {
	disk := newDisk(1)
	disk.Plan(simfs.Plan{ReadOnly: true})
	if l := live(disk, 1); !errors.Is(l.err, syscall.EROFS) {
		t.Errorf("a new journal: %v", l.err)
	}
	disk.Plan(simfs.Plan{})
	if l := live(disk, 1); l.err != nil {
		t.Fatal(l.err)
	}
	disk.Plan(simfs.Plan{ReadOnly: true})
	if l := live(disk, 2); !errors.Is(l.err, syscall.EROFS) {
		t.Errorf("an old journal: %v", l.err)
	}
	if lines, err := readDisk(disk); err != nil || len(lines) == 0 {
		t.Errorf("reading: %d events, %v", len(lines), err)
	}
}
