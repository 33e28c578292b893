package mcp

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

const (
	// maxName is the longest name of a loop that is looked for, with its project, in bytes.
	maxName = 512
	// maxWord is the longest of the other short arguments, in bytes.
	maxWord = 1000
)

// checkWord refuses what is too long for an argument that is no text.
func checkWord(argument, word string) error {
	if len(word) > maxWord {
		return cli.Refuse("the description of the tool says what it takes", "%s has more than %s", argument, units.Bytes(maxWord))
	}
	return nil
}

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
	if strings.Contains(name, ":") {
		return registry.Status{}, cli.Refuse("ralph_status, ralph_steer, ralph_answer and ralph_stop take it; a person reads the rest there, or with 'ralph logs "+name+"' where ssh reaches that machine",
			"%s is on another machine", short(name))
	}
	l, err := e.Find(name)
	if _, ok := errors.AsType[*registry.NameError](err); ok {
		return l, cli.Refuse(hint, "%w", err)
	}
	if err != nil {
		return l, err
	}
	if l.ID == "" {
		return l, cli.Refuse(hint, "loop %s is not in the registry of this machine", l.Name)
	}
	return projector.Brief(l).Found, nil
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
		switch {
		case l.ID != id || l.Err != nil:
		case l.Gone:
			return l, cli.Refuse("a person puts it back, or removes the loop with 'ralph clean'", "the folder of loop %s is gone", l.Name)
		default:
			return projector.Brief(l).Found, nil
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
	text := asTools(cli.Clean(err.Error()))
	if hint := hintOf(err); hint != "" {
		text += "\nnext step: " + asTools(cli.Clean(hint))
	}
	return errors.New(units.Cut(text, maxError))
}

// asTools names the tools in the place of the verbs that a person would type.
func asTools(hint string) string {
	for _, r := range asTool {
		hint = r.verb().ReplaceAllString(hint, r.tool)
	}
	return hint
}

var asTool = []struct {
	verb func() *regexp.Regexp
	tool string
}{
	{units.Pattern(`'ralph list --all'`), "ralph_list with all"},
	{units.Pattern(`'ralph (list|start)'`), "ralph_$1"},
	{units.Pattern(`'ralph start (\S+) --resume --set maximumIterations=…'`), "ralph_start with name $1, resume and a higher maxIterations"},
	{units.Pattern(`'ralph start (\S+) --resume --set limits.cost=…'`), "ralph_start with name $1, resume and a higher maxCost"},
	{units.Pattern(`'ralph start (\S+) --resume --set limits.duration=…'`), "ralph_start with name $1, resume and a longer maxDuration"},
	{units.Pattern(`'ralph start (\S+) --resume'`), "ralph_start with name $1 and resume"},
	{units.Pattern(`--fresh archives it first`), "another name begins another loop"},
	{units.Pattern(`'ralph (?:attach|status) ([^\s']+)'`), "ralph_status with loop $1"},
	{units.Pattern(`'ralph answer \S+ (\d+) TEXT'`), "ralph_answer with number $1"},
	{units.Pattern(`'ralph resume \S+' continues it`), "ralph_steer sends the answer"},
	{units.Pattern(`'ralph answer ([^\s']+)'`), "ralph_status with loop $1"},
	{units.Pattern(`'ralph (stop|report) ([^\s']+)'`), "ralph_$1 with loop $2"},
	{units.Pattern(`or ask for it with --allow-shared-worktree`), "or ask a person"},
	{units.Pattern(`give one with --agent`), "name one in agent"},
	{units.Pattern(`^command line: limits.duration: `), "maxDuration: "},
}

// byFolder returns the loop that has been started in a folder.
func byFolder(e *cli.Env, dir string) (registry.Status, error) {
	all, err := registry.Survey(e.Home, func(entry registry.Entry) bool { return entry.Dir == dir })
	if err != nil {
		return registry.Status{}, err
	}
	for _, l := range all {
		if l.Dir == dir && l.Err == nil {
			return projector.Brief(l).Found, nil
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
