package why

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/journal/event"
)

// origins remembers where the settings of a loop come from.
type origins map[string]Setting

// given takes the settings that a runner started or resumed the loop with. A value that was changed
// while the loop ran stays, unless this changes the rule.
func (o origins) given(seq event.Seq, settings *event.Settings, before, after event.Rules) {
	if settings == nil {
		return
	}
	for key, had := range o {
		if !had.live() || valueOf(before, key) != valueOf(after, key) {
			delete(o, key)
		}
	}
	for _, v := range settings.Values {
		if _, kept := o[v.Key]; !kept {
			o[v.Key] = Setting{Key: v.Key, Value: v.Value, From: v.From, Seq: seq}
		}
	}
}

// changed takes a value that a command changed.
func (o origins) changed(seq event.Seq, p event.LoopConfigured, from string) {
	o[p.Key] = Setting{Key: p.Key, Value: p.Value, From: liveFrom + from, Seq: seq}
}

// liveFrom is the beginning of the origin of a value that was changed while the loop ran.
const liveFrom = "changed while it ran, by "

func (s Setting) live() bool { return strings.HasPrefix(s.From, liveFrom) }

// setting returns a setting as it is with these rules.
func (o origins) setting(key string, rules event.Rules) Setting {
	s := o[key]
	s.Key = key
	if value := valueOf(rules, key); value != "" {
		s.Value = value
	}
	if s.Value == "" {
		s.Value = builtIn(key)
	}
	return s
}

// setting returns a setting as it is now. Where it comes from is not known if it was changed in an
// event that was not read.
func (t *trace) setting(key string) Setting {
	s := t.origins.setting(key, t.state.Rules)
	if t.early != nil && !s.live() && valueOf(*t.early, key) != valueOf(t.state.Rules, key) {
		s.From, s.Seq = "changed in an earlier event", 0
	}
	return s
}

// valueOf returns a rule as it is written in the settings; empty for a key that is no rule.
func valueOf(rules event.Rules, key string) string {
	text, err := json.Marshal(rules)
	if err != nil {
		return ""
	}
	var value any
	if json.Unmarshal(text, &value) != nil {
		return ""
	}
	for name := range strings.SplitSeq(key, ".") {
		object, ok := value.(map[string]any)
		if !ok {
			return ""
		}
		value = object[name]
	}
	switch value := value.(type) {
	case nil, map[string]any:
		return ""
	case float64:
		if value == 0 && unlimited(key) {
			return "none"
		}
		text, _ := json.Marshal(value)
		return string(text)
	case string:
		if value == "0s" && unlimited(key) {
			return "none"
		}
		return value
	default:
		return fmt.Sprint(value)
	}
}

// unlimited reports whether zero means that there is no limit.
func unlimited(key string) bool {
	k, ok := config.KeyOf(key)
	return ok && k.None
}

func builtIn(key string) string {
	k, _ := config.KeyOf(key)
	return k.Default
}
