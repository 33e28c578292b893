package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/internal/ground/config"
)

// RalphFolder is the project's folder of loops and settings.
const RalphFolder = client.Folder

// A search is the way up from a folder to its project: docs/decisions/0035-which-project.md.
type search struct {
	cwd       string
	userHome  string // the home folder, which is never reached from below
	ralphHome string // ralph's own home, which is no project's
	// own reports whether a folder is this user's own. The search does not go up through any other.
	own func(path string) bool
}

// project returns the project's folder. foreign is a .ralph that was skipped because it is another
// user's.
//
// The project is the nearest folder with a .ralph, from the current one up to the root of the work
// tree. Without a .ralph it is the root of the work tree, or outside version control the current
// folder.
func (s search) project() (project, foreign string) {
	for at := s.cwd; ; at = filepath.Dir(at) {
		if outer := ofWorktree(at); outer != "" && s.own(outer) {
			return outer, ""
		}
		folder := filepath.Join(at, RalphFolder)
		there := Exists(folder) && (at == s.cwd || folder != s.ralphHome)
		switch {
		case at == s.cwd && there: // a person who is in that folder has chosen it
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
		if Exists(filepath.Join(at, ".git")) {
			return at, ""
		}
		if at == filepath.Dir(at) {
			return s.cwd, ""
		}
	}
}

// ofWorktree returns the project whose loop has the worktree at a path; "" if it is none.
func ofWorktree(at string) string {
	loops := filepath.Dir(filepath.Dir(at))
	if filepath.Base(at) != "worktree" || filepath.Base(loops) != RalphFolder || !Exists(filepath.Join(at, ".git")) {
		return ""
	}
	return filepath.Dir(loops)
}

// Exists reports whether anything has this path, a link that leads nowhere included. What cannot be
// inspected does not exist.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// locate finds the project if none is named.
func (e *Env) locate() {
	s := search{cwd: e.Cwd, userHome: WithoutLinks(e.Variable("HOME")), ralphHome: WithoutLinks(e.Home)}
	s.own = func(path string) bool { return ownFolder(path, s.userHome) }
	e.Project, e.SkippedFolder = s.project()
}

// Enter makes a folder, without links in its path, the current one, with its project. The folder of
// the process stays as it is.
func (e *Env) Enter(folder string) {
	e.Cwd, e.Project, e.chosen = folder, "", false
	e.locate()
}

// WithoutLinks resolves the links in a path, as in the current folder's: two paths to a folder are
// then the same. A path that does not exist stays as it is.
func WithoutLinks(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// Root returns the folder of the project: its .ralph has the settings and the loops, and its
// guardrails run there.
func (e *Env) Root() string {
	if e.Project == "" {
		return e.Cwd
	}
	return e.Project
}

// WorkDir returns the folder that the agent of a new loop works in: the current one, within the
// project.
func (e *Env) WorkDir() string {
	if Within(e.Root(), e.Cwd) {
		return e.Cwd
	}
	return e.Root()
}

// ErrForeign is the error of a program that an agent or another user may have put in its place.
var ErrForeign = errors.New("it may not be the one that was installed")

// CheckProgram refuses a program that is in this project, where agents write, or that another user
// can replace.
func (e *Env) CheckProgram(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	for _, at := range []string{filepath.Dir(path), filepath.Dir(real), real} {
		if !safeOwner(at) {
			return fmt.Errorf("%w: %s is another user's, or anybody may write there", ErrForeign, at)
		}
	}
	root := WithoutLinks(e.Root())
	project := Exists(filepath.Join(root, ".git")) || Exists(filepath.Join(root, RalphFolder))
	// A link of an agent may lead to a shell elsewhere, for which the first word is a file here.
	in := Within(root, real) || Within(root, WithoutLinks(filepath.Dir(path)))
	if project && in && !Within(root, WithoutLinks(e.Home)) { // not the home folder
		return fmt.Errorf("%w: it is in the work tree %s, where agents write", ErrForeign, root)
	}
	return nil
}

// WarnSkippedFolder warns about settings above the current folder that do not count.
func (e *Env) WarnSkippedFolder() {
	if e.SkippedFolder != "" {
		what, hint := e.AboutSkippedFolder()
		Tell(e.Stderr, "%s", what)
		Tell(e.Stderr, "hint: %s", hint)
	}
}

// AboutSkippedFolder says why SkippedFolder is not used, and what to do if it should be.
func (e *Env) AboutSkippedFolder() (what, hint string) {
	return e.SkippedFolder + " is not used: the folder is another user's, or anybody may write there",
		"if it is right, say --project " + AsTyped([]string{filepath.Dir(e.SkippedFolder)})
}

// Settings merges all layers of settings of this project, of which flags are the last, for an agent
// that works in a folder.
func (e *Env) Settings(flags map[string]string, workDir string) (config.Loaded, error) {
	loaded, err := config.Load(config.Source{HomeDir: e.Home, ProjectDir: e.Root(), Env: e.Environ, Flags: flags})
	if err != nil || (e.Root() == workDir && workDir == e.Cwd) {
		return loaded, err
	}
	// A program's path in the settings is relative to the project, wherever its loop was started.
	s := &loaded.Settings
	for key, commands := range map[string]config.AgentNames{"agent": s.Agent, "review.agent": s.Review.Agent} {
		for i, command := range commands {
			if loaded.Origins[key].Layer != config.LayerFlags {
				commands[i] = Rooted(command, e.Root())
			}
		}
	}
	for name, agent := range s.Agents {
		if loaded.Origins["agents."+name+".command"].Layer != config.LayerFlags {
			agent.Command = Rooted(agent.Command, e.Root())
			s.Agents[name] = agent
		}
	}
	return loaded, nil
}

// Rooted makes the path of a command's program absolute. A name that is looked for on PATH stays as
// it is.
func Rooted(command, folder string) string {
	argv, err := config.Agent{Command: command}.Argv()
	if err != nil || len(argv) == 0 || filepath.IsAbs(argv[0]) || !strings.ContainsRune(filepath.ToSlash(argv[0]), '/') {
		return command // where it is used, the error is reported
	}
	argv[0] = filepath.Join(folder, argv[0])
	if len(argv) == 1 && !strings.ContainsAny(argv[0], " \t\n") {
		return argv[0]
	}
	return AsTyped(argv)
}

// RootedAgents makes the programs' paths absolute in the value of a flag that names an agent, or
// several as a list in JSON.
func RootedAgents(value, folder string) string {
	var list config.AgentNames
	if !strings.HasPrefix(value, "[") || json.Unmarshal([]byte(value), &list) != nil {
		return Rooted(value, folder)
	}
	for i, command := range list {
		list[i] = Rooted(command, folder)
	}
	text, _ := config.Text(config.Settings{Agent: list}, "agent")
	return text
}

// Placed is for a verb that is about a project or one of its loops.
type Placed struct {
	Project string `placeholder:"DIR" help:"The project: the folder that holds .ralph; without it the nearest one from here upwards."`
}

// SetProject chooses the project of --project, before the verb runs.
func (p Placed) SetProject(e *Env) error {
	if p.Project == "" {
		return nil
	}
	path := WithoutLinks(e.Abs(p.Project))
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return Refuse("name the folder that holds "+RalphFolder, "--project: there is no folder %s", p.Project)
	}
	e.Project, e.SkippedFolder, e.chosen = path, "", true
	return nil
}

// The settings of a project, as people know the files.
const (
	SettingsName = RalphFolder + "/settings.json"
	LocalName    = "settings.local.json"
)
