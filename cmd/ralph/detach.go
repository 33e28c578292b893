package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/internal/units"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// job is what a starter tells the detached runner, on its stdin.
type job struct {
	Name       string `json:"name"`
	Dir        string `json:"dir"`
	Project    string `json:"project"`
	WorkDir    string `json:"workDir"`
	Home       string `json:"home"`
	Version    string `json:"version"`
	Prompt     string `json:"prompt,omitempty"`
	PromptFile string `json:"promptFile,omitempty"`
	Resume     bool   `json:"resume,omitempty"`
	Settings   string `json:"settings"` // as config.json has them

	AcceptChanges bool            `json:"acceptChanges,omitempty"`
	Given         []event.Setting `json:"given,omitempty"` // what of the settings is not built in
}

// config turns a job into what the runner needs.
func (j job) config(environ []string) (runner.Config, error) {
	settings, _, err := config.Thaw([]byte(j.Settings))
	if err != nil {
		return runner.Config{}, err
	}
	return runner.Config{
		Home: j.Home, Name: j.Name, Dir: j.Dir, Project: j.Project, WorkDir: j.WorkDir, Settings: settings, Frozen: []byte(j.Settings),
		Resume: j.Resume, AcceptChanges: j.AcceptChanges, Given: j.Given, Prompt: j.Prompt, PromptFile: j.PromptFile, Version: j.Version, Env: environ,
	}, nil
}

// readiness is the one line by which a runner says that its loop runs, or why
// not.
type readiness struct {
	PID   int              `json:"pid"`
	Ended *event.LoopEnded `json:"ended,omitempty"`
	Error string           `json:"error,omitempty"`
	Hint  string           `json:"hint,omitempty"`
	Code  int              `json:"code,omitempty"`
}

// A waiting is a runner that has begun and knows of no loop yet: it waits for its job, and ends when
// nobody is left to give it one. It begins before its starter reads the settings and looks at
// the loop, so that two programs begin side by side and not one after the other.
type waiting struct {
	process child
	job     *os.File // the other end is its stdin
	ready   *os.File // the other end is its descriptor 3
}

// beginRunner begins a runner in a session of its own. One fork, no second one: it is nobody's
// job and holds no terminal, which is all that a daemon needs.
func beginRunner(e *env, name string) (*waiting, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find ralph's own program: %w", err)
	}
	stdin, job, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start the runner: %w", err)
	}
	defer stdin.Close()
	ready, toReady, err := os.Pipe()
	if err != nil {
		job.Close()
		return nil, fmt.Errorf("start the runner: %w", err)
	}
	defer toReady.Close()
	// Until it has its job, and with that a log, what it says is said here.
	process, err := spawn(self, []string{"ralph", "runner", name}, e, []*os.File{stdin, os.Stderr, os.Stderr, toReady})
	if err != nil {
		job.Close()
		ready.Close()
		return nil, fmt.Errorf("start the runner: %w", err)
	}
	return &waiting{process: process, job: job, ready: ready}, nil
}

// dismiss ends a runner for which there is no job. It has done nothing.
func (w *waiting) dismiss() {
	w.job.Close()
	w.ready.Close()
	w.process.kill()
	w.process.reap()
}

// hand gives a waiting runner its job and waits until its loop truly runs: the agent is started.
func (w *waiting) hand(e *env, j job) (readiness, error) {
	told, err := json.Marshal(j)
	if err != nil {
		w.dismiss()
		return readiness{}, err
	}
	go func() {
		// One that cannot be told has ended, and that is seen from its answer.
		_, _ = w.job.Write(told)
		_ = w.job.Close()
	}()
	defer w.ready.Close()
	// Reaped if it ends while we still look; nobody's otherwise.
	go w.process.reap()
	return awaitReady(e, j, w.ready, logOf(j.Dir), startTime)
}

// startTime is how long a runner may take until its loop runs, before its starter goes away
// and leaves it to itself. What takes long are disks, and processes of a dead runner's agent
// that do not leave, which are given up on after some ten seconds.
const startTime = time.Minute

// awaitReady reads the runner's line. It says so when that takes long, and does not
// wait for ever.
func awaitReady(e *env, j job, from *os.File, log string, patience time.Duration) (readiness, error) {
	const slow = time.Second
	in := bufio.NewReader(from)
	// A pipe that knows no deadline is waited for.
	_ = from.SetReadDeadline(time.Now().Add(min(slow, patience)))
	line, err := in.ReadBytes('\n')
	if errors.Is(err, os.ErrDeadlineExceeded) && patience > slow {
		tell(e.stderr, "loop %s is starting …", j.Name)
		_ = from.SetReadDeadline(time.Now().Add(patience - slow))
		var rest []byte
		rest, err = in.ReadBytes('\n')
		line = append(line, rest...)
	}
	var r readiness
	if err == nil {
		err = json.Unmarshal(line, &r)
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return r, &failure{
			err:  fmt.Errorf("loop %s has not begun after %s; its runner goes on trying", j.Name, units.Plain(patience)),
			hint: fmt.Sprintf("'ralph attach %s' shows it once it runs, 'ralph kill %s' ends it; what it said itself stands in %s", j.Name, j.Name, e.short(log)),
			code: event.ExitFailed,
		}
	case err != nil:
		return r, &failure{
			err:  fmt.Errorf("the runner of loop %s ended before its loop began%s", j.Name, lastLines(log)),
			hint: "see " + e.short(log), code: event.ExitFailed,
		}
	case r.Error != "":
		return r, &failure{err: errors.New(r.Error), hint: r.Hint, code: r.Code}
	case r.Ended != nil && r.Ended.Reason.ExitCode() != event.ExitCompleted:
		return r, &failure{
			err: fmt.Errorf("loop %s did not start: %s", j.Name, r.Ended.Why), hint: r.Hint,
			code: r.Ended.Reason.ExitCode(),
		}
	}
	return r, nil
}

// lastLines returns the end of a log for an error message.
func lastLines(name string) string {
	text, err := os.ReadFile(name)
	if err != nil || len(text) == 0 {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return ": " + lines[len(lines)-1]
}

// announce says what was started, or that nothing had to be.
func announce(e *env, name, dir string, r readiness, asJSON bool) error {
	if asJSON {
		return printJSON(e.stdout, struct {
			Name  string           `json:"name"`
			Dir   string           `json:"dir"`
			PID   int              `json:"pid"`
			Ended *event.LoopEnded `json:"ended,omitempty"`
		}{name, dir, r.PID, r.Ended}, "")
	}
	if r.Ended != nil {
		fmt.Fprintf(e.stdout, "loop %s is %s: %s\n", name, r.Ended.Status, clean(r.Ended.Why))
		return nil
	}
	fmt.Fprintf(e.stdout, "loop %s is running (pid %d)\n", name, r.PID)
	tell(e.stderr, "'ralph attach %s' shows it, 'ralph stop %s' ends it", name, name)
	return nil
}

// runLoop runs a loop in this process. What a person can do something about is a
// failure that says so.
func runLoop(cfg runner.Config) (event.LoopEnded, error) {
	ended, err := runner.Run(context.Background(), cfg)
	if exists, ok := errors.AsType[*runner.ExistsError](err); ok {
		err = taken(exists)
	}
	if other, ok := errors.AsType[*registry.HeldError](err); ok {
		err = held(cfg.Name, registry.Liveness{PID: other.PID, Host: other.Host, Since: other.Since})
	}
	if other, ok := errors.AsType[*runner.SharedTreeError](err); ok {
		err = crowded(other)
	}
	if errors.Is(err, journal.ErrBusy) {
		err = busy(err, cfg.Name)
	}
	if errors.Is(err, registry.ErrNoFolder) {
		err = goneOn(cfg.Name)
	}
	return ended, err
}

// busy is the refusal to touch a journal that another runner writes, though run.lock does not say so.
func busy(err error, name string) error {
	return &failure{
		err: fmt.Errorf("loop %s: %w", name, err), code: event.ExitUsage,
		hint: fmt.Sprintf("a runner lives whose run.lock was removed: 'ralph kill %s' ends it, then try again", name),
	}
}

// limitOf is the setting that ended a loop for a reason.
var limitOf = map[event.Reason]string{
	event.ReasonIterations: "maximumIterations", event.ReasonCost: "limits.cost", event.ReasonTokens: "limits.tokens",
	event.ReasonDuration: "limits.duration", event.ReasonRestarts: "restart.max",
}

// nextStep is what to do about the end of a loop; empty where nothing is known.
func nextStep(name string, ended *event.LoopEnded) string {
	switch key := limitOf[ended.Reason]; {
	case ended.Hint != "":
		return ended.Hint
	case key != "":
		return fmt.Sprintf("'ralph start %s --resume --set %s=…' raises it", name, key)
	case ended.Reason == event.ReasonDisk:
		return fmt.Sprintf("make room, make the folder writable or put it back, then 'ralph start %s --resume'", name)
	case ended.Reason == event.ReasonFault:
		return fmt.Sprintf("'ralph start %s --resume' goes on with it; 'ralph logs %s --type fault.' makes a good report", name, name)
	}
	return ""
}

// startHint is the next step after a loop that ended before it began.
func startHint(name string, ended *event.LoopEnded) string {
	if ended == nil {
		return ""
	}
	return cmp.Or(nextStep(name, ended), fmt.Sprintf("'ralph logs %s' shows what happened", name))
}
