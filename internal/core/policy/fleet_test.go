package policy_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/testkit/golden"
	"github.com/ralph-loop/ralph/internal/testkit/testevent"
	"github.com/ralph-loop/ralph/journal/event"
)

// A trace of a fleet is a story, as those of internal/core/loop: a line that begins with an arrow
// is an event that the agent of the fleet records, or "stop" for a person who stops it, or "limit"
// with its limits.cost. The indented lines under it are what is decided, which is recorded at once;
// the last one says how far the tasks are.
func TestFleetTraces(t *testing.T) {
	files, err := filepath.Glob("testdata/fleet/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	for _, file := range files {
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		golden.Check(t, file, playFleet(t, string(want)))
	}
}

func playFleet(t *testing.T, story string) string {
	t.Helper()
	var f policy.Fleet
	var out strings.Builder
	stopping, limit := false, 0.0
	for line := range strings.Lines(story) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "  ") {
			continue // output of an earlier run
		}
		fmt.Fprintln(&out, line)
		input, happens := strings.CutPrefix(line, "<- ")
		if !happens {
			continue
		}
		switch name, data, _ := strings.Cut(input, " "); name {
		case "stop":
			stopping = true
		case "limit":
			if _, err := fmt.Sscan(data, &limit); err != nil {
				t.Fatal(err)
			}
		default:
			f.Apply(fleetEvent(t, name, data))
		}
		for d, ok := f.Next(stopping, limit); ok; d, ok = f.Next(stopping, limit) {
			text := string(event.AppendData(nil, d))
			fmt.Fprintf(&out, "  %s %s\n", d.EventType(), text)
			f.Apply(fleetEvent(t, string(d.EventType()), text))
		}
		out.WriteString("  =")
		for _, task := range f.Tasks {
			fmt.Fprintf(&out, " %s %s", task.ID, task.Step)
		}
		out.WriteString("\n")
	}
	return out.String()
}

func fleetEvent(t *testing.T, name, data string) event.Payload {
	t.Helper()
	if !json.Valid([]byte(data)) {
		t.Fatalf("%q: the data is not JSON", data)
	}
	p, err := event.Decode(testevent.Of(1, time.Unix(0, 0), event.Draft{Type: event.Type(name), Data: []byte(data)}))
	if err != nil || p == nil {
		t.Fatalf("%s %s: %v", name, data, err)
	}
	return p
}

// What is to be seen of a loop is recorded once, and nothing is while an action is under way.
func TestFleetObserves(t *testing.T) {
	ended := func(status event.Status, reason event.Reason) *event.LoopEnded {
		return &event.LoopEnded{Status: status, Reason: reason, Why: "why"}
	}
	working := policy.FleetTask{ID: "a", Step: event.FleetWorking, Share: 2, USD: 1}
	for name, row := range map[string]struct {
		task policy.FleetTask
		loop policy.FleetLoop
		want event.FleetObserved
	}{
		"it works":            {working, policy.FleetLoop{Alive: true, Begun: true, Seq: 5, USD: 1.5, Share: 2}, event.FleetObserved{}},
		"it has not begun":    {working, policy.FleetLoop{Alive: true}, event.FleetObserved{}},
		"it spent too much":   {working, policy.FleetLoop{Alive: true, Begun: true, USD: 2.5, Share: 2}, event.FleetObserved{Task: "a", What: event.FleetSpent, USD: 2.5, Share: 2}},
		"a person gave more":  {working, policy.FleetLoop{Alive: true, Begun: true, USD: 1, Share: 3}, event.FleetObserved{Task: "a", What: event.FleetSpent, USD: 1, Share: 3}},
		"there is none":       {working, policy.FleetLoop{}, event.FleetObserved{Task: "a", What: event.FleetAbsent}},
		"its runner died":     {working, policy.FleetLoop{Begun: true, Seq: 5, USD: 1}, event.FleetObserved{Task: "a", What: event.FleetDied, Seq: 5, USD: 1}},
		"it is done":          {working, policy.FleetLoop{Begun: true, Seq: 5, Ended: ended(event.StatusCompleted, event.ReasonPromise)}, event.FleetObserved{Task: "a", What: event.FleetCompleted, Seq: 5}},
		"it was interrupted":  {working, policy.FleetLoop{Begun: true, Seq: 5, Ended: ended(event.StatusStopped, event.ReasonInterrupt)}, event.FleetObserved{Task: "a", What: event.FleetInterrupted, Seq: 5}},
		"it failed":           {working, policy.FleetLoop{Begun: true, Seq: 5, Ended: ended(event.StatusFailed, event.ReasonIterations)}, event.FleetObserved{Task: "a", What: event.FleetEnded, Seq: 5, Why: "its loop ended as failed: why"}},
		"its end is known":    {policy.FleetTask{ID: "a", Step: event.FleetWorking, Result: event.FleetDied}, policy.FleetLoop{Begun: true, Seq: 5}, event.FleetObserved{}},
		"it is being resumed": {policy.FleetTask{ID: "a", Step: event.FleetWorking, Doing: &event.FleetDecided{}}, policy.FleetLoop{Begun: true, Seq: 5}, event.FleetObserved{}},
		"it is merged":        {policy.FleetTask{ID: "a", Step: event.FleetMerged}, policy.FleetLoop{Begun: true, Seq: 5}, event.FleetObserved{}},
	} {
		got, ok := row.task.Observe(row.loop)
		if diff := cmp.Diff(row.want, got); diff != "" || ok != (row.want.Task != "") {
			t.Errorf("%s: %v (-want +got):\n%s", name, ok, diff)
		}
	}
}
