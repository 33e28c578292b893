package journal_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// followEnv makes the test binary a program that follows the loop in that folder and prints its
// lines, like `tail -f` for a file.
const followEnv = "JOURNAL_TEST_FOLLOW"

func TestMain(m *testing.M) {
	dir := os.Getenv(followEnv)
	if dir == "" {
		os.Exit(m.Run())
	}
	// The one who started this program ends it by closing its stdin.
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for e, err := range journal.Follow(context.Background(), dir, journal.FollowOptions{}) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Stdout.Write(append(e.Line(), '\n'))
	}
}

// reader is another process that prints the lines of a file as they come.
type reader struct {
	lines *bufio.Reader
	took  []time.Duration
}

func startReader(b *testing.B, cmd *exec.Cmd) *reader {
	b.Helper()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		stdin.Close()
		cmd.Process.Kill()
		cmd.Wait()
	})
	r := &reader{lines: bufio.NewReaderSize(stdout, 64<<10)}
	if _, err := r.lines.ReadBytes('\n'); err != nil { // the opening: it is there
		b.Fatal(err)
	}
	return r
}

func (r *reader) time(b *testing.B, w *journal.Writer, drafts []event.Draft) {
	b.Helper()
	start := time.Now()
	if _, err := w.Append(drafts); err != nil {
		b.Fatal(err)
	}
	if _, err := r.lines.ReadBytes('\n'); err != nil {
		b.Fatal(err)
	}
	r.took = append(r.took, time.Since(start))
}

func (r *reader) percentile(p int) float64 {
	slices.Sort(r.took)
	return float64(r.took[(len(r.took)-1)*p/100].Nanoseconds()) / 1000
}

// BenchmarkTail measures how long an event takes from its append until another
// process has printed it, against `tail -f` on a segment: 200 lines a second each.
func BenchmarkTail(b *testing.B) {
	tail, err := exec.LookPath("tail")
	if err != nil {
		b.Skip("the yardstick is tail -f, and there is no tail here")
	}
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	drafts := []event.Draft{draft500()}
	loop := func(bell bool) (*journal.Writer, string) {
		dir := b.TempDir()
		w, _, err := journal.Create(dir, journal.Recovery{NextSeq: 1}, 0, nil, journal.Options{Notify: bell})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(w.Abandon)
		return w, dir
	}
	w1, dir := loop(true)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), followEnv+"="+dir)
	ours := startReader(b, cmd)
	w2, dir2 := loop(false)
	theirs := startReader(b, exec.Command(tail, "-n", "+1", "-f", segmentPath(dir2, w2.Position().Segment)))

	pause := time.NewTicker(2500 * time.Microsecond)
	defer pause.Stop()
	for b.Loop() {
		<-pause.C
		ours.time(b, w1, drafts)
		<-pause.C
		theirs.time(b, w2, drafts)
	}
	b.ReportMetric(ours.percentile(50), "p50-µs")
	b.ReportMetric(ours.percentile(99), "p99-µs")
	b.ReportMetric(ours.percentile(50)/theirs.percentile(50), "p50-x-tail")
	b.ReportMetric(ours.percentile(99)/theirs.percentile(99), "p99-x-tail")
}
