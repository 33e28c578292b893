package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// recorded is a loop whose journal the test writes itself, with a clock of its own:
// each batch is a second after the one before.
type recorded struct {
	t     *testing.T
	env   *cli.Env
	name  string
	dir   string
	w     *journal.Writer
	opt   journal.Options
	state loopstate.State
	at    time.Time
	lock  *registration.Lock
	out   *output
	err   *output
}

// begin is when the first event of a recorded loop happened.
var begin = time.Date(2026, 11, 21, 1, 52, 28, 0, time.UTC)

func record(t *testing.T, name string) *recorded {
	t.Helper()
	root := t.TempDir()
	r := &recorded{t: t, name: name, at: begin, out: newOutput(), err: newOutput()}
	r.env = &cli.Env{
		Stdin: strings.NewReader(""), Stdout: r.out, Stderr: r.err,
		Home: filepath.Join(root, "home"), Cwd: filepath.Join(root, "project"),
		Now: func() time.Time { return begin.Add(time.Hour) },
	}
	r.dir = filepath.Join(r.env.Cwd, cli.RalphFolder, name)
	r.must(os.MkdirAll(r.dir, 0o700))
	r.opt = journal.Options{
		Now: func() time.Time { return r.at }, Notify: true,
		NewID: func(time.Time) (id [26]byte) {
			copy(id[:], fmt.Sprintf("01JD%022d", r.state.Seq+1))
			return id
		},
	}
	found, err := journal.Recover(r.dir, r.opt)
	r.must(err)
	w, events, err := journal.Create(r.dir, found, 1, nil, r.opt)
	r.must(err)
	r.w = w
	r.fold(events)
	t.Cleanup(func() { _ = w.Close() })
	r.append(event.LoopStarted{
		Name: name, ID: "01JD000000000000000000000A", Dir: r.dir, Project: r.env.Cwd,
		Agent: event.Agent{Protocol: "pi"}, Rules: event.Rules{MaximumIterations: 10, Limits: event.LimitRules{Idle: event.Duration(10 * time.Minute)}},
	})
	return r
}

func (r *recorded) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *recorded) fold(events []event.Event) {
	r.t.Helper()
	for _, e := range events {
		r.must(r.state.Fold(e))
	}
}

func (r *recorded) append(payloads ...event.Payload) {
	r.t.Helper()
	var drafts []event.Draft
	for _, p := range payloads {
		d := event.Encode(p, "loop")
		d.Iter = r.state.Lifecycle.Iteration
		if started, ok := p.(event.IterationStarted); ok {
			d.Iter = started.N
		}
		drafts = append(drafts, d)
	}
	events, err := r.w.Append(drafts)
	r.must(err)
	r.fold(events)
	r.at = r.at.Add(time.Second)
}

// iterate appends an iteration in which the agent says something.
func (r *recorded) iterate(n int, says string) {
	r.t.Helper()
	usd := 0.25
	r.append(event.IterationStarted{N: n, Prompt: event.Blob{Text: "do it", Bytes: 5}}, event.Decided{Do: event.DoStart, Iteration: n})
	r.append(event.AgentStarted{PID: 7, Live: true, Costs: true, Tools: true})
	r.append(event.AgentSaid{Block: fmt.Sprintf("%d.0", n), Text: event.Plain(says), Final: true})
	r.append(event.ToolCalled{ID: fmt.Sprint(n), Name: "bash", Input: []byte(`{"command":"make test"}`)})
	r.append(event.ToolReturned{ID: fmt.Sprint(n), OK: true, Output: event.Plain("ok")})
	r.append(event.AgentUsed{In: 1000, Out: 100, USD: &usd}, event.AgentFinished{Outcome: "ok"}, event.AgentParked{})
	r.append(event.IterationEnded{N: n, Outcome: event.OutcomeDone, Usage: event.Usage{In: 1000, Out: 100, USD: &usd}, Tools: 1, Took: 6000})
}

// next begins another segment, as each iteration does.
func (r *recorded) next(iteration int) {
	r.t.Helper()
	events, err := r.w.Rotate(iteration, r.state.Checkpoint())
	r.must(err)
	r.fold(events)
}

// end ends the loop and closes its journal.
func (r *recorded) end(reason event.Reason, why string) {
	r.t.Helper()
	r.append(event.LoopEnded{Status: reason.Status(), Reason: reason, Why: why})
	r.must(r.w.Close())
}

// register makes the loop known to this machine.
func (r *recorded) register() {
	r.t.Helper()
	r.must(registry.Put(r.env.Home, registry.Entry{
		Name: r.name, Dir: r.dir, Project: r.env.Cwd, ID: "01JD000000000000000000000A", Agent: "pi", Host: "mill", Started: begin,
	}))
	r.must(safefile.WriteFile(filepath.Join(r.dir, loopstate.StateFile), loopstate.Encode(&r.state), 0o600))
}

// live takes the loop's lock, as a runner does.
func (r *recorded) live() {
	r.t.Helper()
	lock, err := registration.Acquire(r.dir)
	r.must(err)
	r.lock = lock
	r.t.Cleanup(func() { _ = lock.Release() })
}

// printed runs a verb and returns what it wrote to stdout.
func (r *recorded) printed(verb interface{ Run(*cli.Env) error }) string {
	r.t.Helper()
	r.out.reset()
	r.must(verb.Run(r.env))
	return r.out.String()
}

// output is a stdout that tests wait on.
type output struct {
	mu   sync.Mutex
	more sync.Cond
	text bytes.Buffer
}

func newOutput() *output {
	o := &output{}
	o.more.L = &o.mu
	return o
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.more.Broadcast()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func (o *output) reset() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Reset()
}

// await waits until the output holds a text.
func (o *output) await(t *testing.T, want string) {
	t.Helper()
	var late bool
	timer := time.AfterFunc(patience, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		late = true
		o.more.Broadcast()
	})
	defer timer.Stop()
	o.mu.Lock()
	defer o.mu.Unlock()
	for !strings.Contains(o.text.String(), want) && !late {
		o.more.Wait()
	}
	if late {
		t.Fatalf("%q did not come; there is:\n%s", want, o.text.String())
	}
}

// codeOf returns the exit code of an error.
func codeOf(err error) int {
	if silent, ok := errors.AsType[cli.Exit](err); ok {
		return int(silent)
	}
	if err == nil {
		return event.ExitCompleted
	}
	return cli.ExitCode(err)
}
