package main

import (
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/verb/journaltool"
)

type journalVerb struct {
	Verify  journalVerifyVerb  `cmd:"" help:"Check checksums and cross-references of a journal."`
	Repair  journalRepairVerb  `cmd:"" help:"Cut off a last line that was never finished, and keep its bytes."`
	Rebuild journalRebuildVerb `cmd:"" help:"Compute state.json and iterations/ again from the journal."`

	Export journalExportVerb `cmd:"" help:"Write the events for other programs: JSON lines or a trace."`

	Redecode journalRedecodeVerb `cmd:"" help:"Decode the agent's own lines again, and show which give other events today."`

	journalFeatures
}

// journalPlace names a journal.
type journalPlace struct {
	cli.Placed
	Place string `arg:"" optional:"" complete:"loop,file" name:"name-or-path" help:"A loop, a loop's folder, a copy of one, or for verify one segment; without it the loop of this project."`
	JSON  bool   `help:"Print JSON."`
}

type journalVerifyVerb struct {
	journalPlace
	Against string `placeholder:"HASH" help:"Prove that it is the journal whose hash this is, as reported when it ended or when it was verified before."`
}

// Help shows examples.
func (journalVerifyVerb) Help() string { return cli.Examples("ralph journal verify demo") }

// Run reads the complete journal, of a running loop as well. Damage is exit code 3.
func (v *journalVerifyVerb) Run(e *cli.Env) error {
	return journaltool.Verify(e, v.Place, v.Against, v.JSON)
}

type journalRepairVerb struct{ journalPlace }

// Help shows examples.
func (journalRepairVerb) Help() string { return cli.Examples("ralph journal repair demo") }

// Run does what the next start would do by itself.
func (v *journalRepairVerb) Run(e *cli.Env) error { return journaltool.Repair(e, v.Place, v.JSON) }

type journalRebuildVerb struct {
	journalPlace
	Check bool `help:"Write nothing; compare the files with what the journal says."`
}

// Help shows examples.
func (journalRebuildVerb) Help() string {
	return cli.Examples("ralph journal rebuild demo --check")
}

// Run folds all events that the journal still has.
func (v *journalRebuildVerb) Run(e *cli.Env) error {
	if v.Check {
		return journaltool.CheckProjections(e, v.Place, v.JSON)
	}
	return journaltool.Rebuild(e, v.Place, v.JSON)
}

type journalRedecodeVerb struct {
	journalPlace
	All bool `help:"Also show the lines that give the same events as before."`
}

// Help shows examples.
func (journalRedecodeVerb) Help() string {
	return cli.Examples(
		"ralph journal redecode demo",
		"ralph journal redecode demo --json --all",
	)
}

// Run decodes the agents' own lines again, with today's dialects.
func (v *journalRedecodeVerb) Run(e *cli.Env) error {
	return journaltool.Redecode(e, v.Place, v.All, v.JSON)
}
