package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/registration"
	"github.com/ralph-loop/ralph/internal/repo"
	"github.com/ralph-loop/ralph/registry"
)

// This file decides for every verb which loop is meant: docs/decisions/0035-which-project.md.

// LoopDir returns the folder of a loop of this project.
func (e *Env) LoopDir(name string) (string, error) {
	if err := registry.CheckName(name); err != nil {
		return "", err
	}
	return filepath.Join(e.Root(), RalphFolder, name), nil
}

// DefaultName is the name of a loop that is started without one: the slug of the git branch. If
// there is no branch, or it is named as in every project, it is the slug of the project's folder.
func (e *Env) DefaultName() string {
	switch branch := repo.Branch(context.Background(), e.Cwd); branch {
	case "", "main", "master":
		return registration.SlugName(filepath.Base(e.Root()))
	default:
		return registration.SlugName(branch)
	}
}

// Find returns the loop that a verb is about. A person names it as NAME, as PROJECT/NAME, or by the
// path of its folder. Without a name it is the one live loop of this project, else its latest, else
// the only live one on this machine.
func (e *Env) Find(name string) (registry.Status, error) {
	e.asked = name
	switch {
	case name == "":
		return e.latest()
	case isPath(name):
		return e.at(name)
	case Qualified(name):
		return e.qualified(name)
	}
	return e.named(name)
}

// NameToType is what to type here for the loop that find found last.
func (e *Env) NameToType(s registry.Status) string {
	switch {
	case e.chosen:
		return s.Name + " --project " + AsTyped([]string{e.Short(e.Root())})
	case e.asked != "":
		return AsTyped([]string{e.asked})
	}
	return s.Name
}

// isPath reports whether a word can only be a path.
func isPath(word string) bool {
	word = filepath.ToSlash(word)
	return filepath.IsAbs(word) || word == "." || word == ".." || strings.HasPrefix(word, "./") || strings.HasPrefix(word, "../")
}

// Qualified reports whether a name says which project is meant.
func Qualified(name string) bool { return strings.ContainsRune(filepath.ToSlash(name), '/') }

func (e *Env) latest() (registry.Status, error) {
	keep := func(entry registry.Entry) bool { return !e.chosen || entry.Project == e.Root() }
	all, err := e.survey(keep)
	if err == nil && len(e.ofProject(all)) == 0 {
		e.Adopt()
		all, err = e.survey(keep)
	}
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
		return registry.Status{}, Refuse("begin one with 'ralph start', or name another project", "there is no loop in %s", e.Short(e.Root()))
	}
	return registry.Status{}, Refuse("begin one with 'ralph start'", "there is no loop here and none is running elsewhere")
}

// named returns the loop of that name: this project's, else the only one on this machine that is
// called so.
func (e *Env) named(name string) (registry.Status, error) {
	dir, err := e.LoopDir(name)
	if err != nil {
		return registry.Status{}, err
	}
	s, err := e.one(dir, fmt.Sprintf("several projects have a loop %q", name), func(entry registry.Entry) bool {
		return entry.Name == name && (!e.chosen || entry.Project == e.Root())
	})
	if errors.Is(err, errNoLoop) {
		hint := "'ralph list --all' shows the loops of this machine"
		if near := e.nearLoop(name); near != "" {
			hint = fmt.Sprintf("did you mean %s? %s", near, hint)
		}
		err = Refuse(hint, "there is no loop %q here", name)
	}
	return s, err
}

// nearLoop is the name of a loop that is probably meant by a mistyped one: of this project, or of
// one that lives; "" if there is none.
func (e *Env) nearLoop(word string) string {
	all, err := e.survey(func(entry registry.Entry) bool { return !e.chosen || entry.Project == e.Root() })
	if err != nil {
		return ""
	}
	var names []string
	for _, s := range all {
		if s.Live.Alive || s.Project == e.Root() {
			names = append(names, s.Name)
		}
	}
	return config.Nearest(word, names)
}

// qualified returns the loop that is called PROJECT/NAME, by the folder name of its project.
func (e *Env) qualified(name string) (registry.Status, error) {
	project, loop := filepath.Split(filepath.FromSlash(name))
	project = filepath.Clean(project)
	if e.chosen {
		return registry.Status{}, Refuse("leave one of them out", "--project and %q both say which project is meant", name)
	}
	dir := ""
	if filepath.Base(e.Root()) == project {
		dir = filepath.Join(e.Root(), RalphFolder, loop)
	}
	s, err := e.one(dir, fmt.Sprintf("several projects are called %s and have a loop %q", project, loop), func(entry registry.Entry) bool {
		return entry.Name == loop && filepath.Base(entry.Project) == project
	})
	if !errors.Is(err, errNoLoop) {
		return s, err
	}
	if Exists(e.Abs(name)) {
		return e.at(name)
	}
	return s, Refuse("'ralph list --all' shows the loops of this machine", "there is no loop %q", name)
}

// at returns the loop that has this folder.
func (e *Env) at(path string) (registry.Status, error) {
	dir := filepath.Clean(e.Abs(path))
	name := filepath.Base(dir)
	dir = filepath.Join(WithoutLinks(filepath.Dir(dir)), name)
	if filepath.Base(filepath.Dir(dir)) != RalphFolder || registry.CheckName(name) != nil {
		return registry.Status{}, Refuse("name a loop, or its folder in "+RalphFolder, "%s is not a loop's folder", path)
	}
	s, err := e.one(dir, "", func(entry registry.Entry) bool { return entry.Dir == dir })
	if errors.Is(err, errNoLoop) {
		err = Refuse("'ralph list --all' shows the loops of this machine", "there is no loop in %s", path)
	}
	return s, err
}

// errNoLoop means that no loop has the name.
var errNoLoop = errors.New("there is no such loop")

// one returns the one loop of those that keep wants: the one in dir, else the only one, else the
// only one that lives. The error is errNoLoop or an *ambiguousError.
func (e *Env) one(dir, ambiguous string, keep func(registry.Entry) bool) (registry.Status, error) {
	all, err := e.survey(keep)
	if err != nil {
		return registry.Status{}, err
	}
	for _, s := range all {
		if s.Dir == dir {
			return s, nil
		}
	}
	if dir != "" && Exists(filepath.Join(dir, "journal")) {
		// The registry does not have this loop: it was copied here, or RALPH_HOME has changed.
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

// survey returns the existing loops that keep wants.
func (e *Env) survey(keep func(registry.Entry) bool) ([]registry.Status, error) {
	all, err := registry.Survey(e.Home, keep)
	return slices.DeleteFunc(all, func(s registry.Status) bool { return s.Err != nil || s.Gone }), err
}

func (e *Env) ofProject(all []registry.Status) []registry.Status {
	return slices.DeleteFunc(slices.Clone(all), func(s registry.Status) bool { return s.Project != e.Root() })
}

func alive(all []registry.Status) []registry.Status {
	return slices.DeleteFunc(slices.Clone(all), func(s registry.Status) bool { return !s.Live.Alive })
}

func (e *Env) unlisted(name, dir string) (registry.Status, error) {
	live, err := registry.Probe(dir)
	if err != nil {
		return registry.Status{}, err
	}
	return registry.Status{
		Entry: registry.Entry{Name: name, Dir: dir, Project: filepath.Dir(filepath.Dir(dir)), Found: true},
		Live:  live,
	}, nil
}

// Several reports whether an error of Find is that several loops may be meant, and whether they are
// all of this project.
func (e *Env) Several(err error) (here, several bool) {
	found, ok := errors.AsType[*ambiguousError](err)
	return ok && len(e.ofProject(found.candidates)) == len(found.candidates), ok
}

// FindOrCopy is Find for a verb that only looks. It also takes a copy of a loop's folder, wherever
// that is; copied reports whether it is one.
func (e *Env) FindOrCopy(name string) (s registry.Status, copied bool, err error) {
	s, err = e.Find(name)
	dir := e.Abs(name)
	if err == nil || name == "" || !Exists(filepath.Join(dir, "journal")) {
		return s, false, err
	}
	s, err = e.unlisted(filepath.Base(dir), dir)
	return s, true, err
}

// ambiguousError says that several loops have the name.
type ambiguousError struct {
	what       string
	candidates []registry.Status
	lines      string
}

func (err *ambiguousError) Error() string { return err.what + ":" + err.lines }

func (e *Env) ambiguous(what string, candidates []registry.Status) error {
	err := &ambiguousError{what: what, candidates: candidates}
	all, unread := e.survey(nil)
	if unread != nil {
		return unread
	}
	call := e.NamesToType(all)
	for _, s := range candidates {
		err.lines += fmt.Sprintf("\n  %s  %s  %s", call(s), Refreshed(s).Head.Status, s.Project)
	}
	return Refuse("use the name at the beginning of its line", "%w", err)
}

// NamesToType returns a function that says how to name one of these loops here: by its name if that
// is enough, else as PROJECT/NAME, else by the path of its folder.
func (e *Env) NamesToType(all []registry.Status) func(registry.Status) string {
	names, both := map[string]int{}, map[string]int{}
	for _, s := range all {
		if !s.Gone {
			names[s.Name]++
			both[qualifiedName(s.Entry)]++
		}
	}
	return func(s registry.Status) string {
		switch {
		case s.Project == e.Root() || names[s.Name] <= 1:
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

// SplitLoopName splits the name of a loop from the words after it. The first word is a name if the
// loop is in this project, lives, or is named with its project. If there is no such loop and the
// word may well have been meant as its name, no other loop gets the words.
func (e *Env) SplitLoopName(text []string) (loop string, rest []string, err error) {
	if len(text) == 0 || text[0] == "" {
		return "", text, nil
	}
	word := text[0]
	s, err := e.Find(word)
	if several, ok := errors.AsType[*ambiguousError](err); ok && len(alive(several.candidates)) > 0 {
		return "", nil, err
	}
	if err == nil && (s.Live.Alive || s.Project == e.Root() || Qualified(word)) {
		return word, text[1:], nil
	}
	if len(text) == 1 || registry.CheckName(word) != nil {
		return "", text, nil
	}
	if _, unclear := e.Find(""); unclear != nil {
		if _, ok := errors.AsType[*ambiguousError](unclear); ok {
			return "", nil, Refuse("begin with the name at the beginning of its line", "there is no loop %q, and %w", word, unclear)
		}
	}
	near := e.nearLoop(word)
	if near == "" && !looksLikeName(word) {
		return "", text, nil
	}
	hint := "'ralph list --all' shows the loops"
	if near != "" {
		hint = fmt.Sprintf("did you mean %s? else %s", near, hint)
	}
	return "", nil, Refuse(hint+"; where it is text, put all of it in quotes: "+AsTyped([]string{strings.Join(text, " ")}), "there is no loop %q", word)
}

// looksLikeName reports whether a word is hardly one of a text: l3, api_2.
func looksLikeName(word string) bool {
	_, err := strconv.Atoi(word)
	return err != nil && strings.ContainsAny(word, "0123456789_")
}

// FindPath returns the folder of the loop that a person names, or else the folder or file of that
// name. loop reports whether it is a loop's folder.
func (e *Env) FindPath(name string) (path string, loop bool, err error) {
	path = e.Abs(name)
	if !isPath(name) && !strings.HasSuffix(name, ".jsonl") && !strings.HasSuffix(name, ".zst") {
		s, err := e.Find(name)
		if err == nil {
			return s.Dir, true, nil
		}
		if name == "" || !Exists(path) {
			return "", false, err
		}
	}
	if _, err := os.Stat(path); err != nil {
		return "", false, Refuse("name a loop, a folder or a segment", "read the journal: %w", err)
	}
	return path, filepath.Base(filepath.Dir(path)) == RalphFolder, nil
}

// LoopDirVariable names the loop's folder for an agent and all that it starts.
const LoopDirVariable = "RALPH_LOOP_DIR"

// CallingLoop returns the loop that is meant, and whether this process belongs to it.
func CallingLoop(e *Env, name string) (s registry.Status, own bool, err error) {
	dir := e.Variable(LoopDirVariable)
	if name != "" || !filepath.IsAbs(dir) {
		s, err := e.Find(name)
		return s, false, err
	}
	all, err := registry.Survey(e.Home, func(entry registry.Entry) bool { return entry.Dir == dir })
	if err != nil {
		return registry.Status{}, false, err
	}
	for _, s := range all {
		if s.Err == nil && !s.Gone {
			return s, true, nil
		}
	}
	// It is in the registry of another home.
	name = filepath.Base(dir)
	if err := registry.CheckName(name); err != nil {
		return registry.Status{}, false, fmt.Errorf("%s: %w", LoopDirVariable, err)
	}
	s, err = e.unlisted(name, dir)
	return s, true, err
}
