package loop_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// The guardrails of one check. In the fourth edition those that are independent run at the same
// time.

// The invariants of several guardrails.
const (
	// No iteration ends while a guardrail or a commit of it is at work.
	checksEnd = "an iteration waits for its guardrails"
	// The next prompt reports exactly the guardrails that failed in their last run, whatever the
	// order of their results.
	failuresReported = "what fails is reported"
)

// guardrailRun runs guardrails in the order of guardrail.Run.
type guardrailRun struct {
	h       *simExecutor
	d       event.Decided
	cause   event.Seq
	left    int // to be started
	running int
	checked event.IterationChecked
	err     error
	done    func()
}

// goOn starts what may run now. When nothing does any more, the check is over.
func (r *guardrailRun) goOn() {
	for r.left > 0 && r.err == nil && !r.h.cancelled && r.fits() {
		r.start()
	}
	switch {
	case r.running > 0:
	case r.err != nil && !r.h.cancelled:
		class := []event.Class{event.ClassTransient, event.ClassDisk, event.ClassPermission}[r.h.r.w.rng.IntN(3)]
		r.h.fail(r.d, r.cause, class, fmt.Errorf("run the guardrails: %w", r.err))
		r.done()
	default:
		r.h.deliver(r.checked, r.d.Iteration, r.cause)
		r.done()
	}
}

// fits reports whether the next one may run beside its running neighbors.
func (r *guardrailRun) fits() bool {
	s := &r.h.r.w.scenario
	independent := func(i int) bool { return s.together&(1<<i) != 0 }
	return r.running == 0 || r.running < s.parallel && independent(r.left) && independent(r.left-1)
}

func (r *guardrailRun) start() {
	w := r.h.r.w
	r.left--
	w.checkGuard()
	name := fmt.Sprint("guard ", r.left)
	if w.scenario.breaks > 0 && w.chance(w.scenario.breaks) {
		r.broken(name)
		return
	}
	if w.scenario.impatient > 0 && w.chance(w.scenario.impatient) {
		w.after(w.span(0, w.scenario.guardTime/4), func() {
			w.users.drop(event.CommandReceived{Kind: []event.CommandKind{event.CommandStopNow, event.CommandKill}[w.rng.IntN(2)]})
		})
	}
	r.running++
	r.h.deliver(event.GuardrailStarted{Name: name}, r.d.Iteration, r.cause)
	r.h.meanwhile(func() {
		r.running--
		// One that is cut off has no verdict, but it may have ended just before.
		if !r.h.cancelled || w.scenario.edition > 3 && w.chance(20) {
			r.ended(r.h.verdict(name))
		}
		r.goOn()
	})
}

// broken is a guardrail that cannot be run: it has no log, or no shell. No further one is started.
func (r *guardrailRun) broken(name string) {
	r.err = errors.New("no space for a log")
	if r.h.r.w.chance(50) {
		r.err = errors.New("no shell")
		r.h.deliver(event.GuardrailStarted{Name: name}, r.d.Iteration, r.cause)
		r.ended(event.GuardrailEnded{Name: name, Code: -1})
	}
}

func (r *guardrailRun) ended(p event.GuardrailEnded) {
	r.checked.Guardrails++
	if !p.OK {
		r.checked.Failed++
	}
	r.h.deliver(p, r.d.Iteration, r.cause)
}

// readGuardrailRuns notes guardrails that ran at the same time.
func (r *reached) readGuardrailRuns(events []event.Event) {
	var running []string
	results, beginning := 0, false
	for _, e := range events {
		switch e.Type {
		case event.TypeRepoUnreadable:
			r.words["repo.unreadable"] = true
		case event.TypeIterationStarted:
			beginning = false
		case event.TypeGuardrailStarted:
			if running = append(running, as[event.GuardrailStarted](e).Name); len(running) > 1 {
				r.words["guardrail.started beside another"] = true
			}
		case event.TypeGuardrailEnded:
			results++
			name, _, _ := strings.Cut(as[event.GuardrailEnded](e).Name, " and so on")
			if i := slices.Index(running, name); i >= 0 {
				if running = slices.Delete(running, i, i+1); i > 0 {
					r.words["guardrail.ended before one that started first"] = true
				}
			}
		case event.TypeDecided:
			switch as[event.Decided](e).Do {
			case event.DoBegin:
				beginning = true
			case event.DoCheck:
				running, results, beginning = nil, 0, false
			case event.DoCancel:
				if beginning {
					r.words["decided check.cancel of the first look"] = true
				}
				if len(running) > 1 {
					r.words["decided check.cancel of several"] = true
				}
			}
		case event.TypeEffectFailed:
			if as[event.EffectFailed](e).Do == event.DoCheck && results > 1 {
				r.words["effect.failed iteration.check after results"] = true
			}
		}
	}
}

// verdicts notes which guardrails failed when they ran last.
type verdicts struct {
	ran    int // of the last check
	failed []string
}

func (n *verdicts) read(e event.Event) {
	switch e.Type {
	case event.TypeDecided:
		if as[event.Decided](e).Do == event.DoCheck {
			n.ran = 0
		}
	case event.TypeGuardrailEnded:
		p := as[event.GuardrailEnded](e)
		if n.ran++; n.ran == 1 {
			n.failed = nil
		}
		if !p.OK {
			n.failed = append(n.failed, failure(p.Name, p.Action))
		}
	}
}

func failure(name, action string) string { return name[:min(len(name), 500)] + ": " + action }

// checkFailures checks, when an iteration was decided, which guardrails its prompt will report.
func (w *world) checkFailures(r *runner, s *loopstate.State) {
	if w.scenario.edition < 4 {
		return // other invariants notice it later
	}
	var reported []string
	for _, f := range s.Verification.Failures {
		reported = append(reported, failure(f.Name, f.Action))
	}
	want := slices.Sorted(slices.Values(r.notes.verdicts.failed))
	if slices.Sort(reported); !slices.Equal(reported, want) {
		w.violate(failuresReported, "the prompt of iteration %d reports %.300q; the journal has %.300q", r.notes.open+1, reported, want)
	}
}

// beside is a scenario with guardrails that run at the same time and often fail.
func beside(s *scenario) {
	manyJobs(s)
	s.background, s.passes, s.rules.Guardrails, s.together, s.parallel = 0, 50, 4, eachOne, 4
}

var wrongRounds = []wrong{
	{"a check is over with its first result", mutation{folded: after(event.TypeGuardrailEnded, func(s *loopstate.State) {
		if s.Phase == policy.Checking {
			s.Phase = policy.Checked
		}
	}), unfolded: true, stage: beside}, checksEnd},
	{"a result replaces the previous one", mutation{folded: after(event.TypeGuardrailEnded, func(s *loopstate.State) {
		if n := len(s.Verification.Failures); n > 1 {
			s.Verification.Failures = s.Verification.Failures[n-1:]
		}
	}), unfolded: true, stage: beside}, failuresReported},
	{"earlier results are forgotten when another one starts", mutation{folded: after(event.TypeGuardrailStarted, func(s *loopstate.State) { s.Verification.Ran = 0 }), unfolded: true, stage: func(s *scenario) { beside(s); s.parallel = 2 }}, failuresReported},
	{"a passed guardrail replaces a failed one", mutation{folded: func(events []event.Event, s *loopstate.State) {
		if e := events[len(events)-1]; e.Type == event.TypeGuardrailEnded && as[event.GuardrailEnded](e).OK {
			s.Verification.Failures = nil
		}
	}, unfolded: true, stage: func(s *scenario) { beside(s); s.claims, s.rules.MaximumIterations, s.rules.SCM = 80, 1, false }}, claimsHold},
}
