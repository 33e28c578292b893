package launch

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/loopfolder"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

// RunnerVerb is the hidden verb of the detached runner.
type RunnerVerb struct {
	Loop string `arg:"" optional:"" help:"The loop, for lists of processes only; the runner reads stdin."`
}

// Run reads what to run from stdin and reports on descriptor 3 when its loop runs.
func (v *RunnerVerb) Run(e *cli.Env) error {
	ready := os.NewFile(3, "ready")
	// The terminal of the starter may close. The signals are received, not ignored: the agent and
	// the guardrails would inherit ignored signals, and their pipelines would not end as in a
	// shell.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGPIPE)
	signals := make(chan os.Signal, 3)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	var cfg runner.Config
	if err := json.NewDecoder(e.Stdin).Decode(&cfg); err != nil {
		return cli.Refuse("use 'ralph start'", "read what to run: %w", err)
	}
	report := func(r readiness) {
		r.PID = os.Getpid()
		// A starter that went away needs no answer.
		_ = json.NewEncoder(ready).Encode(r)
		_ = ready.Close()
	}
	if err := logTo(logOf(cfg.Dir)); err != nil {
		report(refusal(err))
		return cli.Exit(cli.ExitCode(err)) // stderr is still the starter's, which reports the error
	}
	cfg.Signals, cfg.Warn = signals, warnOn(e)
	cfg.Ready = func(ended *event.LoopEnded) {
		r := readiness{Ended: ended}
		if ended != nil {
			r.Hint = cmp.Or(projector.NextStep(cfg.Name, ended), fmt.Sprintf("'ralph logs %s' shows what happened", cfg.Name))
		}
		report(r)
	}
	var ended event.LoopEnded
	err := complete(&cfg, e.Environ)
	if err == nil {
		ended, err = runLoop(cfg)
	}
	if err != nil {
		report(refusal(err))
		return err
	}
	return cli.Exit(ended.Reason.ExitCode())
}

// refusal reports to the starter that the loop did not begin.
func refusal(err error) readiness {
	r := readiness{Error: err.Error(), Code: cli.ExitCode(err)}
	var hinted interface{ Hint() string }
	if errors.As(err, &hinted) {
		r.Hint = hinted.Hint()
	}
	return r
}

// logOf returns the path of a loop's runner.log.
func logOf(dir string) string { return filepath.Join(dir, loopfolder.RunnerLog) }

// logTo sends the output of this process to runner.log from now on.
func logTo(path string) error {
	log, err := safefile.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err == nil {
		err = redirectOutput(log)
	}
	if err != nil {
		return fmt.Errorf("open runner.log: %w", err)
	}
	return nil
}
