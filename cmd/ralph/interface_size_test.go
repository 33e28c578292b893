//go:build linux

package main

import (
	"context"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/testkit/terminaltest"
	"github.com/ralph-loop/ralph/journal"
)

// A terminal changes its size again and again while the agent works. Afterwards the screen is that
// of a terminal that had this size from the beginning.
func TestInterfaceResized(t *testing.T) {
	s := newStage(t)
	w := s.liveLoop(t, "wide", 10<<20)
	session := s.show(modern, nil, "attach", "wide")
	s.sees(session, "wide")
	drafts := streamDrafts(t)
	ctx, stop := context.WithCancel(t.Context())
	var pouring sync.WaitGroup
	pouring.Go(func() { s.pour(ctx, w, drafts, 1e6) })
	for i := range 20 {
		frames := framesOf(session)
		s.must(session.Resize([]int{40, 200}[i%2], []int{20, 50}[i%2]))
		_, err := session.Await(patience, func(e *terminaltest.Emulator) bool { return e.Frames > frames })
		s.must(err)
	}
	stop()
	pouring.Wait()
	for _, size := range [][2]int{{40, 20}, {200, 50}, {80, 24}} {
		s.must(session.Resize(size[0], size[1]))
		o := modern
		o.Columns, o.Rows = size[0], size[1]
		fresh := s.show(o, nil, "attach", "wide")
		s.sees(fresh, "wide")
		if !alike(session.Text, fresh.Text) {
			t.Errorf("%d by %d: a new terminal shows\n%s\nand not\n%s", size[0], size[1], fresh.Text(), session.Text())
		}
		fresh.End()
	}
}

// framesOf is how often the screen was drawn.
func framesOf(session *terminaltest.Session) (frames int) {
	session.Look(func(e *terminaltest.Emulator) { frames = e.Frames })
	return frames
}

// tmux shows what it understood of what ralph writes.
func TestInterfaceInTmux(t *testing.T) {
	s := newStage(t)
	mux := newTmux(t)
	mux.env = append(screenEnviron(mux.env), "RALPH_HOME="+s.home, "HOME="+s.home)
	s.liveLoop(t, "boxed", 1<<20)
	for _, size := range [][2]int{{40, 20}, {200, 50}} {
		o := modern
		o.Columns, o.Rows = size[0], size[1]
		outside := s.show(o, nil, "attach", "boxed")
		s.sees(outside, "boxed")
		start := mux.command("new-session", "-d", "-s", "s", "-x", strconv.Itoa(size[0]), "-y", strconv.Itoa(size[1]), s.path+" attach boxed")
		start.Dir = s.project
		timed(t, start)
		timed(t, mux.command("set", "-g", "status", "off"))
		inside := func() string {
			out, err := mux.command("capture-pane", "-p", "-t", "s").Output()
			s.must(err)
			return trimmed(string(out))
		}
		if !alike(inside, func() string { return trimmed(outside.Text()) }) {
			t.Errorf("%d by %d: tmux shows\n%s\nnot\n%s", size[0], size[1], inside(), outside.Text())
		}
		outside.End()
		mux.kill()
	}
}

// trimmed is a screen without blanks at the ends of its lines, and without empty lines at its end.
func trimmed(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// leastReplay is the part of the speed of reading a journal that a plain replay has at least. In
// bytes, 200 MB a second are promised.
const (
	leastReplay    = 0.1
	promisedReplay = 200e6
)

// A plain replay prints a journal not much slower than it is read.
func TestInterfaceReplay(t *testing.T) {
	s := newStage(t)
	s.longLoop("long", 256<<20)
	var size int
	var reading, replaying time.Duration
	for range 5 {
		began := time.Now()
		size = 0
		for e, err := range journal.Read(s.dir("long"), journal.ReadOptions{}) {
			s.must(err)
			size += len(e.Line())
		}
		reading = best(reading, time.Since(began))
		cmd := s.command("replay", "long", "--plain", "--speed", "max")
		out, err := os.Create(s.project + "/replay.txt")
		s.must(err)
		cmd.Stdout = out
		began = time.Now()
		s.must(cmd.Run())
		replaying = best(replaying, time.Since(began))
		s.must(out.Close())
	}
	speed, ratio := float64(size)/replaying.Seconds(), reading.Seconds()/replaying.Seconds()
	t.Logf("plain replay: %.0f MB/s, %.2f of reading", speed/1e6, ratio)
	if speed < promisedReplay && ratio < leastReplay {
		t.Errorf("plain replay of %.0f MB/s, promised %.0f", speed/1e6, promisedReplay/1e6)
	}
}

// best is the shorter time; 0 is none.
func best(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}
