package client

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestFollowEnds(t *testing.T) {
	before := RunnerCheck
	t.Cleanup(func() { RunnerCheck = before })
	RunnerCheck = time.Millisecond
	follow := func(ctx context.Context, dir string, seq event.Seq) (types []event.Type, last error) {
		for e, err := range Follow(ctx, dir, seq) {
			if err != nil {
				return types, err
			}
			types = append(types, e.Type)
		}
		return types, nil
	}
	ended := journalOf(t, event.LoopPaused{}, event.LoopEnded{})
	want := []event.Type{event.TypeLoopPaused, event.TypeLoopEnded, event.TypeSegmentSealed}
	if got, err := follow(t.Context(), ended, 1); !slices.Equal(got, want) || err != nil {
		t.Errorf("a loop that has ended: %v %v", got, err)
	}
	if got, err := follow(t.Context(), ended, 0); len(got) != len(want)+1 || err != nil {
		t.Errorf("from the beginning: %v %v", got, err)
	}
	died := journalOf(t, event.LoopPaused{})
	if got, err := follow(t.Context(), died, 1); len(got) != 2 || !errors.Is(err, ErrNoRunner) {
		t.Errorf("a loop whose runner died: %v %v", got, err)
	}
	stopped, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if _, err := follow(stopped, t.TempDir(), 0); !errors.Is(err, why) {
		t.Errorf("after the end of its context: %v", err)
	}
}

// A loop's folder is not left to scripts before its runner has exited, nor for ever if it does not.
func TestAwaitExitOutlastsRunner(t *testing.T) {
	check, patience := RunnerCheck, exitPatience
	t.Cleanup(func() { RunnerCheck, exitPatience = check, patience })
	RunnerCheck, exitPatience = time.Millisecond, time.Hour
	dir := t.TempDir()
	lock, err := registration.Acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	var released atomic.Bool
	outlasted := make(chan bool, 1)
	go func() { AwaitExit(dir); outlasted <- released.Load() }()
	released.Store(true)
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
	if !<-outlasted {
		t.Error("it returned while the runner was there")
	}
	if lock, err = registration.Acquire(dir); err != nil {
		t.Fatal(err)
	}
	exitPatience = time.Millisecond
	AwaitExit(dir)
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
}
