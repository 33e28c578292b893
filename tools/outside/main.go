// Outside follows a loop, steers its agent once, lists all loops and rebuilds the state of this
// one. It is a module of its own whose path is not below that of ralph, so that it can import only
// ralph's public packages.
//
//	outside LOOPDIR TEXT
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: outside LOOPDIR TEXT")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Stdout, os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "outside: error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, loopDir, text string) error {
	if err := list(out); err != nil {
		return err
	}
	if err := followAndSteer(ctx, out, loopDir, text); err != nil {
		return err
	}
	return rebuild(out, loopDir)
}

// list prints each loop of this machine that the registry knows.
func list(out io.Writer) error {
	home, err := registry.Home(os.Getenv)
	if err != nil {
		return fmt.Errorf("find the registry: %w", err)
	}
	loops, err := registry.Survey(home, nil)
	if err != nil {
		return fmt.Errorf("list loops: %w", err)
	}
	for _, l := range loops {
		fmt.Fprintf(out, "listed %s, alive: %t\n", l.Name, l.Live.Alive)
	}
	return nil
}

// followAndSteer prints what the agent says until the loop has ended. When the agent uses its first
// tool it gets text.
func followAndSteer(ctx context.Context, out io.Writer, loopDir, text string) error {
	var steered string
	for e, err := range journal.Follow(ctx, loopDir, journal.FollowOptions{UntilEnded: true}) {
		if err != nil {
			return fmt.Errorf("follow %s: %w", loopDir, err)
		}
		payload, err := event.Decode(e)
		if err != nil {
			return fmt.Errorf("decode event %d: %w", e.Seq, err)
		}
		switch p := payload.(type) {
		case event.AgentSaid:
			fmt.Fprintf(out, "followed: %s\n", p.Text)
		case event.ToolCalled:
			if steered != "" {
				break
			}
			steered, err = inbox.Drop(loopDir, inbox.Command{Kind: inbox.Steer, From: "outside", Text: text})
			if err != nil {
				return fmt.Errorf("steer %s: %w", loopDir, err)
			}
		case event.CommandDelivered:
			if p.ID == steered {
				fmt.Fprintf(out, "steered: delivered %s\n", p.How)
			}
		case event.LoopEnded:
			fmt.Fprintf(out, "followed: %s by %s\n", p.Status, p.Reason)
		}
	}
	return nil
}

// rebuild prints what the journal adds up to.
func rebuild(out io.Writer, loopDir string) error {
	loop, err := projector.Rebuild(loopDir)
	if err != nil {
		return fmt.Errorf("rebuild the state of %s: %w", loopDir, err)
	}
	view := loop.View()
	fmt.Fprintf(out, "rebuilt: %s after %d iteration\n", view.Status, view.Iteration)
	fmt.Fprintf(out, "the last one: %s, %d tools\n", view.Last.Outcome, view.Last.Tools)
	return nil
}
