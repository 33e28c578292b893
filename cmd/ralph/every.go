//go:build !ralph_core

package main

import (
	"errors"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/verb/every"
	"github.com/ralph-loop/ralph/internal/verb/launch"
)

type everyVerb struct {
	Add    everyAddVerb    `cmd:"" default:"withargs" help:"Make a schedule; the word add may be left out."`
	List   everyListVerb   `cmd:"" help:"List the schedules with their next times and what became of the last run."`
	Next   everyNextVerb   `cmd:"" help:"Print the next times of an expression."`
	Run    everyRunVerb    `cmd:"" help:"Start a loop of a schedule now; the timer calls this."`
	Remove everyRemoveVerb `cmd:"" help:"Remove a schedule with its timer; its loops go on."`
}

type everyAddVerb struct {
	cli.Placed
	Expression string   `arg:"" help:"When: 'daily 03:30', 'mon-fri 01:00', hourly, '*:0/15', 'monthly 09:00', or as OnCalendar of systemd."`
	Arguments  []string `arg:"" optional:"" name:"start-arguments" help:"After --: the arguments of 'ralph start'."`
	Timezone   string   `placeholder:"ZONE" help:"The zone of the times, such as Europe/Berlin; without it that of this machine."`
	Overlap    string   `enum:"skip,queue,replace" default:"skip" help:"While the loop of the run before is alive: skip the run, queue one until that loop ends, or replace it after its iteration."`
	Name       string   `help:"The schedule's name; without one the loop's, the git branch's or the folder's."`
	Print      bool     `help:"Show the files of the timer, and make nothing."`
}

// Help shows examples.
func (everyAddVerb) Help() string {
	return cli.Examples("ralph every 'mon-fri 01:00' -- -a claude -f daily.md --worktree", "ralph every 'daily 03:30' --timezone Europe/Berlin --overlap queue --name deps -- -p 'Update the dependencies.'")
}

// Run makes a schedule.
func (v *everyAddVerb) Run(e *cli.Env) error {
	start, err := startOf(v.Arguments)
	if err != nil {
		return err
	}
	s := every.Schedule{Name: v.Name, Expression: v.Expression, Zone: v.Timezone, Overlap: every.Overlap(v.Overlap), Start: v.Arguments}
	return every.Make(e, s, start, v.Print)
}

// startOf reads the arguments of 'ralph start'.
func startOf(words []string) (*launch.Start, error) {
	args, code := cli.SettingFlags(append([]string{"start"}, words...)), -1
	parser, err := commands().Parser(args, func(n int) { code = n })
	if err != nil {
		return nil, err
	}
	parsed, err := parser.Parse(args)
	if code >= 0 {
		return nil, cli.Exit(code)
	}
	if err != nil {
		return nil, commands().Usage(parser.Model.Node, args, err)
	}
	start, ok := parsed.Selected().Target.Addr().Interface().(*startVerb)
	if !ok {
		return nil, errors.New("the arguments are not those of 'ralph start'")
	}
	return &start.Start, nil
}

type everyListVerb struct {
	JSON bool `help:"Print JSON."`
}

// Help shows examples.
func (everyListVerb) Help() string { return cli.Examples("ralph every list") }

// Run lists the schedules of this machine.
func (v *everyListVerb) Run(e *cli.Env) error { return every.List(e, v.JSON) }

type everyNextVerb struct {
	Expression string    `arg:"" help:"As for 'ralph every'."`
	Timezone   string    `placeholder:"ZONE" help:"The zone of the times."`
	After      time.Time `format:"2006-01-02T15:04:05Z07:00" placeholder:"TIME" help:"Begin after this time, such as 2026-11-28T01:00:00Z; without it now."`
	Until      time.Time `format:"2006-01-02T15:04:05Z07:00" placeholder:"TIME" help:"End at this time."`
	Number     int       `short:"n" default:"5" help:"Print at most this many."`
	JSON       bool      `help:"Print JSON."`
}

// Help shows examples.
func (everyNextVerb) Help() string {
	return cli.Examples("ralph every next 'mon-fri 01:00' --timezone Europe/Berlin")
}

// Run changes nothing.
func (v *everyNextVerb) Run(e *cli.Env) error {
	return every.Next(e, v.Expression, v.Timezone, v.After, v.Until, v.Number, v.JSON)
}

type everyRunVerb struct {
	Name  string `arg:"" complete:"schedule" help:"The schedule."`
	Timer bool   `help:"For a timer: do nothing unless a time of the schedule has come since the last run."`
	JSON  bool   `help:"Print JSON."`
}

// Help shows examples.
func (everyRunVerb) Help() string { return cli.Examples("ralph every run deps") }

// Run starts a loop, unless the one of the run before is alive.
func (v *everyRunVerb) Run(e *cli.Env) error { return every.Run(e, v.Name, v.Timer, v.JSON) }

type everyRemoveVerb struct {
	Name  string `arg:"" complete:"schedule" help:"The schedule."`
	Force bool   `help:"Remove files of the timer that were changed by hand, too."`
}

// Help shows examples.
func (everyRemoveVerb) Help() string { return cli.Examples("ralph every remove deps") }

// Run stops the timer.
func (v *everyRemoveVerb) Run(e *cli.Env) error { return every.Remove(e, v.Name, v.Force) }
