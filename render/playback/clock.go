package playback

import (
	"slices"
	"time"
)

// Speeds, beside factors of real time.
const (
	NoDelay      = 0  // everything is due at once
	RealTime     = 1  // pauses have their full length
	DefaultSpeed = 10 // for a person who names none
)

// MaxPause bounds each pause of a playback that is not in real time.
const MaxPause = 2 * time.Second

// speeds are those that Faster and Slower choose from, slowest first; NoDelay is faster than all.
var speeds = []float64{0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 1000}

// Pause returns how long to wait between two events that were recorded at these times. It is
// negative if the recording clock was set back, which is no pause.
func Pause(before, at time.Time, speed float64) time.Duration {
	if speed == NoDelay || before.IsZero() {
		return 0
	}
	wait := time.Duration(float64(at.Sub(before)) / speed)
	if speed != RealTime {
		wait = min(wait, MaxPause)
	}
	return wait
}

// Clock says when the next event is due. It belongs to one goroutine. Moments of the playback are
// called now; those of the recording are the times of events.
type Clock struct {
	speed  float64
	paused bool
	shown  time.Time // of the recording: the event shown last
	next   time.Time // of the recording: the event awaited
	done   float64   // the part of the pause between the two that was over at the moment since
	since  time.Time
}

// NewClock returns a clock that runs. The first event is due at once.
func NewClock(speed float64, now time.Time) *Clock {
	return &Clock{speed: speed, since: now}
}

// Speed is the present speed, also during a pause.
func (c *Clock) Speed() float64 { return c.speed }

// Paused reports whether the playback is paused.
func (c *Clock) Paused() bool { return c.paused }

// Await sets the time of the next event.
func (c *Clock) Await(at time.Time) { c.next = at }

// Due returns the moment at which the next event is due. runs is false during a pause, in which no
// event becomes due.
func (c *Clock) Due() (due time.Time, runs bool) {
	rest := float64(c.wait()) * (1 - c.done)
	return c.since.Add(time.Duration(rest)), !c.paused
}

func (c *Clock) wait() time.Duration { return max(Pause(c.shown, c.next, c.speed), 0) }

// Shown notes that the awaited event is shown. If it was a little late, the next ones are not, so
// that the playback takes as long as it should.
func (c *Clock) Shown(now time.Time) {
	due, _ := c.Due()
	if late := now.Sub(due); c.paused || late < 0 || late > MaxPause {
		due = now
	}
	c.shown, c.done, c.since = c.next, 0, due
}

// Jump continues after an event that was recorded at this time: the next one is due after the pause
// that follows it. The zero time makes the next one due at once.
func (c *Clock) Jump(at, now time.Time) {
	c.shown, c.next, c.done, c.since = at, at, 0, now
}

// Pause stops the playback, or continues it in the middle of the pause between two events.
func (c *Clock) Pause(paused bool, now time.Time) {
	c.settle(now)
	c.paused = paused
}

// SetSpeed changes the speed, also in the middle of a pause between two events.
func (c *Clock) SetSpeed(speed float64, now time.Time) {
	c.settle(now)
	c.speed = speed
}

// Faster goes to the next higher of a few speeds. NoDelay is the highest.
func (c *Clock) Faster(now time.Time) {
	if c.speed == NoDelay {
		return
	}
	i := slices.IndexFunc(speeds, func(s float64) bool { return s > c.speed })
	if i < 0 {
		c.SetSpeed(NoDelay, now)
		return
	}
	c.SetSpeed(speeds[i], now)
}

// Slower goes to the next lower of a few speeds.
func (c *Clock) Slower(now time.Time) {
	slower := speeds[0]
	for _, s := range speeds {
		if s < c.speed || c.speed == NoDelay {
			slower = s
		}
	}
	c.SetSpeed(slower, now)
}

// settle moves since to now. What is over of the pause is kept as a part of it, because another
// speed gives the same pause another length.
func (c *Clock) settle(now time.Time) {
	switch wait := c.wait(); {
	case c.paused || now.Before(c.since):
	case wait == 0:
		c.done = 1
	default:
		c.done = min(c.done+float64(now.Sub(c.since))/float64(wait), 1)
	}
	c.since = now
}

// Time returns the time of the recording at this moment: during the pause between two events it
// goes from the one to the other.
func (c *Clock) Time(now time.Time) time.Time {
	if c.shown.IsZero() || !c.next.After(c.shown) {
		return c.shown
	}
	part := c.done
	if wait := c.wait(); wait > 0 && !c.paused {
		part = min(part+float64(max(now.Sub(c.since), 0))/float64(wait), 1)
	}
	return c.shown.Add(time.Duration(part * float64(c.next.Sub(c.shown))))
}
