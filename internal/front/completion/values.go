package completion

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/ralph-loop/ralph/internal/front/remote"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

// Tag is the tag of a flag or an argument that names what its values are.
const Tag = "complete"

// kinds are the values of the tag.
var kinds = map[string]func(q *query, written, before string){
	"loop":     (*query).loops, // only the first of several words
	"loops":    (*query).loops,
	"setting":  func(q *query, _, before string) { q.settings(before, false) },
	"live":     func(q *query, _, before string) { q.settings(before, true) },
	"type":     (*query).types,
	"agent":    (*query).agents,
	"scenario": (*query).scenarios,
	"question": (*query).questions,
	"schedule": (*query).schedules,
	"verb":     func(q *query, _, _ string) { q.verbs() },
	"file":     func(q *query, _, _ string) { q.Files = true },
}

// Kinds are the words that the tag may have.
func Kinds() []string {
	var names []string
	for name := range kinds {
		names = append(names, name)
	}
	return names
}

// values completes the value of a flag, or of an argument after so many others. before is what
// comes before the value in the same word.
func (q *query) values(v *kong.Value, written, before string, words int) {
	if v.Enum != "" {
		for _, word := range v.EnumSlice() {
			q.add(before+word, "")
		}
		return
	}
	if kind, tagged := v.Tag.Get(Tag), v.Tag.Has(Tag); tagged {
		for name := range strings.SplitSeq(kind, ",") {
			complete := kinds[name]
			if complete == nil || name == "loop" && words > 0 {
				continue
			}
			complete(q, written, before)
		}
		return
	}
	switch v.Tag.PlaceHolder {
	case "FILE":
		q.Files = true
	case "DIR":
		q.Folders = true
	}
}

// loops completes the name of a loop, without looking at what the loops do: this project's, and
// when a name has been begun those of other projects.
func (q *query) loops(written, before string) {
	var all []registry.Status
	_, _ = registry.Survey(q.env.Home, func(e registry.Entry) bool {
		all = append(all, registry.Status{Entry: e})
		return false
	})
	names := q.env.NamesToType(all)
	slices.SortStableFunc(all, func(a, b registry.Status) int { return b.Started.Compare(a.Started) })
	others := written != "" || !slices.ContainsFunc(all, func(s registry.Status) bool { return s.Project == q.env.Root() })
	for _, s := range all {
		if s.Project == q.env.Root() || others {
			q.add(before+names(s), "loop in "+q.env.Short(s.Project))
		}
	}
	hosts, _ := remote.Hosts(q.env) // none where the settings cannot be read
	for _, host := range hosts {
		q.addOpen(before+host+":", "loops of that machine")
	}
}

// questionMost is how many characters of a question are shown.
const questionMost = 200

// questions completes the number of an open question of the loop that a verb is about without a
// name.
func (q *query) questions(_, before string) {
	s, err := q.env.Find("")
	if err != nil {
		return
	}
	loop, err := projector.Load(s.Dir)
	if err != nil {
		return
	}
	view := loop.View()
	for _, question := range view.OpenQuestions() {
		q.add(before+strconv.Itoa(question.Number), units.Cut(strings.Join(strings.Fields(question.Text), " "), questionMost))
	}
}

// settings completes KEY=VALUE.
func (q *query) settings(before string, live bool) {
	written := strings.TrimPrefix(q.now, before)
	if key, _, given := strings.Cut(written, "="); given {
		q.settingValues(key, before+key+"=")
		return
	}
	for _, k := range config.Keys() {
		if settable(k) && (k.Live || !live) {
			q.addOpen(before+named(k, written)+"=", help(k))
		}
	}
}

// settingFlags completes the flags that settings are. Settings without a dot in their name are
// flags of the verb as well.
func (q *query) settingFlags() {
	for _, k := range config.Keys() {
		if settable(k) && strings.Contains(k.Name, ".") {
			q.add("--"+named(k, strings.TrimPrefix(q.now, "--")), help(k))
		}
	}
}

// settable reports whether a key is set by a flag: objects are set by their keys.
func settable(k config.Key) bool {
	return k.Kind != config.KindObject && !strings.Contains(k.Name, "[]")
}

// named returns the key of an agent with the name that is already written, if one is.
func named(k config.Key, written string) string {
	parts, own := strings.SplitN(written, ".", 3), strings.SplitN(k.Name, ".", 3)
	if len(parts) < 3 || len(own) < 3 || parts[0] != "agents" || own[0] != "agents" {
		return k.Name
	}
	return "agents." + parts[1] + "." + own[2]
}

func help(k config.Key) string {
	if k.Default == "" {
		return k.Doc
	}
	return fmt.Sprintf("%s (%s)", k.Doc, k.Default)
}

// settingValues completes the value of a setting.
func (q *query) settingValues(key, before string) {
	k, _ := config.KeyOf(key)
	words := slices.Clone(k.Enum)
	if k.Kind == config.KindBool {
		words = []string{"true", "false"}
	}
	if k.None {
		words = append(words, "none")
	}
	for _, word := range words {
		q.add(before+word, "")
	}
}

func isSwitch(key string) bool {
	k, _ := config.KeyOf(key)
	return k.Kind == config.KindBool
}

// types completes a type of event, or a group of types.
func (q *query) types(_, before string) {
	groups := map[string]bool{}
	for _, t := range event.Types() {
		if group, _, dotted := strings.Cut(string(t), "."); dotted && !groups[group] {
			groups[group] = true
			q.add(before+group+".", "all that begin with it")
		}
		q.add(before+string(t), "")
	}
}

func (q *query) schedules(_, before string) {
	all, _ := filepath.Glob(filepath.Join(q.env.Home, "every", "*", "schedule.json"))
	for _, file := range all {
		q.add(before+filepath.Base(filepath.Dir(file)), "")
	}
}

func (q *query) agents(_, before string) {
	for _, a := range config.KnownAgents() {
		q.add(before+a.Program, "")
	}
}

func (q *query) scenarios(_, before string) {
	for _, s := range q.words.Scenarios() {
		q.add(before+s.Word, s.Help)
	}
}
