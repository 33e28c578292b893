package loop_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// stateIn is a loop in the middle of its second iteration.
func stateIn(phase policy.Phase) *loop.State {
	s := &loop.State{At: time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC)}
	s.Life.Started, s.Life.Iteration, s.Life.Phase = s.At, 2, phase
	s.Budget.Rules.MaximumIterations = 9
	return s
}

// spell says in a word for each decision what it is.
func spell(decisions []loop.Decision) string {
	var words []string
	for _, d := range decisions {
		switch {
		case d.Do != nil:
			words = append(words, d.Do.Do)
		default:
			words = append(words, string(d.Record.EventType()))
		}
	}
	return strings.Join(words, " ")
}

func TestNextDeliversAPromptsMessagesWhenTheAgentHasIt(t *testing.T) {
	for phase, given := range map[policy.Phase]bool{
		policy.Between: false, policy.Beginning: false, policy.Opened: false, policy.Starting: false, policy.Verifying: false,
		policy.Turning: true, policy.Finished: true, policy.Leaving: true, policy.Gone: true,
		policy.Checking: true, policy.Checked: true, policy.Committing: true, policy.Settled: true,
	} {
		for name, change := range map[string]func(*loop.State) bool{
			"a process that runs":              func(s *loop.State) bool { s.Life.Process.PID = 7; return true },
			"a process with the least number":  func(s *loop.State) bool { s.Life.Process.PID = 1; return true },
			"a process that is gone":           func(s *loop.State) bool { s.Life.Exited = &event.AgentExited{}; return true },
			"no process that ever was":         func(*loop.State) bool { return false },
			"a prompt of an earlier iteration": func(s *loop.State) bool { s.Life.Process.PID = 7; s.Mail.Open[0].Prompt = 1; return false },
			"a message that waits":             func(s *loop.State) bool { s.Life.Process.PID = 7; s.Mail.Open[0].Prompt = 0; return false },
		} {
			for _, kind := range []string{policy.Steer, policy.FollowUp} {
				s := stateIn(phase)
				s.Mail.Open = []policy.Message{{ID: "c", Kind: kind, Prompt: 2}}
				want := change(s) && given
				rule, decisions := loop.Why(s)
				if got := rule == "every command gets its answer" && spell(decisions) == "command.delivered"; got != want {
					t.Errorf("%s with %s while %q: %s %s", kind, name, phase, rule, spell(decisions))
				}
			}
		}
	}
}

func TestNextPutsWordsOnlyIntoATurnThatGoesOn(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*loop.State)
		want   bool
	}{
		"into one that goes on":                    {func(*loop.State) {}, true},
		"into one that is stopped when it is over": {func(s *loop.State) { s.Mail.Stopping = policy.Stop }, true},
		"not into one that is stopped now":         {func(s *loop.State) { s.Mail.Stopping = policy.StopNow }, false},
		"not into one that is killed":              {func(s *loop.State) { s.Mail.Stopping = policy.Kill }, false},
		"not into one that cannot take them":       {func(s *loop.State) { s.Life.Process.Live = false }, false},
		"not into one that is over":                {func(s *loop.State) { s.Life.Phase = policy.Finished }, false},
		"not twice":                                {func(s *loop.State) { s.Mail.Open[0].Sent = true }, false},
		"not where it did not take them":           {func(s *loop.State) { s.Mail.Open[0].Held = true }, false},
		"not where a prompt has them":              {func(s *loop.State) { s.Mail.Open[0].Prompt = 3 }, false},
		"not where they are for the next prompt":   {func(s *loop.State) { s.Mail.Open[0].Kind = policy.FollowUp }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := stateIn(policy.Turning)
			s.Life.Process = policy.Process{Alive: true, PID: 7, Live: true}
			s.Mail.Open = []policy.Message{{ID: "c", Kind: policy.Steer, Text: "x"}}
			row.change(s)
			if got := strings.Contains(spell(loop.Next(s)), event.DoSteer); got != row.want {
				t.Errorf("%v: %s", got, spell(loop.Next(s)))
			}
		})
	}
}

func TestNextRefusesWhatIsTooMuch(t *testing.T) {
	fill := func(n int, text string) (open []policy.Message) {
		for i := range n {
			open = append(open, policy.Message{ID: fmt.Sprint(i), Kind: []string{policy.Steer, policy.FollowUp}[i%2], Text: text})
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
		"one byte more":                         {append(fill(4, strings.Repeat("x", 1<<18)), policy.Message{ID: "last", Kind: policy.Steer, Text: "x"}), "last"},
		"a long one leaves room for a short":    {append(fill(1, "x"), policy.Message{ID: "long", Kind: policy.Steer, Text: strings.Repeat("x", 1<<20)}, policy.Message{ID: "short", Kind: policy.Steer, Text: "x"}), "long"},
		"commands of the loop are not messages": {append(fill(256, "x"), policy.Message{ID: "other", Kind: "dance"}), "other"},
	} {
		t.Run(name, func(t *testing.T) {
			s := stateIn(policy.Starting)
			s.Mail.Open = row.open
			var refused []string
			for _, d := range loop.Next(s) {
				if r, ok := d.Record.(event.CommandRefused); ok {
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

// A fault is the one wish that comes in every phase.
func TestNextEndsALoopFromEveryPhase(t *testing.T) {
	alive := policy.Process{Alive: true, PID: 7}
	ending := policy.Process{Alive: true, PID: 7, Ending: true}
	for _, row := range []struct {
		phase   policy.Phase
		process policy.Process
		want    string
	}{
		{policy.Between, policy.Process{}, "loop.ended"},
		{policy.Between, alive, event.DoAbort},
		{policy.Between, ending, ""},
		{policy.Beginning, policy.Process{}, event.DoCancel},
		{policy.Beginning, alive, event.DoCancel},
		{policy.Opened, policy.Process{}, "iteration.ended"},
		{policy.Starting, policy.Process{}, ""},
		{policy.Turning, alive, event.DoAbort},
		{policy.Turning, ending, ""},
		{policy.Turning, policy.Process{}, "iteration.ended"},
		{policy.Finished, alive, event.DoAbort},
		{policy.Finished, policy.Process{}, "iteration.ended"},
		{policy.Leaving, alive, ""},
		{policy.Leaving, policy.Process{}, ""},
		{policy.Gone, policy.Process{}, "iteration.ended"},
		{policy.Checking, policy.Process{}, event.DoCancel},
		{policy.Checking, alive, event.DoCancel},
		{policy.Checking, ending, event.DoCancel},
		{policy.Checked, policy.Process{}, "iteration.ended"},
		{policy.Committing, policy.Process{}, event.DoCancel},
		{policy.Settled, policy.Process{}, "iteration.ended"},
		{policy.Verifying, policy.Process{}, event.DoCancel},
	} {
		s := stateIn(row.phase)
		s.Life.Process, s.Life.Fault = row.process, &event.FaultRaised{Where: "inbox", Error: "gone"}
		if rule, decisions := loop.Why(s); rule != "a fault of ralph's own ends the loop" || spell(decisions) != row.want {
			t.Errorf("%q, alive %v, ending %v: %s: %q, want %q", row.phase, row.process.Alive, row.process.Ending, rule, spell(decisions), row.want)
		}
		s.Life.Cancelled = true
		if row.want == event.DoCancel && spell(loop.Next(s)) == event.DoCancel {
			t.Errorf("%q is cancelled twice", row.phase)
		}
	}
}

// What a person who waits for nothing gets, in every phase.
func TestNextStopsNowAndKillsInEveryPhase(t *testing.T) {
	resting := policy.Process{Alive: true, PID: 7, Resting: true}
	alive := policy.Process{Alive: true, PID: 7}
	for _, row := range []struct {
		phase     policy.Phase
		process   policy.Process
		now, kill string
	}{
		{policy.Between, policy.Process{}, "loop.ended", "loop.ended"},
		{policy.Between, resting, event.DoAbort, event.DoKill},
		{policy.Beginning, policy.Process{}, event.DoCancel, event.DoCancel},
		{policy.Beginning, resting, event.DoCancel, event.DoCancel},
		{policy.Opened, policy.Process{}, "iteration.ended", "iteration.ended"},
		{policy.Starting, policy.Process{}, event.DoAbort, event.DoKill},
		{policy.Turning, alive, event.DoAbort, event.DoKill},
		{policy.Finished, alive, event.DoAbort, event.DoKill},
		{policy.Leaving, alive, "", event.DoKill},
		{policy.Gone, policy.Process{}, "iteration.ended", "iteration.ended"},
		{policy.Checking, policy.Process{}, event.DoCancel, event.DoCancel},
		{policy.Checked, policy.Process{}, "iteration.ended", "iteration.ended"},
		{policy.Committing, policy.Process{}, event.DoCancel, event.DoCancel},
		{policy.Settled, policy.Process{}, "iteration.ended", "iteration.ended"},
		{policy.Verifying, policy.Process{}, event.DoCancel, event.DoCancel},
	} {
		for wish, want := range map[string]string{policy.StopNow: row.now, policy.Kill: row.kill} {
			s := stateIn(row.phase)
			s.Life.Process, s.Mail.Stopping = row.process, wish
			s.Budget.Rules.SCM, s.Budget.Rules.Guardrails = true, 1
			if got := spell(loop.Next(s)); got != want {
				t.Errorf("%s while %q: %q, want %q", wish, row.phase, got, want)
			}
		}
	}
}

// What the end of the loop's time does, in every phase: it cuts short what may take long, and a commit is not broken off.
func TestNextCutsShortWhatTheLoopHasNoTimeForInEveryPhase(t *testing.T) {
	resting := policy.Process{Alive: true, PID: 7, Resting: true}
	ending := policy.Process{Alive: true, PID: 7, Ending: true}
	alive := policy.Process{Alive: true, PID: 7}
	for _, row := range []struct {
		phase   policy.Phase
		process policy.Process
		want    string
		waits   bool // for the end of its time, when that has not come
	}{
		{policy.Between, policy.Process{}, "loop.ended", true},
		{policy.Between, resting, event.DoAbort, true},
		{policy.Between, ending, "", false},
		{policy.Beginning, policy.Process{}, event.DoCancel, true},
		{policy.Opened, policy.Process{}, "iteration.ended", false},
		{policy.Starting, policy.Process{}, event.DoAbort, true},
		{policy.Turning, alive, event.DoAbort, true},
		{policy.Finished, alive, event.DoRelease, false},
		{policy.Leaving, alive, "", false},
		{policy.Gone, policy.Process{}, "iteration.ended", false},
		{policy.Checking, policy.Process{}, event.DoCancel, true},
		{policy.Checked, policy.Process{}, "iteration.ended", false},
		{policy.Committing, policy.Process{}, "", false},
		{policy.Settled, policy.Process{}, "iteration.ended", false},
		{policy.Verifying, policy.Process{}, event.DoCancel, true},
	} {
		s := stateIn(row.phase)
		s.Life.Process = row.process
		s.Budget.Rules.SCM, s.Budget.Rules.Guardrails, s.Budget.Rules.LimitDuration = true, 1, 60_000
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
		s.Life.Cancelled = true
		if row.want == event.DoCancel && spell(loop.Next(s)) != "" {
			t.Errorf("%q is cancelled twice", row.phase)
		}
		if deadline, _ := s.Deadline(); row.want == event.DoCancel && deadline.Name != "" {
			t.Errorf("%q, cancelled, waits for %q", row.phase, deadline.Name)
		}
	}
}

// A turn that did not come to its end says nothing by its words, and is not looked at where nobody can learn from it.
func TestNextLooksAtWhatATurnLeft(t *testing.T) {
	for outcome, want := range map[event.Outcome]string{
		event.OutcomeDone: event.DoCheck, event.OutcomeFailed: event.DoCheck + " look", event.OutcomeIdle: event.DoCheck + " look",
		event.OutcomeOverlong: event.DoCheck + " look", event.OutcomeOverspent: event.DoCheck + " look",
		event.OutcomeAborted: "iteration.ended", event.OutcomeInterrupted: "iteration.ended", event.OutcomeLimited: "iteration.ended",
	} {
		for name, rules := range map[string]event.Rules{
			"guardrails": {Guardrails: 1}, "version control": {SCM: true}, "a file DONE": {DoneFile: true}, "boxes": {Checklist: true}, "progress": {NoProgress: 1},
			"nothing": {},
		} {
			s := stateIn(policy.Gone)
			rules.MaximumIterations, rules.CompletionPromise, rules.CompletionMatch = 9, "COMPLETE", "anywhere"
			s.Budget.Rules, s.Completion.Anywhere = rules, policy.ByPromise
			switch outcome {
			case event.OutcomeDone:
				s.Life.Finished = &event.AgentFinished{Outcome: "ok"}
			case event.OutcomeFailed:
				s.Life.Finished = &event.AgentFinished{Outcome: "error"}
			case event.OutcomeInterrupted:
				s.Life.Broken = true
			case event.OutcomeLimited:
				s.Life.Finished, s.Limits.Kind = &event.AgentFinished{Outcome: "error"}, policy.KindRate
			default:
				s.Life.Cut = outcome
			}
			wanted := want
			if name == "nothing" {
				switch outcome {
				case event.OutcomeDone:
					wanted = "completion.claimed completion.accepted iteration.ended"
				case event.OutcomeAborted, event.OutcomeInterrupted, event.OutcomeLimited:
					wanted = "iteration.ended"
				default:
					wanted = "completion.ignored iteration.ended"
				}
			}
			decisions := loop.Next(s)
			got := spell(decisions)
			if decisions[0].Do != nil && decisions[0].Do.Only != "" {
				got += " " + decisions[0].Do.Only
			}
			if got != wanted {
				t.Errorf("%s where %s matter: %q, want %q", outcome, name, got, wanted)
			}
		}
	}
}

// Words and boxes of a turn that was cut short claim nothing; a file DONE does, unless the iteration is given back.
func TestNextBelievesAFileOfATurnThatWasCutShort(t *testing.T) {
	for cut, want := range map[event.Outcome]bool{
		event.OutcomeIdle: true, event.OutcomeOverlong: true, event.OutcomeOverspent: true, event.OutcomeAborted: false,
	} {
		for _, how := range []string{policy.ByDoneFile, policy.ByChecklist} {
			s := stateIn(policy.Checked)
			s.Life.Cut, s.Gate.Checked = cut, true
			s.Budget.Rules.DoneFile, s.Budget.Rules.Checklist = true, true
			if how == policy.ByDoneFile {
				s.Completion.Done = true
			} else {
				s.Completion.Boxes, s.Completion.Ticked = 1, 1
			}
			if got := strings.HasPrefix(spell(loop.Next(s)), "completion.claimed"); got != (want && how == policy.ByDoneFile) {
				t.Errorf("%s of a turn that was %s: %s", how, cut, spell(loop.Next(s)))
			}
		}
	}
	s := stateIn(policy.Checked)
	s.Life.Finished, s.Limits.Kind = &event.AgentFinished{Outcome: "error"}, policy.KindRate
	s.Budget.Rules.DoneFile, s.Completion.Done = true, true
	if got := spell(loop.Next(s)); got != "iteration.ended" {
		t.Errorf("of a turn that a limit ended: %s", got)
	}
	s.Limits.Kind = ""
	s.Life.Broken = true
	if got := spell(loop.Next(s)); got != "iteration.ended" {
		t.Errorf("of a turn that the runner died under: %s", got)
	}
}

func TestNextTakesALongSilenceBehindALimitForTheLimit(t *testing.T) {
	for cut, want := range map[event.Outcome]event.Outcome{
		event.OutcomeIdle: event.OutcomeLimited, event.OutcomeOverlong: event.OutcomeLimited,
		event.OutcomeOverspent: event.OutcomeOverspent, event.OutcomeAborted: event.OutcomeAborted,
	} {
		s := stateIn(policy.Gone)
		s.Life.Cut, s.Limits.Kind = cut, policy.KindRate
		ended, ok := loop.Next(s)[0].Record.(event.IterationEnded)
		if !ok || ended.Outcome != want {
			t.Errorf("%s: %+v", cut, ended)
		}
	}
}

func TestNextAsksForALookBackInTime(t *testing.T) {
	for _, row := range []struct {
		every, last, reflected int
		want                   bool
	}{
		{0, 2, 0, false}, {1, 0, 0, false}, {1, 1, 0, true}, {1, 2, 2, true}, {2, 0, 0, false}, {2, 1, 0, true}, {2, 2, 2, false},
		{2, 3, 2, true}, {3, 2, 0, true}, {3, 3, 3, false},
		{2, 2, 0, true}, // the second was given back
	} {
		s := stateIn(policy.Between)
		s.Life.Iteration, s.Budget.Rules.ReflectEvery, s.Reflection.Last = row.last, row.every, row.reflected
		d := loop.Next(s)[0].Do
		if d == nil || d.Do != event.DoBegin || d.Reflect != row.want || d.Iteration != row.last+1 {
			t.Errorf("every %d, after %d: %+v", row.every, row.last, d)
		}
	}
}

func TestNextSaysThatMoneyIsNotKnownOfNoAgentThatTellsIt(t *testing.T) {
	four := 4.0
	for costs, want := range map[bool]*float64{true: &four, false: nil} {
		s := stateIn(policy.Gone)
		s.Life.Finished, s.Life.Process.Costs = &event.AgentFinished{Outcome: "ok"}, costs
		s.Budget.Current.Usage.USD = &four
		ended := loop.Next(s)[0].Record.(event.IterationEnded)
		if (ended.Usage.USD == nil) != (want == nil) {
			t.Errorf("costs %v: %v", costs, ended.Usage.USD)
		}
	}
}

func TestNextWarnsOfNothingBeforeTheAgentIsKnown(t *testing.T) {
	for phase, want := range map[policy.Phase]bool{
		policy.Beginning: false, policy.Opened: false, policy.Starting: false, policy.Between: true, policy.Turning: true, policy.Checking: true,
	} {
		s := stateIn(phase)
		s.Life.Process = policy.Process{Alive: true, PID: 7}
		s.Budget.Counted = 8
		if got := spell(loop.Next(s)) == "budget.warned"; got != want {
			t.Errorf("%q: %s", phase, spell(loop.Next(s)))
		}
	}
}
