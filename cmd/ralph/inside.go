package main

import (
	"time"

	"github.com/ralph-loop/ralph/internal/effect/sandbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
)

// insideVerb is what ralph itself starts in a sandbox.
type insideVerb struct {
	IgnoreTerm  bool
	DefaultTerm bool
	Landlock    string
	Proxy       string
	ProxyPort   int
	Sockets     string
	Hold        string
	Escape      string
	Sleep       time.Duration
	Command     []string `arg:"" optional:"" passthrough:""`
}

// Run becomes the command, limited as the flags say.
func (v *insideVerb) Run(*cli.Env) error {
	in := sandbox.Inside{
		IgnoreTerm: v.IgnoreTerm, DefaultTerm: v.DefaultTerm, Landlock: v.Landlock, Proxy: v.Proxy, ProxyPort: v.ProxyPort,
		Sockets: v.Sockets, Hold: v.Hold, Escape: v.Escape, Sleep: v.Sleep, Command: v.Command,
	}
	if len(in.Command) > 0 && in.Command[0] == "--" {
		in.Command = in.Command[1:]
	}
	code, err := in.Run()
	if err == nil && code != 0 {
		err = cli.Exit(code)
	}
	return err
}
