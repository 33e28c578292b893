package launch

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent/credentials"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/effect/guardrail"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/redact"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// A resumed loop continues with the settings that a person gave it. Its agent may have changed them
// since, in the project's settings or in the loop's own copy, config.json. Such changes do not
// count before a person accepts them.

// confirmForeign asks a person before a loop is resumed that was not begun on this machine: its
// folder may have come with the project, and its prompt and settings count as if a person had typed
// them.
func (p *Plan) confirmForeign(e *cli.Env) error {
	if !p.before.Exists || p.before.Damage != nil {
		return nil
	}
	known, err := registry.Survey(e.Home, func(entry registry.Entry) bool { return entry.Dir == p.Dir })
	if err != nil {
		return err
	}
	if slices.ContainsFunc(known, func(s registry.Status) bool { return s.ID == p.before.State.Lifecycle.ID && !s.Found }) {
		return nil
	}
	if once, err := p.trustsOnce(e, ""); err != nil || once {
		return err
	}
	about := fmt.Sprintf("loop %s was not begun on this machine, and continues with what it was given", p.Name)
	trusted, err := e.ConfirmTrust(about, foreignSettings(e, p.Dir, p.before), cli.CountOnce)
	if err == nil && !trusted {
		err = cli.Refuse("nothing was started", "loop %s is not trusted", p.Name)
	}
	return err
}

// foreignSettings lists the prompt and the settings of a loop that was not begun here.
func foreignSettings(e *cli.Env, dir string, before loopState) []string {
	var lines []string
	switch task, file := before.State.Lifecycle.Task, before.State.PromptFile(dir); {
	case file != "":
		lines = append(lines, "its prompt is the file "+file)
	case task.Text != nil:
		lines = append(lines, "its prompt is "+strconv.Quote(units.Cut(task.Text.Text, maxGiven)))
	}
	_, flags, err := runner.Frozen(dir)
	if err != nil {
		return lines // remember reports it
	}
	for _, key := range slices.Sorted(maps.Keys(flags)) {
		lines = append(lines, fmt.Sprintf("%s = %s (%s/config.json)", key, cli.TrustReview{Masker: redact.New(e.Environ)}.Shown(key, flags[key]), e.Short(dir)))
	}
	return lines
}

func (p *Plan) acceptCommand() string {
	return fmt.Sprintf("'ralph start %s --resume --accept-changes'", p.Name)
}

// checkChanges refuses to resume a loop with settings that its agent may have changed.
func (p *Plan) checkChanges(e *cli.Env) error {
	before := p.before
	if p.AcceptChanges || !before.Exists || before.Damage != nil || before.Live.Alive {
		return nil
	}
	if err := p.checkFrozen(e, before); err != nil {
		return err
	}
	return p.checkSettings(e, before)
}

// checkFrozen compares config.json with its hash in the journal.
func (p *Plan) checkFrozen(e *cli.Env, before loopState) error {
	given := before.State.Settings
	if !given.AgentRan { // no agent ran since a person gave the settings
		return nil
	}
	text, err := runner.FrozenText(p.Dir)
	if sum := sha256.Sum256(text); err == nil && hex.EncodeToString(sum[:]) == given.SHA256 {
		return nil
	}
	// Another starter's runner may have written it just now.
	if now, err := InspectLoop(p.Dir); err != nil {
		return err
	} else if now.Live.Alive {
		return heldError(p.Name, now.Live)
	} else if now.State.Seq != before.State.Seq {
		return ChangedMeanwhile(p.Name)
	}
	if err == nil {
		var frozen config.Settings
		var flags map[string]string
		if frozen, flags, err = config.Thaw(text); err == nil {
			return cli.Refuse("put it back; or, if it is right as it is, "+p.acceptCommand(),
				"%s/config.json has changed since loop %s was started, and its agent could write it:%s", e.Short(p.Dir),
				p.Name, frozenChanges(e, p.Dir, frozen, flags))
		}
	}
	return cli.Refuse(p.acceptCommand()+" resumes it with the project's settings and with what is given now",
		"the settings of loop %s are lost, and its agent could write there: %w", p.Name, err)
}

// LoopSettings returns the settings that a loop was started with. If its agent could write them and
// they have changed since, that is an error.
func LoopSettings(e *cli.Env, dir string) (config.Settings, error) {
	state, err := loopstate.Rebuild(dir) // not from state.json, which the agent could write
	if err != nil {
		return config.Settings{}, err
	}
	text, err := runner.FrozenText(dir)
	if err == nil {
		if sum := sha256.Sum256(text); state.Settings.AgentRan && hex.EncodeToString(sum[:]) != state.Settings.SHA256 {
			return config.Settings{}, cli.Refuse(fmt.Sprintf("'ralph start %s --resume' says what has changed", filepath.Base(dir)),
				"%s/config.json has changed since the loop was started, and its agent could write it", e.Short(dir))
		}
		var settings config.Settings
		if settings, _, err = config.Thaw(text); err == nil {
			return settings, nil
		}
	}
	return config.Settings{}, fmt.Errorf("read the settings of the loop: %w", err)
}

// checkSettings refuses settings of the project that the loop's agent changed.
func (p *Plan) checkSettings(e *cli.Env, before loopState) error {
	changes, err := runner.Edited(p.Dir, e.Root(), &before.State)
	if err != nil {
		return fmt.Errorf("compare the settings' files: %w", err)
	}
	var files, what []string
	for _, c := range changes {
		if c.Role == guardrail.Settings {
			files = append(files, c.Path)
			what = append(what, fmt.Sprintf("%s has %s since the agent of loop %s was started, and no check has run since", c.Path, c.Kind, p.Name))
		}
	}
	for _, edit := range before.State.FileChanges.Edits {
		if edit.Role != event.RoleSettings || slices.Contains(files, edit.Path) {
			continue
		}
		is, err := guardrail.InspectPath(e.Root(), edit.Path)
		if err != nil {
			return fmt.Errorf("compare the settings' files: %w", err)
		}
		if is == edit.Is { // else a person has changed it since
			files = append(files, edit.Path)
			what = append(what, edit.String())
		}
	}
	if len(files) == 0 {
		return nil
	}
	loaded, err := e.Settings(nil, WorkDirOf(e.Root(), before))
	if err != nil {
		return err
	}
	return cli.Refuse("put it back; or, if it is right as it is, "+p.acceptCommand(), "%s:%s", strings.Join(what, "; "), fileChanges(e, p.Dir, loaded, files))
}

// warnEdited warns before a resume about files of guardrails that changed while no loop ran. A
// change by a person counts as the agent's too, so the person has to know.
func (p *Plan) warnEdited(e *cli.Env) error {
	if p.AcceptChanges {
		return nil
	}
	changes, err := runner.Edited(p.Dir, e.Root(), &p.before.State)
	if err != nil {
		return fmt.Errorf("compare the guardrails' files: %w", err)
	}
	for _, c := range changes {
		kind, after := "has "+string(c.Kind), ""
		if c.Kind == guardrail.Changed {
			kind = "was changed"
		}
		if c.Protected {
			after = " and will be put back"
		}
		cli.Tell(e.Stderr, "%s %s since the agent of loop %s was started, and no check has run since: it counts as the agent's change%s",
			c.Path, kind, p.Name, after)
	}
	if len(changes) > 0 {
		cli.Tell(e.Stderr, "hint: if that was you, stop the loop and say so: %s", p.acceptCommand())
	}
	return nil
}

// reportUnaccepted reports which files of guardrails and settings the agent of an ended loop
// changed.
func (p *Plan) reportUnaccepted(e *cli.Env, edited []event.EditedFile) {
	for _, file := range edited {
		cli.Tell(e.Stderr, "%s", file)
	}
	if len(edited) > 0 {
		cli.Tell(e.Stderr, "hint: check it; %s accepts it, and so does writing it again", p.acceptCommand())
	}
}

// maxGiven is how much of a value the journal contains, in bytes.
const maxGiven = 4000

// givenSettings returns for the journal the settings that are not built in. The journal masks the
// secrets that it knows; givenSettings masks other credentials by their names.
func givenSettings(loaded config.Loaded) []event.Setting {
	var settings []event.Setting
	for _, key := range slices.Sorted(maps.Keys(loaded.Origins)) {
		row, _ := config.KeyOf(key)
		if value, ok := config.Text(loaded.Settings, key); ok && row.Name != "agents.NAME.env" { // its entries have keys of their own
			settings = append(settings, newSetting(key, value, loaded.Origins[key].String()))
		}
	}
	return settings
}

func newSetting(key, value, from string) event.Setting {
	value = cli.WithoutKeys(key, value)
	if len(value) > maxGiven {
		value = units.Prefix(value, maxGiven) + "…"
	}
	return event.Setting{Key: key, Value: value, From: from}
}

// givenBefore reads the settings of the loop's last start from the journal; none if that part of
// the journal is gone.
func givenBefore(dir string) map[string]event.Setting {
	settings := map[string]event.Setting{}
	for e, err := range journal.Read(dir, journal.ReadOptions{}) {
		if err != nil {
			break // what was read is shown
		}
		var last *event.Settings
		payload, _ := event.Decode(e)
		switch p := payload.(type) {
		case event.LoopStarted:
			last = p.Settings
		case event.LoopResumed:
			last = p.Settings
		}
		if last != nil {
			settings = byKey(last.Values)
		}
	}
	return settings
}

func byKey(settings []event.Setting) map[string]event.Setting {
	keyed := map[string]event.Setting{}
	for _, s := range settings {
		keyed[s.Key] = s
	}
	return keyed
}

// onCommandLine is the origin of flags, as config.Origin spells it.
const onCommandLine = "command line"

// frozenChanges lists the settings in config.json that differ from the journal: the flags, of which
// a resumed loop gets the same, and the merged settings.
func frozenChanges(e *cli.Env, dir string, frozen config.Settings, flags map[string]string) string {
	was, is := givenBefore(dir), map[string]event.Setting{}
	for _, key := range config.Changed(frozen) {
		if was[key].From != onCommandLine {
			value, _ := config.Text(frozen, key)
			is[key] = newSetting(key, value, "config.json")
		}
	}
	if loaded, err := config.Load(config.Source{Flags: flags}); err == nil {
		for _, s := range givenSettings(loaded) {
			s.From = "config.json, as if given on the command line"
			is[s.Key] = s
		}
	}
	return settingChanges(e, was, is, credentials.Secrets(frozen), func(was, is event.Setting) bool {
		if is.Key != "" || was.From == onCommandLine {
			return true
		}
		value, _ := config.Text(frozen, was.Key)
		return value != was.Value // else it was set to the built-in value
	})
}

// fileChanges lists the settings in some files that differ from what the loop was given.
func fileChanges(e *cli.Env, dir string, loaded config.Loaded, files []string) string {
	inFiles := func(s event.Setting) bool {
		return slices.ContainsFunc(files, func(file string) bool { return strings.HasPrefix(s.From, file+":") })
	}
	return settingChanges(e, givenBefore(dir), byKey(givenSettings(loaded)), credentials.Secrets(loaded.Settings), func(was, is event.Setting) bool {
		return (inFiles(was) || inFiles(is)) && was.From != onCommandLine
	})
}

// settingChanges lists the settings whose values changed and that shown selects, one on each line.
func settingChanges(e *cli.Env, was, is map[string]event.Setting, secrets []string, shown func(was, is event.Setting) bool) string {
	masker := redact.New(slices.Concat(e.Environ, secrets))
	side := func(s event.Setting) string {
		if s.Key == "" {
			return "not set"
		}
		return fmt.Sprintf("%q (%s)", s.Value, s.From)
	}
	both := maps.Clone(was)
	maps.Copy(both, is)
	text := ""
	for _, key := range slices.Sorted(maps.Keys(both)) {
		before, now := was[key], is[key]
		masked, _ := masker.Mask([]byte(now.Value)) // as the journal's is
		now.Value = string(masked)
		if (before.Key != now.Key || before.Value != now.Value) && shown(before, now) {
			text += fmt.Sprintf("\n%s was %s, is %s", key, side(before), side(now))
		}
	}
	return cmp.Or(text, " no setting that can be shown has another value")
}
