package loop_test

import (
	"time"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// counts is what a person with a pencil would note while reading the journal: a second, simpler
// version of the policies' counts.
type counts struct {
	rules    event.Rules
	started  time.Time
	now      time.Time
	before   time.Time // time of the previous event
	open     int       // the last iteration that began
	inside   bool
	counted  int
	failures int // in a row
	instants int // the last of these that were over at once with the same error
	empties  int // the last of these in which nothing was heard of the agent
	lastSaid string

	usd      float64
	tokens   int64
	accepted event.Claim
	kinds    map[string]event.CommandKind // of commands, by id
	signals  map[string]bool              // commands that came as a signal
	stop     map[event.CommandKind]bool   // kinds of stops that took effect
	signal   bool
	pausing  bool
	failed   *event.EffectFailed
	fault    bool
	fenced   bool

	faultClass event.Class

	clock        clock
	limit        limit
	person       person
	verification verificationModel
	stories      storyModel
	words        words
	questions    questionModel
	schedule     scheduleModel
	size         sizeModel
	proof        proofModel
	heldOut      heldOutModel
	progress     progressModel
	process      processNote
	prompt       promptModel
	warned       map[string]bool
	ended        event.Outcome // of the last iteration
	died         bool          // a runner died within the open iteration
	begun        event.Decided // the last decision to begin an iteration
	back         int           // the last iteration that looked back and whose agent worked

	others   others
	left     leftovers
	verdicts verdicts
	sealHeld bool // an agent may have changed the guardrails since the last check
}

// count reads a journal. whole is false if its beginning was dropped.
func count(events []event.Event) (t counts, whole bool) {
	if len(events) > 0 && events[0].Seq != 1 {
		return t, false
	}
	for _, e := range events {
		t.read(e)
	}
	return t, true
}

func (t *counts) read(e event.Event) {
	t.before, t.now = t.now, e.At
	t.clock.read(e)
	unread := e.Type == event.TypeIterationEnded && t.prompt.unread(as[event.IterationEnded](e))
	t.left.read(e, &t.process, unread)
	t.verdicts.read(e)
	t.process.read(e)
	t.limit.read(e)
	t.person.read(e, t)
	t.words.read(e, t.rules)
	t.questions.read(e)
	t.schedule.read(e, t.open == 0)
	t.size.read(e)
	t.stories.read(e, t.rules)
	t.verification.read(e)
	t.proof.read(e)
	t.heldOut.read(e, t.rules)
	t.progress.read(e, &t.verification, &t.words)
	t.readOthers(e)
	t.prompt.read(e)
	switch e.Type {
	case event.TypeLoopStarted:
		*t = counts{
			rules: as[event.LoopStarted](e).Rules, started: e.At, now: e.At,
			kinds: map[string]event.CommandKind{}, signals: map[string]bool{}, stop: map[event.CommandKind]bool{}, warned: map[string]bool{},
			clock: t.clock, words: t.words, questions: t.questions, schedule: t.schedule, prompt: t.prompt,
		}
	case event.TypeLoopResumed:
		p := as[event.LoopResumed](e)
		if p.Rules != nil {
			for limit, same := range map[string]bool{
				"limits.cost":       t.rules.Limits.Cost == p.Rules.Limits.Cost,
				"limits.tokens":     t.rules.Limits.Tokens == p.Rules.Limits.Tokens,
				"limits.duration":   t.rules.Limits.Duration == p.Rules.Limits.Duration,
				"maximumIterations": t.rules.MaximumIterations == p.Rules.MaximumIterations,
			} {
				t.warned[limit] = t.warned[limit] && same
			}
			t.rules = *p.Rules
		}
		if !p.Died {
			t.accepted = ""
		}
		t.failures, t.instants, t.empties, t.failed, t.fault = 0, 0, 0, nil, false
		t.faultClass = ""
		t.died = t.inside
		t.signal, t.pausing = false, false
		t.sealHeld = t.sealHeld && !p.AcceptedChanges
		clear(t.stop)
	case event.TypeLoopConfigured:
		p := as[event.LoopConfigured](e)
		t.rules = p.Rules
		delete(t.warned, p.Key)
	case event.TypeBudgetWarned:
		t.warned[as[event.BudgetWarned](e).Limit] = true
	case event.TypeIterationStarted:
		t.open, t.inside, t.died = as[event.IterationStarted](e).N, true, false
		t.counted++
	case event.TypeIterationEnded:
		t.iterationEnded(as[event.IterationEnded](e), unread)
	case event.TypeAgentUsed:
		p := as[event.AgentUsed](e)
		t.tokens += p.In + p.Out + p.CacheRead + p.CacheWrite
		if p.USD != nil {
			t.usd += *p.USD
		}
	case event.TypeCompletionAccepted:
		t.accepted = as[event.CompletionAccepted](e).How
	case event.TypeCommandReceived:
		p := as[event.CommandReceived](e)
		t.kinds[p.ID] = p.Kind
		t.signals[p.ID] = p.From == policy.FromSignal
	case event.TypeCommandDelivered:
		t.delivered(as[event.CommandDelivered](e).ID)
	case event.TypeLoopUnpaused, event.TypeLoopWaited:
		t.pausing = t.pausing && !resumed(e)
	case event.TypeDecided:
		switch p := as[event.Decided](e); p.Do {
		case event.DoBegin:
			t.failed, t.begun = nil, p
		case event.DoStart:
			t.sealHeld = true
		}
	case event.TypeIterationChecked:
		t.sealHeld = false
	case event.TypeEffectFailed:
		if p := as[event.EffectFailed](e); p.Do == event.DoBegin || p.Do == event.DoStart {
			t.failed = &p
		} else if p.Do != event.DoSteer && p.Do != event.DoCommit && p.Do != event.DoObserve && p.Do != event.DoProve && p.Do != event.DoHoldout {
			t.fault, t.faultClass = true, p.Class
		}
	case event.TypeLoopFenced:
		t.fenced = true
	case event.TypeFaultRaised:
		t.fault, t.faultClass = true, as[event.FaultRaised](e).Class
	}
}

func (t *counts) delivered(id string) {
	switch kind := t.kinds[id]; kind {
	case event.CommandStop, event.CommandStopNow, event.CommandKill:
		t.stop[kind] = true
		t.signal = t.signal || t.signals[id]
	case event.CommandPause:
		t.pausing = true
	}
}

func (t *counts) iterationEnded(p event.IterationEnded, unread bool) {
	t.inside, t.ended = false, p.Outcome
	if p.Refunded {
		t.counted--
	}
	if !unread && t.begun.Reflect && t.begun.Iteration == p.N {
		t.back = p.N
	}
	switch p.Outcome {
	case event.OutcomeDone:
		t.failures, t.instants, t.empties = 0, 0, 0
	case event.OutcomeFailed, event.OutcomeIdle, event.OutcomeOverlong, event.OutcomeOverspent, event.OutcomeEmpty:
		t.empties++
		if p.Outcome != event.OutcomeEmpty {
			t.empties = 0
		}
		if p.Progress == "yes" {
			t.failures = 0
		}
		t.failures++
		switch {
		case p.Outcome != event.OutcomeFailed || p.Took >= 2000 || p.Progress == "yes":
			t.instants = 0
		case t.instants > 0 && p.Error != t.lastSaid:
			t.instants = 1
		default:
			t.instants++
		}
		t.lastSaid = p.Error
	}
}

// bearsOut reports whether the journal so far gives the loop that reason to end.
func (t *counts) bearsOut(r event.Reason) bool {
	class := ""
	if t.failed != nil {
		class = string(t.failed.Class)
	}
	switch r {
	case event.ReasonPromise, event.ReasonResponse, event.ReasonDoneFile, event.ReasonChecklist, event.ReasonStories:
		return string(t.accepted) == string(r)
	case event.ReasonAuth:
		return t.ended == event.OutcomeUnauthorized && t.limit.bearsOut(r, t.rules)
	case event.ReasonQuota, event.ReasonOutage:
		return t.ended == event.OutcomeLimited && t.limit.bearsOut(r, t.rules)
	case event.ReasonBlocked:
		return t.person.blocked || t.words.blocked
	case event.ReasonWait:
		return t.rules.WaitEnds && (t.person.waits || t.questions.blocking() || t.heldOut.asks)
	case event.ReasonBreaker:
		return t.progress.stopped(t.rules)
	case event.ReasonIterations:
		return t.counted >= t.rules.MaximumIterations
	case event.ReasonCost:
		return t.rules.Limits.Cost > 0 && t.usd >= t.rules.Limits.Cost-1e-9
	case event.ReasonTokens:
		return t.rules.Limits.Tokens > 0 && t.tokens >= t.rules.Limits.Tokens
	case event.ReasonDuration:
		return t.late()
	case event.ReasonRestarts:
		return t.rules.Restart.Max > 0 && t.failures > t.rules.Restart.Max
	case event.ReasonEnvironment:
		return t.instants >= 3 || t.empties >= 3
	case event.ReasonAgent:
		return t.failed != nil && t.failed.Do == event.DoStart && class != string(event.ClassTransient) && class != string(event.ClassDisk)
	case event.ReasonConfig:
		return t.process.refused || t.faultClass == event.ClassConfig || t.failed != nil && t.failed.Do == event.DoBegin && class != string(event.ClassTransient) && class != string(event.ClassDisk)
	case event.ReasonDisk:
		return class == string(event.ClassDisk) || t.faultClass == event.ClassDisk
	case event.ReasonFault:
		return t.fault || t.failed != nil && t.failed.Do == event.DoBegin
	case event.ReasonStop:
		return (t.stop[event.CommandStop] || t.stop[event.CommandStopNow]) && !t.signal
	case event.ReasonInterrupt:
		return t.signal
	case event.ReasonKill:
		return t.stop[event.CommandKill]
	case event.ReasonFenced:
		return t.fenced
	}
	return false
}

// late reports whether limits.duration is used up. By how much the clock was set back is unknown,
// and the state drops fractions of a millisecond of each wait.
func (t *counts) late() bool {
	const rounded = 100 * time.Millisecond
	return t.rules.Limits.Duration > 0 && t.clock.ran+t.clock.back+rounded >= t.rules.Limits.Duration.Std()
}

// checkStory reads the journal from its first event to its last.
func (w *world) checkStory(events []event.Event) {
	var t counts
	hands := pending{}
	for _, e := range events {
		hands.read(w, e)
		w.checkCrew(&t, e)
		switch e.Type {
		case event.TypeDecided:
			switch as[event.Decided](e).Do {
			case event.DoBegin:
				w.checkBegin(&t, e)
				w.checkReflection(&t, e)
				w.checkTurn(&t, e)
			case event.DoCheck:
				w.checkCheck(&t, e)
			case event.DoCommit:
				w.checkCommit(&t, e)
			case event.DoProve:
				w.checkProve(&t, e)
			case event.DoHoldout:
				w.checkHeldOut(&t, e)
			case event.DoStart:
				if t.stop[event.CommandStopNow] || t.stop[event.CommandKill] {
					w.violate(commandsHold, "event %d: an agent is started after the loop was stopped now", e.Seq)
				}
			}
		case event.TypeIterationStarted:
			if n := as[event.IterationStarted](e).N; t.inside || n != t.open+1 {
				w.violate(inTurn, "event %d: iteration %d begins; iteration %d is open: %v", e.Seq, n, t.open, t.inside)
			}
			w.checkReviewer(&t, e)
			w.checkPrompt(&t, e)
		case event.TypeIterationEnded:
			p := as[event.IterationEnded](e)
			if !t.inside || p.N != t.open {
				w.violate(inTurn, "event %d: iteration %d ends; iteration %d is open: %v", e.Seq, p.N, t.open, t.inside)
			}
			if p.Took < 0 {
				w.violate(inTurn, "event %d: iteration %d took %d ms", e.Seq, p.N, p.Took)
			}
			if !t.fenced {
				hands.checkIdle(w, e)
			}
			w.checkRefund(&t, e, p)
			w.checkProgress(&t, e, p)
		case event.TypeCompletionAccepted, event.TypeCompletionRefused:
			w.checkVerdict(&t, e)
		case event.TypeCompletionClaimed:
			p := as[event.CompletionClaimed](e)
			t.words.claimed = p.How
			if missing := t.missing(p.How); p.Unproved && missing != "" {
				w.violate(claimsHold, "event %d: a claim waits for the proof, and %s", e.Seq, missing)
			}
		case event.TypeProofTried:
			w.checkTried(&t, e)
		case event.TypeLoopHeld:
			w.checkHeld(&t, e)
		case event.TypeBudgetWarned:
			w.checkWarning(&t, e)
		case event.TypeBreakerTripped:
			w.checkTrip(&t, e)
		case event.TypeStoryReviewed:
			w.checkReview(&t, e, as[event.StoryReviewed](e))
		case event.TypeLoopEnded:
			p := as[event.LoopEnded](e)
			w.checkStrength(&t, e, p)
			if t.inside {
				w.violate(inTurn, "event %d: the loop ends within iteration %d", e.Seq, t.open)
			}
			if !(t.several() && t.ofAgents(p) || t.bearsOut(p.Reason)) || p.Status != p.Reason.Status() {
				w.violate(reasonHolds, "event %d: the loop ends as %s with reason %s (%s), and the journal says otherwise", e.Seq, p.Status, p.Reason, p.Why)
			}
		}
		t.read(e)
	}
}

// checkReflection checks which iterations look back.
func (w *world) checkReflection(t *counts, e event.Event) {
	d, every := as[event.Decided](e), t.rules.Reflect.Every
	if want := every > 0 && d.Iteration != 1 && d.Iteration >= t.back+every; d.Reflect != want {
		w.violate(looksBack, "event %d: iteration %d looks back: %v; every %d do, and the last was %d", e.Seq, d.Iteration, d.Reflect, every, t.back)
	}
}

func (w *world) checkBegin(t *counts, e event.Event) {
	switch {
	case len(t.stop) > 0:
		w.violate(commandsHold, "event %d: an iteration begins after a stop took effect", e.Seq)
	case t.pausing:
		w.violate(commandsHold, "event %d: an iteration begins after a pause took effect", e.Seq)
	case t.accepted != "":
		w.violate(commandsHold, "event %d: an iteration begins after the claim was accepted", e.Seq)
	case t.person.waits, t.person.blocked, t.person.paused, t.person.wait != "":
		w.violate(waitsForPerson, "event %d: an iteration begins while the loop waits for a person", e.Seq)
	case t.heldOut.asks:
		w.violate(heldOutAsks, "event %d: an iteration begins, and claims were refused %v times", e.Seq, t.heldOut.refused)
	case e.At.Before(t.limit.notBefore):
		w.violate(resetsHold, "event %d: an iteration begins at %s, and nothing can be reached before %s", e.Seq, e.At, t.limit.notBefore)
	case t.rules.Limits.Cost > 0 && t.usd >= t.rules.Limits.Cost+1e-9:
		w.violate(overspends, "event %d: an iteration begins when $%.3f of $%.3f are spent", e.Seq, t.usd, t.rules.Limits.Cost)
	case t.rules.Limits.Tokens > 0 && t.tokens >= t.rules.Limits.Tokens:
		w.violate(overspends, "event %d: an iteration begins when %d of %d tokens are used", e.Seq, t.tokens, t.rules.Limits.Tokens)
	case t.rules.Limits.Duration > 0 && (t.clock.ran-t.clock.back).Truncate(time.Millisecond) > t.rules.Limits.Duration.Std():
		w.violate(overspends, "event %d: an iteration begins when the loop has run for %s of %s", e.Seq, t.clock.ran, t.rules.Limits.Duration)
	}
}
