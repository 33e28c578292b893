package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/registry"
)

// Env is the world as a verb sees it.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Home           string // ralph's own home
	Cwd            string
	Project        string // whose .ralph is meant; "" for the current folder
	chosen         bool   // the project was named: use no other
	asked          string // the name of the loop that was looked for last; "" if it had none
	SkippedFolder  string // a .ralph around the current folder that does not count
	Environ        []string
	Now            func() time.Time
	// ShowCommit returns a commit of a project as text, which need not be clean; nil if none can be
	// read.
	ShowCommit func(ctx context.Context, project, commit string) (string, error)
	// Agent says that the agent of a loop calls, perhaps at a terminal that it made. No question of
	// trust is asked.
	Agent bool
	// Untrusted says that no program in this project may be run.
	Untrusted bool
}

// NewEnv returns the environment of this process, with the project of its current folder.
func NewEnv() (*Env, error) {
	home, err := registry.Home(os.Getenv)
	if err != nil {
		return nil, Refuse("set RALPH_HOME to a folder that is yours alone", "%w", err)
	}
	cwd, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the current folder: %w", err)
	}
	// A sandbox hides folders, and not the links that lead to them.
	home, cwd = WithoutLinks(home), WithoutLinks(cwd)
	e := &Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Home: home, Cwd: cwd, Environ: os.Environ(), Now: time.Now,
	}
	e.locate()
	return e, nil
}

// At returns the environment of a verb that is called in another folder.
func (e *Env) At(folder string) *Env {
	at := *e
	at.Cwd, at.Project, at.chosen, at.asked, at.SkippedFolder = WithoutLinks(folder), "", false, "", ""
	at.locate()
	return &at
}

// Starter starts and resumes loops by running this program in the current folder, for a server or a
// screen: no person is asked, and the loop is no descendant of this process. What is said besides
// goes to stderr.
func (e *Env) Starter() (client.Start, error) {
	self, err := os.Executable()
	if err != nil {
		return client.Start{}, fmt.Errorf("find ralph's own program: %w", err)
	}
	environ := e.Environ
	if home, err := registry.Home(e.Variable); err != nil || home != e.Home {
		environ = append(slices.Clone(environ), "RALPH_HOME="+e.Home)
	}
	return client.Start{Program: self, Project: e.Cwd, Env: environ, Notes: e.Stderr}, nil
}

// Variable returns a variable of the environment.
func (e *Env) Variable(name string) string {
	for i := len(e.Environ) - 1; i >= 0; i-- {
		if key, value, _ := strings.Cut(e.Environ[i], "="); key == name {
			return value
		}
	}
	return ""
}

// Short returns a path as a person in the current folder would write it.
func (e *Env) Short(path string) string {
	if rel, err := filepath.Rel(e.Cwd, path); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return path
}

// Abs returns a path as an absolute one; a relative path begins in the current folder.
func (e *Env) Abs(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(e.Cwd, path)
}
