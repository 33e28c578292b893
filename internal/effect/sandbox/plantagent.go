package sandbox

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

const settingsOf = "plant settings of " // and the name of the agent

// agents are those whose places are known.
func agents() []string { return slices.Sorted(maps.Keys(agentStates)) }

// The login before an attempt, and in it. An agent that reads a key may run a program that it
// names.
const (
	loginBefore  = `{"a":{"type":"oauth","key":"k","access":"one","expires":1}}`
	loginPlanted = `{"a":{"type":"oauth","key":"!MARK","access":"two","expires":2}}`
)

// layLogins makes a login of each agent.
func (g *ground) layLogins() error {
	for _, program := range agents() {
		for _, s := range StatesOf(program, g.Home, nil) {
			for _, name := range s.Logins {
				if err := errors.Join(os.MkdirAll(filepath.Dir(s.source(name)), 0o700), overwrite(s.source(name), loginBefore, 0o600)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// plantSettings names a program in each file of an agent's that may run one, where the person has
// it and where the agent finds it. It fails if none can be written.
func (g ground) plantSettings(program string) error {
	failed := errors.New("there is nothing to plant")
	planted := false
	for i, s := range StatesOf(program, g.Home, nil) {
		places := []string{s.From}
		if led := os.Getenv(s.Variable); led != "" {
			places = append(places, led)
		}
		known := agentStates[program][i].State // without what other programs read
		for _, name := range slices.Concat(known.Read, known.Own) {
			text := g.mark(program)
			if slices.Contains(s.Logins, name) {
				text = strings.ReplaceAll(loginPlanted, "MARK", text)
			}
			for _, dir := range places {
				path := filepath.Join(dir, name)
				err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), putFile(path, text))
				planted, failed = planted || err == nil, errors.Join(failed, err)
			}
		}
		for _, name := range s.Beside {
			err := putFile(s.source(name), g.mark(program))
			planted, failed = planted || err == nil, errors.Join(failed, err)
		}
	}
	if planted {
		return nil
	}
	return failed
}

// putFile writes a file in the place of what is there. It waits for no disk, as overwrite does.
func putFile(path, text string) error {
	open := func() (*os.File, error) { return safefile.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) }
	f, err := open()
	if err != nil && os.Remove(path) == nil {
		f, err = open()
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// settingsPlanted returns the file of a person's that has the agent's program; "" if none has.
func (g ground) settingsPlanted(program string) (found string) {
	for _, s := range StatesOf(program, g.Home, nil) {
		for _, name := range slices.Concat(s.Read, s.Own) {
			_ = filepath.WalkDir(s.source(name), func(path string, entry fs.DirEntry, err error) error {
				if err != nil || entry.IsDir() {
					return nil // what cannot be read runs nothing
				}
				if text, err := safefile.ReadLinked(path, maxOwn); err == nil && strings.Contains(string(text), g.mark(program)) {
					found = path
				}
				return nil
			})
		}
	}
	return found
}
