package board

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/listing"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
)

// stateOf says in a word what a loop is, and since when or until when; of another machine that is
// silent, also for how long.
func stateOf(l *listing.Loop, now time.Time) string {
	if silence := listing.Silence(l.View, now); silence > 0 {
		return "silent " + clock(silence) + ", " + knownState(l, now)
	}
	return knownState(l, now)
}

func knownState(l *listing.Loop, now time.Time) string {
	since := l.At // without facts, its last event is what put it into this state
	if l.Facts != nil && !l.Facts.Since.IsZero() {
		since = l.Facts.Since
	}
	switch {
	case l.Error != "":
		return "unreadable"
	case l.Gone:
		return "gone"
	case l.ContinuesOn != "":
		return l.State
	case l.Died:
		return strings.TrimSuffix("died, last event "+ago(now, l.At), ", last event ")
	case l.Alive && l.WaitsForPerson():
		return "waiting " + clock(now.Sub(since))
	case l.Alive && l.Pending != "":
		return l.Pending
	case l.Alive:
		return asking(l, liveState(l, since, now))
	case l.Reason == "" && l.Status == event.StatusUnknown:
		return l.State
	case l.Reason == "":
		return l.Status.String()
	}
	end, why := endOf(l)
	return asking(l, strings.TrimSpace(end+" "+ago(now, l.At)+" "+why))
}

// asking adds the questions to the state of a loop whose agent has some.
func asking(l *listing.Loop, state string) string {
	if asks := listing.Asks(l.View); asks != "" {
		return asks + ", " + state
	}
	return state
}

func liveState(l *listing.Loop, since, now time.Time) string {
	switch l.Status {
	case event.StatusStarting:
		return event.StatusStarting.String()
	case event.StatusPaused:
		return "paused " + clock(now.Sub(since))
	case event.StatusWaiting:
		what, until, found := strings.Cut(render.Clean(l.Waiting), " until ")
		if at, err := time.Parse(time.RFC3339, until); found && err == nil {
			return "waiting, " + clock(at.Sub(now)) + " left (" + what + ")"
		}
		return "waiting (" + what + ")"
	case event.StatusRunning:
		began := l.Since
		if l.Runner != nil && !l.Runner.Since.IsZero() {
			began = l.Runner.Since // an earlier runner may have worked weeks ago
		}
		return l.Word() + " " + clock(now.Sub(began))
	}
	return l.Status.String()
}

// endOf says how a loop ended, and in parentheses why, where the first word does not say it.
func endOf(l *listing.Loop) (end, why string) {
	switch reason := event.Reason(l.Reason); {
	case reason == event.ReasonBlocked:
		return "blocked", ""
	case l.Strength == event.GradeNone:
		return l.Status.String(), "(no guardrail)"
	case l.Strength != "":
		return l.Status.String(), "(" + string(l.Strength) + ")"
	case reason.ExitCode() == event.ExitCompleted, reason == event.ReasonStop:
		return l.Status.String(), ""
	}
	return l.Status.String(), "(" + render.Clean(l.Reason) + ")"
}

// iterationOf says how many iterations of how many are used. Refunded ones are not counted.
func iterationOf(l *listing.Loop) string {
	switch count := cli.CountOf(l.Summary); {
	case count.Begun == 0:
		return "-"
	case count.Maximum == 0:
		return strconv.Itoa(count.Used())
	default:
		return fmt.Sprintf("%d of %d", count.Used(), count.Maximum)
	}
}

// ago spells how long ago a moment was; empty if it is not known.
func ago(now, at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return clock(now.Sub(at)) + " ago"
}

// clock spells a duration in its two largest units down to minutes, so that a screen changes once a
// minute at most: <1m, 3m, 1h2m, 2d3h.
func clock(d time.Duration) string {
	minutes := int(d / time.Minute)
	switch {
	case minutes < 1:
		return "<1m"
	case minutes < 60:
		return strconv.Itoa(minutes) + "m"
	case minutes < 24*60:
		return pair(minutes/60, "h", minutes%60, "m")
	}
	return pair(minutes/(24*60), "d", minutes/60%24, "h")
}

func pair(large int, unit string, small int, smaller string) string {
	text := strconv.Itoa(large) + unit
	if small > 0 {
		text += strconv.Itoa(small) + smaller
	}
	return text
}
