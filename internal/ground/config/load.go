package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// MaxFile is the longest settings file, in bytes.
const MaxFile = 1 << 20

// Layer says where a value comes from; a later layer wins.
type Layer int

// The layers in their order.
const (
	LayerBuiltIn Layer = iota
	LayerHome
	LayerProject
	LayerLocal
	LayerEnv
	LayerFlags
)

// Source is what Load reads.
type Source struct {
	// ralph's own home, RALPH_HOME or ~/.ralph; empty for no such layer
	HomeDir    string
	ProjectDir string // the folder that holds .ralph; empty for no such layers
	// NAME=value, the last of a name counts; an empty value sets nothing
	Env []string
	// dotted key to text; lists and objects as JSON, lists of strings also with commas
	Flags map[string]string
}

// Origin is the place that a value comes from.
type Origin struct {
	Layer Layer
	Name  string // .ralph/settings.json, RALPH_LIMITS_IDLE, command line
	Line  int    // in a file, from 1; else 0

	column int
}

// String reads ".ralph/settings.json:4", or "built-in" for the zero Origin.
func (o Origin) String() string {
	switch {
	case o.Layer == LayerBuiltIn:
		return "built-in"
	case o.Line > 0:
		return fmt.Sprintf("%s:%d", o.Name, o.Line)
	}
	return o.Name
}

// Loaded is what Load found.
type Loaded struct {
	Settings Settings
	// dotted key to the layer that set it last; a key that is absent has its built-in value
	Origins  map[string]Origin
	Files    []string // the files read, in layer order, as people know them
	Warnings []string // nothing that stops a loop
	// settings of the repository's files that count only once a person trusts them, by key
	Parts []Part
	// HeldOut are the held-out guardrails of the person's own settings.json. They are no part of
	// Settings: what is made of those may be read by an agent.
	HeldOut []Guardrail

	own map[string]string // what the person's own settings.json sets, by key
}

// Load merges the layers. A missing file is no error, an unreadable one is. An error in its content
// is an *Error.
func Load(source Source) (Loaded, error) {
	l := Loaded{Settings: Defaults(), Origins: map[string]Origin{}}
	var own Settings // those of the person's own file
	for _, file := range source.files() {
		before := l.Settings
		if err := l.file(file); err != nil {
			return Loaded{}, err
		}
		l.replaceAgents(before, file.layer)
		if file.own {
			own = l.Settings
		}
	}
	slices.SortStableFunc(l.Parts, func(a, b Part) int { return strings.Compare(a.Key, b.Key) })
	before := l.Settings
	if err := l.env(source.Env); err != nil {
		return Loaded{}, err
	}
	l.limitBy(own)
	l.replaceAgents(before, LayerEnv)
	before = l.Settings
	if err := l.flags(source.Flags); err != nil {
		return Loaded{}, err
	}
	l.limitBy(own)
	l.replaceAgents(before, LayerFlags)
	l.warnOfNames()
	err := checkTogether(l.Settings)
	if err != nil {
		origin := l.Origins[err.Key]
		err.File, err.Line, err.Column = origin.Name, origin.Line, origin.column
		return Loaded{}, err
	}
	return l, nil
}

type settingsFile struct {
	layer Layer
	path  string
	name  string // as people know it
	own   bool   // the person's, not a repository's
}

func (source Source) files() []settingsFile {
	var files []settingsFile
	project := filepath.Join(source.ProjectDir, ".ralph")
	// In the home folder itself both layers are the same file: it is read once, and is the person's
	// own.
	own := source.HomeDir != "" && source.ProjectDir != "" && filepath.Clean(source.HomeDir) == project
	if source.HomeDir != "" && !own {
		path := filepath.Join(source.HomeDir, "settings.json")
		files = append(files, settingsFile{LayerHome, path, path, true})
	}
	if source.ProjectDir != "" {
		files = append(files,
			settingsFile{LayerProject, filepath.Join(project, "settings.json"), ".ralph/settings.json", own},
			settingsFile{LayerLocal, filepath.Join(project, "settings.local.json"), ".ralph/settings.local.json", own})
	}
	return files
}

func (l *Loaded) file(file settingsFile) error {
	data, err := safefile.ReadLinked(file.path, MaxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("read settings: %w", err)
	}
	data = bytes.TrimPrefix(data, byteOrderMark)
	l.Files = append(l.Files, file.name)
	var keys []string
	bad := decodeObject(data, &l.Settings, nil, func(key string, at int) {
		line, column := locate(data, at)
		l.Origins[key] = Origin{Layer: file.layer, Name: file.name, Line: line, column: column}
		keys = append(keys, key)
	})
	if bad != nil {
		return bad.in(file.name, data)
	}
	if at, set := l.Origins[hostsKey]; set && !file.own && at.Name == file.name {
		return &Error{File: at.Name, Line: at.Line, Column: at.column, Key: hostsKey, Problem: "hosts: is only for your own settings.json",
			advice: "ssh would reach them with your keys"}
	}
	if file.own {
		l.holdOut()
		l.remember(keys)
	} else {
		l.ask(keys)
	}
	return nil
}

// hostsKey are the hosts that ralph reaches by itself.
const hostsKey = "hosts"

// holdOut takes the held-out guardrails out of the settings.
func (l *Loaded) holdOut() {
	var visible []Guardrail
	for _, g := range l.Settings.Guardrails {
		if g.HeldOut {
			l.HeldOut = append(l.HeldOut, g)
		} else {
			visible = append(visible, g)
		}
	}
	l.Settings.Guardrails = visible
}

// reserved are the RALPH_ variables that are no settings: where ralph lives, whether a repository's
// settings count, how it is debugged, and what it passes to agents.
var reserved = [...]string{"RALPH_HOME", "RALPH_TRUST", "RALPH_DEBUG", "RALPH_LOOP", "RALPH_LOOP_DIR",
	"RALPH_ITERATION", "RALPH_RUN", "RALPH_OUTLIVE", "RALPH_PORT_BASE", "RALPH_MACHINE", "RALPH_SSH_COMMAND"}

func (l *Loaded) env(env []string) error {
	given := map[string]string{}
	for _, entry := range env {
		if name, value, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "RALPH_") && !slices.Contains(reserved[:], name) {
			given[name] = value
		}
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if err := oldVariable(name, l.Settings); err != nil && given[name] != "" {
			return err
		}
	}
	for _, f := range table() {
		if value := given[f.Env]; value != "" {
			if err := l.text(LayerEnv, f.Env, f.Name, value); err != nil {
				return err
			}
		}
		delete(given, f.Env)
		if f.Env != "" {
			names = append(names, strings.TrimPrefix(f.Env, "RALPH_"))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		warning := name + " is no setting"
		if near := Nearest(strings.TrimPrefix(name, "RALPH_"), names); near != "" {
			warning += "; did you mean RALPH_" + near + "?"
		}
		l.Warnings = append(l.Warnings, warning)
	}
	return nil
}

func (l *Loaded) flags(flags map[string]string) error {
	// Sorted, an object comes before its keys, and so the more exact flag wins.
	for _, key := range slices.Sorted(maps.Keys(flags)) {
		if err := l.text(LayerFlags, "command line", key, flags[key]); err != nil {
			return err
		}
	}
	return nil
}

func (l *Loaded) text(layer Layer, name, key, value string) *Error {
	err := set(&l.Settings, key, value, func(key string, _ int) {
		l.Origins[key] = Origin{Layer: layer, Name: name}
	})
	if err != nil {
		err.File = name
	}
	return err
}

// replaceAgents drops what the layers below said of an agent that this layer replaces by another
// program: its flags, its model and its protocol are not those of the other. What an agent may do
// stays, as a limit that a person has set, also if the layer names another agent.
func (l *Loaded) replaceAgents(before Settings, layer Layer) {
	for _, name := range slices.Sorted(maps.Keys(before.Agents)) {
		if !before.agent(name).sameProgram(l.Settings.agent(name)) {
			l.replaceAgent(name, layer)
		}
	}
	l.limitBy(before)
}

// limitBy gives agents that others have named in the place of those of some settings their limits.
func (l *Loaded) limitBy(s Settings) {
	l.limitAgents(s.Candidates(), s.Agent, l.Settings.Agent)
	l.limitAgents(s.Reviewers(), s.Review.Agent, l.Settings.Review.Agent)
}

func (l *Loaded) replaceAgent(name string, layer Layer) {
	for key, origin := range l.Origins {
		if f, of, entry := lookUp(key); of == name && origin.Layer < layer && f.Name != anyAgent+".permissions" {
			_ = l.Settings.edit(name, func(base reflect.Value) *Error {
				value := base.FieldByIndex(f.index)
				switch {
				case entry == "" && f.Kind != KindMap: // whose entries have origins of their own
					value.SetZero()
				case entry != "":
					merged := maps.Clone(value.Interface().(map[string]string))
					if delete(merged, entry); len(merged) == 0 {
						merged = nil
					}
					value.Set(reflect.ValueOf(merged))
				}
				return nil
			})
			delete(l.Origins, key)
		}
	}
}

// limitAgents gives agents that a layer names in the place of others the permissions of the first
// of those, unless they have some of their own.
func (l *Loaded) limitAgents(were []Agent, before, now AgentNames) {
	if len(were) == 0 || were[0].Permissions == "" {
		return
	}
	for _, word := range now {
		if slices.Contains(before, word) || l.Settings.agent(word).Permissions != "" {
			continue
		}
		name := l.Settings.NameOf(word)
		a := l.Settings.Agents[name]
		a.Permissions = were[0].Permissions
		l.Settings.setAgent(name, a)
		l.Origins[join(join(agentsKey, name), "permissions")] = l.Origins[were[0].Key()+".permissions"]
	}
}

// warnOfNames warns of an agent that looks like a mistyped name.
func (l *Loaded) warnOfNames() {
	named := slices.Sorted(maps.Keys(l.Settings.Agents))
	for _, words := range []AgentNames{l.Settings.Agent, l.Settings.Review.Agent} {
		for _, word := range words {
			if _, known := KnownProgram(word); known || slices.Contains(named, word) {
				continue
			}
			if near := Nearest(word, named); near != "" && near != l.Settings.NameOf(word) {
				l.Warnings = append(l.Warnings, fmt.Sprintf("agents has no %s, so it is a program; did you mean %s?", word, near))
			}
		}
	}
}
