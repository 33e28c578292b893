package loop_test

import (
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// project is what an agent works on, and the marks in the loop's folder. It outlives runners, and
// its disk does not fail: the loop does not write people's files.
type project struct {
	w       *world
	heads   int // commits that were ever made
	head    int
	diff    int // the difference to the last commit; 0 means none
	changes int
	boxes   int
	ticked  int
	done    bool
	wait    bool
	edited  int // files of guardrails that were changed since the iteration began
	guard   guard
	tasks   tasks
}

// create makes the project as the loop finds it.
func (p *project) create() {
	if p.w.scenario.task {
		p.boxes = 1 + p.w.rng.IntN(6)
	}
	if p.w.scenario.wordily {
		p.boxes *= 200
	}
	p.done = p.w.scenario.leaves > 0 && p.w.chance(5)
	p.guard.write(aPerson)
	if p.w.scenario.stories > 0 {
		p.createTasks()
	}
}

// work does what one use of a tool may do to the project.
func (p *project) work(iteration int) {
	w := p.w
	p.cheat()
	switch {
	case w.scenario.edition < 2:
		return
	case w.scenario.pendulum:
		p.diff = 1 + iteration%2
		return
	case !w.chance(w.scenario.works):
		return
	}
	p.changes++
	p.diff = p.changes
	if w.scenario.stories > 0 && w.chance(30) {
		p.workOnStories()
	}
	if w.chance(10) {
		p.commit()
	}
	if p.ticked < p.boxes && w.chance(w.scenario.ticks) {
		p.ticked++
	}
}

func (p *project) commit() {
	p.heads++
	p.head, p.diff = p.heads, 0
}

// leave writes what an agent may leave at the end of its turn.
func (p *project) leave() {
	w := p.w
	p.workOnStories()
	if w.scenario.leaves > 0 && w.chance(w.scenario.leaves) {
		if w.chance(70) {
			p.done = true
		} else {
			p.wait = true
		}
		w.note("the agent leaves DONE %v, WAIT_WITHOUT_RESTART %v", p.done, p.wait)
	}
	if p.cheat(); w.scenario.edition == 2 && w.scenario.edits > 0 && w.chance(w.scenario.edits) {
		p.edited += 1 + w.rng.IntN(3)
		if w.scenario.wordily {
			p.edited += 100
		}
	}
}

// see returns the state of the repository.
func (p *project) see(when event.Moment) (seen event.RepoInspected, ok bool) {
	if !p.w.scenario.repo {
		return seen, false
	}
	seen = event.RepoInspected{Root: ".", When: when, Dirty: p.diff > 0, Size: p.size()}
	if p.head > 0 {
		seen.Head = fmt.Sprintf("%040d", p.head)
	}
	if p.diff > 0 {
		seen.Fingerprint, seen.Files = fmt.Sprint("diff", p.diff), 1
	}
	return seen, true
}

// look returns the marks in the loop's folder.
func (p *project) look() event.FolderInspected {
	seen := event.FolderInspected{Done: p.done, Wait: p.wait, Boxes: p.boxes, Ticked: p.ticked}
	if p.w.scenario.task {
		seen.SHA256 = fmt.Sprintf("%064d", p.ticked)
	}
	for i := range min(10, p.boxes-p.ticked) {
		seen.Open = append(seen.Open, p.w.long(fmt.Sprint("box ", i)))
	}
	if p.wait || p.done {
		seen.Text = p.w.long("the mark says why")
	}
	return seen
}

// first does what executor.Executor does before an iteration. done says that none is needed.
func (h *simExecutor) first(d event.Decided, rules event.Rules, aside bool, cause event.Seq) (done bool) {
	p := &h.r.w.project
	if h.r.w.scenario.edition < 2 {
		return false
	}
	if aside {
		p.done = false
	}
	if rules.Breaker.NoProgress > 0 || rules.Completion.MinToolCalls > 0 || rules.Limits.Diff > 0 {
		if seen, ok := p.see("begin"); ok {
			h.deliver(seen, d.Iteration, cause)
		}
	}
	if p.done || rules.Breaker.NoProgress > 0 {
		h.deliver(p.look(), d.Iteration, cause)
		if p.done && rules.Completion.DoneFile {
			return true
		}
	}
	p.wait, p.edited = false, 0
	return false
}

// check compares what the agent may not have changed, and inspects what it left.
func (h *simExecutor) check(d event.Decided, rules event.Rules, sealed policy.FileChanges, stories policy.Judgement, cause event.Seq, done func()) {
	w := h.r.w
	w.checkAlone(h)
	if w.rng.IntN(1000) < w.scenario.effectFails {
		h.failEffect(d, cause)
		done()
		return
	}
	if w.scenario.edition > 2 && !h.restoreSnapshot(d, sealed, cause) {
		done()
		return
	}
	if rules.Stories && stories.Stories.AgentRan {
		h.judge(d, stories, cause, func([]event.StoryReviewed) { h.inspect(d, rules, cause, done) }, done)
		return
	}
	h.inspect(d, rules, cause, done)
}

// inspect looks at what the agent left, and runs the guardrails.
func (h *simExecutor) inspect(d event.Decided, rules event.Rules, cause event.Seq, done func()) {
	w := h.r.w
	for i := range w.project.edited {
		h.deliver(event.GuardrailEdited{Path: w.long(fmt.Sprint("check", i, ".sh")), How: "changed", Restored: w.chance(50)}, d.Iteration, cause)
	}
	h.hang(func() {
		seen, ok := w.project.see("end")
		switch {
		case h.cancelled && w.scenario.hangs > 0: // nothing waits for it
		case ok && w.scenario.hangs > 0 && w.chance(5):
			h.deliver(event.RepoUnreadable{Root: seen.Root, When: seen.When, Error: "it took too long"}, d.Iteration, cause)
		case ok:
			h.deliver(seen, d.Iteration, cause)
		}
		h.deliver(w.project.look(), d.Iteration, cause)
		r := &guardrailRun{h: h, d: d, cause: cause, left: rules.Guardrails, done: done}
		if d.Only == "look" && !w.project.done {
			r.left = 0
		}
		r.goOn()
	})
}

// verdict returns a random result of a guardrail.
func (h *simExecutor) verdict(name string) event.GuardrailEnded {
	w := h.r.w
	ended := event.GuardrailEnded{Name: w.long(name), OK: w.chance(w.scenario.passes), Took: 1000, Log: "guardrails/1.log"}
	if ended.OK {
		return ended
	}
	ended.Code, ended.TimedOut = 1, w.chance(10)
	ended.Action = []string{"APPEND", "PREPEND", "REPLACE"}[w.rng.IntN(3)]
	text := w.long("not yet")
	ended.Message = &event.Blob{Text: text, Bytes: len(text)}
	return ended
}

// commit does the tasks of version control. An agent writes the message, which uses tokens.
func (h *simExecutor) commit(d event.Decided, cause event.Seq, done func()) {
	w := h.r.w
	if w.rng.IntN(1000) < w.scenario.effectFails {
		h.failEffect(d, cause)
		done()
		return
	}
	h.meanwhile(func() {
		used := event.Encode(h.usage(d.Agent), "agent:"+w.scenario.member(d.Agent).name)
		h.r.send(input{Input: loop.Input{Drafts: []event.Draft{used}}})
		ended := event.SCMEnded{}
		switch {
		case h.cancelled, !w.chance(w.scenario.commits):
			ended.Failed, ended.Error = "commit", w.long("the hook says no")
		case w.project.diff == 0:
			ended.Nothing = true
		default:
			w.project.commit()
			h.deliver(event.RepoCommitted{SHA: fmt.Sprintf("%040d", w.project.head), Message: "count"}, d.Iteration, cause)
			ended.Tasks = []string{"commit"}
		}
		h.deliver(ended, d.Iteration, cause)
		done()
	})
}

func (h *simExecutor) usage(place int) event.AgentUsed {
	used := event.AgentUsed{In: 100, Out: 10}
	if h.r.w.scenario.member(place).costs {
		usd := 0.001
		used.USD = &usd
	}
	return used
}

// cancel ends a check or a commit that is under way.
func (h *simExecutor) cancel() {
	h.cancelled = true
	errands := h.errands
	h.errands = nil
	for _, e := range errands {
		h.r.soon(h.r.w.scenario.effectTakes, e.end)
	}
}

// errand is something that takes its time.
type errand struct{ end func() }

// meanwhile lets something take time; a cancellation cuts it short.
func (h *simExecutor) meanwhile(then func()) {
	over := false
	e := &errand{}
	e.end = func() {
		if !over && !h.r.closing {
			over = true
			h.errands = slices.DeleteFunc(h.errands, func(other *errand) bool { return other == e })
			then()
		}
	}
	h.errands = append(h.errands, e)
	h.r.soon(h.r.w.scenario.guardTime, e.end)
}

// hang lets an inspection take time before something goes on.
func (h *simExecutor) hang(then func()) {
	if h.r.w.scenario.hangs > 0 && h.r.w.chance(h.r.w.scenario.hangs) {
		h.meanwhile(then)
		return
	}
	then()
}

func (h *simExecutor) failEffect(d event.Decided, cause event.Seq) {
	class := []event.Class{event.ClassConfig, event.ClassPermission, event.ClassTransient}[h.r.w.rng.IntN(3)]
	h.deliver(event.EffectFailed{Do: d.Do, Error: h.r.w.long("task.md is a folder"), Class: class}, d.Iteration, cause)
}
