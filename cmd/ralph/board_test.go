package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/front/listing"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

// rows are the loops of a home by their names, with their facts.
func rows(r *recorded, l *listing.Loader) map[string]listing.Loop {
	r.t.Helper()
	entries, err := os.ReadDir(registry.Folder(r.env.Home))
	r.must(err)
	var files []string
	for _, entry := range entries {
		files = append(files, entry.Name())
	}
	snapshot, err := l.Load(files)
	r.must(err)
	loops := map[string]listing.Loop{}
	for _, loop := range snapshot.Loops {
		loops[loop.Name] = loop
	}
	return loops
}

func TestBoardReadsFacts(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	at := func(name string) *recorded {
		r := record(t, name)
		r.env.Home = home
		return r
	}
	works := at("works")
	works.live()
	works.append(event.IterationStarted{N: 1}, event.AgentStarted{PID: 7})
	called := works.at
	works.append(event.ToolCalled{ID: "1", Name: "bash", Input: []byte(`{"command":"make \u001b[2Jtest"}`)})
	works.register()
	waits := at("waits")
	waits.live()
	waits.iterate(1, "One.")
	asked := waits.at
	waits.append(event.LoopWaiting{For: event.WaitPerson, Why: "Which \x1b[2Jschema:\nv1 or v2?"})
	waits.append(event.CommandReceived{ID: "01JDC", Kind: "follow-up", From: "cli:ada", Text: "wait"})
	waits.register()
	pauses := at("pauses")
	pauses.live()
	pauses.iterate(1, "One.")
	pauses.append(event.LoopPaused{})
	pauses.register()
	blocked := at("blocked")
	blocked.iterate(1, "One.")
	blocked.append(event.LoopEnded{Status: event.StatusStopped, Reason: event.ReasonBlocked, Why: "the agent is blocked: no licence", Hint: "give it what it needs"})
	blocked.must(blocked.w.Close())
	blocked.register()
	died := at("died")
	died.iterate(1, "One.")
	died.register()
	registered := registry.Entry{Name: "gone", Dir: filepath.Join(died.env.Cwd, ".ralph", "gone"), Project: died.env.Cwd, ID: "x", Agent: "pi", Started: begin}
	died.must(registry.Put(home, registered))

	loader := listing.NewLoader(works.env)
	for range 2 { // the second time from memory
		loops := rows(works, loader)
		for name, want := range map[string]listing.Facts{
			"works":   {Text: "bash  make test", Since: called},
			"waits":   {Text: "Which schema:\nv1 or v2?", Since: asked},
			"pauses":  {Text: "a person paused it", Hint: "p resumes it", Since: loops["pauses"].Facts.Since},
			"blocked": {Text: "no licence", Hint: "give it what it needs", Resumption: projector.Resumption{More: "up to 9 more iterations"}},
			"died":    {Text: "its runner died", Hint: "r resumes it", Resumption: projector.Resumption{More: "up to 9 more iterations"}},
			"gone":    {Text: "its folder is gone: " + registered.Dir},
		} {
			if got := loops[name].Facts; got == nil || !reflect.DeepEqual(*got, want) {
				t.Errorf("%s: %+v, want %+v", name, got, want)
			}
		}
		if !loops["works"].Here || loops["waits"].Here {
			t.Error("it does not know which loops are of this project")
		}
	}
	// Facts are read again when the loop has gone on.
	works.append(event.ToolReturned{ID: "1", OK: true})
	works.register()
	if got := rows(works, loader)["works"].Facts.Text; got != "the agent works" {
		t.Errorf("then %q", got)
	}
}

// An iteration counts for the day on which it ended. What is not known is not 0.
func TestBoardKnowsCostToday(t *testing.T) {
	midnight := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	usd := func(amount float64) *float64 { return &amount }
	for name, row := range map[string]struct {
		since, at time.Time
		cost      *float64
		ended     []time.Time // of the iterations that cost $1 each
		iteration int
		want      string
	}{
		"today":        {midnight, midnight.Add(time.Hour), usd(3), nil, 3, "$3.00"},
		"yesterday":    {midnight.Add(-9 * time.Hour), midnight.Add(-time.Hour), usd(3), nil, 3, "$0.00"},
		"both":         {midnight.Add(-9 * time.Hour), midnight.Add(time.Hour), usd(3.5), []time.Time{midnight.Add(-time.Hour), midnight.Add(-1), midnight}, 4, "$1.50"},
		"open":         {midnight.Add(-9 * time.Hour), midnight.Add(time.Hour), usd(1.5), []time.Time{midnight.Add(-time.Hour)}, 2, "$0.50"},
		"a file lacks": {midnight.Add(-9 * time.Hour), midnight.Add(time.Hour), usd(3), []time.Time{midnight.Add(-time.Hour)}, 3, "unknown"},
		"unknown":      {midnight, midnight.Add(time.Hour), nil, nil, 1, "unknown"},
		"unknown then": {midnight.Add(-9 * time.Hour), midnight.Add(-time.Hour), nil, nil, 1, "$0.00"},
	} {
		t.Run(name, func(t *testing.T) {
			r := record(t, "one")
			r.env.Now = func() time.Time { return midnight.Add(2 * time.Hour) }
			r.register()
			head, err := json.Marshal(registry.Summary{
				Seq: 9, Status: event.StatusStopped, Reason: "stop", Iteration: row.iteration, Since: row.since, At: row.at, Cost: row.cost,
			})
			r.must(err)
			r.must(os.WriteFile(filepath.Join(r.dir, "state.json"), head, 0o600))
			r.must(os.MkdirAll(filepath.Join(r.dir, "iterations"), 0o700))
			for i, ended := range row.ended {
				text, err := json.Marshal(projector.Iteration{N: i + 1, Ended: ended, Usage: event.Usage{USD: usd(1)}})
				r.must(err)
				r.must(os.WriteFile(filepath.Join(r.dir, "iterations", fmt.Sprintf("%03d.json", i+1)), text, 0o600))
			}
			loader := listing.NewLoader(r.env)
			for range 2 {
				got := "unknown"
				if today := rows(r, loader)["one"].Today; today != nil {
					got = fmt.Sprintf("$%.2f", *today)
				}
				if got != row.want {
					t.Errorf("%s, want %s", got, row.want)
				}
			}
		})
	}
}
