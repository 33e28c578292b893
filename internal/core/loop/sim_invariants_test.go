package loop_test

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/journal/event"
)

// The invariants of DESIGN.md section 9, by the names under which they are reported.
const (
	// What a reader saw remains after kill -9, byte for byte; what was synced remains after a loss
	// of power.
	seenIsKept = "what was seen is kept"
	// Checksums, order, seals and the links between segments are right at all times.
	verifies = "the journal verifies"
	// The live state, the fold from the first event and the fold from the last
	// checkpoint are the same bytes, whenever a runner dies or ends.
	stateIsFold = "state is the fold of the files"
	// From the files, the rules make the runner's decisions.
	decidedAgain = "the same journal gives the same decisions"
	// Every line that an agent printed and the driver took is in the journal once, in order.
	factsKept = "every fact is kept once"
	// A command that was dropped and not withdrawn is received once and answered
	// at most once, and exactly once when the loop has ended, or its file is still there.
	answeredOnce = "a command is answered once"
	// A command that the running turn took is in no prompt, and none is put into a turn twice.
	deliveredOnce = "a command is delivered once"
	// When an effect is started, its decision is in the files, and durable if the effect cannot be
	// undone.
	recordedFirst = "recorded before done"
	// Every outcome names the decision that it answers, and no decision has two.
	causesMatch = "an outcome has its cause"
	// No agent is started while another is alive, and none outlives its loop.
	oneAgent = "one agent at a time"
	// Each process that was started has one agent.exited, unless its runner was killed.
	oneExit = "one exit for each process"
	// Iterations begin and end in turn, one at a time, numbered without a gap.
	inTurn = "iterations follow each other"
	// No iteration begins beyond maximumIterations or restart.max as configured at that moment.
	withinLimits = "limits hold"
	// After a write or a sync of the journal has failed, nothing more is done or recorded.
	silentAfterFault = "silence after a fault"
	// A loop ends for a reason that the journal bears out.
	reasonHolds = "the reason holds"
	// No iteration begins after a stop or a pause took effect or a claim was accepted.
	commandsHold = "stop, pause and completion hold"
	// A text that an event keeps in a file is complete.
	blobsWhole = "blobs are whole"
	// A loop that has not ended and is not paused always waits for something, and a run ends.
	neverStuck = "never stuck"
	// A deadline that passed does not fire again and again.
	timersRest = "timers rest"
	// The same seed gives the same bytes on the disk and the same calls of executor.
	sameRun = "same seed, same run"
)

// The invariants of the second edition.
const (
	// A run comes to its end within a month.
	runEnds = "every run ends"
	// No iteration begins when a limit of cost, tokens or time is used up.
	overspends = "none overspends by more than a turn"
	// Every token that an agent reports is in the loop's usage.
	allCounted = "what is used is counted"
	// A turn that has used an iteration's limit is ended before any other event.
	turnOverspends = "a turn that overspends is ended"
	// No iteration begins before the moment that was stated for the end of a limit.
	resetsHold = "a stated reset is waited for"
	// An iteration is refunded exactly after a limit, a person's stop, a crash or the end of the
	// loop's time.
	refundsHold = "refunds have their reason"
	// No inspection and no guardrail runs while the agent's turn is open.
	checksAlone = "a check runs alone"
	// What is committed has passed all guardrails of its iteration.
	commitsPassed = "a commit has passed"
	// No effect is started while one of its kind is under way.
	oneOfAKind = "one effect of a kind at a time"
	// A loop that waits for a person, is blocked or paused begins nothing.
	waitsForPerson = "a loop that waits starts nothing"
	// No agent is ended for silence or length that was sleep.
	realSilence = "sleep is no silence"
	// A checkpoint does not grow with the run.
	bounded = "the state is bounded"
	// A limit is warned of once for each setting, and with reason.
	warnsOnce = "a warning is given once"
	// A claim counts when nothing is missing, and only then.
	claimsHold = "a claim holds"
	// An iteration whose agent did not work does not count as one that looked back.
	looksBack = "each nth iteration looks back"
	// Progress is what the files show, and the breaker depends on it.
	progressHolds = "progress is evidence"
)

// stateMost limits a checkpoint in the simulation, where people write little.
const stateMost = 400 << 10

// checkDo is called for each effect.
func (w *world) checkDo(r *runner, d event.Decided, cause event.Seq) {
	if w.faults.failed != nil {
		w.violate(silentAfterFault, "%s is done after: %v", d.Do, w.faults.failed)
	}
	if r.dead || r.closing {
		w.violate(silentAfterFault, "%s is done by a runner that is gone", d.Do)
	}
	if r.driver.Engine.State().Ownership.Fenced != nil {
		w.violate(fencesHold, "%s is done by a fenced loop", d.Do)
	}
	w.checkRecorded(d, cause)
	w.checkAbleTo(r, d)
	if d.Do == event.DoCheck {
		if w.checks++; w.checks > checksMost {
			w.violate(runEnds, "the work was looked at %d times", w.checks)
		}
	}
	if d.Do == event.DoBegin {
		if w.begins++; w.begins > beginsMost {
			w.violate(runEnds, "%d iterations were asked for", w.begins)
		}
		w.checkLimits(r)
		w.checkReported(r)
	}
}

// checkRecorded finds the decision in the files.
func (w *world) checkRecorded(d event.Decided, cause event.Seq) {
	paths := segments(w.disk)
	for i := len(paths) - 1; i >= 0; i-- {
		content, err := w.disk.ReadFile(paths[i])
		if err != nil {
			w.violate(recordedFirst, "%v", err)
		}
		from := bytes.Index(content, fmtSeq(cause))
		if from < 0 {
			continue
		}
		end := bytes.IndexByte(content[from:], '\n')
		if end < 0 {
			break
		}
		e, err := event.Parse(content[from : from+end])
		if err != nil {
			w.violate(recordedFirst, "event %d: %v", cause, err)
		}
		if want := event.AppendData(nil, d); e.Type != event.TypeDecided || !bytes.Equal(want, e.Data()) {
			w.violate(recordedFirst, "%s %s is done because of event %d, which is %s %s", d.Do, want, cause, e.Type, e.Data())
		}
		irrevocable := d.Do == event.DoStart || d.Do == event.DoSteer || d.Do == event.DoCommit
		if durable := w.faults.synced[paths[i]]; irrevocable && (durable < from+end+1 || w.faults.unnamed[paths[i]]) {
			w.violate(recordedFirst, "%s is done while its decision %d is not on the disk: %d of %d bytes", d.Do, cause, durable, from+end+1)
		}
		return
	}
	w.violate(recordedFirst, "%s is done and its decision %d is in no file", d.Do, cause)
}

// fmtSeq returns the beginning of an event's line.
func fmtSeq(seq event.Seq) []byte { return []byte(`{"v":1,"seq":` + seq.String() + `,`) }

// checkLimits is called when an iteration was decided.
func (w *world) checkLimits(r *runner) {
	t := &r.notes
	switch {
	case !r.whole:
	case t.counted >= t.rules.MaximumIterations:
		w.violate(withinLimits, "iteration %d begins after %d of %d", t.open+1, t.counted, t.rules.MaximumIterations)
	case t.rules.Restart.Max > 0 && t.failures > t.rules.Restart.Max:
		w.violate(withinLimits, "an iteration begins after %d failures, and restart.max is %d", t.failures, t.rules.Restart.Max)
	}
}

// checkEnded is called when the loop has ended, before its runner exits.
func (w *world) checkEnded() {
	for _, a := range w.agents {
		if a.alive && w.runner.driver.Engine.State().Ownership.Fenced == nil { // else its runner ends it now
			w.violate(oneAgent, "the loop has ended and agent %d is alive", a.pid)
		}
	}
}

// checkLive compares the state of a runner that has just died with the files.
func (w *world) checkLive(r *runner) {
	if !r.opened {
		return
	}
	live := r.driver.Engine.State()
	events, err := w.journal()
	if err != nil {
		w.violate(verifies, "%v", err)
	}
	if len(events) == 0 || events[len(events)-1].Seq < live.Seq {
		w.violate(seenIsKept, "the runner had folded event %d, and the files end before", live.Seq)
	}
	if events[0].Seq > live.Seq {
		return // its last event was dropped
	}
	folded, err := fold(events, live.Seq)
	if err != nil {
		w.violate(stateIsFold, "%v", err)
	}
	w.compareStates("the live state", live, "the fold of the files", &folded)
	w.checkSize(live)
	w.checkCounted(r, live)
	w.checkDecisions(events)
}

// checkDecisions decides again, from the files alone.
func (w *world) checkDecisions(events []event.Event) {
	if w.broken.unfolded && !w.broken.decided {
		return
	}
	var v loop.Verifier
	for _, e := range events {
		found, err := v.Event(e)
		if err != nil {
			w.violate(decidedAgain, "%v", err)
		}
		if found != nil {
			w.violate(decidedAgain, "at event %d (%s) the journal has %s %s, and %q decides %s %s", found.Seq, found.Met,
				found.Recorded.Type, found.Recorded.Data, found.Rule, found.Decided.Type, found.Decided.Data)
			return
		}
	}
}

// checkRebuilt compares the fold from the last checkpoint with the fold from the
// first event.
func (w *world) checkRebuilt(rebuilt *loopstate.State) {
	events, err := w.journal()
	if err != nil {
		w.violate(verifies, "%v", err)
	}
	whole, err := fold(events, 0)
	if err != nil {
		w.violate(stateIsFold, "%v", err)
	}
	w.compareStates("the fold from the last checkpoint", rebuilt, "the fold from the first event", &whole)
	w.runner.notes, w.runner.whole = count(events)
}

func (w *world) compareStates(name string, a *loopstate.State, other string, b *loopstate.State) {
	if w.broken.unfolded {
		return
	}
	if x, y := a.Checkpoint(), b.Checkpoint(); !bytes.Equal(x, y) {
		i := 0
		for i < min(len(x), len(y)) && x[i] == y[i] {
			i++
		}
		from := max(0, i-60)
		w.violate(stateIsFold, "at event %d, %s: …%.160s\n%s: …%.160s", a.Seq, name, x[from:], other, y[from:])
	}
}

// checkKept looks for the agent's lines that the driver took.
func (w *world) checkKept(r *runner) {
	events, err := w.journal()
	if err != nil {
		w.violate(verifies, "%v", err)
	}
	kept := map[int]bool{}
	last := 0
	for _, e := range events {
		n, ok := numberOf(e)
		if !ok {
			continue
		}
		if n <= last {
			w.violate(factsKept, "line %d of the agents is after line %d, in event %d", n, last, e.Seq)
		}
		last, kept[n] = n, true
	}
	for _, n := range r.taken {
		if !kept[n] && w.scenario.keep == 0 {
			w.violate(factsKept, "line %d of the agents was taken, and is in no file", n)
		}
	}
}

func numberOf(e event.Event) (int, bool) {
	raw, ok := strings.CutPrefix(string(e.Raw()), `{"n":`)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSuffix(raw, "}"))
	return n, err == nil
}

// judge checks the complete journal against its promises.
func (w *world) judge() {
	w.reader.compare()
	w.checkFiles()
	events, err := w.journal()
	if err != nil {
		w.violate(verifies, "%v", err)
	}
	w.checkBlobs(events)
	if len(events) == 0 || events[0].Seq != 1 {
		return // the rest needs the complete journal
	}
	w.checkCommands(events)
	w.checkQuestions(events)
	w.checkCauses(events)
	w.checkProcesses(events)
	w.checkEdits(events)
	w.checkApprovals(events)
	w.checkStory(events)
	w.checkFence(events)
}

// hasEnded reports whether the loop's last event is its end.
func hasEnded(events []event.Event) bool {
	for i := len(events) - 1; i >= 0; i-- {
		switch events[i].Type {
		case event.TypeLoopEnded:
			return true
		case event.TypeLoopStarted, event.TypeLoopResumed:
			return false
		}
	}
	return false
}

// checkCommands follows each command from its file to its answer.
func (w *world) checkCommands(events []event.Event) {
	received, answers := map[string]int{}, map[string]int{}
	steered, prompted, live, withdrawn := map[string]int{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, e := range events {
		switch e.Type {
		case event.TypeCommandReceived:
			received[as[event.CommandReceived](e).ID]++
		case event.TypeCommandDelivered:
			p := as[event.CommandDelivered](e)
			w.answered(answers, p.ID, e.Seq)
			live[p.ID] = p.How == "live"
		case event.TypeCommandRefused:
			if e.By() != "inbox" { // else it is about a file that is no command
				w.answered(answers, as[event.CommandRefused](e).ID, e.Seq)
			}
		case event.TypeCommandWithdrawn:
			id := as[event.CommandWithdrawn](e).ID
			w.answered(answers, id, e.Seq)
			withdrawn[id] = true
		case event.TypeDecided:
			if p := as[event.Decided](e); p.Do == event.DoSteer {
				if steered[p.Command]++; steered[p.Command] > 1 || withdrawn[p.Command] {
					w.violate(deliveredOnce, "command %s is put into a turn again, by event %d", p.Command, e.Seq)
				}
			}
		case event.TypeIterationStarted:
			for _, id := range as[event.IterationStarted](e).Commands {
				if prompted[id] = true; withdrawn[id] {
					w.violate(deliveredOnce, "command %s is withdrawn, and in the prompt of event %d", id, e.Seq)
				}
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(live)) {
		if live[id] && prompted[id] {
			w.violate(deliveredOnce, "command %s was taken by a running turn and is in a prompt as well", id)
		}
	}
	ended := hasEnded(events)
	for _, c := range w.users.commands {
		_, err := w.disk.ReadFile(inboxDir + "/" + c.ID + dropped)
		_, err2 := w.disk.ReadFile(inboxDir + "/" + c.ID + claimed)
		waits := err == nil || err2 == nil
		switch n := received[c.ID]; {
		case n > 1:
			w.violate(answeredOnce, "command %s was received %d times", c.ID, n)
		case n == 0 && !c.withdrawn && !waits:
			w.violate(answeredOnce, "command %s (%s) is in no file and was never received", c.ID, c.Kind)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(received)) {
		if ended && answers[id] == 0 {
			w.violate(answeredOnce, "the loop has ended and command %s has no answer", id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(answers)) {
		if received[id] == 0 {
			w.violate(answeredOnce, "command %s was answered and never received", id)
		}
	}
}

func (w *world) answered(answers map[string]int, id string, seq event.Seq) {
	if answers[id]++; answers[id] > 1 {
		w.violate(answeredOnce, "command %s is answered again by event %d", id, seq)
	}
}

// checkCauses finds for each outcome the decision that it names.
func (w *world) checkCauses(events []event.Event) {
	decided := map[event.Seq]event.Decided{}
	answers := map[event.Seq]int{}
	for _, e := range events {
		var fits func(event.Decided) bool
		once := true
		switch e.Type {
		case event.TypeDecided:
			decided[e.Seq] = as[event.Decided](e)
			continue
		case event.TypeIterationStarted:
			p := as[event.IterationStarted](e)
			fits = func(d event.Decided) bool { return d.Do == event.DoBegin && d.Iteration == p.N }
		case event.TypeFolderInspected, event.TypeRepoInspected:
			once = false
			fits = func(d event.Decided) bool { return d.Do == event.DoBegin || d.Do == event.DoCheck }
		case event.TypeGuardrailSnapshotted:
			once = false
			fits = func(d event.Decided) bool { return d.Do == event.DoBegin }
		case event.TypeScheduleObserved:
			if e.Cause == 0 {
				continue // it has changed
			}
			fits = func(d event.Decided) bool { return d.Do == event.DoObserve }
		case event.TypeIterationChecked:
			fits = func(d event.Decided) bool { return d.Do == event.DoCheck }
		case event.TypeGuardrailStarted, event.TypeGuardrailEnded, event.TypeGuardrailEdited:
			once = false
			fits = func(d event.Decided) bool { return d.Do == event.DoCheck }
		case event.TypeProofTried:
			once = false
			fits = func(d event.Decided) bool { return d.Do == event.DoProve }
		case event.TypeProofEnded:
			fits = func(d event.Decided) bool { return d.Do == event.DoProve }
		case event.TypeHoldoutChecked:
			fits = func(d event.Decided) bool { return d.Do == event.DoHoldout }
		case event.TypeHoldoutEnded:
			once = false
			fits = func(d event.Decided) bool { return d.Do == event.DoHoldout }
		case event.TypeSCMEnded:
			fits = func(d event.Decided) bool { return d.Do == event.DoCommit }
		case event.TypeRepoCommitted:
			once = false
			fits = func(d event.Decided) bool { return d.Do == event.DoCommit }
		case event.TypeAgentStarted:
			fits = func(d event.Decided) bool { return d.Do == event.DoStart }
		case event.TypeAgentParked:
			fits = func(d event.Decided) bool { return d.Do == event.DoRelease }
		case event.TypeEffectFailed:
			p := as[event.EffectFailed](e)
			fits = func(d event.Decided) bool { return d.Do == p.Do && d.Command == p.Command }
		case event.TypeCommandDelivered:
			p := as[event.CommandDelivered](e)
			if p.How != "live" {
				continue
			}
			fits = func(d event.Decided) bool { return d.Do == event.DoSteer && d.Command == p.ID }
		case event.TypeAgentExited:
			if e.Cause == 0 {
				continue // it exited by itself
			}
			once = false
			fits = func(d event.Decided) bool {
				return d.Do == event.DoRelease || d.Do == event.DoAbort || d.Do == event.DoStart
			}
		default:
			continue
		}
		d, ok := decided[e.Cause]
		if !ok || !fits(d) {
			w.violate(causesMatch, "event %d, %s %s, names event %d as its cause, which is %+v", e.Seq, e.Type, e.Data(), e.Cause, d)
		}
		if once {
			if answers[e.Cause]++; answers[e.Cause] > 1 {
				w.violate(causesMatch, "event %d, %s, answers decision %d again", e.Seq, e.Type, e.Cause)
			}
		}
	}
}

// checkProcesses counts the agent's processes.
func (w *world) checkProcesses(events []event.Event) {
	alive := false
	for _, e := range events {
		switch e.Type {
		case event.TypeLoopResumed:
			alive = false // it was swept
		case event.TypeAgentStarted:
			// A parked process may exit just before it has its prompt.
			if reused := as[event.AgentStarted](e).Reused; alive && !reused {
				w.violate(oneExit, "event %d: a process starts, and the one before has not exited", e.Seq)
			} else if !reused {
				alive = true
			}
		case event.TypeAgentExited:
			if !alive {
				w.violate(oneExit, "event %d: a process exits, and none is there", e.Seq)
			}
			alive = false
		case event.TypeLoopEnded:
			if alive && as[event.LoopEnded](e).Reason != event.ReasonFenced {
				w.violate(oneExit, "event %d: the loop ends before its agent has exited", e.Seq)
			}
		}
	}
}
