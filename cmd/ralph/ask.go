package main

import (
	"strings"
	"time"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/send"
)

type askVerb struct {
	cli.Placed
	Choice []string      `short:"c" sep:"none" placeholder:"ANSWER" help:"An answer that you expect; repeat it for each. A person may answer otherwise."`
	Blocks bool          `help:"The work counts as done only after an answer."`
	Wait   time.Duration `default:"3s" help:"How long to wait for the loop to take it."`
	JSON   bool          `help:"Print the outcome as JSON."`
	Text   []string      `arg:"" help:"The question; - reads it from stdin."`
}

// Help shows examples.
func (askVerb) Help() string {
	return cli.Examples(
		"ralph ask 'Postgres or SQLite?' --choice postgres --choice sqlite",
		"ralph ask --blocks 'Which licence shall the package have?'",
	)
}

func (v *askVerb) Run(e *cli.Env) error {
	question := inbox.Command{Text: strings.TrimSpace(send.Text(e, v.Text)), Choices: v.Choice, Blocks: v.Blocks}
	return send.Ask(e, question, v.Wait, v.JSON)
}
