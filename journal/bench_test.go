package journal_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/frame"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// The figures of one machine say little about the next one: each benchmark runs
// its yardstick in the same run, in turns, and reports the ratio.

// race runs two ways of doing the same number of operations in turns and reports
// how many times as fast the first is. prepare is called before each turn and may
// be nil.
func race(b *testing.B, name string, round int, prepare func(), ours, yardstick func(n int)) {
	var a, z time.Duration
	left := b.N
	b.ReportAllocs()
	b.ResetTimer()
	for left > 0 {
		n := min(round, left)
		left -= n
		if prepare != nil {
			b.StopTimer()
			prepare()
			b.StartTimer()
		}
		start := time.Now()
		ours(n)
		a += time.Since(start)
		b.StopTimer()
		start = time.Now()
		yardstick(n)
		z += time.Since(start)
		b.StartTimer()
	}
	b.ReportMetric(float64(z)/float64(a), "x-"+name)
}

// draft500 makes an event whose line is 500 bytes long.
func draft500() event.Draft {
	d := event.Draft{Type: event.TypeAgentSaid, By: "agent:pi", Iter: 3, Cause: 398}
	d.Data = []byte(`{"block":"` + string(bytes.Repeat([]byte("x"), 500)) + `"}`)
	line, _ := frame.Append(nil, frame.Stamp{Seq: 1_000_000, At: time.Now()}, d, 0)
	d.Data = []byte(`{"block":"` + string(bytes.Repeat([]byte("x"), 500-(len(line)+1-500))) + `"}`)
	return d
}

func benchWriter(b *testing.B, opt journal.Options) (w *journal.Writer, remove func()) {
	b.Helper()
	dir, err := os.MkdirTemp(b.TempDir(), "")
	if err != nil {
		b.Fatal(err)
	}
	opt.SegmentBytes = 1 << 40
	w, _, err = journal.Create(dir, journal.Recovery{NextSeq: 1}, 3, nil, opt)
	if err != nil {
		b.Fatal(err)
	}
	remove = func() {
		w.Abandon()
		os.RemoveAll(dir)
	}
	b.Cleanup(remove)
	return w, remove
}

// bareFile is the yardstick of appending: write(2) and nothing around it.
func bareFile(b *testing.B) *os.File {
	b.Helper()
	f, err := os.OpenFile(filepath.Join(b.TempDir(), "bare"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	return f
}

// BenchmarkAppend appends 500-byte events one by one and in batches, against bare writes of lines
// of the same length and the SHA-256 that a segment's seal needs of them. Without it the ratio
// would depend on what a system call costs: see docs/decisions/0064.
func BenchmarkAppend(b *testing.B) {
	for _, c := range []struct {
		name  string
		batch int
		opt   journal.Options
	}{
		{"single", 1, journal.Options{}},
		{"batch32", 32, journal.Options{}},
		{"single,synced each second", 1, journal.Options{SyncEvery: time.Second}},
		{"single,with notifier", 1, journal.Options{Notify: true}},
		{"single,masked", 1, journal.Options{Mask: func(src []byte) []byte { return src }}},
	} {
		b.Run(c.name, func(b *testing.B) {
			var w *journal.Writer
			var f *os.File
			// Files stay small and go soon, so that no append waits for
			// write-back.
			fresh, remove := 0, func() {}
			drafts := make([]event.Draft, c.batch)
			for i := range drafts {
				drafts[i] = draft500()
			}
			line, sum := bytes.Repeat([]byte("x"), 500), sha256.New()
			b.SetBytes(500)
			race(b, "hashed-write", 4096, func() {
				if fresh--; fresh < 0 {
					fresh = 8
					remove()
					if f == nil {
						f = bareFile(b)
					}
					f.Truncate(0)
					w, remove = benchWriter(b, c.opt)
				}
			}, func(n int) {
				for ; n > 0; n -= c.batch {
					if _, err := w.Append(drafts); err != nil {
						b.Fatal(err)
					}
				}
			}, func(n int) {
				for range n {
					if err := bareWrite(f, line); err != nil {
						b.Fatal(err)
					}
					sum.Write(line)
				}
			})
		})
	}
}

// benchJournal writes a journal of about n bytes, with lines as agents make them:
// half are shorter than 300 bytes, the mean is a kilobyte.
func benchJournal(b *testing.B, n int64) string {
	b.Helper()
	dir := b.TempDir()
	w, _, err := journal.Create(dir, journal.Recovery{NextSeq: 1}, 0, nil, journal.Options{})
	if err != nil {
		b.Fatal(err)
	}
	var drafts []event.Draft
	for i := range 64 {
		text, _ := json.Marshal(string(bytes.Repeat([]byte("word "), 1+i*i*i/450)))
		drafts = append(drafts, event.Draft{Type: event.TypeAgentSaid, By: "agent:pi", Iter: 1, Data: fmt.Appendf(nil, `{"block":"m1","text":%s}`, text)})
	}
	for written := int64(0); written < n; {
		before := w.Position().Offset
		if _, err := w.Append(drafts); err != nil {
			b.Fatal(err)
		}
		written += w.Position().Offset - before
		if w.Full() {
			if _, err := w.Rotate(1, nil); err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return dir
}

// BenchmarkRead replays 128 MB from the page cache with checksums, against
// reading the same bytes and counting newlines.
func BenchmarkRead(b *testing.B) {
	dir := benchJournal(b, 128<<20)
	list, err := journal.Segments(dir)
	if err != nil {
		b.Fatal(err)
	}
	var size, events int64
	for _, s := range list {
		size += s.Size
	}
	b.SetBytes(size)
	buf := make([]byte, 256<<10)
	race(b, "read-and-count", 1, nil, func(int) {
		events = 0
		for e, err := range journal.Read(dir, journal.ReadOptions{}) {
			if err != nil || e.Seq == 0 {
				b.Fatal(err)
			}
			events++
		}
	}, func(int) {
		lines := int64(0)
		for _, s := range list {
			f, err := os.Open(segmentPath(dir, s.Name))
			if err != nil {
				b.Fatal(err)
			}
			for {
				n, _ := f.Read(buf)
				if n == 0 {
					break
				}
				lines += int64(bytes.Count(buf[:n], []byte{'\n'}))
			}
			f.Close()
		}
		if lines != events {
			b.Fatalf("%d lines and %d events", lines, events)
		}
	})
	b.ReportMetric(float64(size)/float64(events), "B/event")
}

// BenchmarkLast and BenchmarkSeek should cost the same on a large journal as on a small one.
func BenchmarkLast(b *testing.B) {
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			against(b, func(dir string) error {
				_, _, err := journal.Last(dir, n)
				return err
			})
		})
	}
}

func BenchmarkSeek(b *testing.B) {
	against(b, func(dir string) error {
		_, err := journal.Seek(dir, 1234)
		return err
	})
}

func against(b *testing.B, do func(dir string) error) {
	small, large := benchJournal(b, 4<<20), benchJournal(b, 60<<20)
	on := func(dir string) func(int) {
		return func(n int) {
			for range n {
				if err := do(dir); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	race(b, "small-journal", 100, nil, on(large), on(small))
}

// BenchmarkFollowed measures what followers cost the writer: 50 appends a second with a hundred of
// them would take long, so an append comes every 2 ms.
func BenchmarkFollowed(b *testing.B) {
	for _, followers := range []int{1, 10, 100} {
		b.Run(fmt.Sprint(followers), func(b *testing.B) {
			alone, _ := benchWriter(b, journal.Options{Notify: true})
			dir := b.TempDir()
			w, _, err := journal.Create(dir, journal.Recovery{NextSeq: 1}, 3, nil, journal.Options{Notify: true})
			if err != nil {
				b.Fatal(err)
			}
			ctx, cancel := context.WithCancel(b.Context())
			ready, gone := make(chan struct{}), make(chan struct{})
			for range followers {
				go func() {
					defer func() { gone <- struct{}{} }()
					first := true
					for _, err := range journal.Follow(ctx, dir, journal.FollowOptions{Idle: func(journal.Position) {
						if first {
							first = false
							ready <- struct{}{}
						}
					}}) {
						if err != nil {
							b.Error(err)
						}
					}
				}()
			}
			for range followers {
				<-ready
			}
			drafts := []event.Draft{draft500()}
			var a, z time.Duration
			tick := time.NewTicker(2 * time.Millisecond)
			defer tick.Stop()
			for b.Loop() {
				<-tick.C
				start := time.Now()
				w.Append(drafts)
				a += time.Since(start)
				<-tick.C
				start = time.Now()
				alone.Append(drafts)
				z += time.Since(start)
			}
			b.ReportMetric(float64(a)/float64(z), "x-alone")
			b.ReportMetric(float64(a.Nanoseconds())/float64(b.N), "append-ns")
			cancel()
			for range followers {
				<-gone
			}
			w.Abandon()
		})
	}
}
