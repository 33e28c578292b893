//go:build unix

package executor_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/agenttest"
	"github.com/ralph-loop/ralph/internal/agent/rehearsal"
	"github.com/ralph-loop/ralph/internal/agent/rehearsal/player"
	"github.com/ralph-loop/ralph/internal/agent/text"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/effect/executor"
	"github.com/ralph-loop/ralph/journal/event"
)

// The test binary plays rehearsals, as ralph does.
func TestMain(m *testing.M) { agenttest.MainPlaying(m) }

// reported is what the executor reported.
type reported struct {
	typ   event.Type
	by    string
	cause event.Seq
	iter  int
	data  string
}

func (e reported) is(p event.Payload) bool {
	return e.typ == p.EventType() && e.data == string(event.AppendData(nil, p))
}

// stage runs an executor: it takes what that delivers, and keeps blobs in memory.
type stage struct {
	t        *testing.T
	executor *executor.Executor
	cfg      executor.Config
	state    loopstate.State
	events   chan reported
	cause    event.Seq
	closed   sync.Once

	mu      sync.Mutex
	blobs   map[string][]byte
	prompts []string // what was composed
	agents  int      // how many were asked for
}

// patience of the tests: no step may take that long.
var patience = agent.Patience{Abort: 20 * time.Second, Stop: 20 * time.Second, Term: 20 * time.Second, Reset: 20 * time.Second}

// noSettings is the snapshot without guardrails and settings.
var noSettings = []event.SnapshotFile{{Path: ".ralph/settings.json", Role: "settings"}, {Path: ".ralph/settings.local.json", Role: "settings"}}

// set returns an executor that runs an agent; with a nil dialect nothing is started.
func set(t *testing.T, dialect func() agent.Dialect, command ...string) *stage {
	t.Helper()
	s := &stage{t: t, events: make(chan reported, 10_000), blobs: map[string][]byte{}}
	dir := t.TempDir()
	s.cfg = executor.Config{
		Deliver: func(drafts []event.Draft, release func()) {
			for _, d := range drafts {
				s.events <- reported{d.Type, d.By, d.Cause, d.Iter, string(d.Data)}
			}
			release()
		},
		Agent: func(_ int, p agent.Prompt) (agent.Config, error) {
			s.mu.Lock()
			s.agents++
			s.mu.Unlock()
			return agent.Config{
				Name: "test", Dialect: dialect(), Env: os.Environ(), Patience: patience,
				Spec: agent.Spec{Command: command, Dir: dir, LoopDir: dir, Iteration: p.Iteration, Prompt: p.Text},
			}, nil
		},
		Blob: func(text []byte) (event.Blob, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.prompts = append(s.prompts, string(text))
			return event.Blob{Text: string(text), Bytes: len(text)}, nil
		},
		ReadBlob: func(sum event.BlobRef) ([]byte, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if text, ok := s.blobs[string(sum)]; ok {
				return text, nil
			}
			return nil, fmt.Errorf("read a blob: %w", os.ErrNotExist)
		},
		Dir: t.TempDir(), Project: dir, Env: os.Environ(),
		ReadFile: func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(dir, name)) },
	}
	s.state.Lifecycle.Prompt = event.Blob{Text: "go on", Bytes: 5}
	s.state.Lifecycle.Task = event.Source{Text: &event.Blob{Text: "make it work\n", Bytes: 13}}
	s.state.FileChanges.Files = noSettings // as in most projects, and sealed already
	return s
}

// up begins with the configuration as it is now.
func (s *stage) up() *stage {
	s.executor = executor.New(s.cfg)
	s.t.Cleanup(s.close)
	return s
}

func (s *stage) close() { s.closed.Do(s.executor.Close) }

// do starts an effect and returns its cause.
func (s *stage) do(d event.Decided) event.Seq {
	s.cause++
	s.executor.Do(d, s.cause, &s.state)
	return s.cause
}

// next returns the next report.
func (s *stage) next() reported {
	s.t.Helper()
	select {
	case e := <-s.events:
		return e
	case <-time.After(2 * time.Minute):
		s.t.Fatal("nothing was reported for two minutes")
	}
	return reported{}
}

// until returns the next report of that type, and skips earlier ones.
func (s *stage) until(typ event.Type) reported {
	s.t.Helper()
	for {
		e := s.next()
		if e.typ == typ {
			return e
		}
		if e.typ == event.TypeEffectFailed || e.typ == event.TypeAgentExited {
			s.t.Fatalf("waiting for %s: %s %s", typ, e.typ, e.data)
		}
	}
}

// rest closes the executor and returns the reports that no test has read.
func (s *stage) rest() (rest []reported) {
	s.close()
	for len(s.events) > 0 {
		rest = append(rest, <-s.events)
	}
	return rest
}

func count(events []reported, typ event.Type) (n int) {
	for _, e := range events {
		if e.typ == typ {
			n++
		}
	}
	return n
}

// plays returns an agent that plays a scenario.
func plays(t *testing.T, scenario string) *stage {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "test.rehearsal")
	if err := os.WriteFile(path, []byte(scenario), 0o600); err != nil {
		t.Fatal(err)
	}
	return set(t, func() agent.Dialect { return rehearsal.New(self, player.Check) }, path)
}

// runs returns an agent that is a shell's command.
func runs(t *testing.T, command string) *stage {
	t.Helper()
	return set(t, func() agent.Dialect { return text.New() }, "sh", "-c", command)
}

// pidOf is the process of an agent.started.
func pidOf(t *testing.T, e reported) int {
	t.Helper()
	var pid int
	if _, err := fmt.Sscanf(e.data, `{"pid":%d`, &pid); err != nil || pid <= 1 {
		t.Fatalf("no pid in %s", e.data)
	}
	return pid
}

func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

func has(e reported, part string) bool { return strings.Contains(e.data, part) }
