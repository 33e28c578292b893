package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"

	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

type runVerb struct {
	loopOptions
	placed
	Name string `default:"run" placeholder:"NAME" help:"The loop's name. An ended loop of that name is archived first."`
	JSON bool   `help:"Print the loop's events as JSON lines."`
}

// Run runs the same runner as a detached loop has, in this process.
func (v *runVerb) Run(e *env) error {
	if v.Prompt == "" && v.PromptFile == "" {
		return refuse("give -p TEXT or -f FILE; 'ralph run --help' shows all", "there is no prompt")
	}
	start := startVerb{Name: v.Name, loopOptions: v.loopOptions, Fresh: true}
	if err := start.choose(e); err != nil {
		return err
	}
	j, err := start.prepare(e)
	if err != nil {
		return err
	}
	cfg, err := j.config(e.environ)
	if err != nil {
		return err
	}
	received := make(chan os.Signal, len(shutdowns))
	hear(received)
	over := make(chan struct{})
	defer close(over)
	defer signal.Stop(received)
	cfg.Unattended = !e.typed()
	cfg.Signals = announced(e, received, over)
	cfg.Warn = warned(e)
	return v.watch(e, cfg, &start)
}

// shutdowns are what is said of each signal; what the runner makes of them is the same.
var shutdowns = [...]string{
	"Received signal, shutting down... (the agent finishes its turn; again to stop it now)",
	"Received a second signal, stopping the agent now...",
	"Received a third signal, killing the agent...",
}

// announced passes signals on once it is said what they do, until over is closed.
func announced(e *env, received <-chan os.Signal, over <-chan struct{}) <-chan os.Signal {
	signals := make(chan os.Signal, len(shutdowns))
	go func() {
		deserted := false
		for i := 0; i < len(shutdowns); i++ {
			select {
			case <-over:
				return
			case s := <-received:
				switch {
				case !aboutPipes(s):
					fmt.Fprintln(e.stderr, shutdowns[i])
				case deserted || !unread(e.stdout, e.stderr): // each write meets it again
					i--
					continue
				default:
					deserted = true
					if i == 0 { // who has gone away does not wait for the end of the turn
						signals <- s
						i++
					}
				}
				signals <- s
			}
		}
	}()
	return signals
}

// warned says on stderr what went wrong beside a loop.
func warned(e *env) func(error) {
	return func(err error) { tell(e.stderr, "warning: %v", err) }
}

// viewer shows the loop on stdout, and with --verbose says on stderr what ralph does.
func (v *runVerb) viewer(e *env, stream bool) viewer {
	o := followOptions{json: v.JSON, quiet: !stream}
	if v.Verbose {
		return voiced(e, o)
	}
	return o.viewer(e, e.stdout)
}

// watch runs the loop and shows it by reading its journal, as attach does.
func (v *runVerb) watch(e *env, cfg runner.Config, start *startVerb) error {
	type result struct {
		ended event.LoopEnded
		err   error
	}
	began := make(chan struct{}, 1)
	cfg.Ready = func(*event.LoopEnded) { began <- struct{}{} }
	done := make(chan result, 1)
	go func() {
		ended, err := runLoop(cfg)
		done <- result{ended, err}
	}()
	select {
	case <-began:
	case r := <-done:
		if r.err != nil {
			start.clear(e, readiness{PID: os.Getpid(), Error: r.err.Error()})
			return r.err
		}
		done <- r
	}
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	shown := make(chan error, 1)
	go func() { shown <- follow(ctx, cfg.Dir, v.viewer(e, cfg.Settings.StreamAgentOutput)) }()
	r := <-done
	lost := unreadable(cfg.Dir, r.err)
	if lost || r.err != nil {
		leave() // the end may not stand there, and nothing more comes
	}
	if r.ended.Reason == "" {
		return r.err
	}
	if err := <-shown; err != nil && r.err == nil && !lost {
		return err
	}
	if r.err != nil && !lost { // beside the end, which says more
		tell(e.stderr, "%v", r.err)
	}
	hint := nextStep(v.Name, &r.ended)
	if start.clear(e, readiness{PID: os.Getpid(), Ended: &r.ended}) {
		hint = clearedHint(&r.ended)
	}
	if lost || !e.sharedTerminal() {
		tellUnaccepted(e, v.Name, r.ended.Edited)
	}
	if code := r.ended.Reason.ExitCode(); code != event.ExitCompleted {
		if lost || !e.sharedTerminal() { // there the report stands right above
			tell(e.stderr, "loop %s %s: %s", v.Name, r.ended.Status, r.ended.Why)
			if hint != "" {
				tell(e.stderr, "hint: %s", hint)
			}
		}
		return exit(code)
	}
	if r.err != nil {
		return exit(event.ExitFailed)
	}
	return nil
}

// unreadable reports whether the end of a loop does not stand in its journal for anybody to read: the journal, or the folder
// around it, was taken away or damaged while it was being written.
func unreadable(dir string, err error) bool {
	if _, ok := errors.AsType[*journal.VanishedError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*journal.CorruptError](err); ok {
		return true
	}
	_, gone := os.Lstat(dir)
	return errors.Is(gone, fs.ErrNotExist)
}

// sharedTerminal reports whether stdout and stderr are both read on a terminal.
func (e *env) sharedTerminal() bool { return onTerminal(e.stderr) && e.isTerminal() }
