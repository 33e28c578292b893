package codex

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestErrorKinds(t *testing.T) {
	for info, want := range map[string]string{
		`"rateLimitExceeded"`:     "rate",
		`"serverOverloaded"`:      "overload",
		`"internalServerError"`:   "overload",
		`"contextWindowExceeded"`: "context",
		`"unauthorized"`:          "auth",
		`"badRequest"`:            "other",
		`"sandboxError"`:          "other",
		`"of a later Codex"`:      "other",
		`{"of a later Codex":{}}`: "other",
		`{}`:                      "other",
		`null`:                    "other",
		``:                        "other",
		`{"httpConnectionFailed":{"httpStatusCode":401}}`:           "auth",
		`{"httpConnectionFailed":{"httpStatusCode":403}}`:           "auth",
		`{"httpConnectionFailed":{"httpStatusCode":404}}`:           "other",
		`{"httpConnectionFailed":{"httpStatusCode":402}}`:           "quota",
		`{"httpConnectionFailed":{"httpStatusCode":503}}`:           "overload",
		`{"responseTooManyFailedAttempts":{"httpStatusCode":429}}`:  "rate",
		`{"responseStreamDisconnected":{"httpStatusCode":null}}`:    "network",
		`{"responseStreamConnectionFailed":{"httpStatusCode":408}}`: "network",
		`{"activeTurnNotSteerable":{"turnKind":"review"}}`:          "other",
	} {
		t.Run(info, func(t *testing.T) {
			value, err := new(jsonscan.Document).Read([]byte(info))
			if err != nil && info != "" {
				t.Fatal(err)
			}
			if got := new(account).kind(value, ""); string(got) != want {
				t.Errorf("kind %q, want %q", got, want)
			}
		})
	}
}

func TestSpentAccount(t *testing.T) {
	const (
		none    = `null`
		some    = `{"usedPercent":40,"windowDurationMins":300,"resetsAt":1795294800}`
		full    = `{"usedPercent":100,"windowDurationMins":300,"resetsAt":1795294800}`
		week    = `{"usedPercent":101.5,"windowDurationMins":10080,"resetsAt":1795380000}`
		unknown = `{"usedPercent":100,"windowDurationMins":300,"resetsAt":null}`
	)
	for name, row := range map[string]struct {
		primary, secondary, more string
		kind, until              string
	}{
		"a window is full":                   {full, none, "", "rate", "2026-11-21T21:00:00Z"},
		"both are: the later one counts":     {full, week, "", "rate", "2026-11-22T20:40:00Z"},
		"the other one is: that one counts":  {some, week, "", "rate", "2026-11-22T20:40:00Z"},
		"none is full":                       {some, none, "", "rate", ""},
		"no reset is stated":                 {unknown, none, "", "rate", ""},
		"there are no windows":               {none, none, "", "quota", ""},
		"the credits are gone":               {full, none, `,"rateLimitReachedType":"workspace_member_credits_depleted"`, "quota", ""},
		"the workspace allows no more now":   {none, none, `,"rateLimitReachedType":"workspace_member_usage_limit_reached"`, "rate", ""},
		"a person has set how much is spent": {full, none, `,"spendControlReached":true`, "quota", ""},
	} {
		t.Run(name, func(t *testing.T) {
			k := begun(t)
			k.says(
				fmt.Sprintf(`{"method":"account/rateLimits/updated","params":{"rateLimits":{"primary":%s,"secondary":%s%s}}}`, row.primary, row.secondary, row.more),
				`{"method":"account/rateLimits/updated","params":{"rateLimits":{"primary":null,"secondary":null}}}`, // which takes nothing back
				`{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"U","status":"failed","error":{"message":"no more","codexErrorInfo":"usageLimitExceeded"}}}}`,
				answer(4),
			)
			limited := event.AgentLimited{Kind: event.FaultKind(row.kind), Until: row.until, Text: "no more"}
			finished := event.AgentFinished{Outcome: "error", Error: "no more", Kind: event.FaultKind(row.kind)}
			facts := slices.DeleteFunc(k.facts, func(fact string) bool { return strings.HasPrefix(fact, "agent.quota ") })
			if told := len(k.facts) - len(facts); (told == 1) != strings.Contains(row.primary+row.secondary, "windowDurationMins") {
				t.Errorf("the quota was told %d times", told)
			}
			k.expect("facts", []string{
				"agent.limited " + string(event.AppendData(nil, limited)), "agent.finished " + string(event.AppendData(nil, finished)),
			}, facts)
		})
	}
}

func TestRetriedFaultKeepsKind(t *testing.T) {
	const (
		retry  = `{"method":"error","params":{"threadId":"T","turnId":"U","willRetry":true,"error":{"message":"Reconnecting... 1/1","codexErrorInfo":{"responseStreamDisconnected":{"httpStatusCode":null}},"additionalDetails":"cut off"}}}`
		failed = `{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"U","status":"failed","error":{"message":%q,"codexErrorInfo":"other"}}}}`
	)
	for said, want := range map[string]string{"cut off": "network", "another fault": "other"} {
		k := begun(t).says(retry, delta("a", "half"), fmt.Sprintf(failed, said), answer(4))
		if last := k.facts[len(k.facts)-1]; last != fmt.Sprintf(`agent.finished {"outcome":"error","error":%q,"kind":%q}`, said, want) {
			t.Errorf("%s after a network that was tried again: %s", said, last)
		}
	}
}

func TestRepeatedLimitsAreDropped(t *testing.T) {
	d := begun(t).d
	line := []byte(`{"method":"account/rateLimits/updated","params":{"rateLimits":{"primary":{"usedPercent":40,"resetsAt":1795294800}}}}`)
	for i, want := range []bool{false, true} {
		var out agent.Decoded
		if d.Decode(line, agent.Stdout, &out); out.DropRaw != want {
			t.Errorf("line %d: dropped %v", i+1, out.DropRaw)
		}
	}
}
