package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/ralph-loop/ralph/pool/program"
	"github.com/ralph-loop/ralph/pool/spec"
	"github.com/ralph-loop/ralph/pool/worker"
)

type workerCommand struct {
	Slots int      `short:"n" name:"loops" default:"1" help:"How many loops run at once, at most."`
	Label []string `help:"What this host has, for specifications that need it; may be repeated."`
	Loop  string   `xor:"end" placeholder:"ID" help:"Claim or take over only this loop, and end with its exit code when it has ended on any host."`
	Once  bool     `xor:"end" help:"Claim what can be claimed now, wait until these loops have ended, and end."`
	Drain bool     `xor:"end" help:"Claim nothing, wait until the loops of this host have ended, and end."`
}

// Help says what it is for.
func (workerCommand) Help() string {
	return `It claims loops from the pool's queue, clones their repositories with your own credentials, runs them, and takes over those of hosts that have given no sign of life for three minutes. It needs 'ralph pool mirror' on the same host. Ctrl-C ends it and leaves the loops running; the next worker continues with them.

Examples:
  ralph pool worker -n 4 --label gpu
  ralph pool worker -n 1 --once`
}

// Run works until it is interrupted.
func (c *workerCommand) Run(ctx context.Context) error {
	err := c.work(ctx)
	if c.Loop != "" {
		if err == nil {
			err = ctx.Err() // an interrupted worker does not know how its loop ends
		}
		err = worker.Again(c.Loop, err)
	}
	return err
}

func (c *workerCommand) work(ctx context.Context) error {
	if c.Slots < 1 {
		return fmt.Errorf("-n %d: at least one loop has to run", c.Slots)
	}
	for _, label := range c.Label {
		if err := spec.CheckWord("label", label); err != nil {
			return err
		}
	}
	h, err := here(ctx)
	if err != nil {
		return err
	}
	defer h.Close()
	return worker.New(worker.Options{
		Store: h.store, Host: h.host, Home: h.home, Slots: c.Slots, Labels: c.Label, Only: c.Loop, Once: c.Once, Drain: c.Drain, Program: program.Ralph(),
		Take: take, Say: say,
	}).Run(ctx)
}

// take takes a loop over, by the command that a person would enter. The specification's key is
// trusted here, or it is a loop of this pool's hosts.
func take(ctx context.Context, id, into string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	var problem bytes.Buffer
	command := exec.CommandContext(ctx, self, "take", id, "--into", into, "--trust", "--json")
	command.Stderr = &problem
	if err := command.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(problem.String()), "\n")
		return fmt.Errorf("'ralph pool take %s': %w: %s", id, err, lines[len(lines)-1])
	}
	return nil
}
