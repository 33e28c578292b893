package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/internal/safefile"
	"github.com/ralph-loop/ralph/internal/secret"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
)

type initVerb struct{ placed }

// The settings of a project, as people know the files.
const (
	settingsName = ralphFolder + "/settings.json"
	localName    = "settings.local.json"
)

// Run asks for the settings of this project and writes them. Whatever goes wrong is exit
// code 2, and who leaves has changed nothing.
func (v *initVerb) Run(e *env) error {
	stdin, ok := e.stdin.(*os.File)
	if !ok || !e.typed() {
		return refuse("run it in a terminal, or write "+settingsName+" by hand: 'ralph doctor --schema' prints what may stand there",
			"init asks questions, and stdin is not a terminal")
	}
	asker := newAsker(stdin, e.stderr)
	defer asker.close()
	err := (&dialogue{env: e, asker: asker}).run()
	if errors.Is(err, errGone) {
		fmt.Fprintln(e.stderr, "\nralph: left; nothing is written")
		return exit(event.ExitInterrupted)
	}
	if f, ok := errors.AsType[*failure](err); err == nil || ok && f.code == event.ExitUsage {
		return err
	}
	if wrong, ok := errors.AsType[*config.Error](err); ok {
		return &failure{err: err, code: event.ExitUsage, hint: wrong.Hint()}
	}
	return &failure{err: err, code: event.ExitUsage}
}

// dialogue is one conversation about the settings of a project.
type dialogue struct {
	*env
	*asker
	found []byte   // settings.json as it stands; nil where there is none
	doc   document // settings.json as it will be
	was   asked    // what of it is asked for
}

// asked is the part of settings.json that the dialogue asks for.
type asked struct {
	MaximumIterations  int                `json:"maximumIterations"`
	CompletionResponse string             `json:"completionResponse"`
	Agent              askedAgent         `json:"agent"`
	Agents             []askedAgent       `json:"agents"`
	Guardrails         []config.Guardrail `json:"guardrails"`
	SCM                config.SCM         `json:"scm"`
}

type askedAgent struct {
	Command  string   `json:"command"`
	Flags    []string `json:"flags"`
	Protocol string   `json:"protocol"`
}

func (d *dialogue) run() error {
	if err := d.folders(); err != nil {
		return err
	}
	if d.root() != d.cwd {
		d.say("these are the settings of %s; --project . makes some for this folder alone", render.Clean(d.root()))
	}
	over, err := d.read()
	if err != nil {
		return err
	}
	if over {
		answer, err := d.confirm("Overwrite? (y/N): ")
		if err != nil {
			return err
		}
		if answer != yes {
			d.say("%s stays as it is", settingsName)
			return nil
		}
	}
	// First, so that a new file begins with them; the answers go to their places.
	defaults := config.Defaults()
	d.doc.setDefault("maximumIterations", defaults.MaximumIterations)
	d.doc.setDefault("completionResponse", defaults.CompletionResponse)
	d.doc.setDefault("outputTruncateChars", defaults.OutputTruncateChars)
	d.doc.setDefault("streamAgentOutput", defaults.StreamAgentOutput)
	for _, questions := range []func() error{d.askAgent, d.askLoop, d.askGuardrails, d.askSCM, d.askLimits} {
		if err := questions(); err != nil {
			return err
		}
	}
	text := d.doc.text()
	if err := checkDocument(text); err != nil {
		return err
	}
	if d.left() {
		return errGone
	}
	before := d.beforehand()
	if err := d.write(text); err != nil {
		return err
	}
	if err := d.farewell(); err != nil {
		return err
	}
	return d.trusts(before)
}

func (d *dialogue) path(name string) string { return filepath.Join(d.root(), ralphFolder, name) }

// folders refuses a place that cannot be written to, before anybody has answered
// anything.
func (d *dialogue) folders() error {
	for _, path := range []string{filepath.Dir(d.path("settings.json")), d.path("settings.json")} {
		if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return refuse("put the real one in its place", "%s is a symbolic link", d.short(path))
		}
	}
	if f := writableFinding("project", d.path(".")); f.State == fails {
		return refuse("ralph keeps its settings in "+ralphFolder+"/ of the project: the folder must be writable", "make the settings' folder: %s", f.Says)
	}
	return nil
}

// read takes in what there is and shows it. over says that there are settings of the
// team that would be written over. What is broken is an error, and never written over.
func (d *dialogue) read() (over bool, err error) {
	loaded, err := config.Load(config.Source{ProjectDir: d.root()})
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
	local, err := readDocument(d.path(localName))
	if err != nil {
		return false, err
	}
	d.found, d.doc = team.source, team.document
	if err := d.doc.into(&d.was); err != nil {
		return false, fmt.Errorf("read %s: %w", settingsName, err)
	}
	masker := secret.New(slices.Concat(d.environ, runner.Secrets(loaded.Settings)))
	shown, _ := masker.Mask(overlay(team.document, local.document).text())
	if _, err := d.stdout.Write(shown); err != nil {
		return false, fmt.Errorf("show the settings: %w", err)
	}
	switch {
	case team.source == nil:
		fmt.Fprintf(d.stdout, "Loaded from %s/%s\n", ralphFolder, localName)
	case local.source == nil:
		fmt.Fprintf(d.stdout, "Loaded from %s\n", settingsName)
	default:
		fmt.Fprintf(d.stdout, "Loaded from %s (with local overlay from %s)\n", settingsName, localName)
	}
	return team.source != nil, nil
}

// checkDocument holds a settings file that is about to be written to the rules of one that
// is read.
func checkDocument(text []byte) error {
	_, _, err := config.Thaw(text)
	if wrong, ok := errors.AsType[*config.Error](err); ok {
		wrong.File, wrong.Line, wrong.Column = settingsName, 0, 0 // it is in no file yet
	}
	return err
}

// write puts the settings in their place: all of them or, whatever happens, nothing.
func (d *dialogue) write(text []byte) error {
	folder := d.path(".")
	if err := d.prepareFolder(folder); err != nil {
		return err
	}
	path, mode := d.path("settings.json"), os.FileMode(0o644)
	now, err := os.ReadFile(path)
	switch {
	case err == nil && bytes.Equal(now, d.found):
		if info, err := os.Stat(path); err == nil {
			mode = info.Mode().Perm() // somebody may have had a reason
		}
	case errors.Is(err, fs.ErrNotExist) && d.found == nil:
	case err == nil || errors.Is(err, fs.ErrNotExist):
		return refuse("run 'ralph init' again", "%s was changed by somebody else meanwhile, and stays as it is", settingsName)
	default:
		return fmt.Errorf("write %s: %w", settingsName, err)
	}
	// After a loss of power there is the old text or the new one.
	if err := safefile.Replace(safefile.Dir(filepath.Dir(path)), filepath.Base(path), text, mode); err != nil {
		return fmt.Errorf("write %s: %w", settingsName, err)
	}
	return nil
}

// farewell says what was done, what stands against it, and what to do next.
func (d *dialogue) farewell() error {
	if _, err := fmt.Fprintf(d.stdout, "\nSettings written to %s\n", settingsName); err != nil {
		return err
	}
	loaded, err := config.Load(config.Source{HomeDir: d.home, ProjectDir: d.root(), Env: d.environ})
	if err != nil {
		d.say("with the settings from elsewhere they cannot be used: %v", err)
		return nil
	}
	for _, key := range []string{"agent.command", "agent.flags", "maximumIterations", "completionResponse", "guardrails", "scm.command", "scm.tasks"} {
		if from := loaded.Origins[key]; from.Layer > config.LayerProject {
			d.say("here %s comes from %s, which has precedence", key, from)
		}
	}
	d.say("'ralph doctor' shows what of it works here")
	d.say("'ralph run -p TEXT' runs a loop in the foreground, 'ralph start -p TEXT' one that goes on without this terminal")
	return nil
}

// commas spells a list for a person.
func commas(items []string) string { return strings.Join(items, ", ") }
