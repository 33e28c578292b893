package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/guardrail"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/internal/secret"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// A loop that is resumed goes on with what a person gave it. What its agent may have changed meanwhile, in the project's
// settings or in the loop's own copy of what it was given, is not obeyed before a person has said that it is right.

// accepts refuses to resume a loop on what its agent may have changed.
func (v *startVerb) accepts(e *env, dir string, before standing) error {
	if v.AcceptChanges || !before.exists || before.damage != nil || before.live.Alive {
		return nil
	}
	if err := v.frozenAsWritten(e, dir, before); err != nil {
		return err
	}
	return v.settingsAsGiven(e, dir, before)
}

// knows refuses to resume a loop that nobody has begun on this machine, before a person has seen what it was given: its folder may have come
// with the project, and what stands there counts as if it had been typed. One that was resumed is known.
func (v *startVerb) knows(e *env, dir string, before standing) error {
	if !before.exists || before.damage != nil {
		return nil
	}
	all, err := registry.Survey(e.home, func(entry registry.Entry) bool { return entry.Dir == dir })
	if err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(s registry.Status) bool { return s.ID == before.state.Life.ID }) {
		return nil
	}
	if once, err := v.trustsOnce(e); err != nil || once {
		return err
	}
	said, err := e.consents(fmt.Sprintf("loop %s was not begun on this machine, and goes on with what it was given", v.Name), e.carried(dir, before), countOnce)
	if err == nil && !said {
		err = refuse("nothing was started", "loop %s is not trusted", v.Name)
	}
	return err
}

// carried are the lines that say what a loop brings along.
func (e *env) carried(dir string, before standing) []string {
	var lines []string
	switch task := before.state.Life.Task; {
	case task.File != "":
		lines = append(lines, "its prompt is the file "+task.File)
	case task.Text != nil:
		lines = append(lines, "its prompt is "+strconv.Quote(cutTo(givenMost, task.Text.Text)))
	}
	_, flags, err := runner.Frozen(dir)
	if err != nil {
		return lines // which is said next
	}
	for _, key := range sortedKeys(flags) {
		lines = append(lines, fmt.Sprintf("%s = %s (%s/config.json)", key, confidence{masker: secret.New(e.environ)}.shown(key, flags[key]), e.short(dir)))
	}
	return lines
}

func (v *startVerb) again() string {
	return fmt.Sprintf("'ralph start %s --resume --accept-changes'", v.Name)
}

// frozenAsWritten holds config.json against the journal.
func (v *startVerb) frozenAsWritten(e *env, dir string, before standing) error {
	given := before.state.Given
	if !given.Held { // no agent was at work since a person gave it
		return nil
	}
	text, err := runner.FrozenText(dir)
	if sum := sha256.Sum256(text); err == nil && hex.EncodeToString(sum[:]) == given.SHA256 {
		return nil
	}
	// Another starter's runner may just have written it anew.
	if now, err := glance(dir); err != nil {
		return err
	} else if now.live.Alive {
		return held(v.Name, now.live)
	} else if now.state.Seq != before.state.Seq {
		return goneOn(v.Name)
	}
	hint := "put it back; or, if it is right as it is, " + v.again()
	path := e.short(dir) + "/config.json"
	if err == nil {
		var frozen config.Settings
		var flags map[string]string
		if frozen, flags, err = config.Thaw(text); err == nil {
			return refuse(hint, "%s is not what loop %s was given, and its agent could write there:%s", path, v.Name, below(e.overFrozen(dir, frozen, flags)))
		}
	}
	return refuse(v.again()+" goes on with the project's settings and with what is given now",
		"what loop %s was given is not known any more, and its agent could write there: %w", v.Name, err)
}

// settingsAsGiven refuses settings of the project that the loop's agent changed.
func (v *startVerb) settingsAsGiven(e *env, dir string, before standing) error {
	changes, err := runner.Edited(dir, e.root(), &before.state)
	if err != nil {
		return fmt.Errorf("look at the settings' files: %w", err)
	}
	var files, what []string
	for _, c := range changes {
		if c.Role == guardrail.Settings {
			files = append(files, c.Path)
			what = append(what, fmt.Sprintf("%s has %s since the agent of loop %s was started, and no check has looked", c.Path, c.Kind, v.Name))
		}
	}
	for _, edit := range before.state.Seal.Edits {
		if edit.Role != event.RoleSettings || slices.Contains(files, edit.Path) {
			continue
		}
		is, err := guardrail.Standing(e.root(), edit.Path)
		if err != nil {
			return fmt.Errorf("look at the settings' files: %w", err)
		}
		if is == edit.Is { // else a person has changed it since
			files = append(files, edit.Path)
			what = append(what, edit.String())
		}
	}
	if len(files) == 0 {
		return nil
	}
	loaded, err := e.settings(nil, e.workDirOf(before))
	if err != nil {
		return err
	}
	return refuse("put it back; or, if it is right as it is, "+v.again(), "%s:%s", strings.Join(what, "; "), below(e.overGiven(dir, loaded, files)))
}

// tellEdited says, before a loop is resumed, what its guardrails consist of and was changed while nobody
// looked: it is taken for the agent's doing, and who did it by hand has to know.
func (v *startVerb) tellEdited(e *env, dir string, before standing) error {
	if !before.exists || v.AcceptChanges {
		return nil
	}
	changes, err := runner.Edited(dir, e.root(), &before.state)
	if err != nil {
		return fmt.Errorf("look at the guardrails' files: %w", err)
	}
	for _, c := range changes {
		what := fmt.Sprintf("%s has %s", c.Path, c.Kind)
		if c.Kind == guardrail.Changed {
			what = fmt.Sprintf("%s was changed", c.Path)
		}
		after := "it counts as the agent's doing"
		if c.Protected {
			after += " and will be put back"
		}
		tell(e.stderr, "%s since the agent of loop %s was started, and no check has looked: %s", what, v.Name, after)
	}
	if len(changes) > 0 {
		tell(e.stderr, "hint: if that was you, stop the loop and say so: %s", v.again())
	}
	return nil
}

// tellUnaccepted says which files of guardrails and settings the agent of an ended loop changed.
func tellUnaccepted(e *env, name string, edited []event.EditedFile) {
	for _, file := range edited {
		tell(e.stderr, "%s", file)
	}
	if len(edited) > 0 {
		tell(e.stderr, "hint: look at it; 'ralph start %s --resume --accept-changes' says that it is right, and so does whoever writes it again", name)
	}
}

// givenMost is how much of a value the journal has, in bytes.
const givenMost = 4000

// given is what a loop is given, for its journal: what is not built in. The journal masks secrets; those that it could not know by
// their values have names.
func given(loaded config.Loaded) []event.Setting {
	var settings []event.Setting
	for _, key := range sortedKeys(loaded.Origins) {
		if value, ok := config.Text(loaded.Settings, key); ok && key != "agent.env" { // whose entries have keys of their own
			settings = append(settings, event.Setting{Key: key, Value: givenText(key, value), From: loaded.Origins[key].String()})
		}
	}
	return settings
}

func givenText(key, value string) string {
	value = withoutKeys(key, value)
	if len(value) > givenMost {
		value = strings.ToValidUTF8(value[:givenMost], "") + "…"
	}
	return value
}

// givenBefore reads from the journal what a person gave the loop last; nothing where that part of it is gone.
func givenBefore(dir string) map[string]event.Setting {
	settings := map[string]event.Setting{}
	for e, err := range journal.Read(dir, journal.ReadOptions{}) {
		var last *event.Settings
		switch {
		case err != nil:
			return settings // what is known of it is shown
		case e.Type == event.TypeLoopStarted:
			if p, err := event.As[event.LoopStarted](e); err == nil {
				last = p.Settings
			}
		case e.Type == event.TypeLoopResumed:
			if p, err := event.As[event.LoopResumed](e); err == nil {
				last = p.Settings
			}
		}
		if last != nil {
			clear(settings)
			for _, s := range last.Values {
				settings[s.Key] = s
			}
		}
	}
	return settings
}

// overFrozen are the settings in config.json that are not what the journal says: what it says was given on the command line, of
// which a resumed loop is given the same, and what all of it came to.
func (e *env) overFrozen(dir string, frozen config.Settings, flags map[string]string) []string {
	was, is := givenBefore(dir), map[string]event.Setting{}
	for _, key := range config.Changed(frozen) {
		value, _ := config.Text(frozen, key)
		is[key] = event.Setting{Key: key, Value: givenText(key, value), From: "config.json"}
	}
	maps.DeleteFunc(is, func(key string, _ event.Setting) bool { return was[key].From == onCommandLine })
	if loaded, err := config.Load(config.Source{Flags: flags}); err == nil {
		for _, s := range given(loaded) {
			s.From = "config.json, as if given on the command line"
			is[s.Key] = s
		}
	}
	return e.differences(was, is, runner.Secrets(frozen), func(was, is event.Setting) bool {
		if is.Key != "" || was.From == onCommandLine {
			return true
		}
		value, _ := config.Text(frozen, was.Key)
		return value != was.Value // what was set to what is built in
	})
}

// overGiven are the settings in some files that are not what the loop was given.
func (e *env) overGiven(dir string, loaded config.Loaded, files []string) []string {
	is := map[string]event.Setting{}
	for _, s := range given(loaded) {
		is[s.Key] = s
	}
	about := func(s event.Setting) bool {
		return slices.ContainsFunc(files, func(file string) bool { return strings.HasPrefix(s.From, file+":") })
	}
	return e.differences(givenBefore(dir), is, runner.Secrets(loaded.Settings), func(was, is event.Setting) bool {
		return (about(was) || about(is)) && was.From != onCommandLine
	})
}

// onCommandLine is where flags come from, as config.Origin has it.
const onCommandLine = "command line"

// differences says which settings have other values than they had, as far as they are asked for.
func (e *env) differences(was, is map[string]event.Setting, secrets []string, asked func(was, is event.Setting) bool) []string {
	masker := secret.New(slices.Concat(e.environ, secrets))
	side := func(s event.Setting) string {
		if s.Key == "" {
			return "not set"
		}
		return fmt.Sprintf("%q (%s)", s.Value, s.From)
	}
	keys := append(sortedKeys(was), sortedKeys(is)...)
	slices.Sort(keys)
	var lines []string
	for _, key := range slices.Compact(keys) {
		before, now := was[key], is[key]
		masked, _ := masker.Mask([]byte(now.Value)) // as the journal's is
		now.Value = string(masked)
		if (before.Key != now.Key || before.Value != now.Value) && asked(before, now) {
			lines = append(lines, fmt.Sprintf("%s was %s, is %s", key, side(before), side(now)))
		}
	}
	return lines
}

// below puts lines below the words that announce them.
func below(lines []string) string {
	if len(lines) == 0 {
		return " no setting that can be shown has another value"
	}
	return "\n" + strings.Join(lines, "\n")
}
