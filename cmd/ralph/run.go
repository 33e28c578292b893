package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/journal/event"
)

type runVerb struct {
	loopOptions
	Name string `default:"run" placeholder:"NAME" help:"The loop's name. An ended loop of that name is archived first."`
	JSON bool   `help:"Print the loop's events as JSON lines."`
}

// Run runs the same runner as a detached loop has, in this process.
func (v *runVerb) Run(e *env) error {
	if v.Prompt == "" && v.PromptFile == "" {
		return refuse("give -p TEXT or -f FILE; 'ralph run --help' shows all", "there is no prompt")
	}
	dir, err := e.loopDir(v.Name)
	if err != nil {
		return err
	}
	settings, err := v.load(e)
	if err != nil {
		return err
	}
	start := startVerb{Name: v.Name, loopOptions: v.loopOptions, Fresh: true}
	j, err := start.job(e, dir, settings)
	if err != nil {
		return err
	}
	cfg, err := j.config(e.environ)
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 3)
	received := make(chan os.Signal, 3)
	signal.Notify(received, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(received)
	go func() {
		for s := range received {
			fmt.Fprintln(e.stderr, "Received signal, shutting down...")
			signals <- s
		}
	}()
	cfg.Signals = signals
	return v.watch(e, cfg, settings.StreamAgentOutput)
}

// watch runs the loop and shows it by reading its journal, as attach does.
func (v *runVerb) watch(e *env, cfg runner.Config, stream bool) error {
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
			return r.err
		}
		done <- r
	}
	shown := make(chan error, 1)
	go func() { shown <- follow(e, cfg.Dir, followOptions{json: v.JSON, quiet: !stream, verbose: v.Verbose}) }()
	r := <-done
	if r.err != nil {
		return r.err
	}
	if err := <-shown; err != nil {
		return err
	}
	if code := r.ended.Reason.ExitCode(); code != event.ExitCompleted {
		fmt.Fprintf(e.stderr, "ralph: loop %s %s: %s\n", v.Name, r.ended.Status, r.ended.Why)
		return exit(code)
	}
	return nil
}
