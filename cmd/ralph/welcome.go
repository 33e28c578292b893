package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/listing"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/verb/preflight"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

// overview is what 'ralph' alone shows. On a terminal it is the board of all loops of this machine,
// or what to do next if there are none. Elsewhere it prints the loops of this project; if there are
// none, the loops that run on this machine, and what to do next.
func overview(e *cli.Env) error {
	if features.board != nil && e.Drawable() && e.StdinIsTerminal() && e.Variable("CI") == "" { // in CI, no person leaves the board
		_ = e.Adopt() // without a board, the list reports it
		all, err := registry.Survey(e.Home, nil)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(all, func(s registry.Status) bool { return !s.Gone }) {
			return features.board(e, boardOptions{})
		}
	}
	here, err := listing.Find(e, listing.Options{})
	if err != nil {
		return err
	}
	if len(here) > 0 {
		if _, err := e.Stdout.Write(listing.Table(e, here, false)); err != nil {
			return err
		}
		cli.Tell(e.Stderr, "'ralph attach' shows one, 'ralph help' the verbs")
		return nil
	}
	running, err := listing.Find(e, listing.Options{All: true, Running: true})
	if err != nil {
		return err
	}
	page := ""
	if len(running) > 0 {
		page = "Running on this machine:\n\n" + string(listing.Table(e, running, true)) + "\n"
	}
	_, err = fmt.Fprint(e.Stdout, page+welcome(firstAgent(), e.RenderOptions().Width))
	return err
}

// firstAgent returns the first agent that is installed, for examples; claude if none is.
func firstAgent() string {
	if here := preflight.Installed(); len(here) > 0 {
		return here[0]
	}
	return config.KnownAgents()[0].Program
}

// welcome returns the page for a project without a loop, in lines of so many columns; 0 means any.
func welcome(agent string, width int) string {
	steps := [][2]string{
		{"ralph doctor", "see which agents are here, and what works"},
		{"ralph init", "write the settings of this project"},
		{"ralph start -a " + agent + " -p 'TASK'", "start a loop; ctrl-d leaves it running"},
	}
	left := 0
	for _, step := range steps {
		left = max(left, render.Columns(step[0]))
	}
	var b strings.Builder
	paragraph := func(text string) {
		b.WriteString(strings.Join(cli.Wrapped(text, cmp.Or(width, 80)), "\n") + "\n")
	}
	paragraph("ralph runs a coding agent again and again, each time with a fresh context, until the work is proved done.")
	b.WriteString("\n")
	paragraph("There is no loop here yet. Three steps to the first:")
	b.WriteString("\n")
	for i, step := range steps {
		row := fmt.Sprintf("%d. %-*s  %s", i+1, left, step[0], step[1])
		if width > 0 && render.Columns(row) > width {
			const margin = "     "
			row = fmt.Sprintf("%d. %s\n%s%s", i+1, step[0], margin, strings.Join(cli.Wrapped(step[1], width-len(margin)), "\n"+margin))
		}
		b.WriteString(row + "\n")
	}
	b.WriteString("\n")
	paragraph("'ralph help' shows all verbs, 'ralph help start' one of them.")
	return b.String()
}
