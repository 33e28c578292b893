//go:build !ralph_core

package main

import (
	"context"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/verb/review"
)

type reviewVerb struct {
	cli.Placed
	Name     string   `arg:"" optional:"" complete:"loop" help:"The loop; without it the one that runs here, else the latest."`
	Text     []string `arg:"" optional:"" help:"Of --send-back; - is stdin."`
	Approve  []string `placeholder:"ITEM" help:"Approve an item, by the beginning of its id."`
	SendBack string   `placeholder:"ITEM" help:"Send an item back with a text: it is in the next prompt of a loop that runs; another loop is resumed with it."`
	RollBack string   `placeholder:"FILE" help:"Put a file back to how it was before the loop, which must not run. All files are kept as they are now."`
	JSON     bool     `help:"Print the items with their states as JSON."`
}

// Help shows examples.
func (reviewVerb) Help() string {
	return cli.Examples("ralph review demo", "ralph review demo --json", "ralph review demo --approve 3f2a91c0",
		"ralph review demo --send-back 3f2a91c0 'Use a table.'", "ralph review demo --roll-back go.mod")
}

// Run lets a person go through what a loop made: survivors, what looks like gaming, files by risk.
func (v *reviewVerb) Run(e *cli.Env) error {
	return review.Run(context.Background(), e, review.Flags{
		Words: append([]string{v.Name}, v.Text...), Approve: v.Approve, SendBack: v.SendBack, RollBack: v.RollBack, JSON: v.JSON,
	})
}

// acts reports whether a person may decide something: on the screen they may.
func (v *reviewVerb) acts() bool {
	return !v.JSON || len(v.Approve) > 0 || v.SendBack != "" || v.RollBack != ""
}
