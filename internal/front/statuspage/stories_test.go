package statuspage_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/front/statuspage"
	"github.com/ralph-loop/ralph/internal/testkit/golden"
	"github.com/ralph-loop/ralph/internal/testkit/testevent"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

// planned is a loop over a plan, in the middle of an iteration.
func planned(t *testing.T) *projector.View {
	t.Helper()
	var loop projector.Loop
	for _, e := range testevent.Read(t, "../../../render/testdata/runs/stories.jsonl") {
		if err := loop.Fold(e); err != nil {
			t.Fatal(err)
		}
	}
	var status registry.Status
	status.Name, status.Dir, status.Project = "notes", "/home/ada/notes/.ralph/notes", "/home/ada/notes"
	status.Live = registry.Liveness{Alive: true, PID: 12, Host: "mill"}
	return loop.ViewOf(status)
}

func TestStoriesOnThePage(t *testing.T) {
	v := planned(t)
	for _, width := range []int{40, 200} {
		var out bytes.Buffer
		if err := statuspage.Write(&out, v.At.Add(time.Minute), v, width); err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(out.String(), "\nstories ")
		text, _, _ = strings.Cut("stories "+text, "\nagent ")
		text += "\n"
		golden.Check(t, filepath.Join("testdata", fmt.Sprintf("stories.%d.golden", width)), text)
		for line := range strings.Lines(text) {
			if n := render.Columns(strings.TrimRight(line, "\n")); n > width {
				t.Errorf("%d columns: %q", n, line)
			}
		}
	}
}

func TestStoriesWithoutReviews(t *testing.T) {
	v := planned(t)
	v.Plan.Stories, v.Stories, v.StoriesDone = nil, 60, 60
	for i := range 60 {
		v.Plan.Stories = append(v.Plan.Stories, event.StoryState{ID: fmt.Sprintf("US-%03d", i+1), Title: "\x1b[2Jx", Passes: true})
	}
	var out bytes.Buffer
	if err := statuspage.Write(&out, v.At, v, 80); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"60 of 60 done", "US-050  passes", "and 10 more stories"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "US-051") || strings.Contains(out.String(), "\x1b") {
		t.Error(out.String())
	}
}
