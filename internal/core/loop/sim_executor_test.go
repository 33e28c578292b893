package loop_test

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/effect/executor"
	"github.com/ralph-loop/ralph/journal/event"
)

// simExecutor does what internal/effect/executor promises, with simulated agents: one effect after
// another, in the order in which they were decided; only agent.kill overtakes.
type simExecutor struct {
	r       *runner
	jobs    []func(done func())
	busy    bool
	session *agent // the last that was started
	queued  int    // jobs ever queued
	killed  int    // jobs queued before the last agent.kill

	snapshot *sealing // the guardrails' files before the last agent started
	tasks    []byte   // tasks.json before the last agent started

	cancelled bool      // the check or commit that is under way was cancelled
	errands   []*errand // what it waits for
}

func (h *simExecutor) Do(d event.Decided, cause event.Seq, s *loopstate.State) {
	if h.r.w.disk.Crashed() {
		// The process died in a call whose error is ignored: dropping an old segment. What follows
		// would not be run.
		return
	}
	h.r.w.checkDo(h.r, d, cause)
	h.r.w.note("decided %d: %s, iteration %d %s", cause, d.Do, d.Iteration, d.Command)
	switch d.Do {
	case event.DoBegin:
		base := s.Task.Text.Text
		var messages []string
		for _, m := range s.Commands.Again {
			messages = append(messages, m.Text)
		}
		for _, m := range s.Commands.Open {
			if slices.Contains(d.Commands, m.ID) {
				messages = append(messages, m.Text)
			}
		}
		text := base + strings.Join(slices.Concat(s.Completion.Refused, messages), "\n")
		rules, aside, sealed, stories := s.Rules, s.Completion.Aside, s.FileChanges, judgementOf(s)
		h.cancelled = false
		h.queue(func(done func()) {
			h.hang(func() {
				if h.first(d, rules, aside, cause) {
					done()
					return
				}
				if err := h.takeSnapshot(d, sealed, cause); err != nil {
					h.snapshotFailed(d, cause, err)
					done()
					return
				}
				h.beginStories(d, stories, cause, func(mode string) {
					h.begin(d, mode, text, cause)
					done()
				}, done)
			})
		})
	case event.DoCheck:
		h.cancelled = false
		rules, sealed, stories := s.Rules, s.FileChanges, judgementOf(s)
		h.queue(func(done func()) { h.check(d, rules, sealed, stories, cause, done) })
	case event.DoHoldout:
		h.cancelled = false
		most := s.Rules.HeldOut
		h.queue(func(done func()) { h.holdOut(d, 0, event.HoldoutChecked{}, cause, most, done) })
	case event.DoCommit:
		h.cancelled = false
		h.queue(func(done func()) { h.commit(d, cause, done) })
	case event.DoProve:
		h.cancelled = false
		done, rules := slices.Clone(s.Proof.Tried), s.Rules
		h.queue(func(over func()) { h.prove(d, rules, done, cause, over) })
	case event.DoCancel:
		h.cancel()
	case event.DoStart:
		h.queue(func(done func()) { h.start(d, cause, h.r.w.scenario.startFails(h.r.w, d.Agent), done) })
	case event.DoObserve:
		h.queue(func(done func()) { h.observe(d, cause); done() })
	case event.DoSteer:
		h.queue(func(done func()) { h.steer(d, cause); done() })
	case event.DoRelease:
		h.queue(func(done func()) { h.release(d.Same, cause, done) })
	case event.DoAbort:
		h.r.w.checkCut(h.r, d, s.Rules)
		h.queue(func(done func()) { h.abort(cause, done) })
	case event.DoKill:
		h.killed = h.queued
		if h.session != nil {
			h.session.kill()
		}
	}
}

// queue adds a job after the waiting ones.
func (h *simExecutor) queue(job func(done func())) {
	h.queued++
	number := h.queued
	h.jobs = append(h.jobs, func(done func()) {
		job(func() {
			// An agent that was being started when it was killed also exits.
			if h.session != nil && number <= h.killed {
				h.session.kill()
			}
			done()
		})
	})
	h.next()
}

func (h *simExecutor) next() {
	if h.busy || len(h.jobs) == 0 {
		return
	}
	h.busy = true
	most := h.r.w.scenario.effectTakes
	if h.r.w.chance(2) {
		most = 30 * time.Minute // the machine may sleep
	}
	h.r.soon(most, func() {
		if h.r.closing {
			return
		}
		job := h.jobs[0]
		h.jobs = h.jobs[1:]
		job(func() {
			h.busy = false
			h.next()
		})
	})
}

// deliver passes an event to the loop.
func (h *simExecutor) deliver(p event.Payload, iteration int, cause event.Seq) {
	d := event.Encode(p, "loop")
	d.Cause, d.Iter = cause, iteration
	h.r.send(input{Input: loop.Input{Drafts: []event.Draft{d}}})
}

func (h *simExecutor) fail(d event.Decided, cause event.Seq, class event.Class, err error) {
	h.deliver(event.EffectFailed{Do: d.Do, Command: d.Command, Error: err.Error(), Class: class}, 0, cause)
}

func (h *simExecutor) begin(d event.Decided, mode, text string, cause event.Seq) {
	if h.r.w.rng.IntN(1000) < h.r.w.scenario.beginFails {
		err := []error{fs.ErrNotExist, fs.ErrPermission, errors.New("the prompt is empty")}[h.r.w.rng.IntN(3)]
		h.fail(d, cause, executor.Classify(err), err)
		return
	}
	blob, err := h.r.writer.PutBlob([]byte(text))
	if err != nil {
		h.fail(d, cause, executor.Classify(err), fmt.Errorf("store the prompt: %w", err))
		return
	}
	h.r.heard.began = h.r.w.now
	h.deliver(event.IterationStarted{N: d.Iteration, Mode: mode, Prompt: blob, Commands: d.Commands}, d.Iteration, cause)
}

// start gives the prompt to a parked process, or to a new one.
func (h *simExecutor) start(d event.Decided, cause event.Seq, class event.Class, done func()) {
	w := h.r.w
	if class != "" && w.chance(50) {
		// It reads the prompt before it looks for a parked process.
		h.fail(d, cause, class, errors.New("no prompt"))
		done()
		return
	}
	fresh := func() {
		if h.r.closing {
			return
		}
		if class != "" {
			h.fail(d, cause, class, errors.New("no such agent"))
			done()
			return
		}
		h.session = w.spawn(h, d.Agent)
		h.session.begin(d.Iteration, false, cause)
		if w.broken.twice && w.chance(30) {
			w.spawn(h, d.Agent)
		}
		done()
	}
	if h.session == nil || !h.session.alive {
		fresh()
		return
	}
	if h.session.place == d.Agent && (d.Same || w.chance(70)) {
		if w.chance(5) {
			h.session.exit(1, "", 0) // it exits just now, and that is reported first
			h.session.whenGone(func() {
				h.session.begin(d.Iteration, true, cause)
				done()
			})
			return
		}
		h.session.begin(d.Iteration, true, cause)
		done()
		return
	}
	h.session.abort(cause)
	h.session.whenGone(fresh)
}

func (h *simExecutor) steer(d event.Decided, cause event.Seq) {
	switch a := h.session; {
	case a == nil || !a.alive:
		h.fail(d, cause, event.ClassTransient, errors.New("the agent is gone"))
	case !a.turning || h.r.w.chance(15):
		h.fail(d, cause, event.ClassTransient, errors.New("the agent takes nothing into a running turn now"))
	default:
		a.sent = append(a.sent, d)
		a.causes = append(a.causes, cause)
	}
}

// release parks the process, or waits for its exit.
func (h *simExecutor) release(same bool, cause event.Seq, done func()) {
	a := h.session
	if a == nil || !a.alive {
		done()
		return
	}
	if a.able.reset && h.r.w.chance(80) || same && a.able.same {
		if h.r.w.chance(5) {
			a.exit(1, "", 0) // it exits while it is being parked, and that is reported first
			a.whenGone(func() {
				a.rest(cause)
				done()
			})
			return
		}
		a.rest(cause)
		done()
		return
	}
	a.leave(cause)
	a.whenGone(done)
}

func (h *simExecutor) abort(cause event.Seq, done func()) {
	a := h.session
	if a == nil || !a.alive {
		done()
		return
	}
	a.abort(cause)
	a.whenGone(done)
}

// spawn starts a process.
func (w *world) spawn(h *simExecutor, place int) *agent {
	for _, other := range w.agents {
		if other.alive {
			w.violate(oneAgent, "agent %d is started while agent %d is alive", w.pids+1, other.pid)
		}
	}
	w.pids++
	a := &agent{w: w, h: h, pid: w.pids, place: place, member: w.scenario.member(place), alive: true, able: w.scenario.able, born: w.now}
	a.able.costs = a.member.costs
	w.agents = append(w.agents, a)
	w.note("agent %d is born", a.pid)
	return a
}

// sweep ends what the agent of a dead runner left running.
func (w *world) sweep() (swept int) {
	for _, a := range w.agents {
		if a.alive {
			a.alive = false
			swept++
			w.note("agent %d is swept", a.pid)
		}
	}
	return swept
}

// graceMost is how long an agent takes to exit by itself.
const graceMost = 5 * time.Second
