//go:build !ralph_core

package main

import (
	"io"
	"strings"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/web"
	"github.com/ralph-loop/ralph/internal/verb/review"
)

type webVerb struct {
	Port      int    `placeholder:"N" help:"The port; without it the usual one, or another if that is taken."`
	Listen    string `placeholder:"ADDRESS" help:"Let other machines connect to this IP address; without it only this machine can. Nothing is encrypted."`
	PublicURL string `name:"public-url" placeholder:"URL" help:"How browsers reach a port that is forwarded to this server, such as https://mill.example.org."`
	Open      bool   `help:"Open the page in the browser."`
	ReadOnly  bool   `help:"Take no commands; print only the read-only link."`
	NewLinks  bool   `help:"Replace all links; old links and sessions stop working."`
}

// Help shows examples.
func (webVerb) Help() string {
	return cli.Examples(
		"ralph web --open",
		"ralph web --read-only",
		"ralph web --port 4800 --public-url https://mill.example.org",
	)
}

// Run serves pages until ctrl-c. The loops do not notice.
func (v *webVerb) Run(e *cli.Env) error {
	f := web.Flags{Sources: elsewhere(e), Port: v.Port, Listen: v.Listen, Public: v.PublicURL, Open: v.Open, ReadOnly: v.ReadOnly, NewLinks: v.NewLinks}
	_, isAgent, err := callingAgent(e)
	if err != nil {
		return err
	}
	if !isAgent { // an agent must not approve its own work
		silent := *e
		silent.Stdin, silent.Stderr = strings.NewReader(""), io.Discard
		f.Reviews = review.New(&silent)
	}
	return web.Run(e, f)
}
