package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/ralph-loop/ralph/pool/listing"
	"github.com/ralph-loop/ralph/render"
)

type listCommand struct {
	JSON  bool `help:"Print an array of objects."`
	Watch bool `short:"w" help:"With --json: print a line for each loop, and again when it has changed, until you end it."`
}

// Help says what it is for.
func (listCommand) Help() string {
	return `It shows the loops of all hosts as their mirrors last said, and what waits in the queue, with what for. Loops that need a person are first.

Examples:
  ralph pool list
  ralph pool list --json
  ralph pool list --json --watch`
}

// Run lists.
func (c *listCommand) Run(ctx context.Context) error {
	h, err := here(ctx)
	if err != nil {
		return err
	}
	defer h.Close()
	switch {
	case c.Watch && !c.JSON:
		return errors.New("--watch prints lines for programs: say --json as well; 'ralph list --watch' draws on a terminal")
	case c.Watch:
		lines := json.NewEncoder(os.Stdout)
		return listing.Follow(ctx, h.store, h.host, func(c listing.Change) error { return lines.Encode(c) })
	}
	rows, err := listing.Read(ctx, h.store)
	if err == nil {
		rows, err = listing.Fleets(ctx, h.store, rows)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(rows)
	}
	if len(rows) == 0 {
		say("the pool has no loops: 'ralph pool submit' begins one")
		return nil
	}
	return printRows(rows)
}

// printRows prints a table, and under a row what a person has to know of it.
func printRows(all []listing.Row) error {
	var rows []listing.Row
	for _, r := range all {
		rows = append(rows, r)
		for _, part := range r.Parts {
			part.Name = "  " + part.Name
			rows = append(rows, part)
		}
	}
	var table bytes.Buffer
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "NAME\tSTATE\tHOST\tEPOCH\tITERATION\tCOST\tID\n")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
			orDash(r.Name), orDash(r.State), orDash(r.Host), number(r.Epoch), iterations(r), cost(r.Cost), render.Clean(r.ID))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for i, line := range strings.SplitAfter(table.String(), "\n") {
		if i > 0 && i <= len(rows) && rows[i-1].Why != "" {
			line += "  " + render.Clean(rows[i-1].Why) + "\n"
		}
		if _, err := os.Stdout.WriteString(line); err != nil {
			return err
		}
	}
	return nil
}

// orDash makes what another host wrote safe to print.
func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return render.Clean(text)
}

func number(n uint64) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

func iterations(r listing.Row) string {
	switch {
	case r.Iteration == 0:
		return "-"
	case r.MaximumIterations == 0:
		return fmt.Sprint(r.Iteration)
	}
	return fmt.Sprintf("%d/%d", r.Iteration, r.MaximumIterations)
}

func cost(dollars *float64) string {
	if dollars == nil {
		return "-"
	}
	return fmt.Sprintf("$%.2f", *dollars)
}
