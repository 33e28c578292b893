package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
)

// ralphFolder is the project's folder of loops and settings.
const ralphFolder = ".ralph"

// A search is the way up from a folder to its project: docs/decisions/0035-which-project.md.
type search struct {
	cwd       string
	userHome  string // the home folder, which is never reached from below
	ralphHome string // ralph's own home, which is no project's
	// own reports whether a folder is nobody else's: of those that are not, none is entered on the way up.
	own func(path string) bool
}

// project returns the folder whose .ralph is meant, and the .ralph that would have been meant if it were not somebody else's.
//
// It is the nearest folder with a .ralph, from the current one up to the root of the work tree; where there is none, the root
// of the work tree, and outside version control the current folder.
func (s search) project() (project, foreign string) {
	for at := s.cwd; ; at = filepath.Dir(at) {
		folder := filepath.Join(at, ralphFolder)
		there := exists(folder) && (at == s.cwd || folder != s.ralphHome)
		switch {
		case at == s.cwd && there: // who stands there has chosen it
			return at, ""
		case at == s.cwd:
		case at == s.userHome:
			return s.cwd, ""
		case there && !(s.own(at) && s.own(folder)):
			return s.cwd, folder
		case !s.own(at):
			return s.cwd, ""
		case there:
			return at, ""
		}
		if exists(filepath.Join(at, ".git")) {
			return at, ""
		}
		if at == filepath.Dir(at) {
			return s.cwd, ""
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// locate finds out which project is meant where nobody says.
func (e *env) locate() {
	s := search{cwd: e.cwd, userHome: withoutLinks(e.variable("HOME")), ralphHome: withoutLinks(e.home)}
	s.own = func(path string) bool { return ownFolder(path, s.userHome) }
	e.project, e.foreign = s.project()
}

// withoutLinks returns a path as the current folder's is: two ways to a folder are not two folders. One that is not there
// stays as it is.
func withoutLinks(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// root returns the folder of the project: its .ralph has the settings and the loops, and its guardrails run there.
func (e *env) root() string {
	if e.project == "" {
		return e.cwd
	}
	return e.project
}

// workDir returns the folder that the agent of a new loop works in: the current one, within the project.
func (e *env) workDir() string {
	if within(e.root(), e.cwd) {
		return e.cwd
	}
	return e.root()
}

// workDirOf returns the folder that the agent of a loop worked in before, which it works in again. Where that is gone it is the
// project's; of a project that was moved, it is the one at the same place.
func (e *env) workDirOf(before standing) string {
	life := before.state.Life
	if inside, err := filepath.Rel(filepath.Dir(filepath.Dir(life.Dir)), life.Project); err == nil && filepath.IsLocal(inside) {
		path := filepath.Join(e.root(), inside)
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return path
		}
	}
	return e.root()
}

// tellForeign says that there are settings around the current folder which do not count.
func (e *env) tellForeign() {
	if e.foreign != "" {
		what, hint := e.aboutForeign()
		tell(e.stderr, "%s", what)
		tell(e.stderr, "hint: %s", hint)
	}
}

func (e *env) aboutForeign() (what, hint string) {
	return e.foreign + " is not used: the folder is another user's, or anybody may write there",
		"if it is right, say --project " + asTyped([]string{filepath.Dir(e.foreign)})
}

// settings merges all layers of settings of this project, of which flags are the last, for an agent that works in a folder.
func (e *env) settings(flags map[string]string, workDir string) (config.Loaded, error) {
	loaded, err := config.Load(config.Source{HomeDir: e.home, ProjectDir: e.root(), Env: e.environ, Flags: flags})
	if err != nil || (e.root() == workDir && workDir == e.cwd) {
		return loaded, err
	}
	// A program that is named by its path stands where the settings say it does, wherever its loop was started.
	if loaded.Origins["agent.command"].Layer != config.LayerFlags {
		loaded.Settings.Agent.Command = rooted(loaded.Settings.Agent.Command, e.root())
	}
	if loaded.Origins["agents"].Layer != config.LayerFlags {
		for i, agent := range loaded.Settings.Agents {
			loaded.Settings.Agents[i].Command = rooted(agent.Command, e.root())
		}
	}
	return loaded, nil
}

// rooted makes the path of a command's program an absolute one, where it is a path: one that is looked for on PATH stays as it is.
func rooted(command, folder string) string {
	argv, err := config.Agent{Command: command}.Argv()
	if err != nil || len(argv) == 0 || filepath.IsAbs(argv[0]) || !strings.ContainsRune(filepath.ToSlash(argv[0]), '/') {
		return command // what is wrong with it is told where it is used
	}
	argv[0] = filepath.Join(folder, argv[0])
	if len(argv) == 1 && !strings.ContainsAny(argv[0], " \t\n") {
		return argv[0]
	}
	return asTyped(argv)
}

// placed is for a verb that is about a project or one of its loops.
type placed struct {
	Project string `placeholder:"DIR" help:"The project: a folder, whose .ralph counts; without it the nearest one from here upwards."`
}

// place tells which project is meant. The verb's own Run comes after it.
func (p placed) place(e *env) error {
	if p.Project == "" {
		return nil
	}
	path := withoutLinks(e.abs(p.Project))
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return refuse("name the folder that holds "+ralphFolder, "--project: there is no folder %s", p.Project)
	}
	e.project, e.foreign, e.chosen = path, "", true
	return nil
}
