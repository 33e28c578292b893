//go:build !ralph_core

package main

import (
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/reporting"
	"github.com/ralph-loop/ralph/internal/verb/review"
)

type reportVerb struct {
	cli.Placed
	Name      string `arg:"" optional:"" complete:"loop,file" help:"The loop, or a copy of its folder; without it the one that runs here, else the latest."`
	All       bool   `short:"A" help:"All loops of this machine: what needs you, what works, what ended, and what it cost."`
	Since     string `placeholder:"TIME" help:"With --all: only what happened since: yesterday (the default), today, 2026-11-21, 01:30, 12h or 7d."`
	Iteration string `short:"i" placeholder:"N" help:"Show these iterations in full, and the others as a summary: 3, 2..4 or 5.."`
	Output    string `short:"o" placeholder:"FILE" help:"Write a new file; - is stdout. Without it stdout, or on a terminal a page with a name that is printed."`
	Force     bool   `help:"Replace the file of -o if it exists."`
	Markdown  bool   `help:"Print Markdown, without the conversation."`
	JUnit     bool   `name:"junit" help:"Print JUnit XML for CI: a case for the loop, each iteration, guardrail and claim."`
	JSON      bool   `help:"Print an object with all numbers."`

	Provenance bool `help:"Print an in-toto statement of where the result comes from: commit, agents, models, guardrails and hashes of the journal."`
}

// Help shows examples.
func (reportVerb) Help() string {
	return cli.Examples(
		"ralph report",
		"ralph report demo -o demo.html",
		"ralph report demo --markdown",
		"ralph report demo --junit -o demo.xml",
		"ralph report demo --provenance -o demo.intoto.json",
		"ralph report --all --since yesterday",
	)
}

// Run writes one page that says what a loop came to, or all loops.
func (v *reportVerb) Run(e *cli.Env) error {
	return reporting.Report(e, reporting.Options{
		Name: v.Name, Iterations: v.Iteration, All: v.All, Since: v.Since,
		Markdown: v.Markdown, JUnit: v.JUnit, JSON: v.JSON, Provenance: v.Provenance, Output: v.Output, Force: v.Force,
		List: review.New(e).List,
	})
}
