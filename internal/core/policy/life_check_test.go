package policy_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// reachPhase returns the events by which an iteration reaches a phase after its turn.
func reachPhase(phase policy.Phase) []event.Payload {
	steps := map[policy.Phase][]event.Payload{
		policy.Checking:   {decided(event.DoCheck)},
		policy.Checked:    {decided(event.DoCheck), checked},
		policy.Committing: {decided(event.DoCheck), checked, decided(event.DoCommit)},
		policy.Settled:    {decided(event.DoCheck), checked, decided(event.DoCommit), event.SCMEnded{}},
	}
	if phase == policy.VerifyingDone {
		return append(until(policy.Between), decided(event.DoBegin), event.FolderInspected{Done: true}, decided(event.DoCheck))
	}
	if more, ok := steps[phase]; ok {
		return append(until(policy.Gone), more...)
	}
	return until(phase)
}

var afterTurn = []policy.Phase{policy.Checking, policy.Checked, policy.Committing, policy.Settled, policy.VerifyingDone}

func done(l *policy.Lifecycle, t *testing.T, p event.Payload) *policy.Lifecycle {
	t.Helper()
	l.Rules = files()
	l.Apply(noon, p)
	return l
}

func at(t *testing.T, phase policy.Phase) *policy.Lifecycle {
	t.Helper()
	l := &policy.Lifecycle{}
	for _, p := range reachPhase(phase) {
		done(l, t, p)
	}
	if l.Phase != phase {
		t.Fatalf("the phase is %q, want %q", l.Phase, phase)
	}
	return throughJSON(t, l)
}

func TestEventsAfterTurn(t *testing.T) {
	kill, cancel := decided(event.DoKill), decided(event.DoCancel)
	for name, row := range map[string]struct {
		from policy.Phase
		p    event.Payload
		want policy.Phase
	}{
		"a check of what the agent left is over":        {policy.Checking, checked, policy.Checked},
		"a check of a file DONE is over":                {policy.VerifyingDone, checked, policy.Between},
		"an unexpected check changes nothing":           {policy.Settled, checked, policy.Settled},
		"a commit is over":                              {policy.Committing, event.SCMEnded{Error: "x"}, policy.Settled},
		"an unexpected commit changes nothing":          {policy.Checked, event.SCMEnded{}, policy.Checked},
		"a commit that cannot be done is over":          {policy.Committing, event.EffectFailed{Do: event.DoCommit}, policy.Settled},
		"a check that cannot be done is over":           {policy.Checking, event.EffectFailed{Do: event.DoCheck}, policy.Checked},
		"a check of DONE that cannot be done is over":   {policy.VerifyingDone, event.EffectFailed{Do: event.DoCheck}, policy.Between},
		"a parked process may exit during the check":    {policy.Checking, gone, policy.Checking},
		"... when it has been checked":                  {policy.Checked, gone, policy.Checked},
		"... while it is committed":                     {policy.Committing, gone, policy.Committing},
		"... when all is settled":                       {policy.Settled, gone, policy.Settled},
		"... while a file DONE is verified":             {policy.VerifyingDone, gone, policy.VerifyingDone},
		"a kill waits for the check":                    {policy.Checking, kill, policy.Checking},
		"a cancelled check goes on until it says so":    {policy.Checking, cancel, policy.Checking},
		"an iteration without a check can be committed": {policy.Gone, decided(event.DoCommit), policy.Committing},
		"the iteration ends":                            {policy.Settled, closed, policy.Between},
		"a file DONE that is seen is no beginning":      {policy.Beginning, event.FolderInspected{Done: true}, policy.Between},
		"a folder without one is":                       {policy.Beginning, event.FolderInspected{Wait: true}, policy.Beginning},
		"a file DONE of the agent changes no phase":     {policy.Checking, event.FolderInspected{Done: true}, policy.Checking},
	} {
		t.Run(name, func(t *testing.T) {
			if l := done(at(t, row.from), t, row.p); l.Phase != row.want {
				t.Errorf("the phase is %q, want %q", l.Phase, row.want)
			}
		})
	}
	if l := live(t, &policy.Lifecycle{}, append(until(policy.Beginning), event.FolderInspected{Done: true})...); l.Phase != policy.Beginning {
		t.Errorf("with doneFile off a file DONE makes the phase %q", l.Phase)
	}
}

func TestDeadRunnerLeavesIterationOpen(t *testing.T) {
	for _, phase := range afterTurn {
		l := done(at(t, phase), t, decided(event.DoCancel))
		done(l, t, event.LoopResumed{PID: 9})
		if phase == policy.VerifyingDone {
			if l.Broken || l.Phase != policy.Between {
				t.Errorf("%s: %+v", phase, l)
			}
		} else if outcome, _ := l.Outcome(); !l.Broken || outcome != event.OutcomeInterrupted {
			t.Errorf("%s: %q, %+v", phase, outcome, l)
		}
		if l.Cancelled || l.Cut != "" || l.CutWhy != "" || l.Exited != nil || l.Finished != nil || l.Process != (policy.Process{}) {
			t.Errorf("%s: something of the dead runner is left: %+v", phase, l)
		}
	}
}

func TestCancelAbortsIteration(t *testing.T) {
	l := done(at(t, policy.Checking), t, decided(event.DoCancel))
	if outcome, _ := l.Outcome(); outcome != event.OutcomeAborted || !l.Cancelled {
		t.Errorf("%q %+v", outcome, l)
	}
	if done(l, t, checked); l.Cancelled {
		t.Error("a check that is over is cancelled")
	}
	if l = done(at(t, policy.VerifyingDone), t, decided(event.DoCancel)); l.Cut != "" || !l.Cancelled {
		t.Errorf("no iteration is open, and one is cut: %+v", l)
	}
}

func TestFailedCheckIsFault(t *testing.T) {
	broken := event.EffectFailed{Do: event.DoCheck, Error: "no space", Class: event.ClassDisk}
	for _, phase := range []policy.Phase{policy.Checking, policy.VerifyingDone} {
		want := &event.FaultRaised{Where: string(event.DoCheck), Error: "no space", Class: event.ClassDisk}
		if diff := cmp.Diff(want, done(at(t, phase), t, broken).Fault); diff != "" {
			t.Errorf("%s:\n%s", phase, diff)
		}
		l := done(at(t, phase), t, decided(event.DoCancel))
		if done(l, t, broken); l.Fault != nil {
			t.Errorf("%s: what a person cancelled is a fault: %+v", phase, l.Fault)
		}
	}
	if l := done(at(t, policy.Committing), t, event.EffectFailed{Do: event.DoCommit, Error: "x"}); l.Fault != nil {
		t.Errorf("a commit is a fault: %+v", l.Fault)
	}
}

func TestRefusedFlags(t *testing.T) {
	exit := func(code int, stderr string) event.Payload {
		return event.AgentExited{Code: code, Stderr: stderr, Took: 900}
	}
	const complaint = "error: Unknown option '--modle'"
	for name, row := range map[string]struct {
		story []event.Payload // after the agent started
		want  string
	}{
		"one that says so":                    {[]event.Payload{exit(2, "usage\n  "+complaint+"  \nsee --help\n")}, complaint},
		"one that says so in other words":     {[]event.Payload{exit(1, "flag provided but not defined: -x")}, "flag provided but not defined: -x"},
		"in these":                            {[]event.Payload{exit(1, "unknown flag: --x")}, "unknown flag: --x"},
		"in these, too":                       {[]event.Payload{exit(1, "unrecognized option --x")}, "unrecognized option --x"},
		"or in these":                         {[]event.Payload{exit(1, "error: unexpected argument '--x' found")}, "error: unexpected argument '--x' found"},
		"or these":                            {[]event.Payload{exit(1, "invalid option -- x")}, "invalid option -- x"},
		"or these at last":                    {[]event.Payload{exit(1, "illegal option -- x")}, "illegal option -- x"},
		"not one that says something else":    {[]event.Payload{exit(1, "no such model")}, ""},
		"not one that ended well":             {[]event.Payload{exit(0, complaint)}, ""},
		"not one that a signal ended":         {[]event.Payload{event.AgentExited{Code: -1, Signal: "killed", Stderr: complaint}}, ""},
		"not one that said something":         {[]event.Payload{piece("1.0", "x"), exit(2, complaint)}, ""},
		"not one that thought":                {[]event.Payload{event.AgentThought{}, exit(2, complaint)}, ""},
		"not one that used something":         {[]event.Payload{event.AgentUsed{In: 1}, exit(2, complaint)}, ""},
		"not one that used a tool":            {[]event.Payload{event.ToolCalled{ID: "t"}, exit(2, complaint)}, ""},
		"not one whose turn came to its end":  {[]event.Payload{turnOver, exit(2, complaint)}, ""},
		"not one that ralph ended":            {[]event.Payload{event.Decided{Do: event.DoAbort, Outcome: "idle"}, exit(2, complaint)}, ""},
		"not one that has not ended":          {nil, ""},
		"not the one of the iteration before": {[]event.Payload{exit(2, complaint), closed, event.IterationStarted{N: 2}}, ""},
		"not after a person corrected them":   {[]event.Payload{exit(2, complaint), closed, event.LoopResumed{}}, ""},
		"not one that took long":              {[]event.Payload{event.AgentExited{Code: 2, Stderr: complaint, Took: 10_000}}, ""},
		"not one whose files show progress":   {[]event.Payload{exit(2, complaint), event.IterationEnded{N: 1, Outcome: event.OutcomeFailed, Progress: "yes"}}, ""},
		"one whose files show none":           {[]event.Payload{exit(2, complaint), event.IterationEnded{N: 1, Outcome: event.OutcomeFailed, Progress: "no"}}, complaint},
		"not a complaint of another program":  {[]event.Payload{exit(64, "tar: unrecognized option '--bogus'\nTry 'tar --help'")}, ""},
		"not a flag in other words":           {[]event.Payload{exit(2, "the flag --modle was given")}, ""},
		"not a word that is no flag":          {[]event.Payload{exit(2, "unknown option: modle")}, ""},
		"of a long complaint the beginning":   {[]event.Payload{exit(2, "unknown option --x "+strings.Repeat("x", 900))}, ("unknown option --x " + strings.Repeat("x", 900))[:300]},
	} {
		t.Run(name, func(t *testing.T) {
			started := event.AgentStarted{PID: 9, Argv: []string{"agent", "--modle=x", "-x", "-", "do it"}}
			l := live(t, live(t, &policy.Lifecycle{}, append(until(policy.Starting), started)...), row.story...)
			if got := throughJSON(t, l).Refused(); got != row.want {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
}

func TestPauseAndWait(t *testing.T) {
	l := live(t, &policy.Lifecycle{}, event.LoopStarted{}, event.LoopWaiting{For: event.WaitPerson})
	if l.Paused || l.Wait == nil || !l.NeedsResume() {
		t.Errorf("%+v", l)
	}
	if live(t, l, event.LoopWaited{For: event.WaitPerson}); l.Wait != nil || l.NeedsResume() {
		t.Errorf("%+v", l)
	}
	if live(t, l, event.LoopPaused{}); !l.Paused || l.Wait != nil {
		t.Errorf("%+v", l)
	}
}

func TestLifecycleCutsLongTexts(t *testing.T) {
	long := strings.Repeat("x", 9000)
	l := live(t, &policy.Lifecycle{}, append(until(policy.Turning), event.Decided{Do: event.DoAbort, Outcome: "idle", Why: long}, event.AgentFinished{Outcome: "error", Error: long},
		event.AgentExited{Stderr: long}, event.EffectFailed{Do: event.DoStart, Error: long}, event.FaultRaised{Error: long}, event.LoopEnded{Why: long, Hint: long})...)
	for what, length := range map[string]int{
		"error of a turn": len(l.Finished.Error) - 4096, "stderr": len(l.Exited.Stderr) - 2048, "failure": len(l.Failed.Error) - 4096,
		"fault": len(l.Fault.Error) - 4096, "end": len(l.Ended.Why) - 4096, "hint": len(l.Ended.Hint) - 4096, "cut": len(l.CutWhy) - 200,
	} {
		if length != 0 {
			t.Errorf("%s: %d bytes too many", what, length)
		}
	}
	l = live(t, &policy.Lifecycle{}, append(until(policy.Turning), event.Decided{Do: event.DoKill, Outcome: "aborted", Why: long})...)
	if len(l.CutWhy) != 200 {
		t.Errorf("kill: %d bytes", len(l.CutWhy))
	}
}

// A parked process exits just before it is given the prompt.
func TestProcessExitsBeforePrompt(t *testing.T) {
	l := live(t, &policy.Lifecycle{}, append(until(policy.Leaving), event.AgentParked{}, closed, event.IterationStarted{N: 2}, decided(event.DoStart), gone, event.AgentStarted{Reused: true})...)
	if l.Process.Alive || l.Phase != policy.Gone {
		t.Errorf("%+v", l)
	}
}

// Text is cut between two characters, at both ends.
func TestTextsAreCutBetweenRunes(t *testing.T) {
	for pad := range 3 {
		long := strings.Repeat("x", pad) + strings.Repeat("日", 3000) + strings.Repeat("y", pad)
		l := live(t, &policy.Lifecycle{}, event.FaultRaised{Error: long})
		if got := l.Fault.Error; !strings.HasPrefix(long, got) || !utf8.ValidString(got) || len(got) > 4096 || len(got) < 4094 {
			t.Errorf("of the beginning %d bytes are kept: …%q", len(got), got[len(got)-6:])
		}
		s := endings(t, &policy.Restart{}, patient, failed(long, 0))
		if got := s.Error; !strings.HasSuffix(long, got) || !utf8.ValidString(got) || len(got) > 1024 || len(got) < 1022 {
			t.Errorf("of the end %d bytes are kept: %q…", len(got), got[:6])
		}
	}
	// Bytes that are no text are cut somewhere.
	broken := strings.Repeat("\x80", 5000)
	if s := endings(t, &policy.Restart{}, patient, failed(broken, 0)); len(s.Error) > 3*1024 {
		t.Errorf("%d bytes", len(s.Error))
	}
	l := live(t, &policy.Lifecycle{}, append(until(policy.Turning), event.AgentExited{Code: 1, Stderr: strings.Repeat("z", 299) + "\n" + strings.Repeat("x", 900)})...)
	if _, problem := l.Outcome(); problem != "the agent exited with code 1: "+strings.Repeat("x", 300) {
		t.Errorf("%d bytes of the last line are kept", len(problem))
	}
}

func TestNewIterationClearsFailure(t *testing.T) {
	l := live(t, &policy.Lifecycle{}, append(until(policy.Beginning), event.EffectFailed{Do: event.DoBegin, Error: "x"})...)
	if l.Failed == nil || l.Phase != policy.Between {
		t.Fatalf("%+v", l)
	}
	if live(t, l, decided(event.DoBegin)); l.Failed != nil {
		t.Errorf("%+v", l.Failed)
	}
}

// TestComplaintOfAgent: the error of an iteration is the line of standard error that says what is
// wrong.
func TestComplaintOfAgent(t *testing.T) {
	for stderr, want := range map[string]string{
		"Error loading config.toml: expected a comma\n  |\n6 | bogus = [\n  |         ^\n": ": Error loading config.toml: expected a comma",
		"Reading prompt from stdin...\n":                                     "",
		"Reading prompt from stdin...\nno such model\n":                      ": no such model",
		"Traceback:\n  File x\nValueError: bad\n":                            ": ValueError: bad",
		"error: unknown option --modle\nsee --help":                          ": error: unknown option --modle",
		"one\nlast words\n":                                                  ": last words",
		"error: asked again\nfatal: gave up\n\nUsage: agent [flags]\n  -h\n": ": fatal: gave up",
		"": "",
	} {
		l := live(t, &policy.Lifecycle{}, append(until(policy.Turning), event.AgentExited{Code: 1, Stderr: stderr})...)
		if _, problem := l.Outcome(); problem != "the agent exited with code 1"+want {
			t.Errorf("%q: %q", stderr, problem)
		}
	}
}
