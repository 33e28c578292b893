package fleet_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/pool/chunk"
	"github.com/ralph-loop/ralph/pool/fleet"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/live"
	"github.com/ralph-loop/ralph/pool/queue"
	"github.com/ralph-loop/ralph/pool/spec"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/pool/store/dir"
	"github.com/ralph-loop/ralph/projector"
)

var key = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))

func TestDecisions(t *testing.T) {
	state := func(name string, phase fleet.Phase, why string) fleet.State {
		return fleet.State{Name: name, Phase: phase, Why: why}
	}
	for _, row := range []struct {
		needs []fleet.State
		want  fleet.Decision
	}{
		{nil, fleet.Decision{Begin: true}},
		{[]fleet.State{state("a", fleet.Done, ""), state("b", fleet.Done, "")}, fleet.Decision{Begin: true}},
		{[]fleet.State{state("a", fleet.Done, ""), state("b", fleet.Working, "")}, fleet.Decision{Why: "waits for b to be completed"}},
		{[]fleet.State{state("a", fleet.Queued, ""), state("b", fleet.Working, "")}, fleet.Decision{Why: "waits for a, b to be completed"}},
		{[]fleet.State{state("a", fleet.Working, ""), state("b", fleet.Failed, "limit reached")},
			fleet.Decision{Stopped: true, Why: "does not begin: it needs b: limit reached"}},
		{[]fleet.State{state("a", fleet.Stopped, "does not begin: it needs z: lost"), state("b", fleet.Done, "")},
			fleet.Decision{Stopped: true, Why: "does not begin: it needs a, which needs z: lost"}},
		{[]fleet.State{state("a", "of a later version", "")}, fleet.Decision{Why: "waits for a to be completed"}},
	} {
		if got := fleet.Decide(row.needs); got != row.want {
			t.Errorf("%+v: %+v, want %+v", row.needs, got, row.want)
		}
	}
}

// A trace has a letter for each part: q queued, w working, d done, f failed, s stopped.
func TestTracesOfFleet(t *testing.T) {
	// a <- b <- c, a <- d, and e alone
	f := fleet.Fleet{Complete: true, Parts: []fleet.Part{{}, {Needs: []int{0}}, {Needs: []int{1}}, {Needs: []int{0}}, {}}}
	phases := map[rune]fleet.Phase{'q': fleet.Queued, 'w': fleet.Working, 'd': fleet.Done, 'f': fleet.Failed, 's': fleet.Stopped}
	for _, row := range []struct{ is, becomes, summary string }{
		{"qqqqq", "qqqqq", "0 of 5 completed, 5 queued"},
		{"wqqqd", "wqqqd", "1 of 5 completed, 1 working, 3 queued"},
		{"dwqww", "dwqww", "1 of 5 completed, 3 working, 1 queued"},
		{"dfqdd", "dfsdd", "3 of 5 completed, 1 failed, 1 stopped"},
		{"fqqqw", "fsssw", "0 of 5 completed, 1 working, 1 failed, 3 stopped"},
		{"fdqqd", "fdqsd", "2 of 5 completed, 1 queued, 1 failed, 1 stopped"}, // it failed when it was resumed
		{"ddddd", "ddddd", "5 of 5 completed"},
	} {
		var states []fleet.State
		for _, letter := range row.is {
			states = append(states, fleet.State{Phase: phases[letter]})
		}
		judged := f.Judge(states)
		var got strings.Builder
		for _, s := range judged {
			for letter, phase := range phases {
				if s.Phase == phase {
					got.WriteRune(letter)
				}
			}
		}
		if got.String() != row.becomes || f.Summary(judged) != row.summary {
			t.Errorf("%s becomes %s: %s", row.is, got.String(), f.Summary(judged))
		}
		if over := !strings.ContainsAny(row.becomes, "qw"); fleet.Over(judged) != over {
			t.Errorf("%s is over: %t", row.becomes, !over)
		}
	}
}

func open(t *testing.T) store.Store {
	t.Helper()
	s, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func tasks() []fleet.Task {
	var all []fleet.Task
	for i, needs := range [][]int{nil, {0}, {0, 1}} {
		all = append(all, fleet.Task{Needs: needs, Spec: spec.Spec{Name: fmt.Sprint("demo-", i), Repository: "/srv/app", Prompt: "do it", By: "ada@mill"}})
	}
	return all
}

func submit(t *testing.T, s store.Store) ([]spec.Spec, error) {
	t.Helper()
	return fleet.Submit(t.Context(), s, "demo", tasks(), key, func(int) {})
}

// dead fails all writes from one on, before or after its effect, as for a process that was killed.
type dead struct {
	store.Store
	left  int
	after bool
}

var errDead = errors.New("killed")

func (d *dead) write(do func() (store.Revision, error)) (store.Revision, error) {
	if d.left--; d.left < 0 && !(d.left == -1 && d.after) {
		return "", errDead
	}
	r, err := do()
	if d.left < 0 {
		return "", errDead
	}
	return r, err
}

func (d *dead) PutIfAbsent(ctx context.Context, key string, value []byte) (store.Revision, error) {
	return d.write(func() (store.Revision, error) { return d.Store.PutIfAbsent(ctx, key, value) })
}

func (d *dead) CompareAndSwap(ctx context.Context, key string, revision store.Revision, value []byte) (store.Revision, error) {
	return d.write(func() (store.Revision, error) { return d.Store.CompareAndSwap(ctx, key, revision, value) })
}

// A submission that is killed at any write is completed by the same command, and nothing is there
// twice.
func TestKilledSubmissionGoesOn(t *testing.T) {
	for kill := 0; ; kill++ {
		s := open(t)
		_, err := submit(t, &dead{Store: s, left: kill / 2, after: kill%2 == 1})
		if err == nil {
			t.Logf("a fleet of three takes %d writes", kill/2)
			break
		}
		specs, err := submit(t, s)
		complete := err != nil && strings.Contains(err.Error(), "there is a fleet demo of ada@mill already")
		if err != nil && !complete {
			t.Fatalf("kill %d: %v", kill, err)
		}
		waiting, err := (&queue.Reader{Store: s}).Waiting(t.Context())
		if err != nil || len(waiting) != 3 {
			t.Fatalf("kill %d: %+v, %v", kill, waiting, err)
		}
		for i, item := range waiting {
			if item.Wrong != nil || item.Spec.Verify() != nil || item.Spec.Fleet != "demo" || len(item.Spec.Needs) != i || !complete && item.ID != specs[i].ID {
				t.Errorf("kill %d: %+v", kill, item)
			}
		}
		if _, err := submit(t, s); err == nil || !strings.Contains(err.Error(), "choose another name") {
			t.Errorf("kill %d: submitted again: %v", kill, err)
		}
	}
}

func TestForeignFleetIsNotContinued(t *testing.T) {
	s := open(t)
	_, _ = submit(t, &dead{Store: s, left: 1})
	other := ed25519.NewKeyFromSeed([]byte(strings.Repeat("x", ed25519.SeedSize)))
	if _, err := fleet.Submit(t.Context(), s, "demo", tasks(), other, func(int) {}); err == nil || !strings.Contains(err.Error(), "choose another name") {
		t.Error(err)
	}
	if _, err := fleet.Submit(t.Context(), s, "demo", tasks()[:2], key, func(int) {}); err == nil {
		t.Error("a fleet of other tasks went on")
	}
	if _, err := s.PutIfAbsent(t.Context(), keys.Fleet("bad"), []byte("{")); err != nil {
		t.Fatal(err)
	}
	all, err := fleet.List(t.Context(), s)
	if err != nil || len(all) != 2 || !slices.ContainsFunc(all, func(f fleet.Fleet) bool { return f.Name == "bad" && f.Version == 0 }) {
		t.Errorf("%+v, %v", all, err)
	}
}

// chain stores chunks of a loop: a claim for each that is empty, else an event.
func chain(t *testing.T, s store.Store, loop string, chunks ...string) {
	t.Helper()
	h := chunk.Header{Version: 1, Loop: loop, Nonce: "n"}
	last := event.Seq(0)
	for n, line := range chunks {
		h.Number, h.First, h.Last = uint64(n), 0, 0
		if line == "" {
			h.Epoch++
			h.Host = fmt.Sprint("host-", h.Epoch)
		} else {
			last++
			h.First, h.Last = last, last
			line += "\n"
		}
		value, err := chunk.Encode(h, []byte(line))
		if err == nil {
			_, err = s.PutIfAbsent(t.Context(), keys.Chunk(loop, h.Number), value)
		}
		if err != nil {
			t.Fatal(err)
		}
		h.Prev = chunk.Hash(value)
	}
}

// Only a log says that a part is done: a view may be of a host that has lost the loop.
func TestLogSaysWhatIsDone(t *testing.T) {
	const started, ended, failed = `{"type":"loop.started"}`, `{"type":"loop.ended","data":{"status":"completed"}}`, `{"type":"loop.ended","data":{"status":"failed"}}`
	for name, row := range map[string]struct {
		chunks []string
		view   event.Status
		want   fleet.Phase
	}{
		"not claimed":             {nil, "", fleet.Queued},
		"claimed":                 {[]string{""}, "", fleet.Working},
		"runs":                    {[]string{"", started}, event.StatusRunning, fleet.Working},
		"completed":               {[]string{"", started, ended}, event.StatusCompleted, fleet.Done},
		"and more events":         {[]string{"", started, ended, `{"type":"notify.sent"}`}, event.StatusCompleted, fleet.Done},
		"its end is not sealed":   {[]string{"", started}, event.StatusCompleted, fleet.Working},
		"taken over before":       {[]string{"", started, ""}, event.StatusCompleted, fleet.Working},
		"resumed":                 {[]string{"", started, ended, `{"type":"loop.resumed"}`}, event.StatusCompleted, fleet.Working},
		"failed":                  {[]string{"", started, failed}, event.StatusFailed, fleet.Failed},
		"the view is behind":      {[]string{"", started, ended}, event.StatusRunning, fleet.Working},
		"failed, says the log":    {[]string{"", started, failed}, event.StatusCompleted, fleet.Working},
		"stopped by a person":     {[]string{"", started, `{"type":"loop.ended","data":{"status":"stopped"}}`}, event.StatusStopped, fleet.Failed},
		"continued on a new host": {[]string{"", started, "", `{"type":"loop.moved"}`, ended}, event.StatusCompleted, fleet.Done},
	} {
		s, loop := open(t), "01JD0000000000000000000009"
		chain(t, s, loop, row.chunks...)
		if row.view != "" {
			view := &projector.View{}
			view.Status = row.view
			cell := live.Cell{Key: keys.View(loop)}
			if err := cell.Put(t.Context(), s, 1, live.View{Version: 1, Loop: loop, Epoch: 1, Host: "host-1", View: view}); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := fleet.Observe(t.Context(), s, loop, "one"); err != nil || got.Phase != row.want || got.Name != "one" {
			t.Errorf("%s: %+v, %v, want %s", name, got, err, row.want)
		}
	}
	s, sp := open(t), tasks()[0].Spec
	if err := queue.Submit(t.Context(), s, &sp, key); err != nil {
		t.Fatal(err)
	}
	if _, err := queue.Withdraw(t.Context(), s, sp, "ada"); err != nil {
		t.Fatal(err)
	}
	if got, err := fleet.Observe(t.Context(), s, sp.ID, "one"); err != nil || got.Phase != fleet.Failed {
		t.Errorf("withdrawn: %+v, %v", got, err)
	}
}
