package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// job is what a starter tells the detached runner, on its stdin.
type job struct {
	Name       string          `json:"name"`
	Dir        string          `json:"dir"`
	Project    string          `json:"project"`
	Home       string          `json:"home"`
	Version    string          `json:"version"`
	Prompt     string          `json:"prompt,omitempty"`
	PromptFile string          `json:"promptFile,omitempty"`
	Resume     bool            `json:"resume,omitempty"`
	Settings   json.RawMessage `json:"settings"`
}

// config turns a job into what the runner needs.
func (j job) config(environ []string) (runner.Config, error) {
	settings, err := config.Thaw(j.Settings)
	if err != nil {
		return runner.Config{}, err
	}
	return runner.Config{
		Home: j.Home, Name: j.Name, Dir: j.Dir, Project: j.Project, Settings: settings,
		Resume: j.Resume, Prompt: j.Prompt, PromptFile: j.PromptFile, Version: j.Version, Env: environ,
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

// detach starts the runner in a session of its own and waits until its loop
// truly runs: the agent is started. One fork, no second one: the runner
// is nobody's job and holds no terminal, which is all that a daemon needs.
func detach(e *env, j job) (readiness, error) {
	self, err := os.Executable()
	if err != nil {
		return readiness{}, fmt.Errorf("find ralph's own program: %w", err)
	}
	log, err := openLog(filepath.Join(j.Dir, "runner.log"))
	if err != nil {
		return readiness{}, err
	}
	defer log.Close()
	told, err := json.Marshal(j)
	if err != nil {
		return readiness{}, err
	}
	ready, readyWriter, err := os.Pipe()
	if err != nil {
		return readiness{}, err
	}
	defer ready.Close()
	cmd := exec.Command(self, "runner")
	cmd.Dir = j.Project
	cmd.Env = e.environ
	cmd.Stdin = bytes.NewReader(told)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{readyWriter} // descriptor 3
	cmd.SysProcAttr = ownSession()
	err = cmd.Start()
	readyWriter.Close()
	if err != nil {
		return readiness{}, fmt.Errorf("start the runner: %w", err)
	}
	// Reaped if it ends while we still look; nobody's otherwise.
	go func() { _ = cmd.Wait() }()
	return awaitReady(e, j, ready, log.Name(), startTime)
}

// startTime is how long a runner may take until its loop runs, before its starter goes away
// and leaves it to itself. What takes long are disks, and processes of a dead runner's agent
// that do not leave, which are given up on after some ten seconds.
const startTime = time.Minute

// openLog opens runner.log for what the runner says itself.
func openLog(path string) (*os.File, error) {
	log, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|noFollow, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open runner.log: %w", err)
	}
	if info, err := log.Stat(); err != nil || !info.Mode().IsRegular() {
		log.Close()
		return nil, fmt.Errorf("open runner.log: %w", cmp.Or(err, errNotPlain))
	}
	return log, nil
}

var errNotPlain = errors.New("it is not a regular file")

// awaitReady reads the runner's line. It says so when that takes long, and does not
// wait for ever.
func awaitReady(e *env, j job, from io.Reader, log string, patience time.Duration) (readiness, error) {
	lines := make(chan readiness, 1)
	go func() {
		defer close(lines)
		var r readiness
		if line, err := bufio.NewReader(from).ReadBytes('\n'); err == nil && json.Unmarshal(line, &r) == nil {
			lines <- r
		}
	}()
	slow := time.NewTimer(time.Second)
	defer slow.Stop()
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		select {
		case <-late.C:
			return readiness{}, &failure{
				err:  fmt.Errorf("loop %s has not begun after %v; its runner goes on trying", j.Name, patience),
				hint: fmt.Sprintf("'ralph attach %s' shows it once it runs, 'ralph kill %s' ends it; what it said itself stands in %s", j.Name, j.Name, e.short(log)),
				code: event.ExitFailed,
			}
		case <-slow.C:
			fmt.Fprintf(e.stderr, "ralph: loop %s is starting …\n", j.Name)
		case r, ok := <-lines:
			switch {
			case !ok:
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
	}
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

// announce says what was started.
func announce(e *env, name, dir string, r readiness, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(e.stdout).Encode(struct {
			Name string `json:"name"`
			Dir  string `json:"dir"`
			PID  int    `json:"pid"`
		}{name, dir, r.PID})
	}
	fmt.Fprintf(e.stdout, "loop %s is running (pid %d)\n", name, r.PID)
	fmt.Fprintf(e.stderr, "ralph: 'ralph attach %s' shows it, 'ralph stop %s' ends it\n", name, name)
	return nil
}

type runnerVerb struct{}

// Run is the detached runner: it reads its job from stdin and says on descriptor
// 3 when its loop runs.
func (v *runnerVerb) Run(e *env) error {
	ready := os.NewFile(3, "ready")
	var j job
	if err := json.NewDecoder(e.stdin).Decode(&j); err != nil {
		return refuse("use 'ralph start'", "read the job: %w", err)
	}
	cfg, err := j.config(e.environ)
	if err != nil {
		return err
	}
	// The terminal that started us may close; nobody is there to read us.
	signal.Ignore(syscall.SIGHUP, syscall.SIGPIPE)
	signals := make(chan os.Signal, 3)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	cfg.Signals = signals
	tell := func(r readiness) {
		r.PID = os.Getpid()
		// A starter that went away needs no answer.
		_ = json.NewEncoder(ready).Encode(r)
		_ = ready.Close()
	}
	cfg.Ready = func(ended *event.LoopEnded) { tell(readiness{Ended: ended, Hint: startHint(ended)}) }
	ended, err := runLoop(cfg)
	if err != nil {
		var hint string
		if hinted, ok := errors.AsType[interface {
			error
			Hint() string
		}](err); ok {
			hint = hinted.Hint()
		}
		tell(readiness{Error: err.Error(), Hint: hint, Code: exitCode(err)})
		return err
	}
	return exit(ended.Reason.ExitCode())
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
	return ended, err
}

// startHint is the next step after a loop that ended before it began.
func startHint(ended *event.LoopEnded) string {
	switch {
	case ended == nil:
		return ""
	case ended.Hint != "":
		return ended.Hint
	case ended.Reason == event.ReasonDisk:
		return "make room or make the folder writable, then 'ralph start --resume'"
	}
	return "'ralph logs' shows what happened"
}
