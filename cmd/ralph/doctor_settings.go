package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/internal/secret"
	"github.com/ralph-loop/ralph/render"
)

// settingsFinding is what the layers of settings come to in this project.
type settingsFinding struct {
	Files    []string       `json:"files"`
	Values   []settingValue `json:"values"` // those that are not built in
	Warnings []string       `json:"warnings,omitempty"`
	Problem  string         `json:"problem,omitempty"`
	Hint     string         `json:"hint,omitempty"`
	// Trust is needless, trusted, untrusted or changed: as trustReport has it.
	Trust string `json:"trust"`
}

type settingValue struct {
	Key   string `json:"key"`
	Value string `json:"value"` // as a flag would give it; secrets masked
	From  string `json:"from"`
	// Idle says that this ralph knows the setting and does not act on it yet.
	Idle bool `json:"idle,omitempty"`
}

// idleSettings are keys, with all below them, that no part of this ralph acts on yet.
// Whoever builds such a part takes its key out.
var idleSettings = []string{
	"notify", "review", "sandbox", "worktree",
}

func idleSetting(key string) bool {
	return slices.ContainsFunc(idleSettings, func(idle string) bool {
		return key == idle || strings.HasPrefix(key, idle+".")
	})
}

// examineSettings loads the settings as start would, without flags. Where they are not trusted e is wary from then on.
func examineSettings(e *env) (settingsFinding, []config.Agent) {
	s := settingsFinding{Files: []string{}, Values: []settingValue{}}
	e.wary = true
	loaded, err := e.settings(nil, e.workDir())
	if err != nil {
		s.Problem, s.Trust = err.Error(), trustNever
		if wrong, ok := errors.AsType[*config.Error](err); ok {
			s.Hint = wrong.Hint()
		}
		return s, nil
	}
	s.judge(e, loaded)
	s.Files, s.Warnings = append(s.Files, loaded.Files...), append(s.Warnings, loaded.Warnings...)
	candidates := loaded.Settings.Candidates()
	if len(candidates) > 0 {
		warnings, err := unsuited(loaded.Settings, s.asks(e))
		s.Warnings = append(s.Warnings, warnings...)
		if warning := unproved(e, loaded.Settings); warning != "" {
			s.Warnings = append(s.Warnings, warning+"; "+hintUnproved)
		}
		// An agent that is not spoken to is told of among the checks.
		if refused, ok := errors.AsType[*failure](err); ok && refused.hint != hintNotSpoken {
			s.Problem, s.Hint = refused.Error(), refused.hint
		}
	}
	masker := secret.New(slices.Concat(e.environ, runner.Secrets(loaded.Settings)))
	for _, key := range slices.Sorted(maps.Keys(loaded.Origins)) {
		value, ok := config.Text(loaded.Settings, key)
		if !ok {
			continue
		}
		masked, _ := masker.Mask([]byte(value))
		s.Values = append(s.Values, settingValue{Key: key, Value: string(masked), From: loaded.Origins[key].String(), Idle: idleSetting(key)})
	}
	return s, candidates
}

// judge says whether the settings of the project are trusted.
func (s *settingsFinding) judge(e *env, loaded config.Loaded) {
	c := e.confidence(loaded)
	s.Trust = c.standing()
	if all, err := e.trustsAll(); err != nil {
		s.Warnings = append(s.Warnings, err.Error())
	} else if all {
		s.Trust = trustGiven
	}
	e.wary = s.Trust != trustGiven
	if c.err != nil {
		s.Warnings = append(s.Warnings, c.err.Error())
	}
	if s.Trust == trustNever || s.Trust == trustOvertaken {
		s.Warnings = append(s.Warnings, c.about()+": 'ralph trust' shows them and asks")
	}
}

// asks returns what asks the agents of the settings what they can do; nil where they are not trusted and nothing is run.
func (s *settingsFinding) asks(e *env) runner.Ask {
	if s.Trust == trustNever || s.Trust == trustOvertaken {
		return nil
	}
	return asks(e)
}

func (s settingsFinding) print(w io.Writer) {
	if s.Problem != "" {
		fmt.Fprintf(w, "  fail\t%s\n", render.Clean(s.Problem))
		if s.Hint != "" {
			fmt.Fprintf(w, "  \thint: %s\n", render.Clean(s.Hint))
		}
		return
	}
	if len(s.Files) == 0 {
		fmt.Fprintln(w, "  no settings.json; everything not shown is built in")
	} else {
		fmt.Fprintf(w, "  from %s; everything not shown is built in\n", render.Clean(strings.Join(s.Files, ", ")))
	}
	for _, warning := range s.Warnings {
		fmt.Fprintf(w, "  warn\t%s\n", render.Clean(warning))
	}
	for _, v := range s.Values {
		note := ""
		if v.Idle {
			note = "  (this ralph does not act on it yet)"
		}
		fmt.Fprintf(w, "  %s\t%s\t%s%s\n", render.Clean(v.Key), cutTo(60, render.Clean(v.Value)), render.Clean(v.From), note)
	}
}

// cutTo shortens a text to so many characters.
func cutTo(most int, text string) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}
