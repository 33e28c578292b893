package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// verified folds a story.
func verified(t testing.TB, story ...event.Payload) *policy.Verification {
	t.Helper()
	g, l := &policy.Verification{}, &policy.Lifecycle{}
	for _, p := range story {
		fold(g, l, noon, p)
		g = throughJSON(t, g)
	}
	return g
}

func passed(name string) event.Payload { return event.GuardrailEnded{Name: name, OK: true} }

func fell(name string) event.Payload {
	return event.GuardrailEnded{Name: name, Code: 1, Action: "APPEND", Message: &event.Blob{Text: name + " failed"}}
}

var (
	check   = event.Decided{Do: event.DoCheck}
	checked = event.IterationChecked{}
	limited = event.IterationEnded{Outcome: event.OutcomeLimited, Refunded: true}
	crashed = event.IterationEnded{Outcome: event.OutcomeFailed}
)

// The culprit is the guardrail that failed in the most iterations in a row, and in two at least.
func TestCulpritFailedAllTheTime(t *testing.T) {
	broke := func(name, output string) event.Payload {
		return event.GuardrailEnded{Name: name, Code: 2, Message: &event.Blob{Text: "It failed.\n" + event.OutputFollows + output}}
	}
	iteration := func(n int, ends ...event.Payload) []event.Payload {
		begun := []event.Payload{event.IterationStarted{N: n}, check}
		return append(append(begun, ends...), checked, closed)
	}
	for name, row := range map[string]struct {
		story []event.Payload
		want  string
	}{
		"one failure is no pattern": {iteration(1, fell("a")), ""},
		"two in one iteration are one": {
			append(iteration(1, fell("a")), check, fell("a"), checked), "",
		},
		"with the last line that is complete": {
			slices.Concat(iteration(1, broke("a", "one")), iteration(2, broke("a", "one\ntwo\nthr... [truncated]"))),
			`the guardrail "a" failed in 2 iterations in a row: two`,
		},
		"without an output": {
			slices.Concat(iteration(1, broke("a", "")), iteration(2, broke("a", ""))), `the guardrail "a" failed in 2 iterations in a row: exit code 2`,
		},
		"one that passes once is counted from the start again": {
			slices.Concat(iteration(1, broke("a", "x"), broke("b", "y")), iteration(2, passed("a"), broke("b", "y")), iteration(3, broke("a", "x"), broke("b", "y"))),
			`the guardrail "b" failed in 3 iterations in a row: y`,
		},
		"a person who resumes may have mended it": {append(slices.Concat(iteration(1, fell("a")), iteration(2, fell("a"))), event.LoopResumed{}), ""},
	} {
		culprit, found := verified(t, row.story...).Culprit()
		if got := culprit.String(); found != (row.want != "") || found && got != row.want {
			t.Errorf("%s: %q, not %q", name, got, row.want)
		}
	}
}

func TestGuardrailsPassed(t *testing.T) {
	const notAll = "the guardrails have not all run"
	one, two := event.Rules{Guardrails: 1}, event.Rules{Guardrails: 2}
	for name, row := range map[string]struct {
		rules event.Rules
		story []event.Payload
		want  []string
	}{
		"where there are none, nothing is missing":                    {event.Rules{}, nil, nil},
		"all of them ran and none failed":                             {two, []event.Payload{opened, check, passed("a"), passed("b"), checked}, nil},
		"before a check nothing is known":                             {one, []event.Payload{opened}, []string{notAll}},
		"while they run nothing is known":                             {one, []event.Payload{opened, check, passed("a")}, []string{notAll}},
		"an inspection alone proves nothing":                          {one, []event.Payload{opened, check, checked}, []string{notAll}},
		"one of two is not all":                                       {two, []event.Payload{opened, check, passed("a"), checked}, []string{notAll}},
		"one that failed is named":                                    {two, []event.Payload{opened, check, passed("a"), fell("b"), checked}, []string{`the guardrail "b" failed`}},
		"each that failed is named":                                   {two, []event.Payload{opened, check, fell("a"), fell("b"), checked}, []string{`the guardrail "a" failed`, `the guardrail "b" failed`}},
		"what passed in the iteration before has to pass again":       {one, []event.Payload{opened, check, passed("a"), checked, closed, opened}, []string{notAll}},
		"what failed in the iteration before is not known to fail":    {one, []event.Payload{opened, check, fell("a"), checked, closed, opened}, []string{notAll}},
		"what failed may pass in another check":                       {one, []event.Payload{opened, check, fell("a"), checked, closed, check, passed("a"), checked}, nil},
		"when the next iteration is being begun nothing is known":     {one, []event.Payload{opened, check, passed("a"), checked, closed, event.Decided{Do: event.DoBegin}}, []string{notAll}},
		"another decision changes nothing":                            {one, []event.Payload{opened, check, passed("a"), checked, event.Decided{Do: event.DoCommit}}, nil},
		"a runner that resumes the loop knows nothing":                {one, []event.Payload{opened, check, passed("a"), checked, event.LoopResumed{}}, []string{notAll}},
		"a check that is begun again forgets how many ran":            {two, []event.Payload{opened, check, passed("a"), check, passed("a"), checked}, []string{notAll}},
		"one that was changed in the same iteration proves nothing":   {one, []event.Payload{opened, check, event.GuardrailEdited{Path: "t.sh", How: "changed"}, passed("a"), checked}, []string{"guardrails passed that were changed in the same iteration: t.sh"}},
		"each of their files is named":                                {one, []event.Payload{opened, check, event.GuardrailEdited{Path: "t.sh"}, event.GuardrailEdited{Path: "u.sh"}, passed("a"), checked}, []string{"guardrails passed that were changed in the same iteration: t.sh, u.sh"}},
		"one whose file was put back is itself again":                 {one, []event.Payload{opened, check, event.GuardrailEdited{Path: "t.sh", Restored: true}, passed("a"), checked}, nil},
		"one that changed while it ran proves nothing, also put back": {one, []event.Payload{opened, check, passed("a"), event.GuardrailEdited{Path: "t.sh", How: "changed", Restored: true, During: true}, checked}, []string{"guardrails passed that were changed in the same iteration: t.sh"}},
		"a failure is named before a change":                          {one, []event.Payload{opened, check, event.GuardrailEdited{Path: "t.sh"}, fell("a"), checked}, []string{`the guardrail "a" failed`}},
		"a change of the iteration before is no change of this":       {one, []event.Payload{opened, check, event.GuardrailEdited{Path: "t.sh"}, passed("a"), checked, closed, opened, check, passed("a"), checked}, nil},
		"an inspection after a failure gives no verdict":              {one, []event.Payload{opened, check, fell("a"), checked, check, checked}, []string{notAll}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, verified(t, row.story...).Missing(row.rules)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestVerificationForNextPrompt(t *testing.T) {
	const stray, interrupted = "a process that was started in the background was still running at the end, and was ended", "it was interrupted before it was over: work may be half done"
	bad := event.SCMEnded{Failed: "commit", Error: "a hook refused it"}
	type reports struct {
		failed, edited, left []string
		commit               string
	}
	for name, row := range map[string]struct {
		story []event.Payload
		want  reports
	}{
		"nothing of an iteration that ended well":  {[]event.Payload{opened, closed}, reports{}},
		"which guardrail failed":                   {[]event.Payload{opened, check, passed("a"), fell("b"), checked, closed}, reports{failed: []string{"b"}}},
		"that a file of a guardrail was changed":   {[]event.Payload{opened, check, event.GuardrailEdited{Path: "t.sh", How: "changed"}, checked, closed}, reports{edited: []string{"the guardrail file t.sh was changed"}}},
		"that settings were changed":               {[]event.Payload{opened, check, event.GuardrailEdited{Path: "s.json", How: "changed", Role: event.RoleSettings}, checked, closed}, reports{edited: []string{"the settings file s.json was changed"}}},
		"that it was changed while guardrails ran": {[]event.Payload{opened, check, event.GuardrailEdited{Path: "t.sh", How: "changed", During: true}, checked, closed}, reports{edited: []string{"the guardrail file t.sh was changed while the guardrails ran"}}},
		"that it was put back": {[]event.Payload{opened, check, event.GuardrailEdited{Path: "t.sh", How: "vanished", Restored: true}, checked, closed},
			reports{edited: []string{"the guardrail file t.sh vanished, and has been put back"}}},
		"what could not be committed":                       {[]event.Payload{opened, bad, closed}, reports{commit: "a hook refused it"}},
		"nothing of a commit that went well":                {[]event.Payload{opened, event.SCMEnded{Tasks: []string{"commit"}}, closed}, reports{}},
		"a process that it left running":                    {[]event.Payload{opened, event.AgentExited{Strays: 1}, closed}, reports{left: []string{stray}}},
		"no helper of an agent that called no tool":         {[]event.Payload{opened, event.AgentStarted{Tools: true}, event.AgentParked{Strays: 1}, closed}, reports{}},
		"what one that called a tool left running":          {[]event.Payload{opened, event.AgentStarted{Tools: true}, event.ToolCalled{ID: "t"}, event.AgentParked{Strays: 1}, closed}, reports{left: []string{stray}}},
		"what one that reports no tools left running":       {[]event.Payload{opened, event.AgentStarted{}, event.AgentParked{Strays: 1}, closed}, reports{left: []string{stray}}},
		"processes that it left running":                    {[]event.Payload{opened, event.AgentParked{Strays: 3}, closed}, reports{left: []string{"3 processes that were started in the background were still running at the end, and were ended"}}},
		"nothing that outlived a parked process":            {[]event.Payload{opened, event.AgentStarted{}, event.AgentParked{}, closed, event.AgentExited{Strays: 1}}, reports{}},
		"... that was replaced by another":                  {[]event.Payload{opened, event.AgentStarted{}, event.AgentParked{}, closed, opened, event.AgentExited{Strays: 1}, event.AgentStarted{}, closed}, reports{}},
		"what a parked one left running later":              {[]event.Payload{opened, event.AgentStarted{}, event.AgentParked{}, closed, opened, event.AgentStarted{Reused: true}, event.AgentExited{Strays: 1}, closed}, reports{left: []string{stray}}},
		"what the process of another runner left":           {[]event.Payload{opened, event.AgentParked{}, closed, event.LoopResumed{}, opened, event.AgentExited{Strays: 1}, closed}, reports{left: []string{stray}}},
		"no process where there was none":                   {[]event.Payload{opened, event.AgentParked{}, event.AgentExited{}, closed}, reports{}},
		"that it was interrupted":                           {[]event.Payload{opened, event.IterationEnded{Outcome: event.OutcomeInterrupted, Refunded: true}}, reports{left: []string{interrupted}}},
		"that it was silent":                                {[]event.Payload{opened, event.IterationEnded{Outcome: event.OutcomeIdle, Error: "too silent"}}, reports{left: []string{"it was cut short: too silent"}}},
		"that it took too long":                             {[]event.Payload{opened, event.IterationEnded{Outcome: event.OutcomeOverlong, Error: "too long"}}, reports{left: []string{"it was cut short: too long"}}},
		"that it cost too much":                             {[]event.Payload{opened, event.IterationEnded{Outcome: event.OutcomeOverspent, Error: "$9"}}, reports{left: []string{"it was cut short: $9"}}},
		"how it failed":                                     {[]event.Payload{opened, event.IterationEnded{Outcome: event.OutcomeFailed, Error: "boom"}}, reports{left: []string{"it ended with an error: boom"}}},
		"nothing of a failure without words":                {[]event.Payload{opened, crashed}, reports{}},
		"that a person stopped it, or the time did":         {[]event.Payload{opened, event.IterationEnded{Outcome: event.OutcomeAborted, Error: "x", Refunded: true}}, reports{left: []string{interrupted}}},
		"nothing that an earlier prompt said":               {[]event.Payload{opened, check, fell("a"), checked, event.AgentExited{Strays: 1}, bad, closed, opened, check, passed("a"), checked, closed}, reports{}},
		"what still fails":                                  {[]event.Payload{opened, check, fell("a"), checked, closed, opened, check, fell("a"), checked, closed}, reports{failed: []string{"a"}}},
		"what failed before an agent that crashed":          {[]event.Payload{opened, check, fell("a"), checked, closed, opened, check, checked, crashed}, reports{failed: []string{"a"}}},
		"what the prompt of a crashed agent reported":       {[]event.Payload{opened, event.AgentExited{Strays: 1}, bad, closed, opened, crashed}, reports{left: []string{stray}, commit: "a hook refused it"}},
		"... which is over if it had worked":                {[]event.Payload{opened, event.AgentExited{Strays: 1}, bad, closed, opened, event.IterationEnded{Outcome: event.OutcomeFailed, Tools: 1}}, reports{}},
		"what a refunded iteration's prompt reported":       {[]event.Payload{opened, check, fell("a"), checked, event.AgentExited{Strays: 1}, bad, closed, opened, limited}, reports{failed: []string{"a"}, left: []string{stray}, commit: "a hook refused it"}},
		"the same after two that were refunded":             {[]event.Payload{opened, event.AgentExited{Strays: 1}, closed, opened, limited, opened, limited}, reports{left: []string{stray}}},
		"its own strays as well, and each thing once":       {[]event.Payload{opened, event.AgentExited{Strays: 1}, closed, opened, event.AgentExited{Strays: 1}, limited}, reports{left: []string{stray}}},
		"its own failed commit before an older one":         {[]event.Payload{opened, bad, closed, opened, event.SCMEnded{Error: "newer"}, limited}, reports{commit: "newer"}},
		"edits that a refunded iteration's prompt reported": {[]event.Payload{opened, check, event.GuardrailEdited{Path: "x", How: "changed"}, checked, closed, opened, limited}, reports{edited: []string{"the guardrail file x was changed"}}},
		"no edits of the iteration before":                  {[]event.Payload{opened, check, event.GuardrailEdited{Path: "x", How: "changed"}, checked, closed, opened, check, checked, closed}, reports{}},
		"work in the background that had not ended":         {[]event.Payload{opened, event.AgentNoticed{What: event.NoticeBackground, Text: "make bench"}, closed}, reports{left: []string{"work that was put into the background had not ended: make bench"}}},
		"... reported once":                                 {[]event.Payload{opened, event.AgentNoticed{What: event.NoticeBackground, Text: "make bench"}, closed, opened, closed}, reports{}},
		"an end without a beginning says what it says":      {[]event.Payload{event.IterationEnded{Outcome: event.OutcomeInterrupted}}, reports{left: []string{interrupted}}},
	} {
		t.Run(name, func(t *testing.T) {
			g := verified(t, row.story...)
			got := reports{edited: g.Edited, left: g.Left, commit: g.Commit}
			for _, f := range g.Failures {
				if f.Action != "APPEND" || f.Message.Text != f.Name+" failed" {
					t.Errorf("%+v", f)
				}
				got.failed = append(got.failed, f.Name)
			}
			if diff := cmp.Diff(row.want, got, cmp.AllowUnexported(reports{})); diff != "" {
				t.Error(diff)
			}
			if g.Before != nil {
				t.Error("the reports of the prompt are kept though the iteration has ended")
			}
		})
	}
}

func TestVerificationIsBounded(t *testing.T) {
	story := []event.Payload{opened, check}
	for n := range 200 {
		story = append(story, event.GuardrailEnded{Name: fmt.Sprint(n)}, event.GuardrailEdited{Path: strings.Repeat("é", 500) + fmt.Sprint(n), How: "changed"})
	}
	story = append(story, event.SCMEnded{Error: strings.Repeat("é", 5000)}, checked, event.IterationEnded{Outcome: event.OutcomeFailed, Error: strings.Repeat("é", 5000), Tools: 1})
	g := verified(t, story...)
	if len(g.Failures) != 64 || g.Ran != 200 || len(g.Edited) != 32 || len(g.Commit) != 4096 {
		t.Errorf("%d failures of %d, %d edits, %d bytes of a commit", len(g.Failures), g.Ran, len(g.Edited), len(g.Commit))
	}
	if len(g.Unrestored) != 32 || len(g.Unrestored[0]) != 200 {
		t.Errorf("%d files, the first of %d bytes", len(g.Unrestored), len(g.Unrestored[0]))
	}
	if n := len(g.Edited[0]); n < 200 || n > 300 {
		t.Errorf("an edit has %d bytes", n)
	}
	if n := len(g.Left[0]); n < 500 || n > 600 {
		t.Errorf("an error has %d bytes", n)
	}
	if n := len(g.Missing(event.Rules{Guardrails: 200})); n != 64 {
		t.Errorf("%d are missing", n)
	}
	for n := range 40 {
		g = again(t, g, opened, event.AgentExited{Strays: n + 2}, check, event.GuardrailEdited{Path: fmt.Sprint("other", n), How: "changed"}, limited)
	}
	if len(g.Left) != 8 || len(g.Edited) != 32 || !strings.HasPrefix(g.Left[1], "2 processes") {
		t.Errorf("after 40 refunded iterations: %d left, %d edits, %q", len(g.Left), len(g.Edited), g.Left)
	}
	messages := verified(t, opened, check)
	for range 20 {
		messages = again(t, messages, event.GuardrailEnded{Name: strings.Repeat("n", 900), Message: &event.Blob{Text: strings.Repeat("m", 8<<10), SHA256: "sum"}})
	}
	for i, f := range messages.Failures {
		want := 500
		if i < 4 {
			want = 8 << 10
		}
		if len(f.Message.Text) != want || f.Message.SHA256 != "sum" || len(f.Name) != 500 {
			t.Errorf("of message %d %d bytes are kept, and of its name %d", i+1, len(f.Message.Text), len(f.Name))
		}
	}
	cut := verified(t, opened, event.IterationEnded{Outcome: event.OutcomeIdle, Error: strings.Repeat("x", 900)})
	if n := len(cut.Left[0]); n < 200 || n > 250 {
		t.Errorf("why it was cut short has %d bytes", n)
	}
}

func again(t testing.TB, g *policy.Verification, story ...event.Payload) *policy.Verification {
	t.Helper()
	l := &policy.Lifecycle{}
	for _, p := range story {
		fold(g, l, noon, p)
	}
	return throughJSON(t, g)
}

// Copied states share the contents of their lists.
func TestVerificationCopiesAreIndependent(t *testing.T) {
	g := verified(t, opened, event.AgentExited{Strays: 1}, closed, opened)
	copied := *g
	again(t, g, event.AgentExited{Strays: 2}, limited)
	if !slices.Equal(copied.Before.Left, []string{"a process that was started in the background was still running at the end, and was ended"}) || copied.Left != nil {
		t.Errorf("%+v", copied)
	}
}
