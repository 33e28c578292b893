package player

import (
	"embed"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed scenario/*.rehearsal
var embedded embed.FS

const extension = ".rehearsal"

// Scenario is what a player plays. It does not change once it is parsed.
type Scenario struct {
	Name  string
	About string // the first comment

	sections []section
	message  section // how it answers when it is asked for a commit message
}

// section is what happens in one iteration.
type section struct {
	steps   []step
	steered []step // what it does when steered
}

// purposeMessage is the purpose of a turn that only asks for a commit message.
const purposeMessage = "message"

// asked returns what is played when a turn is begun.
func (s *Scenario) asked(begin input) section {
	switch {
	case begin.Purpose != purposeMessage:
		return s.section(begin.Iteration)
	case len(s.message.steps) == 0:
		return section{steps: []step{say("<response>Play iteration {iteration} of " + s.Name + "</response>")}, steered: s.message.steered}
	}
	return s.message
}

// say returns a step that says text.
func say(text string) step { return step{kind: &kind{play: (*player).say}, text: text} }

// section returns what iteration n, from 1, plays.
func (s *Scenario) section(n int) section {
	return s.sections[min(max(n, 1), len(s.sections))-1]
}

// Summary is a line of the list of scenarios.
type Summary struct{ Name, About string }

// List returns the scenarios that are built in, by name.
func List() []Summary {
	var list []Summary
	for _, name := range builtIn() {
		s, err := Load("", name)
		if err != nil {
			panic(err) // a test loads each of them
		}
		list = append(list, Summary{Name: s.Name, About: s.About})
	}
	return list
}

// Check says why the scenario that Load would return cannot be played.
func Check(dir, name string) error {
	_, err := Load(dir, name)
	return err
}

func builtIn() []string {
	files, _ := embedded.ReadDir("scenario")
	var names []string
	for _, file := range files {
		names = append(names, strings.TrimSuffix(file.Name(), extension))
	}
	return names
}

// Load returns the scenario of that name if one is built in, else the one in the file of that path,
// which may be relative to dir. A scenario with mistakes is an error that names each of them on a
// line of its own.
func Load(dir, name string) (*Scenario, error) {
	if slices.Contains(builtIn(), name) {
		text, err := embedded.ReadFile(path.Join("scenario", name+extension))
		if err != nil {
			return nil, fmt.Errorf("read scenario %s: %w", name, err)
		}
		return Parse(name, string(text))
	}
	file := name
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read scenario (built in are %s): %w", strings.Join(builtIn(), ", "), err)
	}
	return Parse(name, string(text))
}
