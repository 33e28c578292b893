package doctor

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
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
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/internal/verb/plugininstall"
	"github.com/ralph-loop/ralph/internal/verb/preflight"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

type finding = preflight.Finding

// Report is what doctor found.
type Report struct {
	Ralph    cli.About       `json:"ralph"`
	Agents   []foundAgent    `json:"agents"`
	Missing  []string        `json:"missing"` // agents that are known and not installed
	Checks   []finding       `json:"checks"`
	Settings settingsFinding `json:"settings"`
}

// Examine examines the machine and the settings of the project.
func Examine(e *cli.Env) Report {
	d := Report{Ralph: cli.AboutRalph()}
	settings, loaded := examineSettings(e)
	d.Settings = settings
	checks := []func() finding{
		func() finding {
			return programFinding(e, preflight.New("git", preflight.Warns, "not on PATH", "loops run without it; progress is then not seen in commits"))
		},
		func() finding {
			return programFinding(e, preflight.New("node", preflight.Works, "not on PATH; agents that come with npm need it", ""))
		},
		func() finding { return preflight.Writable("home", e.Home) },
		func() finding { return preflight.Writable("project", filepath.Join(e.Root(), cli.RalphFolder)) },
		func() finding { return spaceFinding(e.Root()) },
		watchFinding,
		func() finding { return loopsFinding(e) },
	}
	if e.SkippedFolder != "" {
		what, hint := e.AboutSkippedFolder()
		checks = append(checks, func() finding { return preflight.New("project", preflight.Warns, what, hint) })
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
	if len(loaded.Candidates()) > 0 {
		d.Checks = append(d.Checks, startFindings(e, loaded, settings.asks(e))...)
	}
	return d
}

// startFindings says of each agent whether it can be started, and what else a start would be
// refused for or print.
func startFindings(e *cli.Env, settings config.Settings, ask runner.Ask) (found []finding) {
	masker := redact.New(slices.Concat(e.Environ, credentials.Secrets(settings)))
	add := func(f finding) {
		says, _ := masker.Mask([]byte(f.Says))
		f.Says = string(says)
		if !slices.ContainsFunc(found, func(had finding) bool { return had.Says == f.Says }) {
			found = append(found, f)
		}
	}
	for _, of := range []struct {
		what   string
		agents []config.Agent
	}{{"agent", settings.Candidates()}, {"reviewer", settings.Reviewers()}} {
		for _, a := range of.agents {
			add(preflight.Program(e, of.what, a, slices.ContainsFunc(of.agents, preflight.Present), ask))
		}
	}
	for _, f := range (preflight.Loop{Settings: settings, WorkDir: e.WorkDir(), Branch: e.Root(), Ask: ask}).Examine(e) {
		add(f)
	}
	return found
}

// Failed reports whether loops cannot run here.
func (d Report) Failed() bool {
	return d.Settings.Problem != "" || slices.ContainsFunc(d.Checks, func(f finding) bool { return f.State == preflight.Fails })
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

// loopsFinding counts the loops of this machine, and those whose runner died.
func loopsFinding(e *cli.Env) finding {
	all, err := registry.Survey(e.Home, nil)
	if err != nil {
		return preflight.New("loops", preflight.Fails, err.Error(), "the registry is in "+registry.Folder(e.Home))
	}
	var live, died, broken int
	f := finding{What: "loops", State: preflight.Works}
	for _, s := range all {
		switch {
		case s.Err != nil:
			broken++
			f.State, f.Hint = preflight.Warns, fmt.Sprintf("cannot read %s: %v", filepath.Join(registry.Folder(e.Home), s.File), s.Err)
		case s.Live.Alive:
			live++
		case s.Died:
			died++
			f.State, f.Hint = preflight.Warns, fmt.Sprintf("'ralph start %s --resume' in %s resumes it", s.Name, s.Project)
		}
	}
	f.Says = fmt.Sprintf("%d known, %d running, %d left by a runner that died", len(all)-broken, live, died)
	return f
}

// pluginFinding names the agents that have the plugin of another ralph.
func pluginFinding(old []string, err error) finding {
	if err != nil {
		return preflight.New("plugin", preflight.Warns, err.Error(), "")
	}
	return preflight.New("plugin", preflight.Warns, "not that of this ralph: "+strings.Join(old, ", "), "'ralph plugin install "+old[0]+"' updates it")
}

const (
	gibibyte   = 1 << 30
	minSpace   = 64 << 20
	minWatches = 128 // the kernel's default for instances of one user
)

// spaceFinding reports the free space for the journals of this project.
func spaceFinding(dir string) finding {
	free, err := freeSpace(dir)
	f := preflight.New("disk", preflight.Works, fmt.Sprintf("%.1f GiB free", float64(free)/gibibyte), "")
	switch {
	case err != nil:
		return preflight.New("disk", preflight.Warns, "free space is not known: "+err.Error(), "")
	case free < gibibyte:
		f = preflight.New("disk", preflight.Warns, fmt.Sprintf("%d MiB free", free>>20), "a loop ends when its journal cannot be written")
	}
	if free < minSpace {
		f.State = preflight.Fails
	}
	return f
}

// watchFinding reports the limits on file events, which notify attach and the inbox of changes at
// once. Without them everything works, a little later.
func watchFinding() finding {
	instances, watches, ok := watchLimits()
	if !ok {
		return preflight.New("file events", preflight.Works, "by the system of "+runtime.GOOS, "")
	}
	f := preflight.New("file events", preflight.Works, fmt.Sprintf("%d inotify instances, %d watches for each user", instances, watches), "")
	if instances < minWatches {
		f.State, f.Hint = preflight.Warns, "every loop and every attach takes one; beyond that they look once a second: raise fs.inotify.max_user_instances"
	}
	return f
}
