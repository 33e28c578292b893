package replay

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render/playback"
)

func TestParseSpeed(t *testing.T) {
	for text, want := range map[string]float64{"max": playback.NoDelay, "0": playback.NoDelay, "1": 1, "10": 10, "10x": 10, "0.5": 0.5} {
		if got, err := ParseSpeed(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, bad := range []string{"", "fast", "-1", "NaN", "Inf"} {
		if _, err := ParseSpeed(bad); cli.ExitCode(err) != event.ExitUsage {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
