package loop_test

import (
	"cmp"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// nap lets the machine sleep now and then, or stops the runner's process for a while. In sleep
// everything stops except the wall clock, also the clock of timers.
func (w *world) nap() {
	if !w.scenario.sleeps {
		return
	}
	most := cmp.Or(w.scenario.naps, 3*time.Hour)
	w.after(w.span(min(time.Minute, most/100), most), func() {
		lasts := w.span(20*time.Second, 10*time.Hour)
		if w.chance(60) {
			w.skew += lasts
			w.note("the machine has slept for %s", lasts)
		} else {
			lasts = min(lasts, 2*time.Hour)
			w.note("the runner is stopped for %s", lasts)
			if until := w.now.Add(lasts); until.After(w.stopped) { // it may be stopped already
				w.stopped = until
			}
		}
		w.nap()
	})
}

// watch holds the time of both clocks when a runner began to wait.
type watch struct{ wall, machine time.Time }

func (r *runner) wait() { r.watch = watch{r.w.wall(), r.w.now} }

// wake is what the driver does first when it wakes up.
func (r *runner) wake(deadline policy.Deadline) error {
	if r.w.broken.deaf {
		return nil
	}
	waited, ran := r.w.wall().Sub(r.watch.wall), r.w.now.Sub(r.watch.machine)
	r.wait()
	before := r.driver.Engine.State().Seq
	err := r.driver.Jumped(waited, waited-ran, deadline)
	if r.driver.Engine.State().Seq > before {
		r.fired = 0 // the deadline has moved, and passes again when the machine sleeps again
	}
	return err
}

// heard notes in real time when the agent was last heard.
type heard struct {
	began time.Time // of the iteration
	last  time.Time
	turn  bool // its turn is open
}

// clocksDiffer is how far a clock may be set forward without being noticed.
const clocksDiffer = 10 * time.Second

// checkCut checks that an agent that is ended for its silence was really silent for that long.
func (w *world) checkCut(r *runner, d event.Decided, rules event.Rules) {
	silent, lasted := w.now.Sub(r.heard.last), w.now.Sub(r.heard.began)
	limit, whose := r.meter.patience()
	switch d.Outcome {
	case event.OutcomeIdle:
		if limit == 0 || silent < limit.Std()-clocksDiffer {
			w.violate(realSilence, "the agent is ended for its silence, and was silent for %s of %s", silent, limit)
		}
		if !strings.HasPrefix(d.Why, whose+" was silent") {
			w.violate(realSilence, "%s was silent, and the agent is ended because %s", whose, d.Why)
		}
	case event.OutcomeOverlong:
		if lasted < rules.Limits.Iteration.Std()-clocksDiffer {
			w.violate(realSilence, "the iteration is ended for its length, and lasted %s of %s", lasted, rules.Limits.Iteration)
		}
		r.checkSilence()
	}
}
