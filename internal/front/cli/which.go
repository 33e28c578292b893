package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/projector"
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

// Find returns the loop that a verb is about, as [client.Finder.Find] does. Loops of the project
// that the registry does not have are registered before another project's loop is taken.
func (e *Env) Find(name string) (registry.Status, error) {
	e.asked = name
	if e.chosen && client.IsQualified(name) && !client.IsPath(name) {
		return registry.Status{}, Refuse("leave one of them out", "--project and %q both say which project is meant", name)
	}
	finder := client.Finder{Home: e.Home, Project: e.Root(), Cwd: e.Cwd, Only: e.chosen}
	s, err := finder.Find(name)
	if name == "" && (err != nil || s.Project != e.Root()) {
		unregistered := e.Adopt()
		if s, err = finder.Find(name); err != nil {
			err = cmp.Or(unregistered, err)
		}
	}
	if several, ok := errors.AsType[*client.AmbiguousError](err); ok {
		return s, e.ambiguous(several)
	}
	if none, ok := errors.AsType[*client.NotFoundError](err); ok {
		return s, Refuse(e.notFoundHint(none.Name), "%w", err)
	}
	return s, err
}

// notFoundHint is the next step where no loop has a name.
func (e *Env) notFoundHint(name string) string {
	switch {
	case name == "" && e.chosen:
		return "begin one with 'ralph start', or name another project"
	case name == "":
		return "begin one with 'ralph start'"
	case client.IsPath(name) && filepath.Base(filepath.Dir(e.Abs(name))) != RalphFolder:
		return "name a loop, or its folder in " + RalphFolder
	}
	list := "'ralph list --all' shows the loops of this machine"
	if near := e.nearLoop(name); near != "" && !client.IsQualified(name) {
		return fmt.Sprintf("did you mean %s? %s", near, list)
	}
	return list
}

// nearLoop is the name of a loop that is probably meant by a mistyped one: of this project, or of
// one that lives; "" if there is none.
func (e *Env) nearLoop(word string) string {
	all, err := client.Finder{Home: e.Home, Project: e.Root()}.Loops(!e.chosen)
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

// Several reports whether an error of Find is that several loops may be meant, and whether they are
// all of this project.
func (e *Env) Several(err error) (here, several bool) {
	found, ok := errors.AsType[*client.AmbiguousError](err)
	return ok && !slices.ContainsFunc(found.Loops, func(s registry.Status) bool { return s.Project != e.Root() }), ok
}

// FindOrCopy is Find for a verb that only looks. It also takes a copy of a loop's folder, wherever
// that is; copied reports whether it is one.
func (e *Env) FindOrCopy(name string) (s registry.Status, copied bool, err error) {
	s, err = e.Find(name)
	dir := e.Abs(name)
	if err == nil || name == "" || !Exists(filepath.Join(dir, "journal")) {
		return s, false, err
	}
	s, err = client.At(dir)
	return s, true, err
}

// ambiguous lists the loops that may be meant, each as it is named here.
func (e *Env) ambiguous(several *client.AmbiguousError) error {
	all, err := client.Finder{Home: e.Home}.Loops(true)
	if err != nil {
		return err
	}
	call, lines := e.NamesToType(all), ""
	for _, s := range several.Loops {
		lines += fmt.Sprintf("\n  %s  %s  %s", call(s), projector.Brief(s).Status, s.Project)
	}
	return Refuse("use the name at the beginning of its line", "%w:%s", several, lines)
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
	if several, ok := errors.AsType[*client.AmbiguousError](err); ok &&
		slices.ContainsFunc(several.Loops, func(s registry.Status) bool { return s.Live.Alive }) {
		return "", nil, err
	}
	if err == nil && (s.Live.Alive || s.Project == e.Root() || client.IsQualified(word)) {
		return word, text[1:], nil
	}
	if len(text) == 1 || registry.CheckName(word) != nil {
		return "", text, nil
	}
	if _, unclear := e.Find(""); unclear != nil {
		if _, ok := errors.AsType[*client.AmbiguousError](unclear); ok {
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
	if !client.IsPath(name) && !strings.HasSuffix(name, ".jsonl") && !strings.HasSuffix(name, ".zst") {
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

// MachineVariable names the virtual machine that this process runs in, if it does.
const MachineVariable = "RALPH_MACHINE"

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
	s, err = client.At(dir)
	return s, true, err
}
