package journal_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/journalfs"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// follow collects the lines of a loop until it has ended.
func follow(ctx context.Context, dir string, opt journal.FollowOptions) (lines []string, err error) {
	opt.UntilEnded = true
	for e, err := range journal.Follow(ctx, dir, opt) {
		if err != nil {
			return lines, err
		}
		lines = append(lines, string(e.Line()))
	}
	return lines, ctx.Err()
}

func ended() event.Draft {
	return event.Encode(event.LoopEnded{Status: event.StatusCompleted, Reason: event.ReasonPromise}, "loop")
}

func patience(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 2*time.Minute, errors.New("the test waited for two minutes"))
	t.Cleanup(cancel)
	return ctx
}

func equal(t *testing.T, who string, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("%s: %d events, want %d; the first difference is at %d", who, len(got), len(want), i)
		}
	}
}

func TestFollowersSeeEveryEventOnce(t *testing.T) {
	dir := t.TempDir()
	ctx := patience(t)
	opt := journal.Options{Notify: true, Compress: true, SyncEvery: 10 * time.Millisecond, SegmentBytes: 64 << 10}

	const followers = 8
	got := make([][]string, followers)
	errs := make([]error, followers)
	var idle, all sync.WaitGroup
	for i := range followers {
		var once sync.Once
		idle.Add(1)
		all.Go(func() {
			defer once.Do(idle.Done)
			got[i], errs[i] = follow(ctx, dir, journal.FollowOptions{Idle: func(journal.Position) { once.Do(idle.Done) }})
		})
	}
	idle.Wait() // they wait for a journal that does not exist yet

	var want []string
	keep := func(events []event.Event, err error) {
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			want = append(want, string(e.Line()))
		}
	}
	for run := range 3 {
		rec, err := journal.Recover(dir, opt)
		if err != nil {
			t.Fatal(err)
		}
		w, opened, err := journal.Create(dir, rec, run, nil, opt)
		keep(opened, err)
		for i := range 400 {
			keep(w.Append(notices(i, 1+i%9)))
			if i%150 == 0 {
				// Lines longer than any buffer's first size.
				keep(w.Append([]event.Draft{notice(string(make([]byte, 300<<10)))}))
			}
			if w.Full() {
				keep(w.Rotate(run, []byte(`{}`)))
			}
		}
		if run < 2 {
			w.Abandon() // as kill -9 does
			f, err := os.OpenFile(segmentPath(dir, w.Position().Segment), os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				t.Fatal(err)
			}
			f.WriteString(`{"v":1,"seq":`)
			f.Close()
			continue
		}
		keep(w.Append([]event.Draft{ended()}))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	all.Wait()
	last, _, err := journal.Last(dir, 1)
	if err != nil || last[0].Type != event.TypeSegmentSealed {
		t.Fatalf("the journal ends with %v, %v", last, err)
	}
	want = append(want, string(last[0].Line()))
	for i := range followers {
		if errs[i] != nil {
			t.Fatalf("follower %d: %v", i, errs[i])
		}
		equal(t, fmt.Sprint("follower ", i), got[i], want)
	}
	equal(t, "replay", mustRead(t, dir, journal.ReadOptions{}), want)
}

func TestFollowingBeginsAnywhere(t *testing.T) {
	dir := t.TempDir()
	ctx := patience(t)
	w, _ := begin(t, dir, options())
	var places []journal.Position
	for i := range 12 {
		add(t, w, notices(i, 2)...)
		places = append(places, w.Position())
		if i%4 == 3 {
			if _, err := w.Rotate(i, nil); err != nil {
				t.Fatal(err)
			}
			places = append(places, w.Position())
		}
	}
	add(t, w, ended())
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	all := mustRead(t, dir, journal.ReadOptions{})
	_, end, err := journal.Last(dir, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range append(places, end, journal.Position{}) {
		var caught journal.Position
		got, err := follow(ctx, dir, journal.FollowOptions{From: at, Idle: func(p journal.Position) { caught = p }})
		if err != nil {
			t.Fatalf("from %+v: %v", at, err)
		}
		equal(t, fmt.Sprintf("from %+v", at), got, all[at.Seq:])
		if caught != end {
			t.Errorf("from %+v: caught up at %+v, want %+v", at, caught, end)
		}
	}
	for seq := 1; seq <= len(all)+1; seq++ {
		got, err := follow(ctx, dir, journal.FollowOptions{FromSeq: event.Seq(seq)})
		if err != nil {
			t.Fatalf("from event %d: %v", seq, err)
		}
		equal(t, fmt.Sprint("from event ", seq), got, all[seq-1:])
	}
	if _, err := follow(ctx, dir, journal.FollowOptions{FromSeq: event.Seq(len(all) + 2)}); err == nil {
		t.Error("followed from an event that has not been written")
	}
	wrong := places[3]
	wrong.CRC++
	if _, err := follow(ctx, dir, journal.FollowOptions{From: wrong}); err == nil {
		t.Error("followed from a position with another checksum")
	} else if c, ok := errors.AsType[*journal.CorruptError](err); !ok || c.Line != 10 {
		t.Errorf("a position with another checksum: %v", err)
	}
}

// elsewhere is a file system that cannot be watched.
type elsewhere struct{ dir string }

func (e elsewhere) OpenFolder(path string) (journalfs.Folder, error) {
	f, err := journal.OSFolder(path)
	return struct{ journalfs.Folder }{f}, err
}

func TestFollowPollsWithoutFileEvents(t *testing.T) {
	dir := t.TempDir()
	ctx := patience(t)
	w, _ := begin(t, dir, options())
	opt := journal.FollowOptions{FS: elsewhere{dir}}
	caught := make(chan struct{}, 1000)
	opt.Idle = func(journal.Position) { caught <- struct{}{} }
	done := make(chan int)
	go func() {
		got, err := follow(ctx, dir, opt)
		if err != nil {
			t.Error(err)
		}
		done <- len(got)
	}()
	<-caught
	add(t, w, notices(1, 5)...)
	<-caught
	add(t, w, ended())
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if n := <-done; n != 8 {
		t.Errorf("%d events, want 8", n)
	}
}

func TestFollowPollsSilentWriter(t *testing.T) {
	dir := t.TempDir()
	ctx := patience(t)
	if err := os.WriteFile(filepath.Join(dir, "notify"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w, _ := begin(t, dir, options())
	caught := make(chan struct{}, 1000)
	done := make(chan int)
	go func() {
		got, err := follow(ctx, dir, journal.FollowOptions{Idle: func(journal.Position) { caught <- struct{}{} }})
		if err != nil {
			t.Error(err)
		}
		done <- len(got)
	}()
	<-caught
	add(t, w, ended())
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if n := <-done; n != 3 {
		t.Errorf("%d events, want 3", n)
	}
}

func TestFollowingEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	begin(t, dir, options())
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	for _, err := range journal.Follow(ctx, dir, journal.FollowOptions{Idle: func(journal.Position) { cancel() }}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 1 {
		t.Errorf("%d events, want 1", n)
	}
}

func TestDroppedSegmentsAreReported(t *testing.T) {
	dir := t.TempDir()
	ctx := patience(t)
	opt := options()
	opt.KeepIterations = 2
	rec, _ := journal.Recover(dir, opt)
	w, _, err := journal.Create(dir, rec, 0, nil, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var places []journal.Position
	for i := 1; i <= 6; i++ {
		add(t, w, notices(i, 2)...)
		places = append(places, w.Position())
		if err := os.WriteFile(segmentPath(dir, w.Position().Segment+".torn-1"), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Rotate(i, []byte(`{"upto":`+fmt.Sprint(w.Position().Seq)+`}`)); err != nil {
			t.Fatal(err)
		}
	}
	names, err := os.ReadDir(filepath.Join(dir, "journal"))
	if err != nil || len(names) != 5 || names[0].Name() != "000005-i0004.jsonl" {
		t.Fatalf("kept %v, %v; want the segments of iterations 4, 5 and 6", names, err)
	}
	first := event.Seq(4*4 + 1)
	if got := mustRead(t, dir, journal.ReadOptions{}); len(got) != 9 {
		t.Errorf("%d events are left, want 9", len(got))
	}
	check := func(who string, err error) {
		t.Helper()
		if r, ok := errors.AsType[*journal.RangeError](err); !ok || r.First != first {
			t.Errorf("%s: %v", who, err)
		}
	}
	_, err = read(dir, journal.ReadOptions{FromSeq: 3})
	check("read", err)
	_, err = journal.Seek(dir, 3)
	check("seek", err)
	_, err = follow(ctx, dir, journal.FollowOptions{From: places[0]})
	check("follow", err)
	_, err = follow(ctx, dir, journal.FollowOptions{FromSeq: 1})
	check("follow from 1", err)
}

func TestSlowFollowerGetsRangeError(t *testing.T) {
	dir := t.TempDir()
	ctx := patience(t)
	opt := options()
	opt.KeepIterations = 1
	w, _ := begin(t, dir, opt)
	n := 0
	var last error
	for _, err := range journal.Follow(ctx, dir, journal.FollowOptions{}) {
		if err != nil {
			last = err
			break
		}
		if n++; n == 1 {
			for i := 2; i < 6; i++ {
				add(t, w, notice("x"))
				if _, err := w.Rotate(i, nil); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	// The segment it was reading is read to its end, though it has no name any more.
	if r, ok := errors.AsType[*journal.RangeError](last); !ok || n != 3 || r.Seq != 4 || r.First != 10 {
		t.Errorf("after %d events: %v", n, last)
	}
}

func TestAMissingSegmentIsDamage(t *testing.T) {
	dir := t.TempDir()
	w, _ := begin(t, dir, options())
	for i := range 3 {
		if _, err := w.Rotate(i, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(segmentPath(dir, "000003-i0001.jsonl")); err != nil {
		t.Fatal(err)
	}
	_, err := read(dir, journal.ReadOptions{})
	if c, ok := errors.AsType[*journal.CorruptError](err); !ok || c.Segment != "000004-i0002.jsonl" {
		t.Errorf("read: %v", err)
	}
}
