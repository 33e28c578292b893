package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/journal/event"
)

type runnerVerb struct {
	Loop string `arg:"" optional:"" help:"The loop, for whoever lists processes: the job says which it is."`
}

// Run is the detached runner: it reads its job from stdin and says on descriptor
// 3 when its loop runs.
func (v *runnerVerb) Run(e *env) error {
	ready := os.NewFile(3, "ready")
	go runner.Warm()
	var listening sync.WaitGroup
	signals := make(chan os.Signal, 3)
	listening.Go(func() {
		// The terminal that started us may close; nobody is there to read us.
		// Heard and not ignored: what is ignored the agent and the guardrails would inherit, and their pipelines and terminals
		// would not end as they do in a shell.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGPIPE)
		signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	})
	var j job
	switch err := json.NewDecoder(e.stdin).Decode(&j); {
	case errors.Is(err, io.EOF) && awaited(ready):
		return exit(event.ExitFailed) // our starter went away before it had a job for us
	case err != nil:
		return refuse("use 'ralph start'", "read the job: %w", err)
	}
	listening.Wait()
	tell := func(r readiness) {
		r.PID = os.Getpid()
		// A starter that went away needs no answer.
		_ = json.NewEncoder(ready).Encode(r)
		_ = ready.Close()
	}
	if err := speakFrom(j.Dir); err != nil {
		tell(refusal(err))
		return exit(exitCode(err)) // who reads us here reads the starter as well
	}
	ended, err := v.loop(e, j, signals, tell)
	if err != nil {
		tell(refusal(err))
		return err
	}
	return exit(ended.Reason.ExitCode())
}

// loop does the job.
func (v *runnerVerb) loop(e *env, j job, signals <-chan os.Signal, tell func(readiness)) (event.LoopEnded, error) {
	cfg, err := j.config(e.environ)
	if err != nil {
		return event.LoopEnded{}, err
	}
	cfg.Signals = signals
	cfg.Warn = warned(e)
	cfg.Ready = func(ended *event.LoopEnded) { tell(readiness{Ended: ended, Hint: startHint(cfg.Name, ended)}) }
	return runLoop(cfg)
}

// awaited says whether a starter listens at the other end, as opposed to a person who has
// called the runner.
func awaited(ready *os.File) bool {
	info, err := ready.Stat()
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}

// refusal is what the starter is told where the loop did not begin.
func refusal(err error) readiness {
	r := readiness{Error: err.Error(), Code: exitCode(err)}
	if hinted, ok := errors.AsType[interface {
		error
		Hint() string
	}](err); ok {
		r.Hint = hinted.Hint()
	}
	return r
}

// logOf returns the path of a loop's runner.log.
func logOf(dir string) string { return filepath.Join(dir, "runner.log") }

// speakFrom sends what this process says from now on to the loop's runner.log.
func speakFrom(dir string) error {
	log, err := openLog(logOf(dir))
	if err != nil {
		return err
	}
	if err := speakInto(log); err != nil {
		return fmt.Errorf("open runner.log: %w", err)
	}
	return nil
}

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
