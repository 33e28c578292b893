package loop_test

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/journal/event"
)

// What iterations of the tenth edition wait for: a time, another loop, which ends, or whose runner
// dies before, and accounts that other loops use.

const (
	// No iteration begins before the conditions of the start are met, or while its account has used
	// too much, unless a person lets it.
	turnsHold = "an iteration waits for its turn"
	// A loop is held for a reason that was observed.
	holdsHaveReason = "a hold has its reason"
	// Before each iteration it is observed what it may have to wait for.
	observedFirst = "an iteration depends on what is there"
)

// waits is the part of the table with what iterations waited for, and how that ended.
const waits = "waits for a turn"

// waitKinds are the beginnings of what a loop says of them.
var waitKinds = map[string]string{
	"it starts at": "a time", "has to end first, and its runner died": "a loop that died", "has to end first": "a loop",
	"and it starts with more": "a quota at the start", "of the account's quota of": "a quota", "the loops of this account": "dollars",
}

// waitCases are those of the table.
func waitCases() (names []string) {
	for _, kind := range waitKinds {
		for _, end := range []string{"begins", "is over", "is ended by a person", "outlives a runner"} {
			names = append(names, kind+" "+end)
		}
	}
	slices.Sort(names)
	return append(names, "an agent is held", "an agent is held no longer")
}

// waitKind returns what a hold is about. The longest words that fit count.
func waitKind(why string) (kind string) {
	longest := 0
	for words, name := range waitKinds {
		if strings.Contains(why, words) && len(words) > longest {
			kind, longest = name, len(words)
		}
	}
	return kind
}

// readWaits counts the waits of a run.
func (s seen) readWaits(events []event.Event) {
	kind, before := "", ""
	for _, e := range events {
		switch e.Type {
		case event.TypeLoopHeld:
			kind = waitKind(as[event.LoopHeld](e).Why)
			if before == kind {
				s.saw(waits, kind+" outlives a runner")
			}
			before = ""
			s.saw(waits, kind+" begins")
		case event.TypeLoopReleased:
			if as[event.LoopReleased](e).Person && kind != "" {
				s.saw(waits, kind+" is ended by a person")
			} else if kind != "" {
				s.saw(waits, kind+" is over")
			}
			kind = ""
		case event.TypeLoopResumed:
			before, kind = kind, ""
		case event.TypeIterationStarted:
			before = ""
		case event.TypeAgentHeld:
			if as[event.AgentHeld](e).Until.IsZero() {
				s.saw(waits, "an agent is held no longer")
			} else {
				s.saw(waits, "an agent is held")
			}
		}
	}
}

// tenth draws a scenario of the tenth edition: half of the loops may have to wait.
func tenth(seed uint64) scenario {
	s := ninth(seed)
	r := rand.New(rand.NewPCG(seed, 12))
	pick := func(n ...int) int { return n[r.IntN(len(n))] }
	s.edition = 10
	if r.IntN(2) == 0 {
		return s
	}
	s.schedule = true
	s.startsIn = time.Duration(pick(0, 0, 5, 200)) * time.Minute
	s.otherEnds = time.Duration(pick(0, 0, 10, 300)) * time.Minute
	s.otherDies, s.unnoticed = pick(0, 50), pick(0, 0, 100)
	s.quotaLeft = float64(pick(0, 30, 80))
	s.rules.Schedule = &event.ScheduleRules{}
	if r.IntN(2) == 0 {
		s.rules.Schedule.Windows = append(s.rules.Schedule.Windows, event.Window{Name: "1h", Span: event.Duration(time.Hour), Percent: float64(pick(15, 40))})
	}
	if r.IntN(2) == 0 {
		s.rules.Schedule.Windows = append(s.rules.Schedule.Windows, event.Window{Name: "2h", Span: event.Duration(2 * time.Hour), USD: 3})
	}
	return s
}

// outside is what a loop may have to wait for.
type outside struct {
	w        *world
	ended    bool // the other loop
	died     bool // its runner, for the moment
	used     []used
	spent    []spent // by other loops
	quietFor int     // how often others will use the accounts
}

type used struct {
	percent float64
	resets  time.Time
}

type spent struct {
	at  time.Time
	usd float64
}

// begin lets the other loop and other users of the accounts begin.
func (o *outside) begin() {
	s := &o.w.scenario
	if !s.schedule {
		return
	}
	o.used, o.quietFor = make([]used, max(1, len(s.agents))), 40
	if s.otherEnds > 0 {
		if o.w.chance(s.otherDies) {
			o.w.after(o.w.span(0, s.otherEnds), func() { o.change(func() { o.died = true }) })
		}
		o.w.after(s.otherEnds, func() { o.change(func() { o.died, o.ended = false, true }) })
	}
	o.use()
}

// use is what others do with the accounts.
func (o *outside) use() {
	for i := range o.used {
		if o.w.chance(50) {
			continue
		}
		if u := &o.used[i]; !u.resets.After(o.w.wall()) {
			*u = used{resets: o.w.wall().Add(time.Hour).Truncate(time.Second)}
		}
		o.used[i].percent = min(100, o.used[i].percent+float64(o.w.rng.IntN(60)))
		if o.w.chance(10) {
			o.used[i].percent = 0 // the vendor gives it back
		}
	}
	if o.w.chance(50) {
		o.spent = append(o.spent, spent{o.w.wall().Truncate(time.Microsecond), float64(o.w.rng.IntN(3))})
	}
	o.change(func() {})
	if o.quietFor--; o.quietFor > 0 {
		o.w.after(o.w.span(0, 40*time.Minute), o.use)
	}
}

// change is noticed by a runner that waits.
func (o *outside) change(do func()) {
	do()
	if r := o.w.runner; r != nil && r.opened && o.w.scenario.unnoticed == 0 {
		r.soon(2*time.Second, r.notice)
	}
}

// when is what the start named.
func (o *outside) when() *event.When {
	s := &o.w.scenario
	if !s.schedule || s.startsIn == 0 && s.otherEnds == 0 && s.quotaLeft == 0 {
		return nil
	}
	when := &event.When{Quota: s.quotaLeft}
	if s.startsIn > 0 {
		when.At = o.w.wall().Add(s.startsIn)
	}
	if s.otherEnds > 0 {
		when.After = "/p/.ralph/other"
	}
	return when
}

// observe returns what is there now.
func (o *outside) observe() event.ScheduleObserved {
	now := o.w.wall()
	seen := event.ScheduleObserved{Unwatched: o.w.scenario.unnoticed > 0}
	if o.w.scenario.otherEnds > 0 {
		seen.After = &event.LoopObserved{Name: "other", Ended: o.ended, Died: o.died}
	}
	for _, u := range o.used {
		var a event.AccountObserved
		if !u.resets.IsZero() {
			a = event.AccountObserved{At: now, Windows: []event.QuotaWindow{{Minutes: 60, Used: u.percent, Resets: u.resets.Format(time.RFC3339)}}}
		}
		seen.Accounts = append(seen.Accounts, a)
	}
	total := event.Spent{Window: "2h"}
	for _, s := range o.spent {
		if s.at.After(now.Add(-2 * time.Hour)) {
			if total.USD += s.usd; total.Since.IsZero() || s.at.Before(total.Since) {
				total.Since = s.at
			}
		}
	}
	seen.Spent = []event.Spent{total}
	return seen
}

// observe answers schedule.observe.
func (h *simExecutor) observe(d event.Decided, cause event.Seq) {
	if h.r.w.chance(1) {
		h.fail(d, cause, event.ClassTransient, errors.New("it cannot be seen"))
		return
	}
	h.r.observed = h.r.w.outside.observe()
	h.deliver(h.r.observed, d.Iteration, cause)
}

// notice reports what has changed, if the loop waits for its turn.
func (r *runner) notice() {
	s := r.driver.Engine.State()
	now := r.w.outside.observe()
	if r.closing || s.Wait == nil || s.Wait.For != event.WaitHeld || reflect.DeepEqual(now, r.observed) {
		return
	}
	r.observed, now.Changed = now, true
	r.send(input{Input: loop.Input{Drafts: []event.Draft{event.Encode(now, "loop")}}})
}

// waitsForOther reports whether the other loop, which will end, wakes the runner.
func (w *world) waitsForOther(s *loopstate.State) bool {
	return s.Wait != nil && s.Wait.For == event.WaitHeld && s.Wait.Until.IsZero() && !w.outside.ended && w.scenario.unnoticed == 0
}

// scheduleModel notes what a loop has to wait for.
type scheduleModel struct {
	when   *event.When
	met    bool // the conditions of the start, once
	passed bool // a person lets the next iteration begin
	seen   *event.ScheduleObserved
	fresh  bool // something was observed since the last iteration
	at     time.Time
	until  time.Time // of the last hold
}

func (m *scheduleModel) read(e event.Event, first bool) {
	switch e.Type {
	case event.TypeLoopStarted:
		*m = scheduleModel{when: as[event.LoopStarted](e).When}
	case event.TypeLoopResumed:
		m.seen, m.fresh, m.passed, m.until = nil, false, false, time.Time{}
	case event.TypeScheduleObserved:
		p := as[event.ScheduleObserved](e)
		m.seen, m.fresh, m.at = &p, true, e.At
	case event.TypeLoopHeld:
		m.until = as[event.LoopHeld](e).Until
	case event.TypeEffectFailed:
		if as[event.EffectFailed](e).Do == event.DoObserve {
			m.seen, m.fresh, m.at = &event.ScheduleObserved{}, true, e.At
		}
	case event.TypeLoopReleased:
		if as[event.LoopReleased](e).Person {
			m.passed, m.met = true, m.met || first
		}
	case event.TypeIterationStarted:
		m.passed, m.fresh, m.seen, m.met, m.until = false, false, nil, true, time.Time{}
	}
	m.met = m.met || m.when == nil || m.startMet(e.At)
}

// startMet reports whether the conditions of the start are met at a moment.
func (m *scheduleModel) startMet(at time.Time) bool {
	switch w := m.when; {
	case w.At.Sub(at) >= time.Millisecond:
		return false
	case w.After == "" && w.Quota == 0:
		return true
	case m.seen == nil:
		return false
	case w.After != "" && m.seen.After != nil && !m.seen.After.Ended:
		return false
	default:
		return w.Quota == 0 || 100-m.used(0, at) > w.Quota
	}
}

// used returns how much of an agent's account is used, in percent.
func (m *scheduleModel) used(agent int, at time.Time) float64 {
	if m.seen == nil || agent >= len(m.seen.Accounts) || len(m.seen.Accounts[agent].Windows) == 0 {
		return 0
	}
	w := m.seen.Accounts[agent].Windows[0]
	if resets, err := time.Parse(time.RFC3339, w.Resets); err != nil || !resets.After(at) {
		return 0
	}
	return w.Used
}

// overQuota reports whether the account of an agent has used too much of its quota.
func (m *scheduleModel) overQuota(rules event.Rules, agent int, at time.Time) bool {
	return slices.ContainsFunc(rules.Schedule.Windows, func(w event.Window) bool { return w.Percent > 0 && m.used(agent, at) >= w.Percent })
}

// over says which window the account of an agent, or of all, has used up; empty for none.
func (m *scheduleModel) over(rules event.Rules, agent int, at time.Time) string {
	if m.overQuota(rules, agent, at) {
		return "a quota"
	}
	for _, w := range rules.Schedule.Windows {
		if w.USD > 0 && m.seen != nil && len(m.seen.Spent) > 0 && m.seen.Spent[0].USD >= w.USD && m.seen.Spent[0].Since.Add(w.Span.Std()).After(at) {
			return "dollars"
		}
	}
	return ""
}

// checkTurn checks that an iteration had to wait for nothing more.
func (w *world) checkTurn(t *counts, e event.Event) {
	m := &t.schedule
	if t.rules.Schedule == nil {
		return
	}
	if !m.met && !m.startMet(e.At) {
		w.violate(turnsHold, "event %d: an iteration begins, and the conditions of the start were never met: %+v", e.Seq, m.when)
	}
	if m.passed || len(t.rules.Schedule.Windows) == 0 {
		return
	}
	if !m.fresh || m.at.Before(m.until) && !m.until.After(e.At) {
		w.violate(observedFirst, "event %d: an iteration begins, and nothing was observed for it", e.Seq)
	}
	if over := m.over(t.rules, as[event.Decided](e).Agent, e.At); over != "" {
		w.violate(turnsHold, "event %d: an iteration begins, and its account has used up %s", e.Seq, over)
	}
}

// checkHeld checks that a hold has been observed.
func (w *world) checkHeld(t *counts, e event.Event) {
	switch kind := waitKind(as[event.LoopHeld](e).Why); kind {
	case "a quota", "dollars":
		if over := t.schedule.over(t.rules, 0, e.At); over == "" || t.schedule.passed {
			w.violate(holdsHaveReason, "event %d: the loop is held for %s, and nothing of that was observed", e.Seq, kind)
		}
	default:
		if t.schedule.when == nil || t.schedule.startMet(e.At) {
			w.violate(holdsHaveReason, "event %d: the loop is held for %s, and its start named nothing that is not met", e.Seq, kind)
		}
	}
}

// turned is a scenario whose account is used up again and again.
func turned(s *scenario) {
	s.schedule, s.startsIn, s.otherEnds, s.quotaLeft, s.unnoticed = true, 0, 0, 0, 0
	s.rules.Schedule = &event.ScheduleRules{Windows: []event.Window{{Name: "1h", Span: event.Duration(time.Hour), Percent: 20}, {Name: "2h", Span: event.Duration(2 * time.Hour), USD: 1}}}
	s.rules.MaximumIterations, s.claims, s.commands, s.leaves, s.asks, s.skews = 10, 0, 0, 0, 0, false
	s.agents, s.rules.Agents, s.rules.Reviewers, s.stories, s.rules.Stories = nil, nil, 0, 0, false
}

// beginsLate is a scenario that begins after a time and another loop.
func beginsLate(s *scenario) {
	turned(s)
	s.startsIn, s.otherEnds = 30*time.Minute, 2*time.Hour
}

var wrongSchedules = []wrong{
	{"what the account has used is forgotten", mutation{folded: always(func(s *loopstate.State) {
		if s.Schedule.Observed != nil {
			s.Schedule.Observed = &event.ScheduleObserved{}
		}
	}), unfolded: true, stage: turned}, turnsHold},
	{"what was observed before counts", mutation{folded: after(event.TypeIterationEnded, func(s *loopstate.State) {
		s.Schedule.Observed, s.Schedule.At = &event.ScheduleObserved{}, s.At
	}), unfolded: true, stage: turned}, observedFirst},
	{"the start is forgotten", mutation{folded: always(func(s *loopstate.State) { s.When = nil }), unfolded: true, stage: beginsLate}, turnsHold},
	{"a person has always passed", mutation{folded: always(func(s *loopstate.State) { s.Schedule.Passed = true }), unfolded: true, stage: turned}, observedFirst},
	{"a loop is held for nothing", mutation{folded: after(event.TypeScheduleObserved, func(s *loopstate.State) {
		if o := s.Schedule.Observed; o != nil && len(o.Accounts) > 0 {
			o.Accounts = []event.AccountObserved{{Windows: []event.QuotaWindow{{Minutes: 60, Used: 99, Resets: s.At.Add(time.Hour).Format(time.RFC3339)}}}}
		}
	}), unfolded: true, stage: turned}, holdsHaveReason},
	{"the end of the other loop is not noticed", mutation{folded: after(event.TypeScheduleObserved, func(s *loopstate.State) {
		if o := s.Schedule.Observed; o != nil && o.After != nil {
			o.After = &event.LoopObserved{Name: "other"}
		}
	}), unfolded: true, stage: beginsLate}, neverStuck},
	{"a hold that has passed is not observed again", mutation{folded: always(func(s *loopstate.State) {
		if s.Hold != nil {
			s.Schedule.At = s.At.Add(time.Hour)
		}
	}), unfolded: true, stage: turned}, observedFirst},
}
