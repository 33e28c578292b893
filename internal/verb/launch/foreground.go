package launch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

// shutdownMessages are printed at the signals that stop a loop.
var shutdownMessages = [...]string{
	"Received signal, shutting down... (the agent finishes its turn; again to stop it now)",
	"Received a second signal, stopping the agent now...",
	"Received a third signal, killing the agent...",
}

// announceSignals prints what each signal does and passes it on, until over is closed.
func announceSignals(e *cli.Env, received <-chan os.Signal, over <-chan struct{}) <-chan os.Signal {
	signals := make(chan os.Signal, len(shutdownMessages))
	go func() {
		pipeBroken := false
		for i := 0; i < len(shutdownMessages); i++ {
			select {
			case <-over:
				return
			case s := <-received:
				switch {
				case !aboutPipes(s):
					fmt.Fprintln(e.Stderr, shutdownMessages[i])
				case pipeBroken || !readerGone(e.Stdout, e.Stderr): // each write raises the signal again
					i--
					continue
				default:
					pipeBroken = true
					if i == 0 { // no reader waits for the end of the turn
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

// warnOn prints errors on stderr that do not change how a loop ended.
func warnOn(e *cli.Env) func(error) {
	return func(err error) { cli.Tell(e.Stderr, "warning: %v", err) }
}

// Foreground runs a new loop in this process. show shows it from its journal until it has ended;
// stream says whether to show what the agent prints.
func (v *Start) Foreground(e *cli.Env, show func(ctx context.Context, dir string, stream bool) error) error {
	r, err := v.ready(e)
	if err == nil {
		err = complete(&r.cfg, e.Environ)
	}
	if err != nil {
		return err
	}
	received := make(chan os.Signal, len(shutdownMessages))
	notifyShutdown(received)
	over := make(chan struct{})
	defer close(over)
	defer signal.Stop(received)
	r.cfg.Unattended = !e.StdinIsTerminal()
	r.cfg.Signals = announceSignals(e, received, over)
	r.cfg.Warn = warnOn(e)
	return r.watch(e, show)
}

// watch runs the loop and shows it.
func (r *ready) watch(e *cli.Env, show func(ctx context.Context, dir string, stream bool) error) error {
	cfg := r.cfg
	began, done := make(chan struct{}, 1), make(chan struct{})
	cfg.Ready = func(*event.LoopEnded) { began <- struct{}{} }
	var ended event.LoopEnded
	var err error
	go func() {
		defer close(done)
		ended, err = runLoop(cfg)
	}()
	select {
	case <-began:
	case <-done:
		if err != nil {
			r.undo(e, readiness{PID: os.Getpid(), Error: err.Error()})
			return err
		}
	}
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	shown := make(chan error, 1)
	go func() { shown <- show(ctx, cfg.Dir, cfg.Settings.StreamAgentOutput) }()
	<-done
	lost := unreadable(cfg.Dir, err)
	if lost || err != nil {
		leave() // the journal may have no end, and nothing more comes
	}
	if ended.Reason == "" {
		return err
	}
	if showErr := <-shown; showErr != nil && err == nil && !lost {
		return showErr
	}
	if err != nil && !lost { // else ended says more
		cli.Tell(e.Stderr, "%v", err)
	}
	hint := projector.NextStep(r.Name, &ended)
	if r.undo(e, readiness{PID: os.Getpid(), Ended: &ended}) {
		hint = clearedHint(&ended)
	}
	code := ended.Reason.ExitCode()
	if lost || !e.SharedTerminal() { // else the report is on the same terminal
		r.reportUnaccepted(e, ended.Edited)
		if code != event.ExitCompleted {
			cli.Tell(e.Stderr, "loop %s %s: %s", r.Name, ended.Status, ended.Why)
			if hint != "" {
				cli.Tell(e.Stderr, "hint: %s", hint)
			}
		}
	}
	if code != event.ExitCompleted {
		return cli.Exit(code)
	}
	if err != nil {
		return cli.Exit(event.ExitFailed)
	}
	return nil
}

// unreadable reports whether the end of a loop cannot be read from its journal, because the journal
// or the folder around it was removed or damaged while the loop ran.
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
