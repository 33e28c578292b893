package playback_test

import (
	"testing"
	"time"

	"github.com/ralph-loop/ralph/render/playback"
)

var (
	recorded = time.Date(2026, 11, 21, 1, 52, 28, 0, time.UTC)
	started  = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
)

// after is a moment of the playback, in seconds from its beginning.
func after(seconds float64) time.Time {
	return started.Add(time.Duration(seconds * float64(time.Second)))
}

// begun returns a clock that has shown an event at its start, and waits for one that was recorded
// so many seconds later.
func begun(speed, gap float64) *playback.Clock {
	c := playback.NewClock(speed, started)
	c.Await(recorded)
	c.Shown(started)
	c.Await(recorded.Add(time.Duration(gap * float64(time.Second))))
	return c
}

func wantDue(t *testing.T, c *playback.Clock, seconds float64) {
	t.Helper()
	due, runs := c.Due()
	if off := due.Sub(after(seconds)); !runs || off.Abs() > time.Millisecond {
		t.Errorf("due %v after the start (runs: %v), want %v s", due.Sub(started), runs, seconds)
	}
}

func TestPauseBetweenEvents(t *testing.T) {
	for name, c := range map[string]struct {
		speed     float64
		gap, want time.Duration
	}{
		"at once":                    {playback.NoDelay, time.Hour, 0},
		"in real time":               {1, time.Hour, time.Hour},
		"ten times as fast":          {10, time.Second, 100 * time.Millisecond},
		"half as fast":               {0.5, time.Second, 2 * time.Second},
		"no longer than two seconds": {10, time.Hour, 2 * time.Second},
		"a clock that was set back":  {1, -time.Hour, -time.Hour},
	} {
		if got := playback.Pause(recorded, recorded.Add(c.gap), c.speed); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if got := playback.Pause(time.Time{}, recorded, 1); got != 0 {
		t.Errorf("before the first event: %v", got)
	}
}

func TestFirstEventIsNeverDelayed(t *testing.T) {
	c := playback.NewClock(1, started)
	c.Await(recorded)
	wantDue(t, c, 0)
}

func TestDueFollowsSpeed(t *testing.T) {
	wantDue(t, begun(1, 30), 30)
	wantDue(t, begun(10, 10), 1)
	wantDue(t, begun(10, 3600), 2)
	wantDue(t, begun(playback.NoDelay, 3600), 0)
	wantDue(t, begun(1, -30), 0)
}

func TestLateEventDelaysNoOther(t *testing.T) {
	c := begun(10, 10)
	c.Shown(after(1.3))
	c.Await(recorded.Add(20 * time.Second))
	wantDue(t, c, 2)

	c = begun(10, 10) // the program was stopped for an hour
	c.Shown(after(3600))
	c.Await(recorded.Add(20 * time.Second))
	wantDue(t, c, 3601)
}

func TestPauseKeepsWhatIsOver(t *testing.T) {
	c := begun(10, 10)
	c.Pause(true, after(0.4))
	if _, runs := c.Due(); runs || !c.Paused() {
		t.Error("an event becomes due during a pause")
	}
	c.Pause(true, after(50)) // twice is the same
	c.Pause(false, after(100))
	wantDue(t, c, 100.6)
}

// A step shows the awaited event during a pause, and the next one has its whole pause.
func TestStepDuringPause(t *testing.T) {
	c := begun(10, 10)
	c.Pause(true, after(0.4))
	c.Shown(after(7))
	c.Await(recorded.Add(20 * time.Second))
	c.Pause(false, after(9))
	wantDue(t, c, 10)
}

// Half of a pause is half of it at any speed.
func TestSpeedChangesDuringPause(t *testing.T) {
	c := begun(10, 10)
	c.SetSpeed(20, after(0.5))
	wantDue(t, c, 0.75)
	c.SetSpeed(1, after(0.5))
	wantDue(t, c, 5.5)
	c.SetSpeed(playback.NoDelay, after(2))
	wantDue(t, c, 2)
}

func TestFasterAndSlower(t *testing.T) {
	c := playback.NewClock(3, started)
	var got []float64
	for range 8 {
		c.Faster(started)
		got = append(got, c.Speed())
	}
	want := []float64{5, 10, 20, 50, 100, 1000, playback.NoDelay, playback.NoDelay}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("faster: %v, want %v", got, want)
		}
	}
	c.Slower(started)
	if c.Speed() != 1000 {
		t.Errorf("slower than all at once: %v", c.Speed())
	}
	c.SetSpeed(0.3, started)
	for _, want := range []float64{0.25, 0.1, 0.1} {
		if c.Slower(started); c.Speed() != want {
			t.Errorf("slower: %v, want %v", c.Speed(), want)
		}
	}
}

func TestJumpForgetsTheWait(t *testing.T) {
	c := begun(1, 3600)
	c.Jump(recorded.Add(time.Hour), after(5))
	c.Await(recorded.Add(time.Hour + 3*time.Second))
	wantDue(t, c, 8)
	c.Jump(time.Time{}, after(6))
	c.Await(recorded)
	wantDue(t, c, 6)
}

func TestTimeOfRecordingMovesOn(t *testing.T) {
	c := playback.NewClock(10, started)
	if !c.Time(started).IsZero() {
		t.Errorf("before the first event it is %v", c.Time(started))
	}
	c = begun(10, 3600) // two seconds of playback
	want := func(now, recording float64) {
		t.Helper()
		if got := c.Time(after(now)).Sub(recorded); (got - time.Duration(recording*float64(time.Second))).Abs() > 10*time.Millisecond {
			t.Errorf("after %v s it is %v, want %v s", now, got, recording)
		}
	}
	want(0, 0)
	want(1, 1800)
	want(5, 3600) // the event is late
	c.Pause(true, after(1))
	want(90, 1800)
	c.Jump(recorded, after(100))
	want(101, 0)
}
