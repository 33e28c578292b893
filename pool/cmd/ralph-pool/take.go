package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/ralph-loop/ralph/pool/takeover"
	"github.com/ralph-loop/ralph/render"
)

type takeCommand struct {
	Name  string  `arg:"" help:"The loop: its name, or its ID in the pool."`
	Into  string  `placeholder:"DIR" help:"The new folder of its work tree; without it one of its name in the current folder."`
	Trust bool    `help:"Let its prompt and settings count, which were typed on another host."`
	Now   bool    `help:"Also from a host that was heard of in the last minute: it is fenced, and its agent stopped."`
	Tree  *uint64 `placeholder:"N" help:"Take the files of tree N, not the newest."`
	JSON  bool    `help:"Print what was taken over as JSON."`
}

// Help says what it is for.
func (takeCommand) Help() string {
	return `A loop whose host is dead goes on here: its log is read and verified, the claim is written, the loop is imported, and resumed. If it is killed, or the store cannot be reached, the same command goes on where it was.

Examples:
  ralph pool take demo --into ~/src/demo
  ralph pool take demo --trust --json`
}

// Run takes the loop over.
func (c *takeCommand) Run(ctx context.Context) error {
	at, err := here(ctx)
	if err != nil {
		return err
	}
	if _, err := ulid.ParseStrict(c.Name); err != nil { // an ID need not be listed
		row, _, err := at.find(ctx, c.Name)
		if err == nil && (row.Item() != nil || row.View == nil && row.Over()) {
			err = fmt.Errorf("loop %s is %s: no host has it", c.Name, row.State)
		}
		if err != nil {
			return errors.Join(err, at.store.Close())
		}
		c.Name = row.ID
	}
	o := takeover.Options{
		Store: at.store, Host: at.host, Home: at.home, Loop: c.Name, Into: c.Into, Now: c.Now, Trust: c.Trust,
		Asks: isTerminal(os.Stdin), Stdin: os.Stdin, Stderr: os.Stderr, Clock: time.Now, Say: sayText,
	}
	if c.Tree != nil {
		o.Tree = *c.Tree + 1
	}
	taken, err := takeover.Take(ctx, o)
	if err = errors.Join(err, at.store.Close()); err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(taken)
	}
	now := "runs"
	if !taken.Running {
		now = "has ended, and is"
	}
	_, err = fmt.Printf("loop %s of %s %s in %s, under epoch %d\n", render.Clean(taken.Name), taken.From, now, taken.Project, taken.Epoch)
	return err
}

// isTerminal reports whether a person can be asked.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	null, nullErr := os.Stat(os.DevNull)
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && (nullErr != nil || !os.SameFile(info, null))
}

// sayText is say for a complete text.
func sayText(text string) { say("%s", text) }
