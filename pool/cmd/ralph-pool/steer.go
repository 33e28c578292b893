package main

import (
	"cmp"
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
	"github.com/ralph-loop/ralph/pool/fleet"
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

// Help says what it is for.
func (stopCommand) Help() string {
	return `A loop that no host has claimed is withdrawn. The name of a fleet stops all of its loops that are not over, first those that wait, so that none of them begins meanwhile.

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
	if err == nil && row.Over() && c.Kind != inbox.Answer { // a fleet may have the name of an earlier loop
		err = complete(&c, row)
	}
	several := func(other listing.Row) bool { return other.Name == r.Name && !other.Over() }
	if err != nil && rows != nil && !slices.ContainsFunc(rows, several) {
		return r.sendToFleet(ctx, h, rows, c, err)
	}
	if err != nil {
		return err
	}
	return r.sendAll(ctx, h, []listing.Row{row}, c)
}

func stops(c inbox.Command) bool { return c.Kind == inbox.Stop || c.Kind == inbox.StopNow }

// sendToFleet stops what is not over of the fleet that the name means. Without such a fleet it
// returns problem.
func (r *reach) sendToFleet(ctx context.Context, h *place, rows []listing.Row, c inbox.Command, problem error) error {
	rows, err := listing.Fleets(ctx, h.store, rows)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(rows, func(row listing.Row) bool { return row.ID == "" && row.Name == r.Name })
	switch {
	case at < 0:
		return problem
	case !stops(c):
		return fmt.Errorf("%s is a fleet, and only 'ralph pool stop' takes one: name one of its loops", r.Name)
	}
	parts := slices.DeleteFunc(rows[at].Parts, listing.Row.Over)
	if len(parts) == 0 {
		return fmt.Errorf("all of fleet %s is over: %s", r.Name, rows[at].State)
	}
	return r.sendAll(ctx, h, parts, c)
}

// sendAll sends a command to loops, and then waits for their receipts. What waits comes first, and
// later parts do: none begins because another has ended.
func (r *reach) sendAll(ctx context.Context, h *place, rows []listing.Row, c inbox.Command) error {
	slices.Reverse(rows)
	slices.SortStableFunc(rows, func(a, b listing.Row) int { return cmp.Compare(a.Epoch, b.Epoch) }) // 0 is of what waits
	ids, problems, end := make([]string, len(rows)), make([]error, len(rows)), time.Now().Add(r.Wait)
	for i, row := range rows {
		ids[i], problems[i] = r.sendTo(ctx, h, row, c)
	}
	for i, row := range rows {
		if problems[i] == nil && ids[i] != "" {
			problems[i] = r.await(ctx, h, row, ids[i], max(time.Until(end), time.Second))
		}
		if problems[i] != nil && row.Fleet != "" {
			problems[i] = fmt.Errorf("%s: %w", row.Name, problems[i])
		}
	}
	return errors.Join(problems...)
}

// sendTo sends a command to one loop, and returns its ID: none if no host has the loop, which is
// withdrawn.
func (r *reach) sendTo(ctx context.Context, h *place, row listing.Row, c inbox.Command) (id string, err error) {
	if waits := row.State == listing.Queued || row.State == string(fleet.Stopped); row.Item() != nil || row.View == nil && waits {
		return "", r.withdraw(ctx, h, row, c)
	}
	if err := complete(&c, row); err != nil {
		return "", err
	}
	epoch := row.Epoch
	if r.Any {
		epoch = 0
	}
	c.From, c.At = client.Sender("cli"), time.Now().UTC()
	return command.Send(ctx, h.store, row.ID, row.Host, epoch, c)
}

// complete fills in which question is answered, and refuses what cannot have an effect.
func complete(c *inbox.Command, row listing.Row) error {
	switch {
	case row.Over() && c.Kind != inbox.Answer:
		return fmt.Errorf("loop %s has ended: %s", row.Name, row.State)
	case row.View == nil || row.Host == "":
		return fmt.Errorf("loop %s is %s, and takes commands once it runs", row.Name, row.State)
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
	name := cmp.Or(row.Name, row.ID)
	if !stops(c) {
		return fmt.Errorf("%s waits in the queue, and takes commands once it runs", name)
	}
	host, err := queue.Withdraw(ctx, h.store, spec.Spec{ID: row.ID, Name: row.Name}, person())
	if err != nil {
		return err
	}
	if host != "" {
		return fmt.Errorf("host %s has just claimed %s: stop it again", host, name)
	}
	if item := row.Item(); item != nil && item.Spec.Account != "" {
		if err := queue.Settle(ctx, h.store, item.Spec.Account, item.ID, new(float64)); err != nil {
			return err
		}
	}
	if r.JSON {
		return json.NewEncoder(os.Stdout).Encode(outcome{Loop: row.ID, Outcome: "withdrawn"})
	}
	_, err = fmt.Printf("%s is withdrawn: no host runs it\n", render.Clean(name))
	return err
}

// await waits until the host has said what became of a command, and says it.
func (r *reach) await(ctx context.Context, h *place, row listing.Row, id string, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	key, c := keys.Inbox(row.ID)+id, command.Command{}
	for _, err := range h.store.Watch(ctx, key) { // a watch begins with an empty key
		if err == nil {
			var entry store.Entry
			if entry, err = h.store.Get(ctx, key); err == nil {
				err = json.Unmarshal(entry.Value, &c)
			}
		}
		if ctx.Err() != nil || c.Outcome != "" {
			break // without an outcome, it waits still
		}
		if err != nil {
			return err
		}
	}
	return r.report(row, id, c)
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
