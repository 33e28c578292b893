package playground

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/journal/event"
)

// most is how long a run may take, in simulated time.
const most = 24 * time.Hour

// finish lets a run go on until the loop has ended.
func finish(t *testing.T, w *Run) (lines []Line) {
	t.Helper()
	for !w.Ended() {
		if w.Elapsed() > most {
			t.Fatalf("the loop has not ended after %s:\n%s", w.Elapsed(), texts(lines, 40))
		}
		lines = append(lines, w.Advance(time.Minute)...)
	}
	return append(lines, w.Advance(time.Minute)...)
}

func texts(lines []Line, last int) string {
	var b strings.Builder
	for _, l := range lines[max(0, len(lines)-last):] {
		fmt.Fprintf(&b, "%s %4d %-22s %s [%s]\n", l.At, l.Seq, l.Type, l.Text, l.Rule)
	}
	return b.String()
}

// verify checks that the rules decide the same from the journal on the disk.
func verify(t *testing.T, w *Run) []byte {
	t.Helper()
	events, err := w.read()
	if err != nil {
		t.Fatal(err)
	}
	var v loop.Verifier
	var journal bytes.Buffer
	for _, e := range events {
		journal.Write(e.Line())
		journal.WriteByte('\n')
		found, err := v.Event(e)
		if err != nil || found != nil {
			t.Fatalf("event %d: %v, %+v", e.Seq, err, found)
		}
	}
	if v.Decisions == 0 {
		t.Fatal("nothing was decided")
	}
	return journal.Bytes()
}

// has reports whether lines have these types in this order, others between them.
func has(lines []Line, types ...event.Type) bool {
	for _, l := range lines {
		if len(types) > 0 && l.Type == types[0] {
			types = types[1:]
		}
	}
	return len(types) == 0
}

// Without faults a loop completes, and its done was checked.
func TestLoopCompletes(t *testing.T) {
	for seed := range uint64(10) {
		w := New(seed)
		lines := finish(t, w)
		verify(t, w)
		if v := w.view.View(); v.Ended.Reason.Status() != event.StatusCompleted {
			t.Errorf("seed %d: %s\n%s", seed, v.Ended.Why, texts(lines, 30))
		}
		for _, l := range lines {
			if l.Lost > 0 || l.Note && l.Tone == "failure" {
				t.Errorf("seed %d: %+v", seed, l)
			}
		}
	}
}

// Each fault is met by the events that answer it, and the loop completes after it.
func TestFaults(t *testing.T) {
	for act, want := range map[string][]event.Type{
		"rate":     {event.TypeAgentLimited, event.TypeIterationEnded, event.TypeLoopWaiting, event.TypeTimerFired, event.TypeLoopWaited, event.TypeIterationStarted},
		"overload": {event.TypeAgentLimited, event.TypeLoopWaiting, event.TypeAgentLimited, event.TypeLoopWaiting, event.TypeIterationStarted},
		"hang":     {event.TypeTimerFired, event.TypeDecided, event.TypeAgentExited, event.TypeIterationEnded, event.TypeIterationStarted},
		"crash":    {event.TypeAgentExited, event.TypeIterationEnded, event.TypeLoopWaiting, event.TypeIterationStarted},
		"claim":    {event.TypeCompletionClaimed, event.TypeCompletionRefused, event.TypeIterationStarted},
		"game":     {event.TypeGuardrailEdited, event.TypeGuardrailEnded, event.TypeCompletionRefused, event.TypeIterationStarted},
		"flaky":    {event.TypeGuardrailEnded, event.TypeIterationEnded, event.TypeIterationStarted},
		"kill":     {event.TypeLoopResumed, event.TypeIterationEnded, event.TypeIterationStarted},
		"power":    {event.TypeLoopResumed, event.TypeIterationEnded, event.TypeIterationStarted},
		"disk":     {event.TypeLoopResumed, event.TypeIterationEnded, event.TypeIterationStarted},
		"steer":    {event.TypeCommandReceived, event.TypeDecided, event.TypeCommandDelivered, event.TypeAgentSaid},
	} {
		t.Run(act, func(t *testing.T) {
			w := New(1)
			w.Advance(10 * time.Second)
			if err := w.Act(act, "leave the schema alone"); err != nil {
				t.Fatal(err)
			}
			lines := finish(t, w)
			verify(t, w)
			if !has(lines, want...) {
				t.Errorf("not %v in this order:\n%s", want, texts(lines, 80))
			}
			if v := w.view.View(); v.Ended.Reason.Status() != event.StatusCompleted {
				t.Errorf("the loop ended: %s", v.Ended.Why)
			}
		})
	}
}

func TestPeople(t *testing.T) {
	w := New(3)
	w.Advance(10 * time.Second)
	if err := w.Act("pause", ""); err != nil {
		t.Fatal(err)
	}
	w.Advance(3 * time.Hour)
	if v := w.view.View(); v.Status != event.StatusPaused {
		t.Fatalf("the loop is %s", v.State)
	}
	for _, act := range []string{"resume", "stop"} {
		if err := w.Act(act, ""); err != nil {
			t.Fatal(err)
		}
		w.Advance(time.Second)
	}
	finish(t, w)
	if v := w.view.View(); v.Ended.Reason != event.ReasonStop {
		t.Errorf("the loop ended: %s", v.Ended.Why)
	}
	if err := w.Act("dance", ""); err == nil {
		t.Error("an unknown act is no error")
	}
}

// A loop that another host has ends here at once, with its agent, and does nothing more.
func TestFence(t *testing.T) {
	w := New(2)
	w.Advance(30 * time.Second)
	if err := w.Act("fence", ""); err != nil {
		t.Fatal(err)
	}
	lines := w.Advance(time.Minute)
	if v := w.view.View(); !w.Ended() || v.Ended.Reason != event.ReasonFenced || !has(lines, event.TypeCommandReceived, event.TypeLoopFenced, event.TypeLoopEnded) {
		t.Errorf("the loop is %s:\n%s", v.State, texts(lines, 20))
	}
	if w.agent.alive {
		t.Error("its agent lives")
	}
	verify(t, w)
}

// Lines that were not synced are lost with the power, and marked as lost.
func TestPowerCutLosesUnsyncedLines(t *testing.T) {
	for seed := range uint64(40) {
		w := New(seed)
		shown := w.Advance(20*time.Second + time.Duration(seed)*400*time.Millisecond)
		if err := w.Act("power", ""); err != nil {
			t.Fatal(err)
		}
		lines := w.Advance(0)
		i := slices.IndexFunc(lines, func(l Line) bool { return l.Lost > 0 })
		if i < 0 {
			continue
		}
		if last := shown[len(shown)-1].Seq; lines[i].Lost > last {
			t.Errorf("event %d is lost, and the last one shown is %d", lines[i].Lost, last)
		}
		finish(t, w)
		verify(t, w)
		return
	}
	t.Error("no power cut lost a line")
}

// Whatever people do, and whenever, the loop ends, the rules decide the same from its journal, and
// the same acts give the same journal.
func TestAnyActs(t *testing.T) {
	for seed := range uint64(60) {
		play := func() []byte {
			w, rng := New(seed), rand.New(rand.NewPCG(seed, 9))
			for range 12 {
				w.Advance(time.Duration(rng.IntN(200_000)) * time.Millisecond)
				act := Acts[rng.IntN(len(Acts))]
				if act == "stop" || act == "pause" || act == "fence" {
					act = "resume"
				}
				if err := w.Act(act, "go on"); err != nil {
					t.Fatal(err)
				}
			}
			finish(t, w)
			return verify(t, w)
		}
		if !bytes.Equal(play(), play()) {
			t.Errorf("seed %d: two runs have two journals", seed)
		}
	}
}

// An act that is planned happens as one that was done at that moment.
func TestPlannedActs(t *testing.T) {
	done, planned := New(5), New(5)
	for at, act := range []string{"steer", "kill", "rate"} {
		moment := time.Duration(at+1) * 37 * time.Second
		if err := planned.Plan(moment, act, "go on"); err != nil {
			t.Fatal(err)
		}
		done.Advance(moment - done.Elapsed())
		if err := done.Act(act, "go on"); err != nil {
			t.Fatal(err)
		}
	}
	late := New(5)
	late.Advance(time.Minute)
	if err := late.Plan(-time.Hour, "kill", ""); err != nil {
		t.Fatal(err)
	}
	if lines := late.Advance(0); late.Elapsed() != time.Minute || len(lines) == 0 {
		t.Errorf("an act of the past happened at %s: %v", late.Elapsed(), lines)
	}
	finish(t, done)
	finish(t, planned)
	if !bytes.Equal(verify(t, done), verify(t, planned)) {
		t.Error("the journals differ")
	}
}

func TestFactsSayWhatGoesOn(t *testing.T) {
	w := New(1)
	w.Advance(time.Minute)
	var names []string
	for _, f := range w.Facts() {
		if f.Text == "" {
			t.Errorf("%s has no text", f.Name)
		}
		names = append(names, f.Name)
	}
	if want := []string{"state", "iteration", "spent", "in truth", "next", "runner", "disk"}; !slices.Equal(names, want) {
		t.Errorf("the facts are %q, want %q", names, want)
	}
}
