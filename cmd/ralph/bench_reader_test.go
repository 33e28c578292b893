//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/agenttest"
	"github.com/ralph-loop/ralph/internal/agent/claude"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"

	"github.com/ralph-loop/ralph/internal/ground/process"
)

// BenchmarkAttach measures the time to the first line of a plain 'ralph attach', with a small
// journal and with a large one, against the first byte of 'tmux attach' in a terminal, and against
// a Go program that does nothing.
func BenchmarkAttach(b *testing.B) {
	for _, size := range []int64{10 << 20, 1 << 30} {
		b.Run(fmt.Sprintf("%dMB", size>>20), func(b *testing.B) {
			mux := newTmux(b)
			p := newBinary(b)
			nothing := p.nothing(b)
			p.liveLoop(b, "long", size)
			timed(b, mux.command("new-session", "-d", "-s", "s", "sleep 600"))
			ratios(b, map[string]func() time.Duration{
				"":        func() time.Duration { return firstByte(b, p.command("attach", "long")) },
				"tmux":    func() time.Duration { return firstByteInTerminal(b, mux.command("attach", "-t", "s")) },
				"nothing": func() time.Duration { return timed(b, exec.Command(nothing)) },
			}, programRounds)
		})
	}
}

// BenchmarkList measures 'ralph list --all', the whole program, where half of the loops are dead.
// The yardsticks run within this process, which is already running: reading the names of the
// registry's files, and the obvious implementation (read, unmarshal, ask for the pid).
func BenchmarkList(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprintf("loops=%d", n), func(b *testing.B) {
			p := newBinary(b)
			p.manyLoops(b, n)
			ratios(b, map[string]func() time.Duration{
				"": func() time.Duration {
					cmd := p.command("list", "--all")
					began := time.Now()
					out, err := cmd.Output()
					took := time.Since(began)
					if err != nil || bytes.Count(out, []byte{'\n'}) < n {
						b.Fatalf("%d lines: %v", bytes.Count(out, []byte{'\n'}), err)
					}
					return took
				},
				"getdents": func() time.Duration { return names(b, registry.Folder(p.home), n) },
				"naive":    func() time.Duration { return naiveList(b, registry.Folder(p.home), n) },
			}, max(3, 10_000/n))
		})
	}
}

// liveLoop makes a loop whose lock this process holds: an iteration of an agent that has printed a
// long stream, with everything that a runner writes beside the journal.
func (p *binary) liveLoop(b testing.TB, name string, size int64) *journal.Writer {
	b.Helper()
	dir := p.dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	p.enlist(b, name, "claude")
	lock, err := registration.Acquire(dir)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { lock.Release() })
	w, events, err := journal.Create(dir, journal.Recovery{NextSeq: 1}, 1, nil, journal.Options{Notify: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { w.Close() })
	var s loopstate.State
	fold := func(events []event.Event, err error) {
		for _, e := range events {
			err = errors.Join(err, s.Fold(e))
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	fold(events, nil)
	fold(w.Append([]event.Draft{
		event.Encode(event.LoopStarted{
			Name: name, ID: "01M7ZG7MMYVFD9GXSY2ZE2N2KQ", Dir: dir, Project: p.project, Agent: event.Agent{Protocol: "claude"},
			Rules: event.Rules{MaximumIterations: 10, Completion: event.CompletionRules{Promise: "COMPLETE", Match: "final"}},
		}, "loop"),
		event.Encode(event.IterationStarted{N: 1, Mode: "work"}, "loop"),
		event.Encode(event.AgentStarted{PID: os.Getpid(), Tools: true}, "agent:claude"),
	}))
	var sealed int64
	for drafts := streamDrafts(b); sealed+w.Position().Offset < size; {
		for batch := drafts; len(batch) > 0 && sealed+w.Position().Offset < size; batch = batch[min(64, len(batch)):] {
			fold(w.Append(batch[:min(64, len(batch))]))
			if w.Full() {
				sealed += w.Position().Offset
				fold(w.Rotate(1, s.Checkpoint()))
			}
		}
	}
	if err := errors.Join(w.Sync(), safefile.WriteFile(filepath.Join(dir, loopstate.StateFile), loopstate.Encode(&s), 0o600)); err != nil {
		b.Fatal(err)
	}
	return w
}

// streamDrafts returns the events of some megabytes of an agent's output.
func streamDrafts(b testing.TB) (drafts []event.Draft) {
	b.Helper()
	stream := agenttest.WorkStream(b, "../../internal/agent/claude/testdata/tool-run.jsonl", 8<<20)
	dialect := claude.New(nil)
	dialect.Open(agent.Prompt{Text: "work", Iteration: 1})
	var out agent.Decoded
	for line := range bytes.Lines(stream) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		out.Reset()
		dialect.Decode(line, agent.Stdout, &out)
		for i, fact := range out.Facts {
			if fact.EventType() == event.TypeAgentFinished {
				continue // the turn goes on
			}
			draft := event.Encode(fact, "agent:claude")
			draft.Iter = 1
			if i == 0 && !out.DropRaw {
				draft.Raw = line
			}
			drafts = append(drafts, draft)
		}
	}
	return drafts
}

// enlist puts a loop into the registry.
func (p *binary) enlist(b testing.TB, name, protocol string) {
	b.Helper()
	err := registry.Put(p.home, registry.Entry{
		Name: name, Dir: p.dir(name), Project: p.project, ID: "01M7ZG7MMYVFD9GXSY2ZE2N2KQ", Agent: protocol,
		Host: "mill", PID: os.Getpid(), Started: time.Now(), Version: "1.0.0",
	})
	if err != nil {
		b.Fatal(err)
	}
}

// manyLoops makes n loops whose state is running. This process holds the locks of every second one;
// the others are dead.
func (p *binary) manyLoops(b *testing.B, n int) {
	b.Helper()
	p.enlist(b, "loop-00000", "claude")
	files, err := filepath.Glob(filepath.Join(registry.Folder(p.home), "*.json"))
	if err != nil || len(files) != 1 {
		b.Fatal(files, err)
	}
	entry, err := os.ReadFile(files[0])
	if err != nil {
		b.Fatal(err)
	}
	var s loopstate.State
	s.Seq, s.At = 4711, time.Now()
	s.Lifecycle.Started, s.Lifecycle.Iteration, s.Lifecycle.Agent.Protocol = s.At.Add(-time.Hour), 3, "claude"
	s.Completion.Text.Append(bytes.Repeat([]byte("I will look at the tests.\n"), 100))
	state := loopstate.Encode(&s)
	facts := []byte(`{"pid":4711,"host":"mill","since":"2026-11-21T01:52:28.123456Z","startTicks":815}` + "\n")
	for i := range n {
		name := fmt.Sprintf("loop-%05d", i)
		dir := p.dir(name)
		own := bytes.ReplaceAll(entry, []byte("loop-00000"), []byte(name))
		file := bytes.ReplaceAll([]byte(files[0]), []byte("loop-00000"), []byte(name))
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(string(file), own, 0o600),
			os.WriteFile(filepath.Join(dir, "run.lock"), facts, 0o600),
			os.WriteFile(filepath.Join(dir, loopstate.StateFile), state, 0o600)); err != nil {
			b.Fatal(err)
		}
		if i%2 == 1 {
			continue
		}
		f, err := os.Open(filepath.Join(dir, "run.lock"))
		if err := errors.Join(err, syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { f.Close() })
	}
}

func names(b *testing.B, folder string, n int) time.Duration {
	began := time.Now()
	f, err := os.Open(folder)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if names, _ := f.Readdirnames(-1); len(names) != n {
		b.Fatalf("%d of %d loops", len(names), n)
	}
	return time.Since(began)
}

func naiveList(b *testing.B, folder string, n int) time.Duration {
	began := time.Now()
	files, err := os.ReadDir(folder)
	if err != nil || len(files) != n {
		b.Fatal(len(files), err)
	}
	for _, file := range files {
		var e registry.Entry
		line, err := os.ReadFile(filepath.Join(folder, file.Name()))
		if err := errors.Join(err, json.Unmarshal(line, &e)); err != nil {
			b.Fatal(err)
		}
		if syscall.Kill(e.PID, 0) == nil {
			process.StartTime(e.PID)
		}
		var state registry.Summary
		line, err = os.ReadFile(filepath.Join(e.Dir, loopstate.StateFile))
		if err := errors.Join(err, json.Unmarshal(line, &state)); err != nil {
			b.Fatal(err)
		}
		fmt.Fprintln(io.Discard, e.Name, state.Status)
	}
	return time.Since(began)
}
