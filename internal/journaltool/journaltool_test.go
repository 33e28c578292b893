package journaltool

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/cli"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestUnknownTypeNamesKnownTypes(t *testing.T) {
	for typo, want := range map[string]string{
		"agent.sad":   `did you mean "agent.said"?`,
		"tool":        `did you mean "tool."?`,
		"Loop.Ended":  `did you mean "loop.ended"?`,
		"ended":       `did you mean "`,
		"nothinglike": "types are loop.started",
	} {
		err := checkTypes([]string{typo})
		hinted, ok := errors.AsType[*cli.Failure](err)
		if !ok || !strings.HasPrefix(hinted.NextStep, want) || !strings.Contains(hinted.NextStep, " fault.raised; loop. means all") {
			t.Errorf("%s: %v, %+v", typo, err, hinted)
		}
	}
}

func TestReplayPauses(t *testing.T) {
	begin := time.Date(2026, 11, 21, 1, 52, 28, 0, time.UTC)
	for name, c := range map[string]struct {
		speed string
		gap   time.Duration
		want  time.Duration
	}{
		"at once":                    {"max", time.Hour, 0},
		"zero is at once too":        {"0", time.Hour, 0},
		"in real time":               {"1", time.Hour, time.Hour},
		"ten times as fast":          {"10", time.Second, 100 * time.Millisecond},
		"with an x":                  {"10x", time.Second, 100 * time.Millisecond},
		"half as fast":               {"0.5", time.Second, 2 * time.Second},
		"no longer than two seconds": {"10", time.Hour, 2 * time.Second},
		"a clock that was set back":  {"1", -time.Hour, -time.Hour}, // which is no pause
	} {
		speed, err := ParseSpeed(c.speed)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := pause(begin, begin.Add(c.gap), speed); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if got := pause(time.Time{}, begin, 1); got != 0 {
		t.Errorf("before the first event: %v", got)
	}
	for _, bad := range []string{"", "fast", "-1", "NaN", "Inf"} {
		if _, err := ParseSpeed(bad); cli.ExitCode(err) != event.ExitUsage {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
