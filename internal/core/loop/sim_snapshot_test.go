package loop_test

import (
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/ralph-loop/ralph/internal/effect/guardrail"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/effect/executor"
	"github.com/ralph-loop/ralph/journal/event"
)

// The file that the guardrails of the third edition consist of: agents edit it, people edit it
// between two runners, and the executor snapshots it, restores it and keeps copies of it, like
// internal/effect/executor.

const (
	guardFile = "check.sh"
	sealedDir = loopDir + "/" + guardrail.KeptDir
)

// The invariants of what guardrails consist of.
const (
	// No protected guardrail runs, or is snapshotted, as an agent has written it, whatever crashed
	// in between.
	snapshotsHold = "an edited guardrail proves nothing"
	// A person's change after a check is not undone.
	personsHold = "a person's guardrail is the person's"
	// The next runner has the complete content of the snapshot, unless an agent has edited the
	// copies.
	copiesWhole = "what is sealed is kept"
	// The loop's end names what an agent changed and ralph did not restore, until a person accepts
	// it or writes it again.
	editsNamed = "what an agent changed is named"
)

// guard is that file and the authors of its versions. Its content is its own hash.
type guard struct {
	says   string
	by     map[string]string // the author of a version, or who accepted it
	mine   map[string]bool   // what a person wrote after a check
	number int
	fooled bool // an agent has edited copies
	reseal bool // the person says that it is right
}

// write lets someone change the file.
func (g *guard) write(by string) {
	if g.by == nil {
		g.by, g.mine = map[string]string{}, map[string]bool{}
	}
	g.number++
	g.says = fmt.Sprintf("%s%04d", by, g.number)
	g.by[g.says] = by
}

const (
	anAgent  = "agent"
	aPerson  = "person"
	copyMost = 100 // percent
)

// cheat is what an agent may do to the guardrail and its copies.
func (p *project) cheat() {
	if p.w.scenario.edition < 3 || !p.w.chance(p.w.scenario.edits) {
		return
	}
	p.guard.write(anAgent)
	p.w.note("the agent edits %s: %s", guardFile, p.guard.says)
	if !p.w.chance(p.w.scenario.tampers) {
		return
	}
	copies, _ := p.w.disk.List(sealedDir) // there may be no copies yet
	for _, name := range copies {
		p.guard.fooled = true
		if err := p.w.disk.Drop(path.Join(sealedDir, name), []byte(p.guard.says)); err != nil {
			panic(err)
		}
	}
}

// mend is what a person may do to the file before a runner begins.
func (p *project) mend() {
	w := p.w
	p.guard.reseal = false
	if w.scenario.edition < 3 {
		return
	}
	if w.runs > 0 && w.chance(w.scenario.mends) {
		p.guard.write(aPerson)
		w.note("a person edits %s: %s", guardFile, p.guard.says)
		events, err := w.journal()
		if err != nil {
			w.violate(verifies, "%v", err)
		}
		if notes, whole := count(events); whole && !notes.sealHeld {
			p.guard.mine[p.guard.says] = true
		}
	}
	if w.runs > 0 && w.chance(w.scenario.mends/2) {
		p.guard.reseal = true
		p.guard.by[p.guard.says] = aPerson
	}
}

// sealing is what the executor knows of the file: its version in the snapshot, and whether it has
// the content.
type sealing struct {
	says string
	body string
}

// takeSnapshot does what executor.Executor.takeSnapshot does.
func (h *simExecutor) takeSnapshot(d event.Decided, sealed policy.FileChanges, cause event.Seq) error {
	w := h.r.w
	switch {
	case w.scenario.edition < 3:
		return nil
	case sealed.AgentRan:
		h.openSnapshot(sealed)
		return nil
	case w.scenario.rules.Guardrails == 0:
		return nil
	}
	g := &w.project.guard
	if w.scenario.protects && g.by[g.says] == anAgent {
		w.violate(snapshotsHold, "what an agent wrote (%s) is sealed as if it were a person's", g.says)
	}
	before := ""
	if len(sealed.Files) > 0 {
		before = sealed.Files[0].SHA256
	}
	if w.scenario.protects {
		if err := h.keep(g.says, before); err != nil {
			return err
		}
	}
	h.snapshot = &sealing{g.says, g.says}
	if before != g.says {
		h.deliver(event.GuardrailSnapshotted{Files: []event.SnapshotFile{{
			Path: guardFile, Role: "program", Kind: "file", SHA256: g.says, Protected: w.scenario.protects,
		}}}, d.Iteration, cause)
	}
	return nil
}

// keep writes a copy, and leaves that of the previous snapshot.
func (h *simExecutor) keep(says, before string) error {
	w := h.r.w
	loop, err := w.disk.OpenFolder(loopDir)
	if err == nil {
		err = loop.Mkdir(guardrail.KeptDir)
	}
	if err != nil {
		return err
	}
	names, err := w.disk.List(sealedDir)
	for _, name := range names {
		if name == sealedDir+"/"+says || name == says || name == before {
			continue
		}
		err = errors.Join(err, w.disk.Remove(path.Join(sealedDir, path.Base(name))))
	}
	if err != nil {
		return err
	}
	if have, err := w.disk.ReadFile(path.Join(sealedDir, says)); err == nil && string(have) == says {
		return nil
	}
	if err := h.write(path.Join(sealedDir, says), says); err != nil || w.broken.unkept {
		return err
	}
	return errors.Join(loop.SyncFolder(guardrail.KeptDir), loop.SyncFolder("."))
}

// write puts a file in its place in one step.
func (h *simExecutor) write(name, text string) error {
	root, err := h.r.w.disk.OpenFolder(".")
	if err != nil {
		return err
	}
	_ = h.r.w.disk.Remove(name + ".tmp") // of a runner that died
	file, err := root.Create(name + ".tmp")
	if err != nil {
		return err
	}
	_, err = file.Write([]byte(text))
	if err == nil && !h.r.w.broken.unkept {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return root.Rename(name+".tmp", name)
}

// openSnapshot opens the snapshot of an earlier runner.
func (h *simExecutor) openSnapshot(sealed policy.FileChanges) {
	w := h.r.w
	if h.snapshot != nil || len(sealed.Files) == 0 {
		return
	}
	says := sealed.Files[0].SHA256
	h.snapshot = &sealing{says: says}
	if !sealed.Files[0].Protected {
		return
	}
	body, err := w.disk.ReadFile(path.Join(sealedDir, says))
	switch {
	case err == nil && (string(body) == says || w.broken.gullible):
		h.snapshot.body = string(body)
	case !w.project.guard.fooled && !w.disk.Crashed():
		w.violate(copiesWhole, "the copy of %s cannot be used (%q, %v), and no agent has edited it", says, body, err)
	}
}

// restoreSnapshot does what executor.Executor.restoreSnapshot does. ok is false if the check cannot
// go on.
func (h *simExecutor) restoreSnapshot(d event.Decided, sealed policy.FileChanges, cause event.Seq) (ok bool) {
	w, g := h.r.w, &h.r.w.project.guard
	h.openSnapshot(sealed)
	if h.snapshot == nil || g.says == h.snapshot.says {
		return true
	}
	if g.mine[g.says] {
		w.violate(personsHold, "what a person wrote after a check (%s) counts as the agent's doing", g.says)
	}
	edited := event.GuardrailEdited{Path: guardFile, How: "changed", Is: g.says}
	switch {
	case !w.scenario.protects:
	case h.snapshot.body == "":
		edited.Why = "its copy in the loop's folder is not what was kept"
	default:
		g.says, edited.Restored = h.snapshot.body, true
	}
	h.deliver(edited, d.Iteration, cause)
	if edited.Why != "" {
		h.fail(d, cause, event.ClassConfig, errors.New("restore the guardrails' files: "+edited.Why))
	}
	return edited.Why == ""
}

// checkGuard is called when a guardrail runs.
func (w *world) checkGuard() {
	if g := &w.project.guard; w.scenario.edition > 2 && w.scenario.protects && g.by[g.says] == anAgent {
		w.violate(snapshotsHold, "a guardrail runs as an agent wrote it: %s", g.says)
	}
}

// checkEdits compares each end of the loop with what was reported of the file before.
func (w *world) checkEdits(events []event.Event) {
	left := "" // what an agent left there
	for _, e := range events {
		switch e.Type {
		case event.TypeLoopResumed:
			if as[event.LoopResumed](e).AcceptedChanges {
				left = ""
			}
		case event.TypeGuardrailSnapshotted:
			if as[event.GuardrailSnapshotted](e).Files[0].SHA256 != left {
				left = ""
			}
		case event.TypeGuardrailEdited:
			if p := as[event.GuardrailEdited](e); p.Path == guardFile && !p.Restored {
				left = p.Is
			}
		case event.TypeLoopEnded:
			edited := as[event.LoopEnded](e).Edited
			named := slices.ContainsFunc(edited, func(f event.EditedFile) bool { return f.Path == guardFile })
			if named != (left != "") && len(edited) < 32 { // more are not named
				w.violate(editsNamed, "event %d: an agent left %q, and the end names %v", e.Seq, left, edited)
			}
		}
	}
}

// snapshotFailed answers a begin that could not take a snapshot.
func (h *simExecutor) snapshotFailed(d event.Decided, cause event.Seq, err error) {
	h.fail(d, cause, executor.Classify(err), fmt.Errorf("compare the guardrails' files: %w", err))
}

func guarded(s *scenario) {
	s.rules.Guardrails, s.protects, s.edits, s.passes, s.rules.SCM = 1, true, 60, 100, false
	s.disasters, s.mends, s.claims, s.leaves, s.tampers = 4, 0, 20, 0, 0
	s.rules.MaximumIterations, s.resumes = 10, 1
}

var wrongSnapshots = []wrong{
	{"agents' changes are forgotten when a loop goes on", mutation{folded: after(event.TypeLoopResumed, func(s *loopstate.State) { s.FileChanges.Edits = nil }), unfolded: true, stage: func(s *scenario) {
		guarded(s)
		s.protects = false
	}}, editsNamed},
	{"the snapshot is forgotten", mutation{folded: always(func(s *loopstate.State) { s.FileChanges = policy.FileChanges{} }), unfolded: true, stage: guarded}, snapshotsHold},
	{"a dead runner's snapshot does not count", mutation{folded: after(event.TypeLoopResumed, func(s *loopstate.State) { s.FileChanges.AgentRan = false }), unfolded: true, stage: guarded}, snapshotsHold},
	{"an agent's copy is believed", mutation{gullible: true, stage: func(s *scenario) { guarded(s); s.tampers = copyMost }}, snapshotsHold},
	{"copies are not synced", mutation{unkept: true, stage: func(s *scenario) { guarded(s); s.powerCuts = 100 }}, copiesWhole},
	{"a snapshot still counts after a check", mutation{folded: after(event.TypeIterationChecked, func(s *loopstate.State) { s.FileChanges.AgentRan = true }), unfolded: true, stage: func(s *scenario) {
		guarded(s)
		s.edits, s.mends = 0, 100
	}}, personsHold},
}
