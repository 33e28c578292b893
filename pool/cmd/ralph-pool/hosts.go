package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/queue"
	"github.com/ralph-loop/ralph/pool/spec"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/pool/trust"
	"github.com/ralph-loop/ralph/pool/worker"
	"github.com/ralph-loop/ralph/registry"
)

type drainCommand struct {
	Host string `arg:"" optional:"" help:"The host. Default: this one."`
	Undo bool   `help:"Let it claim loops again."`
}

// Help says what it is for.
func (drainCommand) Help() string {
	return `A host that drains claims no loop and takes none over, and no worker takes its loops: they go on there until they end, or until a person takes one with 'ralph pool take'.

Examples:
  ralph pool drain mill
  ralph pool drain mill --undo`
}

// Run says it to the host's worker, through the store.
func (c *drainCommand) Run(ctx context.Context) error {
	h, err := here(ctx)
	if err != nil {
		return err
	}
	defer h.Close()
	if c.Host == "" {
		c.Host = h.host
	}
	if err := spec.CheckWord("host", c.Host); err != nil {
		return err
	}
	if _, err := h.store.Get(ctx, keys.Beat(c.Host)); errors.Is(err, store.ErrNotFound) {
		say("host %s was never heard of: 'ralph pool status' names those that were", c.Host)
	} else if err != nil {
		return err
	}
	if err := worker.SetDraining(ctx, h.store, c.Host, person(), !c.Undo); err != nil {
		return err
	}
	text := "drains: it claims no more loops"
	if c.Undo {
		text = "claims loops again"
	}
	_, err = fmt.Printf("host %s %s\n", c.Host, text)
	return err
}

type trustCommand struct {
	Key  string `arg:"" help:"The key, as 'ralph pool list' shows it."`
	Name string `arg:"" optional:"" help:"Whose it is, for people."`
}

// Help says what it is for.
func (trustCommand) Help() string {
	return `From then on a worker on this host runs what was signed with the key: agents, and the programs that settings of its repositories name. Ask the person for the key another way than through the pool; 'ralph pool key' prints one's own.

Examples:
  ralph pool trust 9f2c… ada`
}

// Run trusts the key on this host.
func (c *trustCommand) Run() error {
	home, err := registry.Home(os.Getenv)
	if err != nil {
		return err
	}
	if err := trust.Add(home, c.Key, c.Name); err != nil {
		return err
	}
	_, err = fmt.Println("this host trusts the key from now on")
	return err
}

type keyCommand struct{}

// Run prints the person's own key.
func (keyCommand) Run() error {
	home, err := registry.Home(os.Getenv)
	if err != nil {
		return err
	}
	key, err := trust.Own(home)
	if err != nil {
		return err
	}
	_, err = fmt.Println(trust.Public(key))
	return err
}

type accountCommand struct {
	Account string   `arg:"" name:"account" help:"Its name."`
	Limit   *float64 `placeholder:"DOLLARS" help:"What its loops may spend together, on all hosts."`
	NoLimit bool     `xor:"limit" help:"Remove the limit."`
	JSON    bool     `help:"Print it as JSON."`
}

// Help says what it is for.
func (accountCommand) Help() string {
	return `A loop that is submitted with --account has its budget reserved there before it is claimed, and replaced by its cost when it has ended; a cost that is not known counts as the whole budget.

Examples:
  ralph pool account team
  ralph pool account team --limit 200`
}

// Run shows an account, and sets its limit.
func (c *accountCommand) Run(ctx context.Context) error {
	if err := spec.CheckWord("account", c.Account); err != nil {
		return err
	}
	if c.Limit != nil && !(*c.Limit >= 0) {
		return fmt.Errorf("the limit %v is no amount of dollars", *c.Limit)
	}
	h, err := here(ctx)
	if err != nil {
		return err
	}
	defer h.Close()
	if c.Limit != nil || c.NoLimit {
		if err := queue.Limit(ctx, h.store, c.Account, c.Limit); err != nil {
			return err
		}
	}
	a, err := queue.ReadAccount(ctx, h.store, c.Account)
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(a)
	}
	reserved := 0.0
	for _, budget := range a.Reserved {
		reserved += budget
	}
	limit := "no limit"
	if a.Limit != nil {
		limit = fmt.Sprintf("a limit of $%.2f", *a.Limit)
	}
	_, err = fmt.Printf("account %s has spent $%.2f; $%.2f are reserved for %d loops; %s\n", c.Account, a.Spent, reserved, len(a.Reserved), limit)
	return err
}
