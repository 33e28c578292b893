package codex

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
)

// hookEvents are the names of events in the keys of trusted hooks.
var hookEvents = map[string]string{"PreToolUse": "pre_tool_use", "PostToolUse": "post_tool_use", "Stop": "stop"}

// hookSettings are the options that give Codex ralph's hooks for this process alone. Codex 0.169.0
// adds hooks of options to those of its files. It skips a hook that is not trusted, and the hash of
// a hook says that it is.
func hookSettings(given options, spec agent.Spec) (words []string) {
	if given.has("hooks", "hooks.state") {
		return nil
	}
	var trusted []string
	for _, h := range spec.OwnHooks("apply_patch") {
		if given.has("hooks." + h.Event) {
			continue
		}
		matcher := ""
		identity := map[string]any{
			"event_name": hookEvents[h.Event],
			"hooks":      []any{map[string]any{"async": false, "command": h.Command, "timeout": h.Timeout, "type": h.Type}},
		}
		if h.Matcher != "" {
			matcher, identity["matcher"] = "matcher="+quoted(h.Matcher)+",", h.Matcher
		}
		words = append(words, setting("hooks."+h.Event,
			fmt.Sprintf("[{%shooks=[{type=%s,command=%s,timeout=%d}]}]", matcher, quoted(h.Type), quoted(h.Command), h.Timeout))...)
		sum := sha256.Sum256([]byte(agent.PlainJSON(identity)))
		trusted = append(trusted, fmt.Sprintf(`"/<session-flags>/config.toml:%s:0:0"={trusted_hash="sha256:%s"}`,
			hookEvents[h.Event], hex.EncodeToString(sum[:])))
	}
	if len(trusted) > 0 {
		words = append(words, setting("hooks.state", "{"+strings.Join(trusted, ",")+"}")...)
	}
	return words
}
