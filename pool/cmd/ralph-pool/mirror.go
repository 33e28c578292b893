package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ralph-loop/ralph/pool/mirror"
	"github.com/ralph-loop/ralph/pool/program"
	"github.com/ralph-loop/ralph/pool/tree"
)

type mirrorCommand struct {
	All    bool `help:"Mirror all loops of this host, not only those that were submitted to the pool or taken over."`
	Once   bool `help:"Mirror what is there now, and end."`
	Verify bool `help:"Read all of each log at the start and compare it with the journal, not only its end."`
	JSON   bool `help:"Print at the end what was written, as JSON."`
}

// Help says what it is for.
func (mirrorCommand) Help() string {
	return `One mirror runs on each host of a pool, for all of its loops: it copies their journals and files into the store, fences a loop that another host has taken over, and brings commands from there. It may be killed at any moment, and goes on where the store says that it was.

Examples:
  ralph pool mirror
  ralph pool mirror --all --once --json`
}

// Run mirrors until it is interrupted.
func (c *mirrorCommand) Run(ctx context.Context) error {
	at, err := here(ctx)
	if err != nil {
		return err
	}
	m := mirror.New(mirror.Options{
		Store: at.store, Host: at.host, Home: at.home, Program: program.Ralph(), All: c.All, Verify: c.Verify, Tree: tree.Put,
		Say: sayText,
	})
	run := m.Run
	if c.Once {
		run = m.Once
	}
	err = run(ctx)
	if errors.Is(err, context.Canceled) {
		err = nil // it was interrupted
	}
	return errors.Join(err, c.print(m.Counts()), at.store.Close())
}

func (c *mirrorCommand) print(n mirror.Counts) error {
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(struct {
			mirror.Counts
			Milliseconds int64 `json:"milliseconds"`
		}{n, n.Writing.Milliseconds()})
	}
	_, err := fmt.Printf("%d loops, %d chunks written, %d bytes, %s\n", n.Loops, n.Chunks, n.Bytes, n.Writing.Round(time.Millisecond))
	return err
}
