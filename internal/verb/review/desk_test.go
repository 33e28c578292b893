package review_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/internal/verb/review"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render/reading"
)

// TestMain is also the program that a resume starts, which fails.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "start" {
		os.Exit(event.ExitFailed)
	}
	os.Exit(m.Run())
}

var must = testfile.Must

// ended is a loop outside of any repository, which has ended with a survivor and a fact; this
// process has its lock.
func ended(t *testing.T) (*cli.Env, registry.Status) {
	t.Helper()
	home, project := t.TempDir(), t.TempDir()
	dir, id := filepath.Join(project, ".ralph", "demo"), "01JD0000000000000000000000"
	must(t, os.MkdirAll(dir, 0o700))
	rec, err := journal.Recover(dir, journal.Options{})
	must(t, err)
	w, _, err := journal.Create(dir, rec, 0, nil, journal.Options{})
	must(t, err)
	strength := &event.Strength{
		Survivors: []event.Mutant{{File: "cart.go", Line: 2, Operator: "changed constant", Was: "return 2", Now: "return 3"}},
		Facts:     []event.GamingFact{{Kind: event.FactTestsSkipped, File: "cart_test.go", Line: 9, Text: "t.Skip was added"}},
	}
	for _, p := range []event.Payload{
		event.LoopStarted{Name: "demo", Project: project, ID: id, Agent: event.Agent{Protocol: "pi"}, Rules: event.Rules{MaximumIterations: 5}},
		event.LoopEnded{Status: event.StatusCompleted, Reason: event.ReasonPromise, Strength: strength},
	} {
		_, err := w.Append([]event.Draft{event.Encode(p, "loop")})
		must(t, err)
	}
	must(t, w.Close())
	lock, err := registration.Acquire(dir)
	must(t, err)
	t.Cleanup(func() { _ = lock.Release() })
	e := &cli.Env{Home: home, Cwd: project, Now: time.Now, Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Environ: os.Environ()}
	return e, registry.Status{Entry: registry.Entry{Name: "demo", Dir: dir, Project: project, ID: id}}
}

// Survivors and facts are those of the loop's end, first of all. Each is approved by its id alone.
func TestSurvivorsComeFirst(t *testing.T) {
	e, loop := ended(t)
	desk := review.New(e)
	list, err := desk.List(t.Context(), loop)
	must(t, err)
	if len(list.Items) != 2 || list.Items[0].Kind != reading.Survivor || list.Items[1].Kind != reading.Fact ||
		list.Unknown != "the loop does not work in a git repository" {
		t.Fatalf("%+v", list)
	}
	for _, act := range []reading.Act{
		{Do: reading.Approve, Item: "cart.go"}, {Do: reading.Approve, Item: list.Items[0].ID[:3]}, {Do: "merge", Item: list.Items[0].ID},
		{Do: reading.SendBack, Item: list.Items[0].ID, Words: " "}, {Do: reading.RollBack, File: "cart.go"},
	} {
		if said, err := desk.Act(t.Context(), loop, act); err == nil {
			t.Errorf("%+v: %s", act, said)
		}
	}
	if state, err := reading.ReadState(e.Home, loop.ID); err != nil || len(state.Items) > 0 {
		t.Errorf("%+v, %v", state, err)
	}
	_, err = desk.Act(t.Context(), loop, reading.Act{Do: reading.Approve, Item: list.Items[1].ID[:8]})
	must(t, err)
	if list, err = desk.List(t.Context(), loop); err != nil || list.Items[0].State != "" || list.Items[1].State != reading.Approved || list.Decided != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	_, err = desk.Act(t.Context(), loop, reading.Act{Do: reading.Approve, Item: list.Items[0].ID[:8]})
	must(t, err)
	if list, err = desk.List(t.Context(), loop); err != nil || list.Done() || list.String() != "reviewed 2 of 2 that are known" {
		t.Errorf("files that are not known are not read: %s, %v", list, err)
	}
	if state, err := reading.ReadState(e.Home, loop.ID); err != nil || state.Done() {
		t.Errorf("%+v, %v", state, err)
	}
}

// Words for a loop that cannot be resumed stay with the person: no next runner finds them.
func TestWordsOfFailedResume(t *testing.T) {
	e, loop := ended(t)
	e.Environ = []string{"PATH=" + os.Getenv("PATH")}
	desk := review.New(e)
	list, err := desk.List(t.Context(), loop)
	must(t, err)
	if said, err := desk.Act(t.Context(), loop, reading.Act{Do: reading.SendBack, Item: list.Items[0].ID, Words: "use a table"}); err == nil {
		t.Errorf("it says %q", said)
	}
	waiting, err := inbox.Dropped(loop.Dir)
	if state, unread := reading.ReadState(e.Home, loop.ID); err != nil || unread != nil || len(waiting)+len(state.Items) > 0 {
		t.Errorf("%v %v, %+v %v", waiting, err, state, unread)
	}
}

// Windows that decide at once lose nothing, and a file is not put back that changed meanwhile.
func TestDecisionsAtOnce(t *testing.T) {
	e, loop := ended(t)
	desk := review.New(e)
	list, err := desk.List(t.Context(), loop)
	must(t, err)
	var all sync.WaitGroup
	for i := range list.Items {
		all.Go(func() {
			if _, err := desk.Act(t.Context(), loop, reading.Act{Do: reading.Approve, Item: list.Items[i].ID}); err != nil {
				t.Error(err)
			}
		})
	}
	begun := make(chan struct{})
	all.Go(func() {
		must := func(err error) {
			if err != nil {
				t.Error(err)
			}
		}
		must(reading.Alone(t.Context(), e.Home, func() error {
			close(begun)
			r, err := reading.ReadState(e.Home, loop.ID)
			must(err)
			r.Decide(&reading.Item{ID: "another", Kind: reading.Fact}, reading.Decision{State: reading.Approved})
			return r.Write(e.Home)
		}))
	})
	<-begun
	all.Wait()
	if r, err := reading.ReadState(e.Home, loop.ID); err != nil || len(r.Items) != 3 {
		t.Errorf("%+v, %v", r, err)
	}
	_, err = desk.Act(t.Context(), loop, reading.Act{Do: reading.RollBack, Item: "0123456789abcdef", File: "cart.go"})
	if err == nil || !strings.Contains(err.Error(), "may have changed") {
		t.Errorf("%v", err)
	}
}
