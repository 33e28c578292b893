package attach

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

func TestStatusLineCountsStories(t *testing.T) {
	now := time.Date(2026, 11, 21, 1, 52, 28, 0, time.UTC)
	v := projector.View{Summary: registry.Summary{Stories: 5, StoriesDone: 2, MaximumIterations: 15, Since: now}, Work: projector.Work{Begun: 3, Open: true, Doing: "the agent works"}}
	for columns, want := range map[int]bool{40: false, 80: true, 200: true} {
		line := statusLine(v, &render.Running{}, now, columns)
		if strings.Contains(line, "stories 2/5") != want || render.Columns(line) > columns {
			t.Errorf("%d columns: %q", columns, line)
		}
	}
}

func TestElapsedIsInSeconds(t *testing.T) {
	begin := time.Date(2026, 11, 21, 1, 52, 28, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 999 * time.Millisecond: "0s", 9999 * time.Millisecond: "9s", 59*time.Second + 900*time.Millisecond: "59s",
		61 * time.Second: "1m1s", 3*time.Hour + 2*time.Minute: "3h2m",
	} {
		if got := elapsed(begin, begin.Add(d)); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
	// All of them count at the same moments.
	if got := elapsed(begin.Add(900*time.Millisecond), begin.Add(time.Second)); got != "1s" {
		t.Errorf("at the next second of the clock it is %q", got)
	}
}
