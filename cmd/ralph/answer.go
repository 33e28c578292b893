package main

import (
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/send"
)

type answerVerb struct {
	send.Flags
	Words []string `arg:"" optional:"" complete:"loop,question" name:"number-and-text" help:"The number of the question, and the answer; - reads it from stdin. A loop's name before them chooses that loop. Without them: list the open questions."`
}

// Help shows examples.
func (answerVerb) Help() string {
	return cli.Examples(
		"ralph answer",
		"ralph answer 1 postgres",
		"ralph answer demo 2 'Neither: use the files.'",
	)
}

func (v *answerVerb) Run(e *cli.Env) error { return v.Answer(e, v.Words) }
