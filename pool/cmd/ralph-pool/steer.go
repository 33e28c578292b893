package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/pool/command"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/listing"
	"github.com/ralph-loop/ralph/pool/queue"
	"github.com/ralph-loop/ralph/pool/spec"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/projector"
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

// Help says what it is for.
func (stopCommand) Help() string {
	return `A loop that no host has claimed is withdrawn. The name of a fleet stops all of its loops that are not over, the last ones first, so that none of them begins meanwhile.

Examples:
  ralph pool stop greet
  ralph pool stop demo --now`
}

// Run stops a loop or a fleet, or withdraws what no host has claimed.
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

type followUpCommand struct {
	reach
	Text string `arg:"" help:"What the agent reads in its next prompt."`
}

// Run gives a loop a text for its next prompt.
func (c *followUpCommand) Run(ctx context.Context) error {
	return c.send(ctx, inbox.Command{Kind: inbox.FollowUp, Text: c.Text})
}

type pauseCommand struct{ reach }

// Run pauses a loop after its iteration.
func (c *pauseCommand) Run(ctx context.Context) error {
	return c.send(ctx, inbox.Command{Kind: inbox.Pause})
}

type resumeCommand struct{ reach }

// Run lets a paused loop go on.
func (c *resumeCommand) Run(ctx context.Context) error {
	return c.send(ctx, inbox.Command{Kind: inbox.Resume})
}

type answerCommand struct {
	reach
	Text     string `arg:"" help:"The answer."`
	Question int    `short:"q" placeholder:"N" help:"The number of the question. Default: the one that the loop waits for, or the only one without an answer."`
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
	row, rows, err := h.find(ctx, r.Name)
	if err != nil && rows != nil {
		return r.sendToFleet(ctx, h, rows, c, err)
	}
	if err != nil {
		return err
	}
	return r.sendTo(ctx, h, row, c)
}

// sendToFleet stops what is not over of the fleet that the name means; the last parts first, so
// that none begins because another has completed. Without such a fleet it returns problem.
func (r *reach) sendToFleet(ctx context.Context, h *place, rows []listing.Row, c inbox.Command, problem error) error {
	rows, err := listing.Fleets(ctx, h.store, rows)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(rows, func(row listing.Row) bool { return row.ID == "" && row.Name == r.Name })
	switch {
	case at < 0:
		return problem
	case c.Kind != inbox.Stop && c.Kind != inbox.StopNow:
		return fmt.Errorf("%s is a fleet, and only 'ralph pool stop' takes one: name one of its loops", r.Name)
	}
	var problems []error
	end, found := time.Now().Add(r.Wait), false
	for _, part := range slices.Backward(rows[at].Parts) {
		if part.Group == projector.Over || part.View != nil && part.View.Ended != nil {
			continue
		}
		one := *r
		one.Name, one.Wait, found = part.Name, max(time.Until(end), time.Second), true
		if err := one.sendTo(ctx, h, part, c); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", part.Name, err))
		}
	}
	if !found {
		return fmt.Errorf("all of fleet %s is over: %s", r.Name, rows[at].State)
	}
	return errors.Join(problems...)
}

// sendTo sends a command to one loop.
func (r *reach) sendTo(ctx context.Context, h *place, row listing.Row, c inbox.Command) error {
	if row.Item() != nil || row.State == listing.Queued {
		return r.withdraw(ctx, h, row, c)
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
	}
	c.Question = row.View.Awaited
	if open := row.View.OpenQuestions(); c.Question == 0 && len(open) == 1 {
		c.Question = open[0].Number
	} else if c.Question == 0 {
		return fmt.Errorf("loop %s has %d questions without an answer: --question says which one is meant", row.Name, len(open))
	}
	return nil
}

// withdraw stops what no host has claimed.
func (r *reach) withdraw(ctx context.Context, h *place, row listing.Row, c inbox.Command) error {
	if c.Kind != inbox.Stop && c.Kind != inbox.StopNow {
		return fmt.Errorf("%s waits in the queue, and takes commands once it runs", r.Name)
	}
	host, err := queue.Withdraw(ctx, h.store, spec.Spec{ID: row.ID, Name: row.Name}, person())
	if err != nil {
		return err
	}
	if host != "" {
		return fmt.Errorf("host %s has just claimed %s: stop it again", host, r.Name)
	}
	if item := row.Item(); item != nil && item.Spec.Account != "" {
		if err := queue.Settle(ctx, h.store, item.Spec.Account, item.ID, new(float64)); err != nil {
			return err
		}
	}
	if r.JSON {
		return json.NewEncoder(os.Stdout).Encode(outcome{Loop: row.ID, Outcome: "withdrawn"})
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
