package loop_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// stateIn is a loop in the middle of its second iteration.
func stateIn(phase policy.Phase) *loop.State {
	s := &loop.State{At: time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC)}
	s.Started, s.Iteration, s.Phase = s.At, 2, phase
	s.Rules.MaximumIterations = 9
	return s
}

// spell returns one word for each decision.
func spell(decisions []loop.Decision) string {
	var words []string
	for _, d := range decisions {
		if effect, ok := d.(event.Decided); ok {
			words = append(words, string(effect.Do))
		} else {
			words = append(words, string(d.EventType()))
		}
	}
	return strings.Join(words, " ")
}

func TestNextDeliversPromptMessages(t *testing.T) {
	for phase, given := range map[policy.Phase]bool{
		policy.Between: false, policy.Beginning: false, policy.Opened: false, policy.Starting: false, policy.VerifyingDone: false,
		policy.Turning: true, policy.Finished: true, policy.Leaving: true, policy.Gone: true,
		policy.Checking: true, policy.Checked: true, policy.Committing: true, policy.Settled: true,
	} {
		for name, change := range map[string]func(*loop.State) bool{
			"a process that runs":              func(s *loop.State) bool { s.Process.PID = 7; return true },
			"a process with the least number":  func(s *loop.State) bool { s.Process.PID = 1; return true },
			"a process that is gone":           func(s *loop.State) bool { s.Exited = &event.AgentExited{}; return true },
			"no process that ever was":         func(*loop.State) bool { return false },
			"a prompt of an earlier iteration": func(s *loop.State) bool { s.Process.PID = 7; s.Commands.Open[0].Prompt = 1; return false },
			"a message that waits":             func(s *loop.State) bool { s.Process.PID = 7; s.Commands.Open[0].Prompt = 0; return false },
		} {
			for _, kind := range []event.CommandKind{event.CommandSteer, event.CommandFollowUp} {
				s := stateIn(phase)
				s.Commands.Open = []policy.Message{{ID: "c", Kind: kind, Prompt: 2}}
				want := change(s) && given
				rule, decisions := loop.Why(s)
				if got := rule == "every command is answered" && spell(decisions) == "command.delivered"; got != want {
					t.Errorf("%s with %s while %q: %s %s", kind, name, phase, rule, spell(decisions))
				}
			}
		}
	}
}

func TestNextSteersOnlyRunningTurn(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*loop.State)
		want   bool
	}{
		"into one that goes on":                    {func(*loop.State) {}, true},
		"into one that is stopped when it is over": {func(s *loop.State) { s.Commands.Stopping = event.CommandStop }, true},
		"not into one that is stopped now":         {func(s *loop.State) { s.Commands.Stopping = event.CommandStopNow }, false},
		"not into one that is killed":              {func(s *loop.State) { s.Commands.Stopping = event.CommandKill }, false},
		"not into one that cannot take them":       {func(s *loop.State) { s.Process.Live = false }, false},
		"not into one that is over":                {func(s *loop.State) { s.Phase = policy.Finished }, false},
		"not twice":                                {func(s *loop.State) { s.Commands.Open[0].Sent = true }, false},
		"not where it did not take them":           {func(s *loop.State) { s.Commands.Open[0].Held = true }, false},
		"not where a prompt has them":              {func(s *loop.State) { s.Commands.Open[0].Prompt = 3 }, false},
		"not where they are for the next prompt":   {func(s *loop.State) { s.Commands.Open[0].Kind = event.CommandFollowUp }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := stateIn(policy.Turning)
			s.Process = policy.Process{Alive: true, PID: 7, Live: true}
			s.Commands.Open = []policy.Message{{ID: "c", Kind: event.CommandSteer, Text: "x"}}
			row.change(s)
			if got := strings.Contains(spell(loop.Next(s)), string(event.DoSteer)); got != row.want {
				t.Errorf("%v: %s", got, spell(loop.Next(s)))
			}
		})
	}
}

func TestNextRefusesTooManyMessages(t *testing.T) {
	fill := func(n int, text string) (open []policy.Message) {
		for i := range n {
			open = append(open, policy.Message{ID: fmt.Sprint(i), Kind: []event.CommandKind{event.CommandSteer, event.CommandFollowUp}[i%2], Text: text})
		}
		return open
	}
	for name, row := range map[string]struct {
		open    []policy.Message
		refused string
	}{
		"as many as may wait":                   {fill(256, "x"), ""},
		"one more":                              {fill(257, "x"), "256"},
		"two more":                              {fill(258, "x"), "256 257"},
		"as long as they may be":                {fill(4, strings.Repeat("x", 1<<18)), ""},
		"one byte more":                         {append(fill(4, strings.Repeat("x", 1<<18)), policy.Message{ID: "last", Kind: event.CommandSteer, Text: "x"}), "last"},
		"a long one leaves room for a short":    {append(fill(1, "x"), policy.Message{ID: "long", Kind: event.CommandSteer, Text: strings.Repeat("x", 1<<20)}, policy.Message{ID: "short", Kind: event.CommandSteer, Text: "x"}), "long"},
		"commands of the loop are not messages": {append(fill(256, "x"), policy.Message{ID: "other", Kind: "dance"}), "other"},
	} {
		t.Run(name, func(t *testing.T) {
			s := stateIn(policy.Starting)
			s.Commands.Open = row.open
			var refused []string
			for _, d := range loop.Next(s) {
				if r, ok := d.(event.CommandRefused); ok {
					refused = append(refused, r.ID)
				} else {
					t.Errorf("%+v", d)
				}
			}
			if got := strings.Join(refused, " "); got != row.refused {
				t.Errorf("refused are %q, want %q", got, row.refused)
			}
		})
	}
}

// A fault can happen in every phase.
func TestNextEndsLoop(t *testing.T) {
	alive := policy.Process{Alive: true, PID: 7}
	ending := policy.Process{Alive: true, PID: 7, Ending: true}
	for _, row := range []struct {
		phase   policy.Phase
		process policy.Process
		want    string
	}{
		{policy.Between, policy.Process{}, "loop.ended"},
		{policy.Between, alive, string(event.DoAbort)},
		{policy.Between, ending, ""},
		{policy.Beginning, policy.Process{}, string(event.DoCancel)},
		{policy.Beginning, alive, string(event.DoCancel)},
		{policy.Opened, policy.Process{}, "iteration.ended"},
		{policy.Starting, policy.Process{}, ""},
		{policy.Turning, alive, string(event.DoAbort)},
		{policy.Turning, ending, ""},
		{policy.Turning, policy.Process{}, "iteration.ended"},
		{policy.Finished, alive, string(event.DoAbort)},
		{policy.Finished, policy.Process{}, "iteration.ended"},
		{policy.Leaving, alive, ""},
		{policy.Leaving, policy.Process{}, ""},
		{policy.Gone, policy.Process{}, "iteration.ended"},
		{policy.Checking, policy.Process{}, string(event.DoCancel)},
		{policy.Checking, alive, string(event.DoCancel)},
		{policy.Checking, ending, string(event.DoCancel)},
		{policy.Checked, policy.Process{}, "iteration.ended"},
		{policy.Committing, policy.Process{}, string(event.DoCancel)},
		{policy.Settled, policy.Process{}, "iteration.ended"},
		{policy.VerifyingDone, policy.Process{}, string(event.DoCancel)},
	} {
		s := stateIn(row.phase)
		s.Process, s.Fault = row.process, &event.FaultRaised{Where: "inbox", Error: "gone"}
		if rule, decisions := loop.Why(s); rule != "a fault of ralph's own ends the loop" || spell(decisions) != row.want {
			t.Errorf("%q, alive %v, ending %v: %s: %q, want %q", row.phase, row.process.Alive, row.process.Ending, rule, spell(decisions), row.want)
		}
		s.Cancelled = true
		if row.want == string(event.DoCancel) && spell(loop.Next(s)) == string(event.DoCancel) {
			t.Errorf("%q is cancelled twice", row.phase)
		}
	}
}

// The effects of stop --now and kill, in every phase.
func TestNextStopsNowAndKills(t *testing.T) {
	resting := policy.Process{Alive: true, PID: 7, Parked: true}
	alive := policy.Process{Alive: true, PID: 7}
	for _, row := range []struct {
		phase     policy.Phase
		process   policy.Process
		now, kill string
	}{
		{policy.Between, policy.Process{}, "loop.ended", "loop.ended"},
		{policy.Between, resting, string(event.DoAbort), string(event.DoKill)},
		{policy.Beginning, policy.Process{}, string(event.DoCancel), string(event.DoCancel)},
		{policy.Beginning, resting, string(event.DoCancel), string(event.DoCancel)},
		{policy.Opened, policy.Process{}, "iteration.ended", "iteration.ended"},
		{policy.Starting, policy.Process{}, string(event.DoAbort), string(event.DoKill)},
		{policy.Turning, alive, string(event.DoAbort), string(event.DoKill)},
		{policy.Finished, alive, string(event.DoAbort), string(event.DoKill)},
		{policy.Leaving, alive, "", string(event.DoKill)},
		{policy.Gone, policy.Process{}, "iteration.ended", "iteration.ended"},
		{policy.Checking, policy.Process{}, string(event.DoCancel), string(event.DoCancel)},
		{policy.Checked, policy.Process{}, "iteration.ended", "iteration.ended"},
		{policy.Committing, policy.Process{}, string(event.DoCancel), string(event.DoCancel)},
		{policy.Settled, policy.Process{}, "iteration.ended", "iteration.ended"},
		{policy.VerifyingDone, policy.Process{}, string(event.DoCancel), string(event.DoCancel)},
	} {
		for wish, want := range map[event.CommandKind]string{event.CommandStopNow: row.now, event.CommandKill: row.kill} {
			s := stateIn(row.phase)
			s.Process, s.Commands.Stopping = row.process, wish
			s.Rules.SCM, s.Rules.Guardrails = true, 1
			if got := spell(loop.Next(s)); got != want {
				t.Errorf("%s while %q: %q, want %q", wish, row.phase, got, want)
			}
		}
	}
}

// The end of the loop's time, in every phase, cuts short what may take long, except a commit.
func TestNextEndsLateWork(t *testing.T) {
	resting := policy.Process{Alive: true, PID: 7, Parked: true}
	ending := policy.Process{Alive: true, PID: 7, Ending: true}
	alive := policy.Process{Alive: true, PID: 7}
	for _, row := range []struct {
		phase   policy.Phase
		process policy.Process
		want    string
		waits   bool // for the end of its time, when that has not come
	}{
		{policy.Between, policy.Process{}, "loop.ended", true},
		{policy.Between, resting, string(event.DoAbort), true},
		{policy.Between, ending, "", false},
		{policy.Beginning, policy.Process{}, string(event.DoCancel), true},
		{policy.Opened, policy.Process{}, "iteration.ended", false},
		{policy.Starting, policy.Process{}, string(event.DoAbort), true},
		{policy.Turning, alive, string(event.DoAbort), true},
		{policy.Finished, alive, string(event.DoRelease), false},
		{policy.Leaving, alive, "", false},
		{policy.Gone, policy.Process{}, "iteration.ended", false},
		{policy.Checking, policy.Process{}, string(event.DoCancel), true},
		{policy.Checked, policy.Process{}, "iteration.ended", false},
		{policy.Committing, policy.Process{}, "", false},
		{policy.Settled, policy.Process{}, "iteration.ended", false},
		{policy.VerifyingDone, policy.Process{}, string(event.DoCancel), true},
	} {
		s := stateIn(row.phase)
		s.Process = row.process
		s.Rules.SCM, s.Rules.Guardrails, s.Rules.Limits.Duration = true, 1, event.Duration(time.Minute)
		s.Budget.Started = s.At
		s.Budget.Now = s.At.Add(time.Minute - 1)
		if deadline, _ := s.Deadline(); (deadline.Name == policy.TimerDuration && deadline.At.Equal(s.At.Add(time.Minute))) != row.waits {
			t.Errorf("%q, ending %v: its deadline is %q at %s", row.phase, row.process.Ending, deadline.Name, deadline.At)
		}
		if rule, _ := loop.Why(s); strings.Contains(rule, "time cuts short") {
			t.Errorf("%q is cut short before the time is over", row.phase)
		}
		s.Budget.Now = s.At.Add(time.Minute)
		if got := spell(loop.Next(s)); got != row.want {
			t.Errorf("%q, ending %v: %q, want %q", row.phase, row.process.Ending, got, row.want)
		}
		s.Cancelled = true
		if row.want == string(event.DoCancel) && spell(loop.Next(s)) != "" {
			t.Errorf("%q is cancelled twice", row.phase)
		}
		if deadline, _ := s.Deadline(); row.want == string(event.DoCancel) && deadline.Name != "" {
			t.Errorf("%q, cancelled, waits for %q", row.phase, deadline.Name)
		}
	}
}

// The loop waits for the last of all moments, and for a person before any moment.
func TestWaitForLastMoment(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*loop.State)
		want   event.Payload
	}{
		"none":        {func(s *loop.State) { s.Failover.Restart.NotUntil = s.At }, nil},
		"the restart": {func(s *loop.State) { s.Failover.Restart.NotUntil = s.At.Add(3) }, event.LoopWaiting{For: event.WaitRestart}},
		"a limit after that": {func(s *loop.State) {
			s.Failover.Restart.NotUntil, s.Failover.Limits.NotUntil = s.At.Add(2), s.At.Add(3)
		}, event.LoopWaiting{For: event.WaitRate}},
		"a restart after that": {func(s *loop.State) {
			s.Failover.Restart.NotUntil, s.Failover.Limits.NotUntil = s.At.Add(3), s.At.Add(2)
		}, event.LoopWaiting{For: event.WaitRestart}},
		"the breaker after both": {func(s *loop.State) { s.Breaker.NotUntil, s.Failover.Limits.NotUntil = s.At.Add(3), s.At.Add(2) }, event.LoopWaiting{For: event.WaitBreaker}},
		"a limit after it":       {func(s *loop.State) { s.Breaker.NotUntil, s.Failover.Limits.NotUntil = s.At.Add(2), s.At.Add(3) }, event.LoopWaiting{For: event.WaitRate}},
		"a person before all":    {func(s *loop.State) { s.Breaker.NotUntil, s.Escalation.Waits = s.At.Add(3), "which key?" }, event.LoopWaiting{For: event.WaitPerson, Why: "which key?"}},
		"a wait that is over":    {func(s *loop.State) { s.Wait = &event.LoopWaiting{For: event.WaitRate} }, event.LoopWaited{For: event.WaitRate}},
		"another wait": {func(s *loop.State) {
			s.Wait, s.Breaker.NotUntil = &event.LoopWaiting{For: event.WaitBreaker, Until: s.At.Add(2)}, s.At.Add(3)
		}, event.LoopWaiting{For: event.WaitBreaker}},
		"a pause meanwhile": {func(s *loop.State) { s.Wait, s.Commands.Pausing = &event.LoopWaiting{For: event.WaitRate}, true }, event.LoopWaited{For: event.WaitRate}},
	} {
		t.Run(name, func(t *testing.T) {
			s := stateIn(policy.Between)
			s.Failover.Limits.Waiting = event.KindRate
			if row.change(s); row.want == nil {
				row.want = event.Decided{Do: event.DoBegin, Iteration: 3}
			}
			if w, ok := row.want.(event.LoopWaiting); ok && w.For != event.WaitPerson {
				w.Until = s.At.Add(3)
				row.want = w
			}
			got := loop.Next(s)[0]
			if !reflect.DeepEqual(got, row.want) {
				t.Errorf("%+v, want %+v", got, row.want)
			}
		})
	}
	s := stateIn(policy.Between)
	s.Escalation.Waits, s.Wait = "which key?", &event.LoopWaiting{For: event.WaitPerson, Why: "which key?"}
	if rule, decisions := loop.Why(s); len(decisions) > 0 || rule != "an iteration waits for its time or for a person" {
		t.Errorf("a wait that goes on: %s decides %v", rule, decisions)
	}
}

// Guardrails run only after a complete turn. A turn that was cut short is at most inspected.
func TestNextChecksAfterTurn(t *testing.T) {
	for outcome, want := range map[event.Outcome]string{
		event.OutcomeDone: string(event.DoCheck), event.OutcomeFailed: string(event.DoCheck + " look"), event.OutcomeIdle: string(event.DoCheck + " look"),
		event.OutcomeOverlong: string(event.DoCheck + " look"), event.OutcomeOverspent: string(event.DoCheck + " look"),
		event.OutcomeAborted: "iteration.ended", event.OutcomeInterrupted: "iteration.ended", event.OutcomeLimited: "iteration.ended",
		event.OutcomeUnauthorized: "iteration.ended",
	} {
		for name, rules := range map[string]event.Rules{
			"guardrails": {Guardrails: 1}, "version control": {SCM: true}, "a file DONE": {Completion: event.CompletionRules{DoneFile: true}}, "boxes": {Completion: event.CompletionRules{Checklist: true}}, "progress": {Breaker: event.BreakerRules{NoProgress: 1}},
			"nothing": {},
		} {
			s := stateIn(policy.Gone)
			rules.MaximumIterations, rules.Completion.Promise, rules.Completion.Match = 9, "COMPLETE", "anywhere"
			s.Rules, s.Completion.Anywhere = rules, event.ClaimPromise
			switch outcome {
			case event.OutcomeDone:
				s.Finished = &event.AgentFinished{Outcome: "ok"}
			case event.OutcomeFailed:
				s.Finished = &event.AgentFinished{Outcome: "error"}
			case event.OutcomeInterrupted:
				s.Broken = true
			case event.OutcomeLimited:
				s.Finished, s.Failover.Limits.Kind = &event.AgentFinished{Outcome: "error"}, event.KindRate
			case event.OutcomeUnauthorized:
				s.Finished, s.Failover.Limits.Kind = &event.AgentFinished{Outcome: "error"}, event.KindAuth
			default:
				s.Cut = outcome
			}
			wanted := want
			if name == "nothing" {
				switch outcome {
				case event.OutcomeDone:
					wanted = "completion.claimed completion.accepted iteration.ended"
				case event.OutcomeAborted, event.OutcomeInterrupted, event.OutcomeLimited, event.OutcomeUnauthorized:
					wanted = "iteration.ended"
				default:
					wanted = "completion.ignored iteration.ended"
				}
			}
			decisions := loop.Next(s)
			got := spell(decisions)
			if d, ok := decisions[0].(event.Decided); ok && d.Only != "" {
				got += " " + d.Only
			}
			if got != wanted {
				t.Errorf("%s where %s matter: %q, want %q", outcome, name, got, wanted)
			}
		}
	}
}

// After a turn that was cut short, text and boxes are no claim; a file DONE is one, unless the
// iteration is refunded.
func TestNextAcceptsFileAfterCut(t *testing.T) {
	for cut, want := range map[event.Outcome]bool{
		event.OutcomeIdle: true, event.OutcomeOverlong: true, event.OutcomeOverspent: true, event.OutcomeAborted: false,
	} {
		for _, how := range []event.Claim{event.ClaimDoneFile, event.ClaimChecklist} {
			s := stateIn(policy.Checked)
			s.Cut, s.Verification.Checked = cut, true
			s.Rules.Completion.DoneFile, s.Rules.Completion.Checklist = true, true
			if how == event.ClaimDoneFile {
				s.Completion.Done = true
			} else {
				s.Completion.Boxes, s.Completion.Ticked = 1, 1
			}
			if got := strings.HasPrefix(spell(loop.Next(s)), "completion.claimed"); got != (want && how == event.ClaimDoneFile) {
				t.Errorf("%s of a turn that was %s: %s", how, cut, spell(loop.Next(s)))
			}
		}
	}
	s := stateIn(policy.Checked)
	s.Finished, s.Failover.Limits.Kind = &event.AgentFinished{Outcome: "error"}, event.KindRate
	s.Rules.Completion.DoneFile, s.Completion.Done = true, true
	if got := spell(loop.Next(s)); got != "iteration.ended" {
		t.Errorf("of a turn that a limit ended: %s", got)
	}
	s.Failover.Limits.Kind = ""
	s.Broken = true
	if got := spell(loop.Next(s)); got != "iteration.ended" {
		t.Errorf("of a turn that the runner died under: %s", got)
	}
}

func TestNextBlamesLimitForSilence(t *testing.T) {
	for cut, want := range map[event.Outcome]event.Outcome{
		event.OutcomeIdle: event.OutcomeLimited, event.OutcomeOverlong: event.OutcomeLimited,
		event.OutcomeOverspent: event.OutcomeOverspent, event.OutcomeAborted: event.OutcomeAborted,
	} {
		s := stateIn(policy.Gone)
		s.Cut, s.Failover.Limits.Kind = cut, event.KindRate
		ended, ok := loop.Next(s)[0].(event.IterationEnded)
		if !ok || ended.Outcome != want {
			t.Errorf("%s: %+v", cut, ended)
		}
	}
}

func TestNextAsksForReflection(t *testing.T) {
	for _, row := range []struct {
		every, last, reflected int
		want                   bool
	}{
		{0, 2, 0, false}, {1, 0, 0, false}, {1, 1, 0, true}, {1, 2, 2, true}, {2, 0, 0, false}, {2, 1, 0, true}, {2, 2, 2, false},
		{2, 3, 2, true}, {3, 2, 0, true}, {3, 3, 3, false},
		{2, 2, 0, true}, // the second was refunded
	} {
		s := stateIn(policy.Between)
		s.Iteration, s.Rules.Reflect.Every, s.Reflection.Last = row.last, row.every, row.reflected
		d, ok := loop.Next(s)[0].(event.Decided)
		if !ok || d.Do != event.DoBegin || d.Reflect != row.want || d.Iteration != row.last+1 {
			t.Errorf("every %d, after %d: %+v", row.every, row.last, d)
		}
	}
}

func TestNextWarnsOfUnknownCost(t *testing.T) {
	four := 4.0
	for costs, want := range map[bool]*float64{true: &four, false: nil} {
		s := stateIn(policy.Gone)
		s.Finished, s.Process.Costs = &event.AgentFinished{Outcome: "ok"}, costs
		s.Budget.Current.Usage.USD = &four
		ended := loop.Next(s)[0].(event.IterationEnded)
		if (ended.Usage.USD == nil) != (want == nil) {
			t.Errorf("costs %v: %v", costs, ended.Usage.USD)
		}
	}
}

func TestNextWarnsAfterStart(t *testing.T) {
	for phase, want := range map[policy.Phase]bool{
		policy.Beginning: false, policy.Opened: false, policy.Starting: false, policy.Between: true, policy.Turning: true, policy.Checking: true,
	} {
		s := stateIn(phase)
		s.Process = policy.Process{Alive: true, PID: 7}
		s.Budget.Counted = 8
		if got := spell(loop.Next(s)) == "budget.warned"; got != want {
			t.Errorf("%q: %s", phase, spell(loop.Next(s)))
		}
	}
}
