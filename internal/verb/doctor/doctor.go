package doctor

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

	"github.com/ralph-loop/ralph/internal/agent/credentials"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/redact"
	"github.com/ralph-loop/ralph/internal/verb/plugininstall"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

// Report is what doctor found.
type Report struct {
	Ralph    cli.About       `json:"ralph"`
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

// state of a finding. It is Fails only if loops cannot run here.
type state string

const (
	Works state = "ok"
	warns state = "warn"
	Fails state = "fail"
)

// Examine examines the machine and the settings of the project.
func Examine(e *cli.Env) Report {
	d := Report{Ralph: cli.AboutRalph()}
	settings, loaded := examineSettings(e)
	d.Settings = settings
	checks := []func() finding{
		func() finding {
			return programFinding(e, finding{"git", warns, "not on PATH", "loops run without it; progress is then not seen in commits"})
		},
		func() finding {
			return programFinding(e, finding{"node", Works, "not on PATH; agents that come with npm need it", ""})
		},
		func() finding { return WritableFinding("home", e.Home) },
		func() finding { return WritableFinding("project", filepath.Join(e.Root(), cli.RalphFolder)) },
		func() finding { return spaceFinding(e.Root()) },
		watchFinding,
		func() finding { return loopsFinding(e) },
	}
	if e.SkippedFolder != "" {
		what, hint := e.AboutSkippedFolder()
		checks = append(checks, func() finding { return finding{"project", warns, what, hint} })
	}
	if old, err := plugininstall.Outdated(e); err != nil || len(old) > 0 {
		checks = append(checks, func() finding { return pluginFinding(old, err) })
	}
	d.Checks = make([]finding, len(checks))
	var all sync.WaitGroup
	for i, check := range checks {
		all.Go(func() { d.Checks[i] = check() })
	}
	d.Agents, d.Missing = findAgents(e)
	all.Wait()
	masker := redact.New(slices.Concat(e.Environ, credentials.Secrets(loaded)))
	add := func(what string, agents []config.Agent) {
		for _, a := range agents {
			f := agentFinding(e, what, a, slices.ContainsFunc(agents, Present), settings.asks(e))
			says, _ := masker.Mask([]byte(f.Says))
			f.Says = string(says)
			d.Checks = append(d.Checks, f)
		}
	}
	add("agent", loaded.Candidates())
	add(reviewer, loaded.Reviewers())
	return d
}

// Failed reports whether loops cannot run here.
func (d Report) Failed() bool {
	return d.Settings.Problem != "" || slices.ContainsFunc(d.Checks, func(f finding) bool { return f.State == Fails })
}

// Print prints the report in lines of so many columns; 0 for any. Settings and names of files are
// cleaned: the project may be untrusted.
func (d Report) Print(to io.Writer, width int) error {
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
	_, err := to.Write(wrapped(page.Bytes(), width))
	return err
}

func (d Report) printAgents(w io.Writer) {
	for _, a := range d.Agents {
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\n", a.Name, render.Clean(a.Version), a.Protocol, a.can(), render.Clean(a.Path))
	}
	headed := false
	for _, a := range d.Agents {
		if len(a.Argv) == 0 {
			continue
		}
		if !headed {
			fmt.Fprintln(w, "  a loop starts them with these arguments; agents.NAME.flags replaces any of them")
			headed = true
		}
		fmt.Fprintf(w, "    %s\n", render.Clean(cli.AsTyped(slices.Concat(a.Env, a.Argv))))
		may := a.May
		if may != "" {
			may = "may do: " + may
		}
		for _, line := range []string{a.LoginMissing, a.ShellNotice, may, a.keyMessage, a.Notice} {
			if line != "" {
				fmt.Fprintf(w, "      %s\n", render.Clean(line))
			}
		}
	}
	if len(d.Agents) == 0 {
		fmt.Fprintln(w, "  none of those ralph knows; any program can be one, with --agent COMMAND --protocol text")
	}
	if len(d.Missing) > 0 {
		fmt.Fprintf(w, "  not on PATH: %s\n", strings.Join(d.Missing, " "))
	}
}

// wrapped wraps long lines between words, and indents the rest below their beginning.
func wrapped(page []byte, width int) []byte {
	if width <= 0 {
		return page
	}
	const hang = 4
	var out strings.Builder
	for line := range strings.Lines(string(page)) {
		line = strings.TrimRight(line, "\n")
		words := strings.TrimLeft(line, " ")
		margin := len(line) - len(words)
		if margin > width/2 { // a hint below the last column
			margin = width / 8
		}
		if render.Columns(line) <= width {
			fmt.Fprintln(&out, line)
			continue
		}
		for i, row := range cli.Wrapped(words, width-margin-hang) {
			fmt.Fprintln(&out, strings.Repeat(" ", margin+min(i, 1)*hang)+row)
		}
	}
	return []byte(out.String())
}

// WritableFinding makes a temporary file in a folder, or where it will be made, and removes it.
func WritableFinding(what, folder string) finding {
	at := folder
	info, err := os.Stat(at)
	for err != nil && filepath.Dir(at) != at {
		at = filepath.Dir(at)
		info, err = os.Stat(at)
	}
	if err != nil {
		return finding{what, Fails, err.Error(), ""}
	}
	if !info.IsDir() {
		return finding{what, Fails, at + " is not a folder", "move it away, or set RALPH_HOME"}
	}
	probe, err := os.CreateTemp(at, ".ralph-doctor-*")
	if err != nil {
		return finding{what, Fails, err.Error(), "ralph writes there: make it writable"}
	}
	probe.Close()
	os.Remove(probe.Name())
	if at != folder {
		folder += " (will be made)"
	}
	return finding{what, Works, folder, ""}
}

// loopsFinding counts the loops of this machine, and those whose runner died.
func loopsFinding(e *cli.Env) finding {
	all, err := registry.Survey(e.Home, nil)
	if err != nil {
		return finding{"loops", Fails, err.Error(), "the registry is in " + registry.Folder(e.Home)}
	}
	var live, died, broken int
	f := finding{What: "loops", State: Works}
	for _, s := range all {
		switch {
		case s.Err != nil:
			broken++
			f.State, f.Hint = warns, fmt.Sprintf("cannot read %s: %v", filepath.Join(registry.Folder(e.Home), s.File), s.Err)
		case s.Live.Alive:
			live++
		case s.Died:
			died++
			f.State, f.Hint = warns, fmt.Sprintf("'ralph start %s --resume' in %s resumes it", s.Name, s.Project)
		}
	}
	f.Says = fmt.Sprintf("%d known, %d running, %d left by a runner that died", len(all)-broken, live, died)
	return f
}

// pluginFinding names the agents that have the plugin of another ralph.
func pluginFinding(old []string, err error) finding {
	if err != nil {
		return finding{"plugin", warns, err.Error(), ""}
	}
	return finding{"plugin", warns, "not that of this ralph: " + strings.Join(old, ", "), "'ralph plugin install " + old[0] + "' updates it"}
}

const (
	gibibyte   = 1 << 30
	minSpace   = 64 << 20
	minWatches = 128 // the kernel's default for instances of one user
)

// spaceFinding reports the free space for the journals of this project.
func spaceFinding(dir string) finding {
	free, err := freeSpace(dir)
	f := finding{"disk", Works, fmt.Sprintf("%.1f GiB free", float64(free)/gibibyte), ""}
	switch {
	case err != nil:
		return finding{"disk", warns, "free space is not known: " + err.Error(), ""}
	case free < gibibyte:
		f = finding{"disk", warns, fmt.Sprintf("%d MiB free", free>>20), "a loop ends when its journal cannot be written"}
	}
	if free < minSpace {
		f.State = Fails
	}
	return f
}

// watchFinding reports the limits on file events, which notify attach and the inbox of changes at
// once. Without them everything works, a little later.
func watchFinding() finding {
	instances, watches, ok := watchLimits()
	if !ok {
		return finding{"file events", Works, "by the system of " + runtime.GOOS, ""}
	}
	f := finding{"file events", Works, fmt.Sprintf("%d inotify instances, %d watches for each user", instances, watches), ""}
	if instances < minWatches {
		f.State, f.Hint = warns, "every loop and every attach takes one; beyond that they look once a second: raise fs.inotify.max_user_instances"
	}
	return f
}
