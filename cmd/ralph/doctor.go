package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/internal/secret"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

type doctorVerb struct {
	placed
	JSON   bool `help:"Say it as JSON."`
	Schema bool `help:"Print the JSON schema of settings.json, for editors."`
}

// settingsSchema is what package internal/config/schema makes of the settings: a test holds
// them equal, and 'make docs' writes the file. The package itself is not linked, since its library
// takes as long to initialise as all of 'ralph version'.
//
//go:embed settings.schema.json
var settingsSchema []byte

// diagnosis is what doctor found.
type diagnosis struct {
	Ralph    about           `json:"ralph"`
	Agents   []foundAgent    `json:"agents"`
	Missing  []string        `json:"missing"` // agents that are known and not installed
	Checks   []finding       `json:"checks"`
	Settings settingsFinding `json:"settings"`
}

// finding is the answer to one question.
type finding struct {
	What  string `json:"what"`
	State state  `json:"state"`
	Says  string `json:"says"`
	Hint  string `json:"hint,omitempty"`
}

// state of a finding. Only what keeps loops from running here is fails.
type state string

const (
	works state = "ok"
	warns state = "warn"
	fails state = "fail"
)

// Run asks everything at once and prints it in one order. The exit code is 2 if
// anything fails.
func (v *doctorVerb) Run(e *env) error {
	if v.Schema {
		_, err := e.stdout.Write(settingsSchema)
		return err
	}
	d := examine(e)
	if v.JSON {
		if err := printJSON(e.stdout, d, "  "); err != nil {
			return err
		}
	} else if err := d.print(e.stdout, e.look().Width); err != nil {
		return err
	}
	if d.failed() {
		return exit(event.ExitUsage)
	}
	return nil
}

func examine(e *env) diagnosis {
	d := diagnosis{Ralph: aboutRalph()}
	settings, candidates := examineSettings(e)
	d.Settings = settings
	checks := []func() finding{
		func() finding { return gitFinding(e) },
		func() finding { return nodeFinding(e) },
		func() finding { return dockerFinding(e) },
		landlockFinding,
		func() finding { return writableFinding("home", e.home) },
		func() finding { return writableFinding("project", filepath.Join(e.root(), ralphFolder)) },
		func() finding { return spaceFinding(e.root()) },
		watchFinding,
		func() finding { return loopsFinding(e) },
	}
	if e.foreign != "" {
		what, hint := e.aboutForeign()
		checks = append(checks, func() finding { return finding{"project", warns, what, hint} })
	}
	d.Checks = make([]finding, len(checks))
	var all sync.WaitGroup
	for i, check := range checks {
		all.Go(func() { d.Checks[i] = check() })
	}
	d.Agents, d.Missing = findAgents(e)
	all.Wait()
	masker := secret.New(slices.Concat(e.environ, runner.AgentSecrets(candidates)))
	for _, a := range candidates {
		f := candidateFinding(e, a, slices.ContainsFunc(candidates, present), settings.asks(e))
		says, _ := masker.Mask([]byte(f.Says))
		f.Says = string(says)
		d.Checks = append(d.Checks, f)
	}
	return d
}

func (d diagnosis) failed() bool {
	for _, f := range d.Checks {
		if f.State == fails {
			return true
		}
	}
	return d.Settings.Problem != ""
}

// print writes the diagnosis for a person, in lines of so many columns; 0 for any. Settings and names of
// files are foreign text: a project is looked at before it is trusted.
func (d diagnosis) print(to io.Writer, width int) error {
	var page bytes.Buffer
	w := tabwriter.NewWriter(&page, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "ralph %s (%s, %s/%s)\n", d.Ralph.Version, d.Ralph.Go, d.Ralph.OS, d.Ralph.Arch)
	fmt.Fprintln(w, "\nagents")
	d.printAgents(w)
	fmt.Fprintln(w, "\nmachine")
	for _, f := range d.Checks {
		fmt.Fprintf(w, "  %s\t%s\t%s\n", f.State, f.What, render.Clean(f.Says))
		if f.Hint != "" {
			fmt.Fprintf(w, "  \t\thint: %s\n", render.Clean(f.Hint))
		}
	}
	fmt.Fprintln(w, "\nsettings")
	d.Settings.print(w)
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := to.Write(hung(page.Bytes(), width))
	return err
}

func (d diagnosis) printAgents(w io.Writer) {
	for _, a := range d.Agents {
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\n", a.Name, render.Clean(a.Version), a.Protocol, a.can(), render.Clean(a.Path))
	}
	headed := false
	for _, a := range d.Agents {
		if len(a.Argv) == 0 {
			continue
		}
		if !headed {
			fmt.Fprintln(w, "  a loop starts them with these arguments; agent.flags replaces any of them")
			headed = true
		}
		fmt.Fprintf(w, "    %s\n", render.Clean(asTyped(slices.Concat(a.Env, a.Argv))))
		if a.May != "" {
			fmt.Fprintf(w, "      may do: %s\n", render.Clean(a.May))
		}
		if a.keysSays != "" {
			fmt.Fprintf(w, "      %s\n", render.Clean(a.keysSays))
		}
		if a.Notice != "" {
			fmt.Fprintf(w, "      %s\n", render.Clean(a.Notice))
		}
	}
	if len(d.Agents) == 0 {
		fmt.Fprintln(w, "  none of those ralph knows; any program can be one, with agent.command and --protocol text")
	}
	if len(d.Missing) > 0 {
		fmt.Fprintf(w, "  not on PATH: %s\n", strings.Join(d.Missing, " "))
	}
}

// hung breaks lines that are too long between words, and hangs the rest below their beginning.
func hung(page []byte, width int) []byte {
	if width <= 0 {
		return page
	}
	const hang = 4
	var out []byte
	for line := range strings.Lines(string(page)) {
		line = strings.TrimRight(line, "\n")
		words := strings.TrimLeft(line, " ")
		margin := len(line) - len(words)
		if margin > width/2 { // a hint below the last column
			margin = width / 8
		}
		if render.Columns(line) <= width {
			out = append(append(out, line...), '\n')
			continue
		}
		for i, row := range wrapped(words, width-margin-hang) {
			blanks := margin
			if i > 0 {
				blanks += hang
			}
			out = append(append(append(out, strings.Repeat(" ", blanks)...), row...), '\n')
		}
	}
	return out
}

// writableFinding tries to make a file where a folder is or will be, and leaves
// nothing behind.
func writableFinding(what, folder string) finding {
	f := finding{What: what, State: works, Says: folder}
	at := folder
	for {
		info, err := os.Stat(at)
		if err == nil && !info.IsDir() {
			return finding{what, fails, at + " is not a folder", "move it away, or set RALPH_HOME"}
		}
		if err == nil {
			break
		}
		if parent := filepath.Dir(at); parent != at {
			at = parent
			continue
		}
		return finding{what, fails, err.Error(), ""}
	}
	probe, err := os.CreateTemp(at, ".ralph-doctor-*")
	if err != nil {
		return finding{what, fails, err.Error(), "ralph writes there: make it writable"}
	}
	probe.Close()
	os.Remove(probe.Name())
	if at != folder {
		f.Says += " (will be made)"
	}
	return f
}

// loopsFinding looks for loops whose runner died.
func loopsFinding(e *env) finding {
	all, err := registry.Survey(e.home, nil)
	if err != nil {
		return finding{"loops", fails, err.Error(), "the registry is in " + registry.Folder(e.home)}
	}
	var live, died, broken int
	f := finding{What: "loops", State: works}
	for _, s := range all {
		switch {
		case s.Err != nil:
			broken++
			f.State, f.Hint = warns, fmt.Sprintf("cannot read %s: %v", filepath.Join(registry.Folder(e.home), s.File), s.Err)
		case s.Live.Alive:
			live++
		case s.Died:
			died++
			f.State, f.Hint = warns, fmt.Sprintf("'ralph start %s --resume' in %s goes on", s.Name, s.Project)
		}
	}
	f.Says = fmt.Sprintf("%d known, %d running, %d left by a runner that died", len(all)-broken, live, died)
	return f
}

const (
	gibibyte    = 1 << 30
	spaceWarns  = gibibyte
	spaceFails  = 64 << 20
	watchesLeft = 128 // the kernel's default for instances of one user
)

// spaceFinding looks at the disk that the journals of this project are on.
func spaceFinding(dir string) finding {
	free, err := freeSpace(dir)
	switch {
	case err != nil:
		return finding{"disk", warns, "free space is not known: " + err.Error(), ""}
	case free < spaceFails:
		return finding{"disk", fails, fmt.Sprintf("%d MiB free", free>>20), "a loop ends when its journal cannot be written"}
	case free < spaceWarns:
		return finding{"disk", warns, fmt.Sprintf("%d MiB free", free>>20), "a loop ends when its journal cannot be written"}
	}
	return finding{"disk", works, fmt.Sprintf("%.1f GiB free", float64(free)/gibibyte), ""}
}

// watchFinding is about file events, by which attach and the inbox learn at once
// what is new. Without them everything works, a little later.
func watchFinding() finding {
	instances, watches, ok := watchLimits()
	switch {
	case !ok:
		return finding{"file events", works, "by the system of " + runtime.GOOS, ""}
	case instances < watchesLeft:
		return finding{"file events", warns, fmt.Sprintf("%d inotify instances, %d watches for each user", instances, watches),
			"every loop and every attach takes one; beyond that they look once a second: raise fs.inotify.max_user_instances"}
	}
	return finding{"file events", works, fmt.Sprintf("%d inotify instances, %d watches for each user", instances, watches), ""}
}
