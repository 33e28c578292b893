package client

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// journalOf writes events into a new journal, between segment.opened and segment.sealed.
func journalOf(t *testing.T, payloads ...event.Payload) (dir string) {
	t.Helper()
	dir = t.TempDir()
	w, _, err := journal.Create(dir, journal.Recovery{NextSeq: 1}, 1, nil, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var drafts []event.Draft
	for _, p := range payloads {
		drafts = append(drafts, event.Encode(p, "loop"))
	}
	if _, err := w.Append(drafts); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestRestBeginsAfterSeq(t *testing.T) {
	dir := journalOf(t, event.LoopPaused{}, event.LoopUnpaused{})
	for seq, want := range map[event.Seq][]event.Type{
		1: {event.TypeLoopPaused, event.TypeLoopUnpaused, event.TypeSegmentSealed},
		2: {event.TypeLoopUnpaused, event.TypeSegmentSealed},
		4: nil,
	} {
		var got []event.Type
		for e, err := range Rest(dir, seq) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, e.Type)
		}
		if !slices.Equal(got, want) {
			t.Errorf("after event %d: %v, want %v", seq, got, want)
		}
	}
	for _, err := range Rest(dir, 7) {
		if _, ok := errors.AsType[*journal.RangeError](err); !ok {
			t.Errorf("after an event that was never written: %v", err)
		}
	}
}

func TestReceiptFollowsItsCommand(t *testing.T) {
	received, delivered := event.CommandReceived{ID: "mine"}, event.CommandDelivered{ID: "mine", How: event.DeliveredLive}
	for name, row := range map[string]struct {
		events  []event.Payload
		outcome Outcome
		final   bool
	}{
		"nothing":                {nil, "", false},
		"another command":        {[]event.Payload{event.CommandReceived{ID: "other"}, event.CommandDelivered{ID: "other"}}, "", false},
		"received":               {[]event.Payload{received}, "received", false},
		"delivered":              {[]event.Payload{received, delivered}, "delivered", true},
		"refused":                {[]event.Payload{received, event.CommandRefused{ID: "mine", Why: "it ends"}}, "refused", true},
		"the first final counts": {[]event.Payload{delivered, event.CommandRefused{ID: "mine"}}, "delivered", true},
	} {
		t.Run(name, func(t *testing.T) {
			f := Receipt{ID: "mine"}
			if err := f.ApplyRest(journalOf(t, row.events...), 1); err != nil {
				t.Fatal(err)
			}
			if f.Outcome != row.outcome || f.Final() != row.final {
				t.Errorf("outcome %q, final %v; want %q, %v", f.Outcome, f.Final(), row.outcome, row.final)
			}
		})
	}
}

func TestDropNamesSender(t *testing.T) {
	dir := t.TempDir()
	for from, want := range map[string]string{"": Sender("cli"), "agent:pi": "agent:pi"} {
		id, err := Drop("one", dir, inbox.Command{Kind: inbox.Stop, From: from})
		if err != nil {
			t.Fatal(err)
		}
		box, err := inbox.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		commands, err := box.Pending()
		if err != nil || len(commands) != 1 || commands[0].Command.ID != id || commands[0].Command.From != want {
			t.Errorf("%+v %v, want one from %q", commands, err, want)
		}
		if err := box.Done(id); err != nil {
			t.Fatal(err)
		}
	}
}

// A command that no runner has taken is withdrawn when there is no runner any more, and not only
// after the time in which a live one has to answer.
func TestDeadRunnerTakesNothing(t *testing.T) {
	for limit, now := range map[*time.Duration]time.Duration{&AnswerTime: time.Hour, &RunnerCheck: time.Millisecond} {
		before := *limit
		t.Cleanup(func() { *limit = before })
		*limit = now
	}
	dir := journalOf(t, event.LoopPaused{})
	lock, err := registration.Acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	loop := registry.Status{Entry: registry.Entry{Name: "one", Dir: dir}, Live: registry.Liveness{Alive: true}}
	failed := make(chan error, 1)
	go func() {
		_, err := Send(t.Context(), loop, inbox.Command{Kind: inbox.Steer, Text: "hello"}, time.Hour)
		failed <- err
	}()
	box, err := inbox.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for range box.Watch(t.Context()) {
		if waiting, _ := filepath.Glob(filepath.Join(dir, "inbox", "*.json")); len(waiting) > 0 {
			break
		}
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; err == nil || err.Error() != "loop one ended before it took the steer, which is withdrawn" {
		t.Error(err)
	}
	if left, err := box.Pending(); err != nil || len(left) > 0 {
		t.Errorf("%v, and in the inbox is %v", err, left)
	}
}
