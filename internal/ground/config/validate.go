package config

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Validate checks settings that were made or changed in Go: every value against its row of the
// table, and the rules that join several keys. What Load and Thaw return has passed it. The error
// is an *Error without a file.
func Validate(s Settings) error {
	text, err := Freeze(s, nil)
	if err != nil {
		return &Error{Problem: err.Error()} // a number that JSON does not have
	}
	_, _, err = Thaw(text)
	if bad, ok := errors.AsType[*Error](err); ok {
		bad.File, bad.Line, bad.Column = "", 0, 0
	}
	return err
}

// checkItem checks one object of a list once all its keys are known. parent is the key of the
// list's objects in the table, key that of this object.
func checkItem(parent, key string, item reflect.Value) *Error {
	for _, f := range table() {
		if f.parent == parent && f.Required && item.FieldByIndex(f.index).IsZero() {
			full := key + f.Name[len(parent):]
			return &Error{Key: full, Problem: full + ": is missing"}
		}
	}
	switch item := item.Interface().(type) {
	case Notification:
		return checkNotification(item, key)
	case Guardrail:
		return checkHeldOut(item, key)
	}
	return nil
}

// checkHeldOut checks that a held-out guardrail says what has to hold, and nothing else to the
// agent.
func checkHeldOut(g Guardrail, key string) *Error {
	switch {
	case g.HeldOut && strings.TrimSpace(g.Requirement) == "":
		return &Error{Key: join(key, "requirement"), Problem: join(key, "requirement") + ": is missing, and a held-out guardrail needs it",
			advice: "say in words for the agent what has to hold"}
	case !g.HeldOut && g.Requirement != "":
		return &Error{Key: join(key, "requirement"), Problem: join(key, "requirement") + ": is only for a guardrail with heldOut"}
	case g.HeldOut && (g.Hint != "" || g.Protect || g.Independent):
		return &Error{Key: join(key, "heldOut"), Problem: join(key, "heldOut") + ": goes with command, requirement and timeout only"}
	}
	return nil
}

// checkNotification checks that a notification has what its kind needs.
func checkNotification(n Notification, key string) *Error {
	for _, need := range []struct {
		kinds []string
		name  string
		value string
	}{
		{[]string{NotifyNtfy, NotifyWebhook}, "url", n.URL}, {[]string{NotifyMail}, "to", n.To}, {[]string{NotifyCommand}, "command", n.Command},
	} {
		if slices.Contains(need.kinds, n.Kind) && strings.TrimSpace(need.value) == "" {
			return &Error{Key: join(key, need.name), Problem: join(key, need.name) + ": is missing, and " + n.Kind + " needs it"}
		}
	}
	if n.URL != "" {
		if u, err := url.Parse(n.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return &Error{Key: join(key, "url"), Problem: join(key, "url") + ": is not an address of http or https"}
		}
	}
	return nil
}

func checkAgent(a Agent, key string) *Error {
	if _, err := commandWords(a.Command); err != nil {
		return &Error{Key: join(key, "command"), Problem: fmt.Sprintf("%s: %v", join(key, "command"), err)}
	}
	if _, err := SplitFlags(a.Flags); err != nil {
		return &Error{Key: join(key, "flags"), Problem: fmt.Sprintf("%s: %v", join(key, "flags"), err)}
	}
	return nil
}

// checkTogether checks the rules that join several keys.
func checkTogether(s Settings) *Error {
	for _, name := range slices.Sorted(maps.Keys(s.Agents)) {
		if err := checkAgent(s.Agents[name], join(agentsKey, name)); err != nil {
			return err
		}
	}
	for i, word := range slices.Concat(s.Agent, s.Review.Agent) {
		key := "agent"
		if i >= len(s.Agent) {
			key = "review.agent"
		}
		if _, err := commandWords(word); err != nil {
			return &Error{Key: key, Problem: fmt.Sprintf("%s: %v", key, err)}
		}
	}
	if len(s.SCM.Tasks) > 0 && s.SCM.Command == "" {
		return &Error{Key: "scm.tasks", Problem: "scm.tasks: scm.command is missing", advice: "set scm.command, such as \"git\""}
	}
	if at := slices.Index(s.SCM.Tasks, TaskPullRequest); s.SCM.Publishes() && !slices.ContainsFunc(s.SCM.Tasks[:at], IsPush) {
		return &Error{Key: "scm.tasks", Problem: "scm.tasks: pr comes before the branch is pushed", advice: `say ["commit", "push", "pr"]`}
	}
	if slices.ContainsFunc(s.Guardrails, func(g Guardrail) bool { return g.HeldOut }) {
		return &Error{Key: "guardrails", Problem: "guardrails: one is heldOut, and an agent can read it here",
			advice: "'ralph holdout add' keeps it where no agent of a sandbox reads it; so does your own settings.json"}
	}
	if err := checkWindow(s.Limits.Window); err != nil {
		return err
	}
	return checkSandbox(s.Sandbox)
}

// ParseWindow reads an entry of limits.window: a span of time such as 5h or 7d, and how much may be
// used in it: US dollars, or percent of what the vendor allows.
func ParseWindow(key, value string) (span time.Duration, most float64, percent bool, err error) {
	if days, ok := strings.CutSuffix(key, "d"); ok {
		n, failed := strconv.Atoi(days)
		span, err = time.Duration(n)*24*time.Hour, failed
	} else {
		span, err = time.ParseDuration(key)
	}
	if err != nil || span < time.Minute || span > 31*24*time.Hour {
		return 0, 0, false, fmt.Errorf("%q is no span of time from 1m to 31d", key)
	}
	number, percent := strings.CutSuffix(value, "%")
	most, err = strconv.ParseFloat(strings.TrimPrefix(number, "$"), 64)
	if err != nil || !(most > 0) || percent && most > 100 {
		return 0, 0, false, fmt.Errorf("%q is neither an amount of US dollars such as 15 nor a share such as 40%%", value)
	}
	return span, most, percent, nil
}

// checkWindow checks limits.window.
func checkWindow(windows map[string]string) *Error {
	for _, key := range slices.Sorted(maps.Keys(windows)) {
		if _, _, _, err := ParseWindow(key, windows[key]); err != nil {
			return &Error{Key: "limits.window", Problem: "limits.window: " + err.Error(),
				advice: `say {"24h": "15"} for dollars, or {"5h": "40%"} of what the vendor allows`}
		}
	}
	return nil
}

// checkSandbox checks what a sandbox needs besides its mode.
func checkSandbox(s Sandbox) *Error {
	if s.Network == "listed" && len(s.Hosts) == 0 {
		return &Error{Key: "sandbox.hosts", Problem: "sandbox.hosts: is empty, and sandbox.network is listed",
			advice: "name the hosts that the agent needs, such as that of its model"}
	}
	if (s.Mode == "docker" || s.Mode == "podman") && s.Image == "" {
		return &Error{Key: "sandbox.image", Problem: "sandbox.image: is missing, and sandbox.mode is " + s.Mode,
			advice: "name an image that has the agent's program"}
	}
	return nil
}

// IsPush reports whether a task of version control pushes.
func IsPush(task string) bool { return task == "push" || strings.HasPrefix(task, "push ") }
