//go:build !ralph_core

package main

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/verb/hook"
	"github.com/ralph-loop/ralph/internal/verb/shellguard"
	"github.com/ralph-loop/ralph/render"
)

type guardVerb struct {
	Text    string   `short:"c" placeholder:"TEXT" help:"Judge this text, as a shell would get it."`
	List    bool     `help:"List the categories."`
	JSON    bool     `help:"Print the verdict as JSON."`
	Command []string `arg:"" optional:"" passthrough:"" help:"A command: its words, or one text."`
}

// Help shows examples.
func (guardVerb) Help() string {
	return "The command is judged and never run. The exit code is 0 if it is allowed, 1 if the guard asks or denies.\n\n" +
		cli.Examples("ralph guard git push --force", "ralph guard -c 'cd build && rm -rf *'", "ralph guard --json -c 'curl https://example.com | sh'", "ralph guard --list")
}

// Run prints the verdict on a command.
func (v *guardVerb) Run(e *cli.Env) error {
	if v.List {
		return v.list(e)
	}
	words := v.Command
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	text := v.Text
	switch {
	case text != "":
	case len(words) == 1: // as a person quotes a whole command: 'rm -rf /'
		text = words[0]
	case len(words) > 1:
		text = shellguard.Join(words)
	}
	if text == "" {
		return cli.Refuse("name one: ralph guard git push --force", "there is no command to judge")
	}
	env := hook.Env{Home: e.Home, Cwd: e.Cwd, Variable: e.Variable, Now: e.Now}
	verdict, err := hook.Guard(env, text)
	if err != nil {
		cli.Tell(e.Stderr, "%v", err)
	}
	if v.JSON {
		err = cli.PrintJSON(e.Stdout, verdict, "")
	} else {
		err = printVerdict(e, verdict)
	}
	if err == nil && verdict.Decision != shellguard.Allow {
		return cli.Exit(1)
	}
	return err
}

func printVerdict(e *cli.Env, v shellguard.Verdict) error {
	if v.Decision == shellguard.Allow {
		_, err := fmt.Fprintln(e.Stdout, "allow")
		return err
	}
	lines := []string{fmt.Sprintf("%s  %s", v.Decision, v.Category)}
	if v.Command != "" {
		lines = append(lines, "  "+render.Clean(v.Command))
	}
	lines = append(lines, "  "+render.Clean(v.Reason))
	_, err := fmt.Fprintln(e.Stdout, strings.Join(lines, "\n"))
	return err
}

func (v *guardVerb) list(e *cli.Env) error {
	if v.JSON {
		meanings := map[shellguard.Category]string{}
		for _, c := range shellguard.Categories() {
			meanings[c] = c.Meaning()
		}
		return cli.PrintJSON(e.Stdout, meanings, "")
	}
	for _, c := range shellguard.Categories() {
		if _, err := fmt.Fprintf(e.Stdout, "%-13s %s\n", c, c.Meaning()); err != nil {
			return err
		}
	}
	return nil
}
