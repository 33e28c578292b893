package listing_test

import (
	"crypto/ed25519"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/listing"
	"github.com/ralph-loop/ralph/pool/live"
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
		if err := cell.Put(t.Context(), s, 1, live.View{Version: 1, Loop: sp.ID, Epoch: 3, Host: host, View: v}); err != nil {
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
	if _, err := s.PutIfAbsent(t.Context(), keys.Chunk(id, 0), []byte("no chunk")); err != nil {
		t.Fatal(err)
	}
	rows, err := listing.Read(t.Context(), s)
	if err != nil || len(rows) != 2 || rows[0].ID != id || rows[0].State != "damaged" || rows[1].Name != "works" {
		t.Errorf("%+v, %v", rows, err)
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
