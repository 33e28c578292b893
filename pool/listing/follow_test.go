package listing_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/listing"
	"github.com/ralph-loop/ralph/pool/live"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/pool/store/dir"
	"github.com/ralph-loop/ralph/projector"
)

// counted counts the views that are read.
type counted struct {
	store.Store
	views map[string]int
}

func (c counted) Get(ctx context.Context, key string) (store.Entry, error) {
	if strings.HasSuffix(key, "/view") {
		c.views[key]++
	}
	return c.Store.Get(ctx, key)
}

func beat(t *testing.T, s store.Store, host string, at time.Time) {
	t.Helper()
	cell := live.Cell{Key: keys.Beat(host)}
	if err := cell.Put(t.Context(), s, 0, live.Beat{Version: 1, Host: host, At: at}); err != nil {
		t.Fatal(err)
	}
}

// What is followed is printed once, and again when it has changed; only what was written is read
// again.
func TestFollowShowsWhatChanges(t *testing.T) {
	on, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer on.Close()
	s := counted{on, map[string]int{}}
	at := time.Date(2026, 11, 28, 1, 2, 3, 0, time.UTC)
	beat(t, s, "mill", at)
	mine := submit(t, s, "mine", 0, "desk", projector.Working)
	works := submit(t, s, "works", 0, "mill", projector.Working)
	submit(t, s, "waits", 0, "", "")

	ctx, stop := context.WithCancel(t.Context())
	changes, ended := make(chan listing.Change), make(chan error, 1)
	go func() {
		ended <- listing.Follow(ctx, s, "desk", func(c listing.Change) error { changes <- c; return nil })
	}()
	round := func() (loops map[string]listing.Change, heard time.Time) {
		loops = map[string]listing.Change{}
		for {
			select {
			case err := <-ended:
				t.Fatal(err)
			case <-time.After(time.Minute):
				t.Fatal("no line for a minute")
			case c := <-changes:
				switch {
				case c.Loop != nil:
					loops[c.Loop.Name] = c
				case c.Host == "mill":
					heard = c.Heard
				case !c.Read.IsZero():
					return loops, heard
				}
			}
		}
	}
	loops, heard := round()
	if len(loops) != 3 || !loops["mine"].Here || loops["works"].Here || loops["waits"].Here || !heard.Equal(at.Truncate(time.Minute)) {
		t.Errorf("at first: %+v, heard of at %s", loops, heard)
	}
	v := &projector.View{}
	v.Name, v.State, v.Group = "works", "completed", projector.Over
	text, _ := json.Marshal(live.View{Version: 1, Loop: works.ID, Epoch: 4, Host: "mill", View: v})
	entry, err := on.Get(t.Context(), keys.View(works.ID))
	if err == nil {
		_, err = s.CompareAndSwap(t.Context(), keys.View(works.ID), entry.Revision, text)
	}
	if err != nil {
		t.Fatal(err)
	}
	if loops, _ = round(); len(loops) != 1 || loops["works"].Loop.State != "completed" || loops["works"].Loop.Epoch != 4 {
		t.Errorf("after a change: %+v", loops)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if n := s.views[keys.View(mine.ID)]; n != 1 {
		t.Errorf("a loop that has not changed was read %d times", n)
	}
}
