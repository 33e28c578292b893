package initialize

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/agent/credentials"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/redact"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/verb/launch"
	"github.com/ralph-loop/ralph/internal/verb/preflight"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
)

// Initialize asks for the settings of the project and writes them. Every error has exit code 2. A
// person who leaves has changed nothing.
func Initialize(e *cli.Env) error {
	stdin, ok := e.Stdin.(*os.File)
	if !ok || !e.StdinIsTerminal() {
		return cli.Refuse("run it in a terminal, or write "+cli.SettingsName+" by hand: 'ralph doctor --schema' prints what it may contain",
			"init asks questions, and stdin is not a terminal")
	}
	asker := cli.NewAsker(stdin, e.Stderr)
	defer asker.Close()
	err := (&questions{Env: e, Asker: asker}).run()
	if errors.Is(err, cli.ErrGone) {
		fmt.Fprintln(e.Stderr, "\nralph: left; nothing is written")
		return cli.Exit(event.ExitInterrupted)
	}
	if f, ok := errors.AsType[*cli.Failure](err); err == nil || ok && f.Code == event.ExitUsage {
		return err
	}
	if wrong, ok := errors.AsType[*config.Error](err); ok {
		return &cli.Failure{Err: err, Code: event.ExitUsage, NextStep: wrong.Hint()}
	}
	return &cli.Failure{Err: err, Code: event.ExitUsage}
}

// questions is one dialogue about the settings of a project.
type questions struct {
	*cli.Env
	*cli.Asker
	found []byte   // settings.json as it is; nil if there is none
	doc   document // settings.json as it will be
	was   answers  // the part of found that the dialogue asks for
	agent string   // the name in agents of the agent that was chosen
	boxed bool     // the person chose a sandbox
}

// answers is the part of settings.json that the dialogue asks for.
type answers struct {
	MaximumIterations  int                     `json:"maximumIterations"`
	CompletionResponse string                  `json:"completionResponse"`
	Agent              config.AgentNames       `json:"agent"`
	Agents             map[string]config.Agent `json:"agents"`
	Guardrails         []config.Guardrail      `json:"guardrails"`
	SCM                config.SCM              `json:"scm"`
}

func (d *questions) run() error {
	if err := d.folders(); err != nil {
		return err
	}
	if d.Root() != d.Cwd {
		d.Say("these are the settings of %s; --project . makes some for this folder alone", render.Clean(d.Root()))
	}
	over, err := d.read()
	if err != nil {
		return err
	}
	if over {
		answer, err := d.Confirm("Overwrite? (y/N): ")
		if err != nil {
			return err
		}
		if answer != cli.Yes {
			d.Say("%s stays as it is", cli.SettingsName)
			return nil
		}
	}
	// First, so that a new file begins with them; the answers replace them.
	defaults := config.Defaults()
	d.doc.setDefault("maximumIterations", defaults.MaximumIterations)
	d.doc.setDefault("completionResponse", defaults.CompletionResponse)
	d.doc.setDefault("outputTruncateChars", defaults.OutputTruncateChars)
	d.doc.setDefault("streamAgentOutput", defaults.StreamAgentOutput)
	for _, ask := range []func() error{d.askAgent, d.askLoop, d.askGuardrails, d.askSCM, d.askLimits} {
		if err := ask(); err != nil {
			return err
		}
	}
	text := d.doc.text()
	if err := checkDocument(text); err != nil {
		return err
	}
	if d.Left() {
		return cli.ErrGone
	}
	before := d.reviewBefore()
	if err := d.write(text); err != nil {
		return err
	}
	if err := d.printNextSteps(); err != nil {
		return err
	}
	return d.trusts(before)
}

func (d *questions) path(name string) string { return filepath.Join(d.Root(), cli.RalphFolder, name) }

// folders refuses a folder that cannot be written to, before the first question.
func (d *questions) folders() error {
	for _, path := range []string{d.path("."), d.path("settings.json")} {
		if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return cli.Refuse("put the real one in its place", "%s is a symbolic link", d.Short(path))
		}
	}
	if f := preflight.Writable("project", d.path(".")); f.State == preflight.Fails {
		return cli.Refuse("ralph keeps its settings in "+cli.RalphFolder+
			"/ of the project: the folder must be writable", "make the settings' folder: %s", f.Says)
	}
	return nil
}

// read reads the existing settings and shows them. over says that settings of the team would be
// replaced. Invalid settings are an error, and never replaced.
func (d *questions) read() (over bool, err error) {
	loaded, err := config.Load(config.Source{ProjectDir: d.Root()})
	if err != nil {
		return false, err
	}
	if len(loaded.Files) == 0 {
		return false, nil
	}
	team, err := readDocument(d.path("settings.json"))
	if err != nil {
		return false, err
	}
	local, err := readDocument(d.path(cli.LocalName))
	if err != nil {
		return false, err
	}
	d.found, d.doc = team.source, team.document
	if err := d.doc.decode(&d.was); err != nil {
		return false, fmt.Errorf("read %s: %w", cli.SettingsName, err)
	}
	masker := redact.New(slices.Concat(d.Environ, credentials.Secrets(loaded.Settings)))
	shown, _ := masker.Mask(overlay(team.document, local.document).text())
	if _, err := d.Stdout.Write(shown); err != nil {
		return false, fmt.Errorf("show the settings: %w", err)
	}
	switch {
	case team.source == nil:
		fmt.Fprintf(d.Stdout, "Loaded from %s/%s\n", cli.RalphFolder, cli.LocalName)
	case local.source == nil:
		fmt.Fprintf(d.Stdout, "Loaded from %s\n", cli.SettingsName)
	default:
		fmt.Fprintf(d.Stdout, "Loaded from %s (with local overlay from %s)\n", cli.SettingsName, cli.LocalName)
	}
	return team.source != nil, nil
}

// checkDocument checks a settings file that is about to be written.
func checkDocument(text []byte) error {
	_, _, err := config.Thaw(text)
	if wrong, ok := errors.AsType[*config.Error](err); ok {
		wrong.File, wrong.Line, wrong.Column = cli.SettingsName, 0, 0 // it is in no file yet
	}
	return err
}

// write writes all settings or, if it fails, nothing.
func (d *questions) write(text []byte) error {
	if err := launch.PrepareFolder(d.path(".")); err != nil {
		return err
	}
	path, mode := d.path("settings.json"), os.FileMode(0o644)
	now, err := safefile.ReadLinked(path, config.MaxFile)
	switch {
	case err == nil && bytes.Equal(now, d.found):
		if info, err := os.Stat(path); err == nil {
			mode = info.Mode().Perm() // it may have been chosen
		}
	case errors.Is(err, fs.ErrNotExist) && d.found == nil:
	case err == nil || errors.Is(err, fs.ErrNotExist):
		return cli.Refuse("run 'ralph init' again", "%s was changed by another program meanwhile, and stays as it is", cli.SettingsName)
	default:
		return fmt.Errorf("write %s: %w", cli.SettingsName, err)
	}
	// After a loss of power there is the old text or the new one.
	if err := safefile.WriteFile(path, text, mode); err != nil {
		return fmt.Errorf("write %s: %w", cli.SettingsName, err)
	}
	return nil
}

// printNextSteps prints what was written, which settings override it, and what to do next.
func (d *questions) printNextSteps() error {
	if _, err := fmt.Fprintf(d.Stdout, "\nSettings written to %s\n", cli.SettingsName); err != nil {
		return err
	}
	loaded, err := config.Load(config.Source{HomeDir: d.Home, ProjectDir: d.Root(), Env: d.Environ})
	if err != nil {
		d.Say("with the settings from elsewhere they cannot be used: %v", err)
		return nil
	}
	for _, key := range []string{"agent", "agents." + d.agent + ".flags", "maximumIterations", "completionResponse", "guardrails", "scm.command", "scm.tasks"} {
		if from := loaded.Origins[key]; from.Layer > config.LayerProject {
			d.Say("here %s comes from %s, which has precedence", key, from)
		}
	}
	d.Say("'ralph doctor' shows what works here")
	d.Say("'ralph run -p TEXT' runs a loop in the foreground, 'ralph start -p TEXT' one that goes on without this terminal")
	return nil
}
