package takeover

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-loop/ralph/pool/live"
	"github.com/ralph-loop/ralph/pool/store"
)

// beating is a store with the beat of one host, whose clock is wrong, and which lives or not.
type beating struct {
	store.Store

	wrong time.Duration
	ago   time.Duration // when it was heard of, by the clock of the test
	lives bool
	began time.Time
}

func (b *beating) Get(context.Context, string) (store.Entry, error) {
	at, revision := b.began.Add(-b.ago), store.Revision("1")
	if b.lives && time.Since(b.began) >= live.BeatEvery {
		at, revision = b.began.Add(live.BeatEvery), "2"
	}
	text, err := json.Marshal(live.Beat{Version: 1, Host: "mill", At: at.Add(b.wrong)})
	return store.Entry{Value: text, Revision: revision}, err
}

func (b *beating) Watch(ctx context.Context, _ string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for yield("", nil) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Second):
			}
		}
	}
}

func TestWrongClocks(t *testing.T) {
	for _, c := range []struct {
		name  string
		beat  beating
		heard bool
		wait  time.Duration
	}{
		{"lives", beating{ago: 5 * time.Second, lives: true}, true, 0},
		{"lives an hour ahead", beating{ago: 5 * time.Second, wrong: time.Hour, lives: true}, true, live.BeatEvery},
		{"lives an hour behind", beating{ago: 5 * time.Second, wrong: -time.Hour, lives: true}, true, live.BeatEvery},
		{"dead", beating{ago: 10 * time.Minute}, false, watchFor},
		{"dead an hour ahead", beating{ago: 10 * time.Minute, wrong: time.Hour}, false, watchFor},
		{"dead a moment ago", beating{ago: 30 * time.Second}, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.beat.began = time.Now()
				s := &taking{Options: Options{Store: &c.beat, Clock: time.Now, Say: func(string) {}}}
				err := s.silent(t.Context(), "mill")
				_, heard := errors.AsType[*heardError](err)
				if heard != c.heard || err != nil && !heard {
					t.Errorf("heard of: %v, %v", heard, err)
				}
				if took := time.Since(c.beat.began); took != c.wait {
					t.Errorf("it took %s, not %s", took, c.wait)
				}
			})
		})
	}
}
