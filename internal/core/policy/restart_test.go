package policy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

var patient = event.Rules{Restart: event.RestartRules{Max: 100, Delay: event.Duration(time.Second)}, Breaker: event.BreakerRules{Environment: 3}}

// endings folds ends of iterations, all at noon.
func endings(t testing.TB, s *policy.Restart, r event.Rules, ends ...event.IterationEnded) *policy.Restart {
	t.Helper()
	for _, p := range ends {
		s.Apply(noon, p, by(r))
	}
	return s
}

func failed(why string, took time.Duration) event.IterationEnded {
	return event.IterationEnded{Outcome: event.OutcomeFailed, Error: why, Took: took.Milliseconds()}
}

func empty(why string) event.IterationEnded {
	return event.IterationEnded{Outcome: event.OutcomeEmpty, Error: why, Took: 60_000, Refunded: true}
}

func TestRestartDelayDoubles(t *testing.T) {
	for name, row := range map[string]struct {
		delay time.Duration
		want  []time.Duration
	}{
		"of a second": {time.Second, []time.Duration{
			time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second, 64 * time.Second,
			128 * time.Second, 256 * time.Second, 5 * time.Minute, 5 * time.Minute}},
		"of a minute":                         {time.Minute, []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 5 * time.Minute, 5 * time.Minute}},
		"of more than it is doubled to":       {10 * time.Minute, []time.Duration{10 * time.Minute, 10 * time.Minute, 10 * time.Minute}},
		"of nothing":                          {0, []time.Duration{0, 0, 0}},
		"of a millisecond, and far too often": {time.Millisecond, []time.Duration{time.Millisecond, 2 * time.Millisecond, 4 * time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			s, r := &policy.Restart{}, event.Rules{Restart: event.RestartRules{Delay: event.Duration(row.delay)}}
			for n, want := range row.want {
				endings(t, s, r, failed("x", time.Hour))
				if got := s.NotUntil.Sub(noon); got != want {
					t.Errorf("after failure %d it is %s, want %s", n+1, got, want)
				}
			}
			for range 200 {
				endings(t, s, r, failed("x", time.Hour))
			}
			if got := s.NotUntil.Sub(noon); got < 0 || got > max(row.delay, 5*time.Minute) {
				t.Errorf("after 200 failures it is %s", got)
			}
		})
	}
}

// A model may refuse to answer at once, although nothing around the agent is broken.
func TestRefusalIsNoEnvironmentFault(t *testing.T) {
	s := &policy.Restart{}
	refused := event.AgentFinished{Outcome: "error", Kind: event.KindRefusal}
	for range 4 {
		s.Apply(noon, refused, by(patient))
		endings(t, s, patient, failed("flagged", time.Millisecond))
	}
	if reason, why := s.Fatal(patient); reason != "" || s.Failures != 4 {
		t.Errorf("%s: %s after %d failures", reason, why, s.Failures)
	}
	endings(t, s, patient, failed("flagged", time.Millisecond), failed("flagged", time.Millisecond), failed("flagged", time.Millisecond))
	if reason, _ := s.Fatal(patient); reason != event.ReasonEnvironment {
		t.Errorf("failures that are none of a refusal end for %q", reason)
	}
}

// moved is a failure of an iteration in which the files showed progress.
func moved(problem string, took time.Duration) event.IterationEnded {
	p := failed(problem, took)
	p.Progress = "yes"
	return p
}

func TestRestartCountsFailures(t *testing.T) {
	for outcome, want := range map[event.Outcome]int{
		event.OutcomeDone: 0, event.OutcomeFailed: 3, event.OutcomeIdle: 3, event.OutcomeOverlong: 3,
		event.OutcomeAborted: 2, event.OutcomeInterrupted: 2,
	} {
		s := endings(t, &policy.Restart{}, patient, failed("a", time.Minute), failed("b", time.Minute), event.IterationEnded{Outcome: outcome})
		if s.Failures != want {
			t.Errorf("after two failures and one that was %s, %d are counted, want %d", outcome, s.Failures, want)
		}
		if outcome == event.OutcomeDone && !s.NotUntil.IsZero() {
			t.Error("after an iteration that went well there is a delay")
		}
	}
}

func TestFatalFailures(t *testing.T) {
	const instant, slow = time.Second, 3 * time.Second
	long := strings.Repeat("a stack of calls\n", 500)
	few := event.Rules{Restart: event.RestartRules{Max: 2, Delay: event.Duration(time.Millisecond)}, Breaker: event.BreakerRules{Environment: 3}}
	idle := event.IterationEnded{Outcome: event.OutcomeIdle, Took: 1}
	for name, row := range map[string]struct {
		rules event.Rules
		ends  []event.IterationEnded
		want  event.Reason
	}{
		"nothing failed":                               {patient, nil, ""},
		"two instant failures may be chance":           {patient, []event.IterationEnded{failed("a", instant), failed("a", instant)}, ""},
		"three that say the same are none":             {patient, []event.IterationEnded{failed("a", instant), failed("a", instant), failed("a", instant)}, event.ReasonEnvironment},
		"three that say different things may be":       {patient, []event.IterationEnded{failed("a", instant), failed("b", instant), failed("c", instant)}, ""},
		"three in a row count, whatever came before":   {patient, []event.IterationEnded{failed("a", instant), failed("b", instant), failed("b", instant), failed("b", instant)}, event.ReasonEnvironment},
		"a slow one between them begins again":         {patient, []event.IterationEnded{failed("a", instant), failed("a", instant), failed("a", slow), failed("a", instant), failed("a", instant)}, ""},
		"two seconds are not instant":                  {patient, []event.IterationEnded{failed("a", 2*time.Second), failed("a", 2*time.Second), failed("a", 2*time.Second)}, ""},
		"silence is no instant failure":                {patient, []event.IterationEnded{idle, idle, idle, idle}, ""},
		"long errors are the same, too":                {patient, []event.IterationEnded{failed(long, instant), failed(long, instant), failed(long, instant)}, event.ReasonEnvironment},
		"a good iteration between them begins again":   {patient, []event.IterationEnded{failed("a", instant), failed("a", instant), {Outcome: event.OutcomeDone}, failed("a", instant)}, ""},
		"a person's stop between them changes nothing": {patient, []event.IterationEnded{failed("a", instant), failed("a", instant), {Outcome: event.OutcomeAborted}, failed("a", instant)}, event.ReasonEnvironment},
		"two restarts are allowed":                     {few, []event.IterationEnded{failed("a", slow), failed("b", slow)}, ""},
		"a third is not":                               {few, []event.IterationEnded{failed("a", slow), failed("b", slow), failed("c", slow)}, event.ReasonRestarts},
		"a good iteration allows two more":             {few, []event.IterationEnded{failed("a", slow), failed("b", slow), {Outcome: event.OutcomeDone}, failed("c", slow), failed("d", slow)}, ""},
		"without a limit it goes on forever":           {event.Rules{Restart: event.RestartRules{Delay: event.Duration(time.Millisecond)}}, []event.IterationEnded{failed("a", slow), failed("b", slow), failed("c", slow), failed("d", slow)}, ""},
		"progress each time is no broken environment":  {patient, []event.IterationEnded{moved("a", instant), moved("a", instant), moved("a", instant), moved("a", instant)}, ""},
		"progress between them begins again":           {patient, []event.IterationEnded{failed("a", instant), failed("a", instant), moved("a", instant), failed("a", instant), failed("a", instant)}, ""},
		"progress allows two more restarts":            {few, []event.IterationEnded{failed("a", slow), failed("b", slow), moved("c", slow), failed("d", slow)}, ""},
		"a lock of another program is waited for":      {patient, []event.IterationEnded{failed("Error: database is locked", instant), failed("Error: database is locked", instant), failed("Error: database is locked", instant)}, ""},
		"the rule may ask for more failures":           {event.Rules{Restart: event.RestartRules{Delay: event.Duration(time.Millisecond)}, Breaker: event.BreakerRules{Environment: 4}}, []event.IterationEnded{failed("a", instant), failed("a", instant), failed("a", instant)}, ""},
		"and has them then":                            {event.Rules{Restart: event.RestartRules{Delay: event.Duration(time.Millisecond)}, Breaker: event.BreakerRules{Environment: 4}}, []event.IterationEnded{failed("a", instant), failed("a", instant), failed("a", instant), failed("a", instant)}, event.ReasonEnvironment},
		"the rule may be off":                          {event.Rules{Restart: event.RestartRules{Delay: event.Duration(time.Millisecond)}, Breaker: event.BreakerRules{}}, []event.IterationEnded{failed("a", instant), failed("a", instant), failed("a", instant), failed("a", instant)}, ""},
		"three empty ones say the same, in any words":  {patient, []event.IterationEnded{empty("a"), empty("b"), empty("c")}, event.ReasonEnvironment},
		"two empty ones do not":                        {patient, []event.IterationEnded{empty("a"), empty("a")}, ""},
		"nor do others between them":                   {patient, []event.IterationEnded{empty("a"), empty("a"), failed("a", slow), empty("a"), {Outcome: event.OutcomeDone}, empty("a"), empty("a")}, ""},
		"a limit between empty ones changes nothing":   {patient, []event.IterationEnded{empty("a"), empty("a"), {Outcome: event.OutcomeLimited}, empty("a")}, event.ReasonEnvironment},
		"empty ones are failures":                      {few, []event.IterationEnded{empty("a"), failed("a", slow), empty("a")}, event.ReasonRestarts},
		"a broken environment goes before a limit":     {few, []event.IterationEnded{failed("a", instant), failed("a", instant), failed("a", instant)}, event.ReasonEnvironment},
	} {
		t.Run(name, func(t *testing.T) {
			s := endings(t, &policy.Restart{}, row.rules, row.ends...)
			got, why := s.Fatal(row.rules)
			if got != row.want || (why == "") != (row.want == "") {
				t.Errorf("%q: %q, want %q", got, why, row.want)
			}
			if again, _ := throughJSON(t, s).Fatal(row.rules); again != got {
				t.Errorf("through JSON it is %q", again)
			}
			if len(s.Error) > 1024 {
				t.Errorf("%d bytes of an error are kept", len(s.Error))
			}
		})
	}
}

func TestResumeClearsRestart(t *testing.T) {
	s := endings(t, &policy.Restart{}, patient, failed("a", 0), failed("a", 0), failed("a", 0))
	if s.Apply(noon, event.LoopResumed{}, by(patient)); *s != (policy.Restart{}) {
		t.Errorf("%+v", s)
	}
}
