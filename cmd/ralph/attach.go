package main

import (
	"github.com/ralph-loop/ralph/internal/front/attach"
	"github.com/ralph-loop/ralph/internal/front/cli"
)

type attachVerb struct {
	cli.Placed
	attach.Weak
	Name     string `arg:"" optional:"" complete:"loop" help:"The loop; without it the one that runs here."`
	Plain    bool   `xor:"view" help:"Print the loop as text, as without a terminal."`
	Inline   bool   `xor:"view" help:"Print what is finished into the scrollback, and keep some live lines below it."`
	ReadOnly bool   `help:"Only look: nothing can be typed or sent."`
	Verbose  bool   `short:"V" help:"Show prompts, decisions and notices as well."`
	Time     bool   `help:"Show the time of each entry (plain attach)."`
	Lines    uint16 `placeholder:"N" help:"Lines of tool output to show (plain attach)."`
	JSON     bool   `help:"Print the journal's lines as they are."`
}

// Help shows examples.
func (attachVerb) Help() string {
	return cli.Examples("ralph attach", "ralph attach demo --read-only", "ralph attach demo --plain --time")
}

// Run shows a loop and lets a person steer it. Any number may attach at a time.
func (v *attachVerb) Run(e *cli.Env) error {
	s, copied, err := e.FindOrCopy(v.Name)
	if here, several := e.Several(err); several && features.board != nil && v.Name == "" &&
		!(v.Plain || v.Inline || v.ReadOnly || v.JSON) && e.Drawable() && e.StdinIsTerminal() {
		return features.board(e, boardOptions{here: here, running: true}) // the person chooses
	}
	if err != nil {
		return err
	}
	return v.Exit(attachTo(e, s.Name, s.Dir, attach.Options{
		JSON: v.JSON, Verbose: v.Verbose, Time: v.Time, Lines: int(v.Lines),
		Plain: v.Plain, Inline: v.Inline, ReadOnly: v.ReadOnly || copied, Head: s.Head,
	}), s.Dir)
}
