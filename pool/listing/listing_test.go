package listing_test

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/pool/fleet"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/listing"
	"github.com/ralph-loop/ralph/pool/live"
	"github.com/ralph-loop/ralph/pool/pooltest"
	"github.com/ralph-loop/ralph/pool/queue"
	"github.com/ralph-loop/ralph/pool/spec"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/pool/store/dir"
	"github.com/ralph-loop/ralph/pool/worker"
	"github.com/ralph-loop/ralph/projector"
)

// submit submits a loop, which a host claims if one is given, and of which it says a group.
func submit(t *testing.T, s store.Store, name string, priority int, host string, group projector.Group) spec.Spec {
	t.Helper()
	sp := spec.Spec{Name: name, Repository: "/srv/app", Prompt: "do it", Priority: priority, By: "ada@mill"}
	if err := queue.Submit(t.Context(), s, &sp, ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))); err != nil {
		t.Fatal(err)
	}
	if host == "" {
		return sp
	}
	text, _ := spec.Encode(sp)
	if _, err := queue.NewClaim(sp.ID, host, text).Try(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if group != "" {
		v := &projector.View{}
		v.Name, v.State, v.Group = name, "state of "+name, group
		cell := live.Cell{Key: keys.View(sp.ID)}
		err := cell.Put(t.Context(), s, 1, live.View{Version: 1, Loop: sp.ID, Epoch: 3, Host: host, View: v})
		if err := errors.Join(err, live.NoteLoop(t.Context(), s, host, sp.ID)); err != nil {
			t.Fatal(err)
		}
	}
	return sp
}

func TestQueueAndLoopsAreSorted(t *testing.T) {
	s, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	submit(t, s, "over", 0, "mill", projector.Over)
	low := submit(t, s, "low", 0, "", "")
	submit(t, s, "high", 9, "", "")
	submit(t, s, "claimed", 0, "kiln", "")
	submit(t, s, "works", 0, "kiln", projector.Working)
	submit(t, s, "asks", 0, "mill", projector.NeedsYou)
	gone := submit(t, s, "gone", 0, "", "")
	if _, err := queue.Withdraw(t.Context(), s, gone, "bob@kiln"); err != nil {
		t.Fatal(err)
	}
	cell := live.Cell{Key: keys.Worker("mill")}
	if err := cell.Put(t.Context(), s, 0, worker.Report{Host: "mill", Refused: map[string]string{low.ID: "waits for trust by host mill"}}); err != nil {
		t.Fatal(err)
	}
	rows, err := listing.Read(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows {
		got = append(got, strings.Join([]string{r.Name, r.State, r.Host, r.Why}, "|"))
	}
	want := "asks|state of asks|mill|\nworks|state of works|kiln|\nclaimed|claimed|kiln|\nhigh|queued||\nlow|queued||waits for trust by host mill\n" +
		"gone|withdrawn by bob@kiln||\nover|state of over|mill|"
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("%s\nwant\n%s", text, want)
	}
}

func TestFleetIsOneRow(t *testing.T) {
	s, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var tasks []fleet.Task
	for name, needs := range [][]int{nil, {0}, {1}} {
		tasks = append(tasks, fleet.Task{Needs: needs, Spec: spec.Spec{Name: fmt.Sprint("demo-", name), Repository: "/srv/app", Prompt: "do it", By: "ada@mill"}})
	}
	specs, err := fleet.Submit(t.Context(), s, "demo", tasks, ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)), func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	submit(t, s, "alone", 0, "mill", projector.NeedsYou)
	// Of one that was cut off nothing is in the queue, and one cannot be read.
	for name, text := range map[string]string{"cut": `{"v":1,"name":"cut","parts":[{"id":"01JD0000000000000000000009","loop":"cut-one"}]}`, "bad": "{"} {
		if _, err := s.PutIfAbsent(t.Context(), keys.Fleet(name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	list := func() (text string) {
		t.Helper()
		rows, err := listing.Read(t.Context(), s)
		if err == nil {
			rows, err = listing.Fleets(t.Context(), s, rows)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			text += r.Name + ": " + r.State + "\n"
			for _, part := range r.Parts {
				text += "  " + part.Name + ": " + part.State + ": " + part.Why + "\n"
			}
		}
		return text
	}
	others := "bad: damaged\ncut: 0 of 1 completed, 1 queued; not all are submitted: the same 'ralph pool submit' goes on\n  cut-one: queued: it is not submitted yet\n"
	want := "alone: state of alone\ndemo: 0 of 3 completed, 3 queued\n" +
		"  demo-0: queued: no host has a worker: 'ralph pool worker'\n  demo-1: queued: waits for demo-0 to be completed\n  demo-2: queued: waits for demo-1 to be completed\n"
	if got := list(); got != want+others {
		t.Errorf("%s\nwant\n%s", got, want+others)
	}
	if _, err := queue.Withdraw(t.Context(), s, specs[0], "ada@mill"); err != nil {
		t.Fatal(err)
	}
	want = "alone: state of alone\ndemo: 0 of 3 completed, 1 failed, 2 stopped\n  demo-0: withdrawn by ada@mill: \n" +
		"  demo-1: stopped: does not begin: it needs demo-0: withdrawn by ada@mill\n" +
		"  demo-2: stopped: does not begin: it needs demo-1, which needs demo-0: withdrawn by ada@mill\n"
	if got := list(); got != want+others {
		t.Errorf("%s\nwant\n%s", got, want+others)
	}
}

// What a worker said of a part may be older than the end of what that needs.
func TestCompletedPartIsNotAwaited(t *testing.T) {
	s, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	one, two := submit(t, s, "one", 0, "mill", projector.Over), submit(t, s, "two", 0, "", "")
	v := &projector.View{}
	v.Name, v.Status, v.Group = "one", event.StatusCompleted, projector.Over
	views := live.Cell{Key: keys.View(one.ID)}
	reports := live.Cell{Key: keys.Worker("mill")}
	parts, _ := json.Marshal(fleet.Fleet{Version: 1, Name: "demo", Complete: true, Parts: []fleet.Part{{ID: one.ID, Loop: "one"}, {ID: two.ID, Loop: "two", Needs: []int{0}}}})
	_, err = s.PutIfAbsent(t.Context(), keys.Fleet("demo"), parts)
	if err := errors.Join(err, views.Put(t.Context(), s, 1, live.View{Version: 1, Loop: one.ID, Epoch: 1, Host: "mill", View: v})); err != nil {
		t.Fatal(err)
	}
	for said, want := range map[string]string{"waits for " + one.ID + " to be completed": "", "waits for trust by host mill": "waits for trust by host mill"} {
		if err := reports.Put(t.Context(), s, 0, worker.Report{Host: "mill", Refused: map[string]string{two.ID: said}}); err != nil {
			t.Fatal(err)
		}
		rows, err := listing.Read(t.Context(), s)
		if err == nil {
			rows, err = listing.Fleets(t.Context(), s, rows)
		}
		if err != nil || len(rows) != 1 || len(rows[0].Parts) != 2 || rows[0].Parts[1].Why != want {
			t.Errorf("%q: %+v, %v", said, rows, err)
		}
	}
}

func TestQuestionIsAnsweredFromAnywhere(t *testing.T) {
	s, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	id := submit(t, s, "paint", 0, "kiln", "").ID
	v := &projector.View{}
	v.NextStep = "'ralph answer paint 2 TEXT' answers question 2"
	v.Name, v.Questions = "paint", []projector.Question{{Number: 1, AnsweredAt: time.Now()}, {Number: 2, Text: "Which colour?"}}
	cell := live.Cell{Key: keys.View(id)}
	if err := cell.Put(t.Context(), s, 1, live.View{Version: 1, Loop: id, Epoch: 3, Host: "kiln", View: v}); err != nil {
		t.Fatal(err)
	}
	rows, err := listing.Read(t.Context(), s)
	if want := "Which colour? ('ralph pool answer paint -q 2 TEXT')"; err != nil || len(rows) != 1 || rows[0].Why != want {
		t.Errorf("%+v, %v, want %q", rows, err, want)
	}
}

func TestDamagedLoopHidesNoOther(t *testing.T) {
	s, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	submit(t, s, "works", 0, "kiln", projector.Working)
	id := "01JD0000000000000000000009"
	_, err = s.PutIfAbsent(t.Context(), keys.Chunk(id, 0), []byte("no chunk"))
	if err := errors.Join(err, live.NoteLoop(t.Context(), s, "mill", id), live.NoteLoop(t.Context(), s, "mill", "01JD0000000000000000000008")); err != nil {
		t.Fatal(err)
	}
	rows, err := listing.Read(t.Context(), s)
	if err != nil || len(rows) != 2 || rows[0].ID != id || rows[0].State != "damaged" || rows[1].Name != "works" {
		t.Errorf("%+v, %v", rows, err)
	}
}

// What a list costs grows by a read for each host and each loop, and not by what these have stored.
func TestListOfManyLoops(t *testing.T) {
	folder, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	const hosts, loops, waiting = 5, 40, 10
	for i := range loops {
		sp := submit(t, folder, fmt.Sprint("loop-", i), 0, fmt.Sprint("host-", i%hosts), projector.Working)
		if _, err := folder.PutIfAbsent(t.Context(), keys.Blob(sp.ID, "a"), nil); err != nil {
			t.Fatal(err)
		}
	}
	for i := range hosts {
		cell := live.Cell{Key: keys.Worker(fmt.Sprint("host-", i))}
		if err := cell.Put(t.Context(), folder, 0, worker.Report{Host: fmt.Sprint("host-", i)}); err != nil {
			t.Fatal(err)
		}
	}
	for range waiting {
		submit(t, folder, "waits", 0, "", "")
	}
	s := &pooltest.Counting{Store: folder}
	rows, err := listing.Read(t.Context(), s)
	if err != nil || len(rows) != loops+waiting {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	// The cursor; of what the queue has after it, the specification, and of what waits, the claim.
	if most := int64(hosts + loops + 1 + (loops + waiting) + waiting); s.Gets.Load() > most || s.Lists.Load() != 3 || s.Writes.Load() != 0 {
		t.Errorf("%d reads, %d lists and %d writes; want at most %d, 3 and 0", s.Gets.Load(), s.Lists.Load(), s.Writes.Load(), most)
	}
}

func TestNameMeansLiveLoop(t *testing.T) {
	rows := []listing.Row{
		{ID: "1", Name: "one", Group: projector.Over}, {ID: "2", Name: "one", Group: projector.Working}, {ID: "3", Name: "two"}, {ID: "4", Name: "two"},
	}
	for name, want := range map[string]string{"one": "2", "1": "1", "two": "2 loops two: name one by its ID", "none": "no loop"} {
		r, err := listing.Find(rows, name)
		if r.ID != want && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %s, %v", name, r.ID, err)
		}
	}
}
