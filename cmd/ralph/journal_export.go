package main

import (
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/logs"
	"github.com/ralph-loop/ralph/internal/verb/journaltool"
)

type journalExportVerb struct {
	cli.Placed
	Place       string `arg:"" optional:"" complete:"loop,file" name:"name-or-path" help:"A loop, a loop's folder, a copy of one, or one segment; - is stdin; without it the loop of this project."`
	JSONL       bool   `name:"jsonl" help:"The journal's own lines, one JSON object each; the default."`
	CSV         bool   `name:"csv" hidden:"" help:"Refused; names the page that makes it of JSON lines."`
	CloudEvents bool   `name:"cloudevents" hidden:"" help:"Refused; names the page that makes them of JSON lines."`
	OTLP        bool   `name:"otlp" help:"A trace of OpenTelemetry. What is new goes to the collector of the settings; with --to or -o, all of it goes there."`
	To          string `placeholder:"URL" help:"With --otlp: send all of it to this collector, such as http://localhost:4318."`
	Content     bool   `help:"With --otlp: also what was said, called and returned."`
	Output      string `short:"o" placeholder:"FILE" help:"Write a new file; without it, or with -, stdout."`
	Force       bool   `help:"Replace the file of -o if it exists."`
}

// Help shows examples.
func (journalExportVerb) Help() string {
	return cli.Examples(
		"ralph journal export demo -o demo.jsonl",
		"ralph journal export demo --otlp --to http://localhost:4318",
		"ralph journal export demo --otlp -o trace.json",
	)
}

// Run writes all events, also of a loop that runs: those that exist now.
func (v *journalExportVerb) Run(e *cli.Env) error {
	switch {
	case v.CSV || v.CloudEvents:
		return cli.Refuse("docs/guide/export.md makes them of JSON lines, with jq", "CSV and CloudEvents are no formats of this command")
	case v.OTLP && v.JSONL:
		return cli.Refuse("choose one of them", "--jsonl and --otlp are different formats")
	case v.OTLP:
		return journaltool.ExportOTLP(e, v.Place, journaltool.OTLPOptions{To: v.To, Content: v.Content, Output: v.Output, Force: v.Force})
	case v.To != "" || v.Content:
		return cli.Refuse("add --otlp", "--to and --content are about a trace")
	}
	return logs.Export(e, v.Place, v.Output, v.Force)
}
