package loop_test

import (
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// project is what an agent works on, and the marks in the loop's folder. It outlives runners and
// is on no disk that fails: what becomes of people's files is not the loop's doing.
type project struct {
	w       *world
	heads   int // commits that were ever made
	head    int
	diff    int // what differs from the last commit; 0 is nothing
	changes int
	boxes   int
	ticked  int
	done    bool
	wait    bool
	edited  int // files of guardrails that were changed since the iteration began
	guard   guard
}

// lay makes the project as the loop finds it.
func (p *project) lay() {
	if p.w.scene.task {
		p.boxes = 1 + p.w.rng.IntN(6)
	}
	if p.w.scene.wordily {
		p.boxes *= 200
	}
	p.done = p.w.scene.leaves > 0 && p.w.chance(5)
	p.guard.write(aPerson)
}

// work is what one use of a tool may do to the project.
func (p *project) work(iteration int) {
	w := p.w
	p.cheat()
	switch {
	case w.scene.edition < 2:
		return
	case w.scene.pendulum:
		p.diff = 1 + iteration%2
		return
	case !w.chance(w.scene.works):
		return
	}
	p.changes++
	p.diff = p.changes
	if w.chance(10) {
		p.commit()
	}
	if p.ticked < p.boxes && w.chance(w.scene.ticks) {
		p.ticked++
	}
}

func (p *project) commit() {
	p.heads++
	p.head, p.diff = p.heads, 0
}

// leave is what an agent may leave at the end of its turn.
func (p *project) leave() {
	w := p.w
	if w.scene.leaves > 0 && w.chance(w.scene.leaves) {
		if w.chance(70) {
			p.done = true
		} else {
			p.wait = true
		}
		w.note("the agent leaves DONE %v, WAIT_WITHOUT_RESTART %v", p.done, p.wait)
	}
	if p.cheat(); w.scene.edition == 2 && w.scene.edits > 0 && w.chance(w.scene.edits) {
		p.edited += 1 + w.rng.IntN(3)
		if w.scene.wordily {
			p.edited += 100
		}
	}
}

// see tells where the repository stands.
func (p *project) see(when string) (seen event.RepoSeen, ok bool) {
	if !p.w.scene.repo {
		return seen, false
	}
	seen = event.RepoSeen{Root: ".", When: when, Dirty: p.diff > 0}
	if p.head > 0 {
		seen.Head = fmt.Sprintf("%040d", p.head)
	}
	if p.diff > 0 {
		seen.Fingerprint, seen.Files = fmt.Sprint("diff", p.diff), 1
	}
	return seen, true
}

// look tells what the loop's folder says.
func (p *project) look() event.FolderSeen {
	seen := event.FolderSeen{Done: p.done, Wait: p.wait, Boxes: p.boxes, Ticked: p.ticked}
	if p.w.scene.task {
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

// first is what effect.Hands does before an iteration begins. done says that none is needed.
func (h *hands) first(d event.Decided, rules event.Rules, aside bool, cause uint64) (done bool) {
	p := &h.r.w.project
	if h.r.w.scene.edition < 2 {
		return false
	}
	if aside {
		p.done = false
	}
	if rules.NoProgress > 0 || rules.MinToolCalls > 0 {
		if seen, ok := p.see("begin"); ok {
			h.deliver(seen, d.Iteration, cause)
		}
	}
	if p.done || rules.NoProgress > 0 {
		h.deliver(p.look(), d.Iteration, cause)
		if p.done && rules.DoneFile {
			return true
		}
	}
	p.wait, p.edited = false, 0
	return false
}

// check looks at what the agent left and runs the guardrails.
func (h *hands) check(d event.Decided, rules event.Rules, sealed policy.Seal, cause uint64, done func()) {
	w := h.r.w
	w.checkAlone(h)
	if w.rng.IntN(1000) < w.scene.handFails {
		h.failHand(d, cause)
		done()
		return
	}
	if w.scene.edition > 2 && !h.unseal(d, sealed, cause) {
		done()
		return
	}
	for i := range w.project.edited {
		h.deliver(event.GuardrailEdited{Path: w.long(fmt.Sprint("check", i, ".sh")), How: "changed", Restored: w.chance(50)}, d.Iteration, cause)
	}
	h.hang(func() {
		seen, ok := w.project.see("end")
		switch {
		case h.cancelled && w.scene.hangs > 0: // nobody waits for it
		case ok && w.scene.hangs > 0 && w.chance(5):
			h.deliver(event.RepoUnseen{Root: seen.Root, When: seen.When, Error: "it took too long"}, d.Iteration, cause)
		case ok:
			h.deliver(seen, d.Iteration, cause)
		}
		h.deliver(w.project.look(), d.Iteration, cause)
		r := &round{h: h, d: d, cause: cause, left: rules.Guardrails, done: done}
		if d.Only == "look" && !w.project.done {
			r.left = 0
		}
		r.goOn()
	})
}

// verdict is how a guardrail's run may come out.
func (h *hands) verdict(name string) event.GuardrailEnded {
	w := h.r.w
	ended := event.GuardrailEnded{Name: w.long(name), OK: w.chance(w.scene.passes), Took: 1000, Log: "guardrails/1.log"}
	if ended.OK {
		return ended
	}
	ended.Code, ended.TimedOut = 1, w.chance(10)
	ended.Action = []string{"APPEND", "PREPEND", "REPLACE"}[w.rng.IntN(3)]
	text := w.long("not yet")
	ended.Message = &event.Blob{Text: text, Bytes: len(text)}
	return ended
}

// commit does the tasks of version control. A message is asked of an agent, which uses something.
func (h *hands) commit(d event.Decided, cause uint64, done func()) {
	w := h.r.w
	if w.rng.IntN(1000) < w.scene.handFails {
		h.failHand(d, cause)
		done()
		return
	}
	h.meanwhile(func() {
		used := event.Encode(h.usage(d.Agent), "agent:"+w.scene.member(d.Agent).name)
		h.r.send(input{Input: loop.Input{Drafts: []event.Draft{used}}})
		ended := event.SCMEnded{}
		switch {
		case h.cancelled, !w.chance(w.scene.commits):
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

func (h *hands) usage(place int) event.AgentUsed {
	used := event.AgentUsed{In: 100, Out: 10}
	if h.r.w.scene.member(place).costs {
		usd := 0.001
		used.USD = &usd
	}
	return used
}

// cancel ends what of a check or a commit is under way.
func (h *hands) cancel() {
	h.cancelled = true
	errands := h.errands
	h.errands = nil
	for _, e := range errands {
		h.r.soon(h.r.w.scene.handTakes, e.end)
	}
}

// errand is something that takes its time.
type errand struct{ end func() }

// meanwhile lets something take its time that a cancellation cuts short.
func (h *hands) meanwhile(then func()) {
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
	h.r.soon(h.r.w.scene.guardTime, e.end)
}

// hang lets a look take its time before something goes on.
func (h *hands) hang(then func()) {
	if h.r.w.scene.hangs > 0 && h.r.w.chance(h.r.w.scene.hangs) {
		h.meanwhile(then)
		return
	}
	then()
}

func (h *hands) failHand(d event.Decided, cause uint64) {
	class := []string{event.ClassConfig, event.ClassPermission, event.ClassTransient}[h.r.w.rng.IntN(3)]
	h.deliver(event.EffectFailed{Do: d.Do, Error: h.r.w.long("task.md is a folder"), Class: class}, d.Iteration, cause)
}
