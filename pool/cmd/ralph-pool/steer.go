package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/pool/command"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/listing"
	"github.com/ralph-loop/ralph/pool/queue"
	"github.com/ralph-loop/ralph/pool/spec"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/render"
)

// A reach is what the commands to a loop on any host have in common.
type reach struct {
	Name string        `arg:"" help:"The loop: its name, or its ID in the pool."`
	Wait time.Duration `default:"1m" help:"How long to wait for the receipt."`
	Any  bool          `help:"Give it to the loop also if another host takes it over meanwhile."`
	JSON bool          `help:"Print the outcome as JSON."`
}

type stopCommand struct {
	reach
	Now bool `help:"Interrupt the agent."`
}

// Run stops a loop, or withdraws one that no host has claimed.
func (c *stopCommand) Run(ctx context.Context) error {
	kind := inbox.Stop
	if c.Now {
		kind = inbox.StopNow
	}
	return c.send(ctx, inbox.Command{Kind: kind})
}

type steerCommand struct {
	reach
	Text string `arg:"" help:"What the agent reads."`
}

// Run steers a loop.
func (c *steerCommand) Run(ctx context.Context) error {
	return c.send(ctx, inbox.Command{Kind: inbox.Steer, Text: c.Text})
}

type answerCommand struct {
	reach
	Text     string `arg:"" help:"The answer."`
	Question int    `short:"q" placeholder:"N" help:"The number of the question. Default: the one that the loop waits for."`
}

// Run answers a question of a loop.
func (c *answerCommand) Run(ctx context.Context) error {
	return c.send(ctx, inbox.Command{Kind: inbox.Answer, Text: c.Text, Question: c.Question})
}

// send sends a command to the host of the loop, and says what became of it.
func (r *reach) send(ctx context.Context, c inbox.Command) error {
	h, err := here(ctx)
	if err != nil {
		return err
	}
	defer h.Close()
	rows, err := listing.Read(ctx, h.store)
	if err != nil {
		return err
	}
	row, err := listing.Find(rows, r.Name)
	if err != nil {
		return err
	}
	if item := row.Item(); item != nil {
		return r.withdraw(ctx, h, item, c)
	}
	if err := complete(&c, row); err != nil {
		return err
	}
	epoch := row.Epoch
	if r.Any {
		epoch = 0
	}
	c.From, c.At = client.Sender("cli"), time.Now().UTC()
	id, err := command.Send(ctx, h.store, row.ID, row.Host, epoch, c)
	if err != nil {
		return err
	}
	got, err := await(ctx, h.store, keys.Inbox(row.ID)+id, r.Wait)
	if err != nil {
		return err
	}
	return r.report(row, id, got)
}

// complete fills in which question is answered, and refuses what cannot have an effect.
func complete(c *inbox.Command, row listing.Row) error {
	switch {
	case row.View == nil || row.Host == "":
		return fmt.Errorf("loop %s is %s, and takes commands once it runs", row.Name, row.State)
	case row.View.Ended != nil && c.Kind != inbox.Answer:
		return fmt.Errorf("loop %s has ended: %s", row.Name, row.State)
	case c.Kind != inbox.Answer || c.Question > 0:
		return nil
	case row.View.Awaited == 0:
		return fmt.Errorf("loop %s waits for no answer: --question says which one is meant", row.Name)
	}
	c.Question = row.View.Awaited
	return nil
}

// withdraw stops what no host has claimed.
func (r *reach) withdraw(ctx context.Context, h *place, item *queue.Item, c inbox.Command) error {
	if c.Kind != inbox.Stop && c.Kind != inbox.StopNow {
		return fmt.Errorf("%s waits in the queue, and takes commands once it runs", r.Name)
	}
	host, err := queue.Withdraw(ctx, h.store, spec.Spec{ID: item.ID, Name: item.Spec.Name}, person())
	if err != nil {
		return err
	}
	if host != "" {
		return fmt.Errorf("host %s has just claimed %s: stop it again", host, r.Name)
	}
	if item.Spec.Account != "" {
		if err := queue.Settle(ctx, h.store, item.Spec.Account, item.ID, new(float64)); err != nil {
			return err
		}
	}
	if r.JSON {
		return json.NewEncoder(os.Stdout).Encode(outcome{Loop: item.ID, Outcome: "withdrawn"})
	}
	_, err = fmt.Printf("%s is withdrawn: no host runs it\n", r.Name)
	return err
}

// await waits until the host has said what became of a command.
func await(ctx context.Context, s store.Store, key string, patience time.Duration) (c command.Command, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	read := func() error {
		entry, err := s.Get(ctx, key)
		if err == nil {
			err = json.Unmarshal(entry.Value, &c)
		}
		return err
	}
	if err := read(); err != nil || c.Outcome != "" {
		return c, err
	}
	for _, err := range s.Watch(ctx, key) {
		if err == nil {
			err = read()
		}
		if ctx.Err() != nil {
			break // it waits still
		}
		if err != nil || c.Outcome != "" {
			return c, err
		}
	}
	return c, nil
}

// An outcome is what --json prints.
type outcome struct {
	Loop    string `json:"loop"`
	Command string `json:"command,omitempty"`
	Host    string `json:"host,omitempty"`
	Outcome string `json:"outcome"` // received, rejected, waits, withdrawn
	Why     string `json:"why,omitempty"`
}

func (r *reach) report(row listing.Row, id string, c command.Command) error {
	o := outcome{Loop: row.ID, Command: id, Host: row.Host, Outcome: string(c.Outcome), Why: c.Why}
	if o.Outcome == "" {
		o.Outcome = "waits"
	}
	if r.JSON {
		if err := json.NewEncoder(os.Stdout).Encode(o); err != nil {
			return err
		}
	}
	switch {
	case c.Outcome == command.Rejected:
		return fmt.Errorf("the loop has not got it: %s", c.Why)
	case o.Outcome == "waits":
		return errors.New("no receipt yet: the command waits in the pool, and the loop gets it once when its host's mirror is heard")
	case !r.JSON:
		fmt.Printf("%s has received it, on host %s\n", render.Clean(row.Name), render.Clean(row.Host))
	}
	return nil
}
