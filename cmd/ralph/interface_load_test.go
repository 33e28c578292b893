//go:build linux

package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/testkit/terminaltest"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// What a person is promised while an agent prints much.
const (
	promisedRate  = 50e6 // bytes of journal a second
	promisedBytes = 200e3
	promisedKey   = 50 * time.Millisecond
)

// calm is the part of the time for which processes may wait for a processor on an idle machine.
const calm = 0.2

// measuresLoad measures for which part of a second some process of the machine waits for a
// processor.
func (s *stage) measuresLoad() {
	s.Helper()
	before := s.waited()
	<-time.After(time.Second)
	s.others = (s.waited() - before).Seconds()
}

// waited is for how long some process has waited for a processor since the machine was started; 0
// where the kernel does not say.
func (s *stage) waited() time.Duration {
	page, err := os.ReadFile("/proc/pressure/cpu")
	if err != nil {
		return 0
	}
	_, total, _ := strings.Cut(strings.SplitN(string(page), "\n", 2)[0], "total=")
	microseconds, err := strconv.ParseInt(strings.TrimSpace(total), 10, 64)
	s.must(err)
	return time.Duration(microseconds) * time.Microsecond
}

// memory returns the most memory that a running process had, in bytes.
func (s *stage) memory(session *terminaltest.Session) int64 {
	s.Helper()
	return s.processStatus(session.Cmd.Process.Pid, "VmHWM")
}

// processStatus returns a size in bytes from the kernel's page about a process.
func (s *stage) processStatus(pid int, field string) int64 {
	s.Helper()
	page, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	s.must(err)
	_, rest, ok := strings.Cut(string(page), field+":")
	if !ok {
		s.Fatalf("no %s of process %d", field, pid)
	}
	kilobytes, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	s.must(err)
	return kilobytes << 10
}

// pour appends events at a rate until the context ends, and returns what the rate was.
func (s *stage) pour(ctx context.Context, w *journal.Writer, drafts []event.Draft, rate float64) float64 {
	began, written, next := time.Now(), 0.0, 0
	for ctx.Err() == nil {
		if ahead := time.Duration((written/rate - time.Since(began).Seconds()) * 1e9); ahead > 0 {
			select {
			case <-time.After(ahead):
			case <-ctx.Done():
				break
			}
		}
		batch := drafts[next:min(next+64, len(drafts))]
		if next += len(batch); next == len(drafts) {
			next = 0
		}
		before := w.Position().Offset
		if _, err := w.Append(batch); err != nil {
			s.Error(err)
			return 0
		}
		written += float64(w.Position().Offset - before)
		if w.Full() {
			if _, err := w.Rotate(1, nil); err != nil {
				s.Error(err)
				return 0
			}
		}
	}
	return written / time.Since(began).Seconds()
}

// pieces are the events of an agent that says much in small pieces, without a pause.
func pieces() []event.Draft {
	drafts := make([]event.Draft, 4096)
	for i := range drafts {
		text := "It compiles, and **" + strconv.Itoa(i) + "** tests pass; next is `parse.go`. "
		if i%16 == 15 {
			text += "\n\n"
		}
		drafts[i] = event.Encode(event.AgentSaid{Block: "m" + strconv.Itoa(i/512) + ".0", Text: event.Plain(text)}, "agent:claude")
		drafts[i].Iter = 1
	}
	return drafts
}

// printed are the events of one tool that prints without end.
func printed() []event.Draft {
	drafts := []event.Draft{event.Encode(event.ToolCalled{ID: "t1", Name: "Bash", Input: []byte(`{"command":"yes"}`)}, "agent:claude")}
	for i := range 1024 {
		text := strings.Repeat("line "+strconv.Itoa(i)+" of what the tool prints\n", 64)
		drafts = append(drafts, event.Encode(event.ToolProgressed{ID: "t1", Text: event.Plain(text)}, "agent:claude"))
	}
	for i := range drafts {
		drafts[i].Iter = 1
	}
	return drafts
}

func TestInterfaceUnderLoad(t *testing.T) {
	for _, tt := range []struct {
		name     string
		drafts   func(*stage) []event.Draft
		variable string
	}{
		{"work", func(s *stage) []event.Draft { return streamDrafts(s.T) }, ""},
		{"words", func(*stage) []event.Draft { return pieces() }, "SSH_TTY=/dev/pts/9"},
		{"output", func(*stage) []event.Draft { return printed() }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t)
			s.measuresLoad()
			w := s.liveLoop(t, "busy", 10<<20)
			drafts := tt.drafts(s)
			var environ []string
			if tt.variable != "" {
				environ = []string{tt.variable}
			}
			session := s.show(modern, environ, "attach", "busy")
			s.sees(session, "busy")
			s.must(session.Quiet(300*time.Millisecond, patience))
			var rate float64
			var pouring sync.WaitGroup
			ctx, stop := context.WithCancel(t.Context())
			pouring.Go(func() { rate = s.pour(ctx, w, drafts, promisedRate) })
			began := time.Now()
			keys := s.keys(session, 60)
			perSecond := float64(session.Bytes(began)) / time.Since(began).Seconds()
			memory := s.memory(session)
			stop()
			pouring.Wait()
			s.judge(session, rate, keys, perSecond)
			t.Logf("memory %d MB", memory>>20)
			if memory > 150<<20 {
				t.Errorf("memory %d MB, promised 150", memory>>20)
			}
		})
	}
}

// keys types so many letters, one after another, and returns how long the screen took to show each.
func (s *stage) keys(session *terminaltest.Session, n int) []time.Duration {
	s.Helper()
	var took []time.Duration
	typed := ""
	for i := range n {
		letter := string("qzjxkv"[i%6])
		typed += letter // all of it fits into the line
		took = append(took, s.presses(session, letter, typed))
		<-time.After(50 * time.Millisecond) // as fast as a person types
	}
	return took
}

// judge compares with what is promised.
func (s *stage) judge(session *terminaltest.Session, rate float64, keys []time.Duration, perSecond float64) {
	s.Helper()
	middle, most := quantile(keys, 0.5), quantile(keys, 0.95)
	var clears, frames, unmarked int
	session.Look(func(e *terminaltest.Emulator) { clears, frames, unmarked = e.Clears, e.Frames, e.Unmarked })
	s.Logf("%.0f MB/s arrive; a key is answered in %s, 95 %% within %s; %.0f kB/s are written in %d frames", rate/1e6, middle, most, perSecond/1e3, frames)
	s.inTime("a key's answer, usually,", middle, promisedKey)
	s.inTime("a key's answer, in 95 % of all cases,", most, 4*promisedKey)
	if perSecond > promisedBytes {
		s.Errorf("%.0f kB/s are written, promised %.0f", perSecond/1e3, promisedBytes/1e3)
	}
	if clears > 0 || unmarked > 0 || frames == 0 {
		s.Errorf("%d clears of the screen, %d changes outside of the %d frames", clears, unmarked, frames)
	}
}

// inTime compares a time with the one that is promised, on a machine that was calm before.
func (s *stage) inTime(what string, took, promised time.Duration) {
	s.Helper()
	switch slow := took > promised; {
	case slow && s.others > calm:
		s.Logf("%s took %s, which is not judged: before, some process waited for a processor for %.0f %% of the time", what, took, 100*s.others)
	case slow:
		s.Errorf("%s took %s, promised %s", what, took, promised)
	}
}

// A real loop, whose agent prints as fast as it is read.
func TestInterfaceWithFastAgent(t *testing.T) {
	s := newStage(t)
	s.measuresLoad()
	timed(t, s.command("start", "fast", "--detach", "-p", "x", "--agent", "ralph rehearse talk", "--protocol", "rehearsal"))
	session := s.show(modern, nil, "attach", "fast")
	s.sees(session, "fast")
	began, before := time.Now(), s.journalSize("fast")
	keys := s.keys(session, 60)
	took := time.Since(began).Seconds()
	s.judge(session, float64(s.journalSize("fast")-before)/took, keys, float64(session.Bytes(began))/took)
}

func (s *stage) journalSize(name string) (size int64) {
	s.Helper()
	all, err := journal.Segments(s.dir(name))
	s.must(err)
	for _, segment := range all {
		size += segment.Size
	}
	return size
}

// A paused loop does not change, nor does a paused replay, so nothing is written.
func TestInterfaceIdle(t *testing.T) {
	s := newStage(t)
	scenario := filepath.Join(s.project, "short.rehearsal")
	s.must(os.WriteFile(scenario, []byte("iteration *\n  say I work.\n  sleep 300ms\n"), 0o600))
	timed(t, s.command("start", "still", "--detach", "-p", "x", "--agent", "ralph rehearse "+scenario, "--protocol", "rehearsal", "-m", "100"))
	timed(t, s.command("pause", "still"))
	for _, args := range [][]string{{"attach", "still"}, {"attach", "still", "--inline"}, {"list", "--watch"}, {"replay", "still", "--speed", "0.1"}} {
		session := s.show(modern, nil, args...)
		if args[0] == "replay" {
			s.sees(session, "plays at 0.1x")
			s.presses(session, " ", "paused, 0.1x")
		}
		s.sees(session, "paused")
		s.must(session.Quiet(2*time.Second, patience))
		began := time.Now()
		<-time.After(3 * time.Second)
		if n := session.Bytes(began); n > 0 {
			t.Errorf("%v: idle, %d bytes were written: %q", args, n, session.Written(began)[0].Data)
		}
	}
}
