package main

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"github.com/ralph-loop/ralph/pool/project"
	"github.com/ralph-loop/ralph/pool/schedule"
	"github.com/ralph-loop/ralph/pool/spec"
	"github.com/ralph-loop/ralph/render"
)

type everyCommand struct {
	List   everyListCommand   `cmd:"" default:"withargs" help:"Show the schedules of the pool, and what became of the last run."`
	Remove everyRemoveCommand `cmd:"" help:"Remove a schedule; its loops go on."`
}

type everyListCommand struct {
	JSON bool `help:"Print an array of objects."`
}

// Help says what it is for.
func (everyListCommand) Help() string {
	return `It shows what 'ralph pool submit --every' made. The worker that looks first when a time has come submits the loop.

Examples:
  ralph pool every
  ralph pool every list --json`
}

// A row is a schedule as it is listed.
type row struct {
	schedule.Schedule
	Name  string      `json:"name"`
	Next  []time.Time `json:"next"`
	Error string      `json:"error,omitempty"` // why it fires nothing: no other member is to be relied on
}

// Run lists.
func (c *everyListCommand) Run(ctx context.Context) error {
	h, err := here(ctx)
	if err != nil {
		return err
	}
	defer h.Close()
	all, err := schedule.List(ctx, h.store)
	if err != nil {
		return err
	}
	rows := []row{}
	for _, s := range all {
		r := row{Schedule: s, Name: s.Name(), Next: []time.Time{}}
		problem := s.Damaged
		if problem == nil {
			r.Next, problem = schedule.Next(ctx, *s.Spec.Every, time.Now(), 3)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if problem != nil {
			r.Error = problem.Error()
		}
		rows = append(rows, r)
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(rows)
	}
	if len(rows) == 0 {
		say("the pool has no schedules: 'ralph pool submit --every' makes one")
		return nil
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "NAME\tEVERY\tOVERLAP\tNEXT\tLAST\n")
	for _, r := range rows {
		if r.Error != "" {
			fmt.Fprintf(w, "%s\t-\t-\tnever\t%s\n", render.Clean(r.Name), "damaged: "+render.Clean(r.Error))
			continue
		}
		next, last := "never", "-"
		if len(r.Next) > 0 {
			next = moment(r.Next[0], r.Next[0].Local())
		}
		if len(r.Runs) > 0 {
			last = text(r.Runs[len(r.Runs)-1])
		}
		every := r.Spec.Every
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", orDash(every.Schedule), render.Clean(every.Expression+" "+every.Zone), orDash(every.Overlap), next, last)
	}
	return w.Flush()
}

// moment spells a time in the zone of the person and, where that is another one, of the schedule.
func moment(there, here time.Time) string {
	const form = "Mon 2006-01-02 15:04"
	if there.Format(form) == here.Format(form) {
		return here.Format(form)
	}
	return here.Format(form) + there.Format(" (15:04 -0700)")
}

// text says what became of a run.
func text(r schedule.Run) string {
	said := r.Due.Local().Format("Mon 2006-01-02 15:04") + ": " + render.Clean(r.Outcome)
	switch {
	case r.Outcome == schedule.Skipped && r.Before != "":
		said += ", because loop " + render.Clean(r.Before) + " was not over"
	case r.ID != "":
		said += " " + render.Clean(r.ID)
	}
	switch {
	case r.Uncounted():
		said += fmt.Sprintf(", %d or more missed before", r.Missed)
	case r.Missed > 0:
		said += fmt.Sprintf(", %d missed before", r.Missed)
	}
	return said
}

type everyRemoveCommand struct {
	Name string `arg:"" help:"The schedule."`
}

// Help says what it is for.
func (everyRemoveCommand) Help() string {
	return `No worker submits its loop any more. What is in the queue or runs goes on.

Examples:
  ralph pool every remove deps`
}

// Run removes it for all hosts.
func (c *everyRemoveCommand) Run(ctx context.Context) error {
	h, err := here(ctx)
	if err != nil {
		return err
	}
	defer h.Close()
	if err := schedule.Remove(ctx, h.store, c.Name, person()); err != nil {
		return err
	}
	_, err = fmt.Printf("%s is removed; its loops go on\n", c.Name)
	return err
}

// schedule makes a schedule of one task.
func (c *submitCommand) schedule(ctx context.Context, h *place, common spec.Spec, tasks []project.Task, key ed25519.PrivateKey) error {
	if len(tasks) != 1 {
		return fmt.Errorf("--every is for one loop, and there are %d tasks: make a schedule of each", len(tasks))
	}
	if len(common.Needs) > 0 {
		return errors.New("--every and --needs are both given: leave one of them out, since another loop completes only once")
	}
	sp := specOf(common, tasks[0])
	every := spec.Every{Schedule: sp.Name, Expression: c.Every, Zone: c.Timezone, Overlap: c.Overlap}
	next, err := schedule.Next(ctx, every, time.Now(), 1)
	if err == nil && len(next) == 0 {
		err = fmt.Errorf("%q is never due", c.Every)
	}
	if err == nil {
		err = schedule.Make(ctx, h.store, sp, every, key)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		sp.Every = &every
		return json.NewEncoder(os.Stdout).Encode([]spec.Spec{sp})
	}
	_, err = fmt.Printf("%s: next at %s\n", sp.Name, moment(next[0], next[0].Local()))
	return err
}
