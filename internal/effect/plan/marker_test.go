package plan_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestMarkerHasItsShape(t *testing.T) {
	dir := t.TempDir()
	states := []event.StoryState{
		{ID: "US-001", Title: "not kept"},
		{ID: "US-002", Passes: true, ReviewStatus: event.StoryApproved, ReviewCount: 1},
	}
	m := plan.Marker{
		Timestamp: time.Date(2025, 6, 15, 12, 30, 0, 5, time.FixedZone("", 2*60*60)), PID: 12345, MaxIterations: 15, Mode: plan.ModeDirect,
		ReviewCap: 5, IterationMode: event.ModeImplement, PreIterationSnapshot: plan.SnapshotOf(states), Loop: "demo", Dir: "/loops/demo", Story: "US-001",
	}
	if err := plan.WriteMarker(dir, m); err != nil {
		t.Fatal(err)
	}
	want := `{
  "timestamp": "2025-06-15T10:30:00Z",
  "pid": 12345,
  "max_iterations": 15,
  "mode": "direct",
  "skipReview": false,
  "reviewCap": 5,
  "iterationMode": "implement",
  "preIterationSnapshot": {
    "US-001": {
      "passes": false,
      "reviewStatus": null,
      "reviewCount": 0
    },
    "US-002": {
      "passes": true,
      "reviewStatus": "approved",
      "reviewCount": 1
    }
  },
  "loop": "demo",
  "dir": "/loops/demo",
  "story": "US-001"
}
`
	if diff := cmp.Diff(want, text(t, filepath.Join(dir, plan.Active))); diff != "" {
		t.Error(diff)
	}
	got, err := plan.ReadMarker(dir)
	if err != nil {
		t.Fatal(err)
	}
	m.Timestamp = time.Date(2025, 6, 15, 10, 30, 0, 0, time.UTC)
	if diff := cmp.Diff(m, got); diff != "" {
		t.Error(diff)
	}
	states[0].Title = ""
	if diff := cmp.Diff(states, got.States()); diff != "" {
		t.Error(diff)
	}
}

// A marker of the scripts that defined its shape has no snapshot.
func TestMarkerWithoutSnapshot(t *testing.T) {
	dir := t.TempDir()
	testfile.Write(t, filepath.Join(dir, plan.Active), `{"pid": 7, "skipReview": true}`)
	m, err := plan.ReadMarker(dir)
	if err != nil || m.PID != 7 || !m.SkipReview || m.States() != nil {
		t.Errorf("%+v, %v", m, err)
	}
	if m.PreIterationSnapshot = plan.SnapshotOf(nil); m.States() == nil {
		t.Error("a snapshot without stories is no snapshot")
	}
	for _, wrong := range []string{"", "[]", `{"pid": "x"}`, `{"pid": 7`} {
		testfile.Write(t, filepath.Join(dir, plan.Active), wrong)
		if m, err := plan.ReadMarker(dir); err == nil || m.PID != 0 || !strings.Contains(err.Error(), plan.Active) {
			t.Errorf("%q: %+v, %v", wrong, m, err)
		}
	}
}

func TestMarkerOfAnotherLoopStays(t *testing.T) {
	dir := t.TempDir()
	there := func() bool {
		_, err := plan.ReadMarker(dir)
		return !errors.Is(err, fs.ErrNotExist)
	}
	if err := plan.RemoveMarker(dir, "a"); err != nil {
		t.Errorf("without a marker: %v", err)
	}
	for _, row := range []struct {
		name, content, loop string
		stays               bool
	}{
		{"its own", `{"dir": "a"}`, "a", false},
		{"another's", `{"dir": "b"}`, "a", true},
		{"any", `{"dir": "b"}`, "", false},
		{"one that cannot be read", `{`, "a", false},
	} {
		testfile.Write(t, filepath.Join(dir, plan.Active), row.content)
		if err := plan.RemoveMarker(dir, row.loop); err != nil || there() != row.stays {
			t.Errorf("%s: %v, stays: %v", row.name, err, there())
		}
	}
}
