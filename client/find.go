package client

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/registry"
)

// Folder is the folder of a project that holds its settings and loops.
const Folder = ".ralph"

// A Finder looks for loops as people name them.
type Finder struct {
	Home    string // of ralph, whose registry is searched: see [registry.Home]
	Project string // whose loops a bare name means first; absolute and without symbolic links
	Cwd     string // where relative paths begin; empty for the project
	Only    bool   // loops of other projects are not meant
}

// A NotFoundError says that no loop has a name.
type NotFoundError struct {
	Name string // as it was asked for; empty for the loop that is meant without a name
	text string
}

func (e *NotFoundError) Error() string { return e.text }

// An AmbiguousError says that several loops may be meant.
type AmbiguousError struct {
	Loops []registry.Status
	text  string
}

func (e *AmbiguousError) Error() string { return e.text }

// Loops returns the loops whose folders exist, ordered by project and name: with all those of the
// machine, else those of the project. Entries of the registry that cannot be read are left out.
func (f Finder) Loops(all bool) ([]registry.Status, error) {
	return f.survey(func(e registry.Entry) bool { return all || e.Project == f.Project })
}

// Find returns the loop that a person names as NAME, as PROJECT/NAME, or by the path of its folder.
// A bare name is that of the project's loop, else of the only one of this machine, else of the only
// live one. Without a name it is the one live loop of the project, else its latest, else the only
// live one of the machine. The error is a *NotFoundError, an *AmbiguousError, or one of reading.
//
// A loop that the registry does not have, but whose folder is in the project, is found by its name
// and by its path.
func (f Finder) Find(name string) (registry.Status, error) {
	switch {
	case name == "":
		return f.latest()
	case IsPath(name):
		return f.at(name)
	case IsQualified(name):
		return f.qualified(name)
	}
	return f.named(name)
}

// At returns the loop in a folder, whether the registry has it or not.
func At(dir string) (registry.Status, error) {
	live, err := registry.Probe(dir)
	if err != nil {
		return registry.Status{}, fmt.Errorf("see whether the loop in %s runs: %w", dir, err)
	}
	return registry.Status{
		Entry: registry.Entry{Name: filepath.Base(dir), Dir: dir, Project: filepath.Dir(filepath.Dir(dir)), Found: true},
		Live:  live,
	}, nil
}

// IsPath reports whether the name of a loop can only be a path.
func IsPath(name string) bool {
	name = filepath.ToSlash(name)
	return filepath.IsAbs(name) || name == "." || name == ".." || strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../")
}

// IsQualified reports whether the name of a loop says which project is meant.
func IsQualified(name string) bool { return strings.ContainsRune(filepath.ToSlash(name), '/') }

func (f Finder) latest() (registry.Status, error) {
	all, err := f.survey(func(e registry.Entry) bool { return !f.Only || e.Project == f.Project })
	if err != nil {
		return registry.Status{}, err
	}
	here := where(all, func(s registry.Status) bool { return s.Project == f.Project })
	hereAlive, live := alive(here), alive(all)
	switch {
	case len(hereAlive) == 1:
		return hereAlive[0], nil
	case len(hereAlive) > 1:
		return registry.Status{}, &AmbiguousError{hereAlive, "several loops of this project are running"}
	case len(here) > 0:
		return slices.MaxFunc(here, func(a, b registry.Status) int { return a.Started.Compare(b.Started) }), nil
	case len(live) == 1:
		return live[0], nil
	case len(live) > 1:
		return registry.Status{}, &AmbiguousError{live, "no loop of this project, and several are running elsewhere"}
	case f.Only:
		return registry.Status{}, &NotFoundError{text: "there is no loop in " + f.short(f.Project)}
	}
	return registry.Status{}, &NotFoundError{text: "there is no loop here and none is running elsewhere"}
}

// named returns the loop of that name: the project's, else the only one on this machine.
func (f Finder) named(name string) (registry.Status, error) {
	if err := registry.CheckName(name); err != nil {
		return registry.Status{}, err
	}
	s, err := f.one(filepath.Join(f.Project, Folder, name), fmt.Sprintf("several projects have a loop %q", name), func(e registry.Entry) bool {
		return e.Name == name && (!f.Only || e.Project == f.Project)
	})
	if errors.Is(err, errNone) {
		err = &NotFoundError{name, fmt.Sprintf("there is no loop %q here", name)}
	}
	return s, err
}

// qualified returns the loop that is called PROJECT/NAME, by the folder name of its project.
func (f Finder) qualified(name string) (registry.Status, error) {
	project, loop := filepath.Split(filepath.FromSlash(name))
	project = filepath.Clean(project)
	dir := ""
	if filepath.Base(f.Project) == project {
		dir = filepath.Join(f.Project, Folder, loop)
	}
	s, err := f.one(dir, fmt.Sprintf("several projects are called %s and have a loop %q", project, loop), func(e registry.Entry) bool {
		return e.Name == loop && filepath.Base(e.Project) == project
	})
	if !errors.Is(err, errNone) {
		return s, err
	}
	if exists(f.abs(name)) {
		return f.at(name)
	}
	return s, &NotFoundError{name, fmt.Sprintf("there is no loop %q", name)}
}

// at returns the loop that has this folder.
func (f Finder) at(path string) (registry.Status, error) {
	dir := filepath.Clean(f.abs(path))
	name := filepath.Base(dir)
	if parent, err := filepath.EvalSymlinks(filepath.Dir(dir)); err == nil {
		dir = filepath.Join(parent, name)
	}
	if filepath.Base(filepath.Dir(dir)) != Folder || registry.CheckName(name) != nil {
		return registry.Status{}, &NotFoundError{path, path + " is not a loop's folder"}
	}
	s, err := f.one(dir, "", func(e registry.Entry) bool { return e.Dir == dir })
	if errors.Is(err, errNone) {
		err = &NotFoundError{path, "there is no loop in " + path}
	}
	return s, err
}

// errNone means that no loop has the name.
var errNone = errors.New("there is no such loop")

// one returns the one loop of those that keep wants: the one in dir, else the only one, else the
// only one that lives. The error is errNone or an *AmbiguousError.
func (f Finder) one(dir, ambiguous string, keep func(registry.Entry) bool) (registry.Status, error) {
	all, err := f.survey(keep)
	if err != nil {
		return registry.Status{}, err
	}
	for _, s := range all {
		if s.Dir == dir {
			return s, nil
		}
	}
	if dir != "" && exists(filepath.Join(dir, "journal")) {
		return At(dir) // it was copied here, or the home of ralph has changed
	}
	switch live := alive(all); {
	case len(all) == 1:
		return all[0], nil
	case len(live) == 1:
		return live[0], nil
	case len(all) > 1:
		return registry.Status{}, &AmbiguousError{all, ambiguous}
	}
	return registry.Status{}, errNone
}

// survey returns the existing loops that keep wants.
func (f Finder) survey(keep func(registry.Entry) bool) ([]registry.Status, error) {
	all, err := registry.Survey(f.Home, keep)
	return where(all, func(s registry.Status) bool { return s.Err == nil && !s.Gone }), err
}

func where(all []registry.Status, keep func(registry.Status) bool) []registry.Status {
	return slices.DeleteFunc(slices.Clone(all), func(s registry.Status) bool { return !keep(s) })
}

func alive(all []registry.Status) []registry.Status {
	return where(all, func(s registry.Status) bool { return s.Live.Alive })
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func (f Finder) abs(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(cmp.Or(f.Cwd, f.Project), path)
}

// short is a path as a person in the current folder would write it.
func (f Finder) short(path string) string {
	if rel, err := filepath.Rel(cmp.Or(f.Cwd, f.Project), path); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return path
}
