package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/repo"
	"github.com/ralph-loop/ralph/registry"
)

// Which loop is meant is decided here, for every verb: docs/decisions/0035-which-project.md.

// loopDir returns the folder of a loop of this project.
func (e *env) loopDir(name string) (string, error) {
	if err := registry.CheckName(name); err != nil {
		return "", err
	}
	return filepath.Join(e.root(), ralphFolder, name), nil
}

// defaultName is what a loop is called when nobody says: the slug of the git branch, else of the project's folder, and also where the
// branch is called as in every project.
func (e *env) defaultName() string {
	switch branch := repo.Branch(context.Background(), e.cwd); branch {
	case "", "main", "master":
		return registry.SlugName(filepath.Base(e.root()))
	default:
		return registry.SlugName(branch)
	}
}

// find returns the loop that a verb is about. It is called by its name, by its project's and its own with a slash between, or by the
// path of its folder. Without any: the one live loop of this project, else its latest, else the only live one on this machine.
func (e *env) find(name string) (registry.Status, error) {
	e.asked = name
	switch {
	case name == "":
		return e.latest()
	case isPath(name):
		return e.at(name)
	case qualified(name):
		return e.qualified(name)
	}
	return e.named(name)
}

// called is what to type here for the loop that find found last.
func (e *env) called(s registry.Status) string {
	switch {
	case e.chosen:
		return s.Name + " --project " + asTyped([]string{e.short(e.root())})
	case e.asked != "":
		return asTyped([]string{e.asked})
	}
	return s.Name
}

// isPath reports whether a word can only be a path.
func isPath(word string) bool {
	word = filepath.ToSlash(word)
	return filepath.IsAbs(word) || word == "." || word == ".." || strings.HasPrefix(word, "./") || strings.HasPrefix(word, "../")
}

// qualified reports whether a name says which project is meant.
func qualified(name string) bool { return strings.ContainsRune(filepath.ToSlash(name), '/') }

func (e *env) latest() (registry.Status, error) {
	all, err := e.survey(func(entry registry.Entry) bool { return !e.chosen || entry.Project == e.root() })
	if err != nil {
		return registry.Status{}, err
	}
	here := e.ofProject(all)
	hereAlive, live := alive(here), alive(all)
	switch {
	case len(hereAlive) == 1:
		return hereAlive[0], nil
	case len(hereAlive) > 1:
		return registry.Status{}, e.ambiguous("several loops of this project are running", hereAlive)
	case len(here) > 0:
		return slices.MaxFunc(here, func(a, b registry.Status) int { return a.Started.Compare(b.Started) }), nil
	case len(live) == 1:
		return live[0], nil
	case len(live) > 1:
		return registry.Status{}, e.ambiguous("no loop of this project, and several are running elsewhere", live)
	case e.chosen:
		return registry.Status{}, refuse("begin one with 'ralph start', or name another project", "there is no loop in %s", e.short(e.root()))
	}
	return registry.Status{}, refuse("begin one with 'ralph start'", "there is no loop here and none is running elsewhere")
}

// named returns the loop of that name: this project's, else the only one on this machine that is called so.
func (e *env) named(name string) (registry.Status, error) {
	dir, err := e.loopDir(name)
	if err != nil {
		return registry.Status{}, err
	}
	s, err := e.one(dir, fmt.Sprintf("several projects have a loop %q", name), func(entry registry.Entry) bool {
		return entry.Name == name && (!e.chosen || entry.Project == e.root())
	})
	if errors.Is(err, errNoLoop) {
		err = refuse("'ralph list --all' shows the loops of this machine", "there is no loop %q here", name)
	}
	return s, err
}

// qualified returns the loop that is called PROJECT/NAME, by the folder name of its project.
func (e *env) qualified(name string) (registry.Status, error) {
	project, loop := filepath.Split(filepath.FromSlash(name))
	project = filepath.Clean(project)
	if e.chosen {
		return registry.Status{}, refuse("leave one of them out", "--project and %q both say which project is meant", name)
	}
	dir := ""
	if filepath.Base(e.root()) == project {
		dir = filepath.Join(e.root(), ralphFolder, loop)
	}
	s, err := e.one(dir, fmt.Sprintf("several projects are called %s and have a loop %q", project, loop), func(entry registry.Entry) bool {
		return entry.Name == loop && filepath.Base(entry.Project) == project
	})
	if !errors.Is(err, errNoLoop) {
		return s, err
	}
	if exists(e.abs(name)) {
		return e.at(name)
	}
	return s, refuse("'ralph list --all' shows the loops of this machine", "there is no loop %q", name)
}

// at returns the loop whose folder a path is.
func (e *env) at(path string) (registry.Status, error) {
	dir := filepath.Clean(e.abs(path))
	name := filepath.Base(dir)
	dir = filepath.Join(withoutLinks(filepath.Dir(dir)), name)
	if filepath.Base(filepath.Dir(dir)) != ralphFolder || registry.CheckName(name) != nil {
		return registry.Status{}, refuse("name a loop, or its folder in "+ralphFolder, "%s is not a loop's folder", path)
	}
	s, err := e.one(dir, "", func(entry registry.Entry) bool { return entry.Dir == dir })
	if errors.Is(err, errNoLoop) {
		err = refuse("'ralph list --all' shows the loops of this machine", "there is no loop in %s", path)
	}
	return s, err
}

// errNoLoop means that no loop is called so.
var errNoLoop = errors.New("there is no such loop")

// one returns the one loop of those that keep wants: the one in dir, else the only one, else the only one that lives. The error is
// errNoLoop or an *ambiguousError.
func (e *env) one(dir, ambiguous string, keep func(registry.Entry) bool) (registry.Status, error) {
	all, err := e.survey(keep)
	if err != nil {
		return registry.Status{}, err
	}
	for _, s := range all {
		if s.Dir == dir {
			return s, nil
		}
	}
	if dir != "" && exists(filepath.Join(dir, "journal")) {
		// A loop that the registry does not know: copied here, or RALPH_HOME is another.
		return e.unlisted(filepath.Base(dir), dir)
	}
	switch live := alive(all); {
	case len(all) == 1:
		return all[0], nil
	case len(live) == 1:
		return live[0], nil
	case len(all) > 1:
		return registry.Status{}, e.ambiguous(ambiguous, all)
	}
	return registry.Status{}, errNoLoop
}

// survey returns the loops that are there, of those that keep wants.
func (e *env) survey(keep func(registry.Entry) bool) ([]registry.Status, error) {
	all, err := registry.Survey(e.home, keep)
	return slices.DeleteFunc(all, func(s registry.Status) bool { return s.Err != nil || s.Gone }), err
}

func (e *env) ofProject(all []registry.Status) []registry.Status {
	return slices.DeleteFunc(slices.Clone(all), func(s registry.Status) bool { return s.Project != e.root() })
}

func alive(all []registry.Status) []registry.Status {
	return slices.DeleteFunc(slices.Clone(all), func(s registry.Status) bool { return !s.Live.Alive })
}

func (e *env) unlisted(name, dir string) (registry.Status, error) {
	live, err := registry.Probe(dir)
	if err != nil {
		return registry.Status{}, err
	}
	return registry.Status{
		Entry: registry.Entry{Name: name, Dir: dir, Project: filepath.Dir(filepath.Dir(dir))},
		Live:  live,
	}, nil
}

// ambiguousError says that several loops are called so.
type ambiguousError struct {
	what       string
	candidates []registry.Status
	lines      string
}

func (err *ambiguousError) Error() string { return err.what + ":" + err.lines }

func (e *env) ambiguous(what string, candidates []registry.Status) error {
	err := &ambiguousError{what: what, candidates: candidates}
	all, unread := e.survey(nil)
	if unread != nil {
		return unread
	}
	call := e.callers(all)
	for _, s := range candidates {
		err.lines += fmt.Sprintf("\n  %s  %s  %s", call(s), refreshed(s).Head.Status, s.Project)
	}
	return refuse("name one as it stands at the beginning of its line", "%w", err)
}

// callers returns what says how a loop is called from here, of all that there are: by its name where that is enough, else with its
// project's, else by the path of its folder.
func (e *env) callers(all []registry.Status) func(registry.Status) string {
	names, both := map[string]int{}, map[string]int{}
	for _, s := range all {
		if !s.Gone {
			names[s.Name]++
			both[qualifiedName(s.Entry)]++
		}
	}
	return func(s registry.Status) string {
		switch {
		case s.Project == e.root() || names[s.Name] <= 1:
			return s.Name
		case both[qualifiedName(s.Entry)] == 1:
			return qualifiedName(s.Entry)
		}
		return s.Dir
	}
}

func qualifiedName(entry registry.Entry) string {
	return filepath.Base(entry.Project) + "/" + entry.Name
}

// aimed takes from words the name of a loop that stands before them. It is one where more words follow and it is this project's, a live
// one's, or says which project is meant; else all of them are words.
func (e *env) aimed(text []string) (loop string, rest []string, err error) {
	if len(text) < 2 {
		return "", text, nil
	}
	s, err := e.find(text[0])
	if several, ok := errors.AsType[*ambiguousError](err); ok && text[0] != "" && len(alive(several.candidates)) > 0 {
		return "", nil, err
	}
	if err != nil || text[0] == "" || !s.Live.Alive && s.Project != e.root() && !qualified(text[0]) {
		return "", text, nil //nolint:nilerr // it is the first of the words
	}
	return text[0], text[1:], nil
}

// located returns the folder of the loop that a person names, else the folder or file; loop says that it is a loop's.
func (e *env) located(name string) (path string, loop bool, err error) {
	path = e.abs(name)
	if !isPath(name) && !strings.HasSuffix(name, ".jsonl") && !strings.HasSuffix(name, ".zst") {
		s, err := e.find(name)
		if err == nil {
			return s.Dir, true, nil
		}
		if name == "" || !exists(path) {
			return "", false, err
		}
	}
	if _, err := os.Stat(path); err != nil {
		return "", false, refuse("name a loop, a folder or a segment", "read the journal: %w", err)
	}
	return path, filepath.Base(filepath.Dir(path)) == ralphFolder, nil
}

func (e *env) abs(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(e.cwd, path)
}
