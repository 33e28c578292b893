package doctor

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent/credentials"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/redact"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/internal/verb/preflight"
	"github.com/ralph-loop/ralph/render"
)

// settingsFinding is the result of merging the settings of this project.
type settingsFinding struct {
	Files    []string       `json:"files"`
	Values   []settingValue `json:"values"` // those that are not built in
	Warnings []string       `json:"warnings,omitempty"`
	Problem  string         `json:"problem,omitempty"`
	Hint     string         `json:"hint,omitempty"`
	// Trust is needless, trusted, untrusted or changed.
	Trust string `json:"trust"`
}

type settingValue struct {
	Key   string `json:"key"`
	Value string `json:"value"` // as a flag would give it; secrets masked
	From  string `json:"from"`
}

// examineSettings loads the settings as start would, without flags. It sets e.Untrusted if they are
// not trusted.
func examineSettings(e *cli.Env) (settingsFinding, config.Settings) {
	s := settingsFinding{Files: []string{}, Values: []settingValue{}}
	e.Untrusted = true
	loaded, err := e.Settings(nil, e.WorkDir())
	if err != nil {
		s.Problem, s.Trust = err.Error(), cli.TrustMissing
		if wrong, ok := errors.AsType[*config.Error](err); ok {
			s.Hint = wrong.Hint()
		}
		return s, config.Settings{}
	}
	s.judge(e, loaded)
	s.Files, s.Warnings = append(s.Files, loaded.Files...), append(s.Warnings, loaded.Warnings...)
	masker := redact.New(slices.Concat(e.Environ, credentials.Secrets(loaded.Settings)))
	for _, key := range slices.Sorted(maps.Keys(loaded.Origins)) {
		value, ok := config.Text(loaded.Settings, key)
		if !ok {
			continue
		}
		masked, _ := masker.Mask([]byte(value))
		s.Values = append(s.Values, settingValue{Key: key, Value: string(masked), From: loaded.Origins[key].String()})
	}
	return s, loaded.Settings
}

// judge determines whether the settings of the project are trusted.
func (s *settingsFinding) judge(e *cli.Env, loaded config.Loaded) {
	c := e.ReviewTrust(loaded)
	s.Trust = c.Status()
	if all, err := e.TrustsOnce(c.Fingerprint()); err != nil {
		s.Warnings = append(s.Warnings, err.Error())
	} else if all {
		s.Trust = cli.TrustGiven
	}
	e.Untrusted = s.Trust != cli.TrustGiven
	if c.Err != nil {
		s.Warnings = append(s.Warnings, c.Err.Error())
	}
	if s.Trust == cli.TrustMissing || s.Trust == cli.TrustChanged {
		s.Warnings = append(s.Warnings, c.About()+": 'ralph trust' shows them and asks")
	}
}

// asks returns a function that runs the agents' programs to find out what they can do; nil if the
// settings are not trusted.
func (s *settingsFinding) asks(e *cli.Env) runner.Ask {
	if s.Trust == cli.TrustMissing || s.Trust == cli.TrustChanged {
		return nil
	}
	return preflight.Asks(e)
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
		fmt.Fprintf(w, "  %s\t%s\t%s\n", render.Clean(v.Key), units.Cut(render.Clean(v.Value), 60), render.Clean(v.From))
	}
}
