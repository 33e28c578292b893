package statuspage_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/front/statuspage"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

// planned is a loop over a plan, in the middle of an iteration.
func planned(t *testing.T) *loopstate.State {
	t.Helper()
	data, err := os.ReadFile("../../../render/testdata/runs/stories.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var s loopstate.State
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		e, err := event.Parse(bytes.Clone(lines.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Fold(e); err != nil {
			t.Fatal(err)
		}
	}
	return &s
}

func live(s *loopstate.State) registry.Status {
	var status registry.Status
	status.Name, status.Dir, status.Project = "notes", "/home/ada/notes/.ralph/notes", "/home/ada/notes"
	status.Live = registry.Liveness{Alive: true, PID: 12, Host: "mill", Since: s.Lifecycle.Started}
	return status
}

func TestStoriesOnThePage(t *testing.T) {
	s := planned(t)
	for _, width := range []int{40, 200} {
		var out bytes.Buffer
		if err := statuspage.Write(&out, s.At.Add(time.Minute), live(s), s, nil, width); err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(out.String(), "\nstories ")
		text, _, _ = strings.Cut("stories "+text, "\nagent ")
		text += "\n"
		name := filepath.Join("testdata", fmt.Sprintf("stories.%d.golden", width))
		if *update {
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), text); diff != "" {
			t.Errorf("%d columns: %s", width, diff)
		}
		for line := range strings.Lines(text) {
			if n := render.Columns(strings.TrimRight(line, "\n")); n > width {
				t.Errorf("%d columns: %q", n, line)
			}
		}
	}
}

func TestStoriesAsJSON(t *testing.T) {
	s := planned(t)
	read := func() (all struct {
		Total   int `json:"storiesTotal"`
		Done    int `json:"storiesDone"`
		Stories *struct {
			Mode    string             `json:"mode"`
			Story   string             `json:"story"`
			Stories []event.StoryState `json:"stories"`
			Reviews struct {
				Reviews, Approved, Changes, AtCap int
			} `json:"reviews"`
		} `json:"stories"`
	}) {
		data, err := json.Marshal(statuspage.JSON(live(s), s, nil))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &all); err != nil {
			t.Fatal(err)
		}
		return all
	}
	got := read()
	if got.Total != 3 || got.Done != 2 || got.Stories == nil || got.Stories.Mode != "implement" || got.Stories.Story != "US-003" {
		t.Fatalf("%+v", got)
	}
	if len(got.Stories.Stories) != 3 || got.Stories.Stories[1].ReviewStatus != event.StoryApproved || got.Stories.Stories[1].ReviewCount != 2 {
		t.Errorf("%+v", got.Stories.Stories)
	}
	if r := got.Stories.Reviews; r.Reviews != 3 || r.Approved != 2 || r.Changes != 1 || r.AtCap != 1 {
		t.Errorf("%+v", r)
	}
	s.Rules.Stories = false
	if got := read(); got.Stories != nil {
		t.Errorf("a loop without a plan: %+v", got.Stories)
	}
}

func TestStoriesWithoutReviews(t *testing.T) {
	s := planned(t)
	s.Stories.States, s.Stories.Total, s.Stories.Done = nil, 60, 60
	for i := range 60 {
		s.Stories.States = append(s.Stories.States, event.StoryState{ID: fmt.Sprintf("US-%03d", i+1), Title: "\x1b[2Jx", Passes: true})
	}
	var out bytes.Buffer
	if err := statuspage.Write(&out, s.At, live(s), s, nil, 80); err != nil {
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
