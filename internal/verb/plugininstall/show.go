package plugininstall

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/render"
)

// A Status is what is known about the plugin in one agent.
type Status struct {
	Agent     string      `json:"agent"`
	Program   bool        `json:"program"` // is on PATH
	Version   string      `json:"version"` // that this ralph would install
	Folder    string      `json:"folder"`  // of the files
	Current   bool        `json:"current"` // they are those of this ralph
	Installed []Installed `json:"installed"`
	Elsewhere string      `json:"elsewhere,omitempty"` // where the agent has a plugin of ralph's name from, if not from the folder
	Problem   string      `json:"problem,omitempty"`   // the agent could not be asked
}

// Show prints where the plugin is installed.
func Show(e *cli.Env, asJSON bool) error {
	all := make([]Status, 0, len(agents))
	for _, a := range agents {
		files, version, err := a.content()
		if err != nil {
			return err
		}
		f := folder{path: folderOf(e, a), files: files}
		s := Status{Agent: a.name, Program: a.present(), Version: version, Folder: f.path, Installed: []Installed{}}
		write, remove, err := f.difference()
		s.Current = err == nil && len(write)+len(remove) == 0
		if s.Program {
			installed, err := a.installed(e)
			s.Installed = append(s.Installed, installed...)
			if err == nil && !s.upToDate() {
				s.Elsewhere, err = a.elsewhere(e)
			}
			if err != nil {
				s.Problem = err.Error()
			}
		}
		all = append(all, s)
	}
	if asJSON {
		return cli.PrintJSON(e.Stdout, all, "")
	}
	for _, s := range all {
		if err := s.print(e); err != nil {
			return err
		}
	}
	return nil
}

// upToDate reports whether the plugin is installed as this ralph writes it.
func (s Status) upToDate() bool {
	return s.Current && len(s.Installed) > 0 && !slices.ContainsFunc(s.Installed, func(i Installed) bool { return i.Version != s.Version })
}

func (s Status) print(e *cli.Env) error {
	line := func(text string) error {
		text = strings.ReplaceAll(cli.Clean(text), "\n", "\n        ")
		_, err := fmt.Fprintf(e.Stdout, "%-7s %s\n", s.Agent, text)
		return err
	}
	switch {
	case !s.Program:
		return line("is not on PATH")
	case s.Problem != "":
		return line(s.Problem)
	case len(s.Installed) == 0 && s.Elsewhere != "":
		return line("ralph's own plugin is not installed; there is one from " + e.Short(s.Elsewhere))
	case len(s.Installed) == 0:
		return line("the plugin is not installed: 'ralph plugin install " + s.Agent + "'")
	}
	for _, i := range s.Installed {
		if err := line(s.describe(e, i)); err != nil {
			return err
		}
	}
	return nil
}

func (s Status) describe(e *cli.Env, i Installed) string {
	text := render.Clean(i.Version)
	if text == "" {
		text = "unknown version"
	}
	if i.Scope == scopeUser {
		text += ", for all projects"
	} else {
		text += ", for the project " + render.Clean(e.Short(i.Project))
	}
	// An agent reports a plugin of another project as disabled.
	if !i.Enabled && i.Scope == scopeUser {
		text += ", disabled"
	}
	switch {
	case s.Elsewhere != "":
		text += ", from " + render.Clean(e.Short(s.Elsewhere)) + ", not ralph's own"
	case !s.Current && (i.Version == "" || i.Version == s.Version):
		text += "; its files are missing or changed: 'ralph plugin install " + s.Agent + "' writes them again"
	case !s.Current || i.Version != s.Version:
		text += "; this ralph has " + s.Version + ": 'ralph plugin install " + s.Agent + "' updates it"
	}
	return text
}

// Outdated names the agents for which ralph's home has the plugin of another ralph, or a damaged
// one. It reads files only, and asks no agent.
func Outdated(e *cli.Env) (names []string, err error) {
	for _, a := range agents {
		files, _, err := a.content()
		if err != nil {
			return nil, err
		}
		f := folder{path: folderOf(e, a), files: files}
		if _, err := os.Lstat(f.path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if write, remove, err := f.difference(); err != nil || len(write)+len(remove) > 0 {
			names = append(names, a.name)
		}
	}
	return names, nil
}
