//go:build !ralph_core

package main

import (
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/conformance"
)

// journalFeatures are the parts of the verb that the core does not link.
type journalFeatures struct {
	Conformance journalConformanceVerb `cmd:"" help:"Score a program of yours that reads the files, on the corpus of the format."`
}

type journalConformanceVerb struct {
	Dump    string        `placeholder:"DIR" help:"Write the corpus to this new folder, and run nothing."`
	Only    string        `placeholder:"PREFIX" help:"Only cases whose names begin with this, such as accept/."`
	Limit   time.Duration `default:"10s" help:"How long the program may take for one case."`
	JSON    bool          `help:"Print JSON."`
	Command []string      `arg:"" optional:"" passthrough:"" help:"The program, after --; it gets the kind and the folder of a case as last arguments."`
}

// Help shows examples.
func (journalConformanceVerb) Help() string {
	return "docs/reference/format.md has the requirements, and what the program has to print. The exit code is 1 if an answer is wrong.\n\n" +
		cli.Examples("ralph journal conformance -- python3 contrib/python/ralph_reader.py",
			"ralph journal conformance --dump corpus", "ralph journal conformance --only must-reject/ --json -- ./reader")
}

// Run scores the program, or writes the corpus.
func (v *journalConformanceVerb) Run(e *cli.Env) error {
	words := v.Command
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	const hint = "ralph journal conformance -- ./reader, or --dump DIR"
	switch {
	case v.Dump != "" && len(words) > 0:
		return cli.Refuse(hint, "--dump runs nothing, not %.80q either", words[0])
	case v.Dump != "":
		return conformance.Dump(e, v.Dump)
	case len(words) == 0 || words[0] == "":
		return cli.Refuse(hint, "conformance needs a program to score")
	case v.Limit <= 0:
		return cli.Refuse("such as --limit 10s", "--limit %s is no time in which a program can answer", v.Limit)
	}
	return conformance.Score(e, conformance.Options{Command: words, Only: v.Only, Limit: v.Limit, JSON: v.JSON})
}
