package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/ralph-loop/ralph/pool/check"
	"github.com/ralph-loop/ralph/render"
)

type checkCommand struct {
	Repair bool `help:"Store again what the journals of this host have, and the pool has not."`
	JSON   bool `help:"Print what was found as JSON."`
}

// Help says what it is for.
func (checkCommand) Help() string {
	return `All of the store is read and verified: the chain of each log, its journal with the checksums of all lines, its blobs, its newest files, and the queue. Journals of this host are compared with it. If something is wrong, the exit code is 1.

Examples:
  ralph pool check
  ralph pool check --repair --json`
}

// Run reads everything.
func (c *checkCommand) Run(ctx context.Context) error {
	at, err := here(ctx)
	if err != nil {
		return err
	}
	r, err := check.Check(ctx, check.Options{Store: at.store, Host: at.host, Home: at.home, Repair: c.Repair, Say: sayText, Clock: time.Now})
	if err = errors.Join(err, at.store.Close()); err != nil {
		return err
	}
	if c.JSON {
		err = json.NewEncoder(os.Stdout).Encode(r)
	} else {
		err = printReport(os.Stdout, r)
	}
	if err == nil && !r.OK() {
		err = errors.New("something in the pool cannot be relied on: 'ralph pool check --repair' on the host that has the loop stores it again")
	}
	return err
}

func printReport(to io.Writer, r check.Report) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "LOOP\tNAME\tHOST\tEPOCH\tCHUNKS\tEVENTS\tBLOBS\tVERIFIED\tNOT SEALED\tWRONG")
	for _, l := range r.Loops {
		verified := "no"
		switch {
		case l.Verified:
			verified = "yes"
		case l.Events == 0 && len(l.Wrong) == 0: // it is only claimed or withdrawn
			verified = "-"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%d\t%d\t%s\t%d\t%d\n",
			render.Clean(l.ID), render.Clean(l.Name), render.Clean(l.Host), l.Epoch, l.Chunks, l.Events, l.Blobs, verified, l.Unsealed, len(l.Wrong))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, l := range r.Loops {
		for _, p := range l.Wrong {
			fmt.Fprintf(to, "%s: %s\n", render.Clean(l.ID), indented(p.String()))
		}
	}
	for _, p := range r.Wrong {
		fmt.Fprintln(to, indented(p.String()))
	}
	_, err := fmt.Fprintf(to, "loops: %d, specifications: %d, %.1f s\n", len(r.Loops), r.Queue, r.Seconds)
	return err
}
