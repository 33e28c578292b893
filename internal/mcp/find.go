package mcp

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/cli"
	"github.com/ralph-loop/ralph/internal/units"
	"github.com/ralph-loop/ralph/registry"
)

// maxName is the longest name of a loop that is looked for, with its project, in bytes.
const maxName = 512

// view returns the environment of one call. Its Stderr is a *bytes.Buffer of its own.
func (s *Server) view() *cli.Env {
	own := *s.env
	own.Stderr, own.Stdout = new(bytes.Buffer), io.Discard
	return &own
}

// find returns the loop that a client names: by its id, as NAME or as PROJECT/NAME. Without a name
// it is the one that the verbs take. Only loops of the registry are found.
func find(e *cli.Env, name string) (registry.Status, error) {
	const hint = "ralph_list shows the loops, with what to call each"
	name = strings.TrimSpace(name)
	switch {
	case len(name) > maxName:
		return registry.Status{}, cli.Refuse(hint, "the name of the loop has more than %d bytes", maxName)
	case isPath(name):
		return registry.Status{}, cli.Refuse(hint, "%q is a path; a loop is named by its id, NAME or PROJECT/NAME", name)
	}
	if isID(name) {
		return byID(e, name)
	}
	l, err := e.Find(name)
	if err != nil {
		return l, err
	}
	if l.ID == "" {
		return l, cli.Refuse(hint, "loop %s is not in the registry of this machine", l.Name)
	}
	return cli.Refreshed(l), nil
}

// isPath reports whether a name is not NAME or PROJECT/NAME.
func isPath(name string) bool {
	return strings.HasPrefix(name, ".") || strings.ContainsAny(name, "\\\x00") || strings.Count(name, "/") > 1 ||
		strings.HasPrefix(name, "/") || filepath.IsAbs(name) || strings.Contains(name, "..")
}

const idLength = 26 // of a ULID

// isID reports whether a name is that of a loop's id: no name of a loop has capital letters.
func isID(name string) bool {
	return len(name) == idLength && strings.ToUpper(name) == name && !strings.ContainsAny(name, "/.-_")
}

func byID(e *cli.Env, id string) (registry.Status, error) {
	all, err := registry.Survey(e.Home, func(entry registry.Entry) bool { return entry.ID == id })
	if err != nil {
		return registry.Status{}, err
	}
	for _, l := range all {
		if l.ID == id && !l.Gone && l.Err == nil {
			return cli.Refreshed(l), nil
		}
	}
	return registry.Status{}, cli.Refuse("ralph_list with all shows the loops of this machine", "no loop of this machine has the id %s", id)
}

// maxError is how much of an error a client reads, in bytes.
const maxError = 4 << 10

// problem is an error as a model reads it: what, why, and the next step.
func problem(err error) error {
	var exit cli.Exit
	if errors.As(err, &exit) {
		return errors.New("it ended without a message")
	}
	text := cli.Clean(err.Error())
	if hint := hintOf(err); hint != "" {
		text += "\nnext step: " + asTools(cli.Clean(hint))
	}
	return errors.New(units.Cut(text, maxError))
}

// asTools names the tools in the place of the verbs that a person would type.
func asTools(hint string) string {
	return resumeVerb().ReplaceAllString(verbNames.Replace(hint), "ralph_start with name $1 and resume")
}

var (
	resumeVerb = units.Pattern(`'ralph start (\S+) --resume'`)
	verbNames  = strings.NewReplacer("'ralph list --all'", "ralph_list with all", "'ralph list'", "ralph_list", "'ralph start'", "ralph_start")
)

// byFolder returns the loop that has been started in a folder.
func byFolder(e *cli.Env, dir string) (registry.Status, error) {
	all, err := registry.Survey(e.Home, func(entry registry.Entry) bool { return entry.Dir == dir })
	if err != nil {
		return registry.Status{}, err
	}
	for _, l := range all {
		if l.Dir == dir && l.Err == nil {
			return cli.Refreshed(l), nil
		}
	}
	return registry.Status{}, cli.Failed("ralph_list shows the loops", "the loop in %s was started and is not in the registry", dir)
}

// hintOf returns the next step of an error; empty if it has none.
func hintOf(err error) string {
	var hinted interface{ Hint() string }
	if errors.As(err, &hinted) {
		return hinted.Hint()
	}
	return ""
}
