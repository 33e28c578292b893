package policy_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestEscalation(t *testing.T) {
	says42 := event.AgentExited{Code: 42}
	asks := func(kind event.CommandKind, text string) event.Payload {
		return event.CommandReceived{ID: "c", Kind: kind, Text: text}
	}
	taken := event.CommandDelivered{ID: "c", How: "loop"}
	begin := event.Decided{Do: event.DoBegin}
	file := event.FolderInspected{Wait: true, Text: "the password"}
	rules := event.Rules{Restart: event.RestartRules{WaitExitCode: 42}}
	for name, row := range map[string]struct {
		rules event.Rules
		story []event.Payload
		want  policy.Escalation
	}{
		"no request":                                          {rules, []event.Payload{opened, gone, event.FolderInspected{}, closed}, policy.Escalation{}},
		"the exit code asks":                                  {rules, []event.Payload{opened, says42}, policy.Escalation{Waits: "the agent exited with code 42"}},
		"another exit code does not":                          {rules, []event.Payload{opened, event.AgentExited{Code: 41}}, policy.Escalation{}},
		"the exit code of a killed process is no word":        {rules, []event.Payload{opened, event.AgentExited{Code: 42, Signal: "killed"}}, policy.Escalation{}},
		"where no exit code is set, none asks":                {event.Rules{}, []event.Payload{opened, gone, says42}, policy.Escalation{}},
		"the file asks":                                       {rules, []event.Payload{opened, event.FolderInspected{Wait: true}}, policy.Escalation{Waits: "the agent left the file WAIT_WITHOUT_RESTART"}},
		"the file says for what":                              {rules, []event.Payload{opened, file}, policy.Escalation{Waits: "the agent left the file WAIT_WITHOUT_RESTART: the password"}},
		"the words of a file DONE are not its":                {rules, []event.Payload{opened, event.FolderInspected{Wait: true, Done: true, Text: "all done"}}, policy.Escalation{Waits: "the agent left the file WAIT_WITHOUT_RESTART"}},
		"a file from before the iteration is old":             {rules, []event.Payload{begin, file}, policy.Escalation{}},
		"... and does not ask when it is over":                {rules, []event.Payload{begin, file, opened, gone}, policy.Escalation{}},
		"a file of this iteration is new":                     {rules, []event.Payload{begin, opened, file}, policy.Escalation{Waits: "the agent left the file WAIT_WITHOUT_RESTART: the password"}},
		"after a beginning that failed it is new":             {rules, []event.Payload{begin, event.EffectFailed{Do: event.DoBegin}, file}, policy.Escalation{Waits: "the agent left the file WAIT_WITHOUT_RESTART: the password"}},
		"another decision begins nothing":                     {rules, []event.Payload{opened, check, file}, policy.Escalation{Waits: "the agent left the file WAIT_WITHOUT_RESTART: the password"}},
		"a message asks":                                      {rules, []event.Payload{asks(event.CommandWait, "which database?")}, policy.Escalation{Waits: "which database?", Asked: "c"}},
		"a message without words asks":                        {rules, []event.Payload{asks(event.CommandWait, "")}, policy.Escalation{Waits: "the agent asked for a person", Asked: "c"}},
		"a message says that it is blocked":                   {rules, []event.Payload{asks(event.CommandBlocked, "no access")}, policy.Escalation{Blocked: "no access", Asked: "c"}},
		"a message without words says so, too":                {rules, []event.Payload{asks(event.CommandBlocked, "")}, policy.Escalation{Blocked: "the agent did not say by what", Asked: "c"}},
		"other messages ask for no person":                    {rules, []event.Payload{asks(event.CommandSteer, "x"), asks(event.CommandPause, "x")}, policy.Escalation{}},
		"a resume is the answer":                              {rules, []event.Payload{opened, says42, asks(event.CommandBlocked, "x"), taken, event.LoopUnpaused{}}, policy.Escalation{}},
		"the end of a wait for a person too":                  {rules, []event.Payload{opened, says42, closed, event.LoopWaited{For: event.WaitPerson}}, policy.Escalation{}},
		"another wait says nothing":                           {rules, []event.Payload{opened, says42, closed, event.LoopWaited{For: event.WaitRate}}, policy.Escalation{Waits: "the agent exited with code 42"}},
		"a resume from before a message is no answer to it":   {rules, []event.Payload{asks(event.CommandBlocked, "x"), event.LoopUnpaused{}}, policy.Escalation{Blocked: "x", Asked: "c"}},
		"another runner is the answer":                        {rules, []event.Payload{opened, says42, asks(event.CommandBlocked, "x"), taken, event.LoopResumed{}}, policy.Escalation{}},
		"a message that was not answered outlives its runner": {rules, []event.Payload{asks(event.CommandBlocked, "x"), event.LoopResumed{}}, policy.Escalation{Blocked: "x", Asked: "c"}},
		"it asks until there is an answer":                    {rules, []event.Payload{opened, says42, closed, event.LoopWaiting{For: event.WaitPerson}}, policy.Escalation{Waits: "the agent exited with code 42"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, l := &policy.Escalation{}, by(row.rules)
			for _, happens := range row.story {
				fold(p, l, noon, happens)
			}
			if diff := cmp.Diff(&row.want, throughJSON(t, p)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEscalationReasonIsBounded(t *testing.T) {
	long := strings.Repeat("x", 5000)
	p := &policy.Escalation{}
	for _, happens := range []event.Payload{event.CommandReceived{Kind: event.CommandWait, Text: long}, event.CommandReceived{Kind: event.CommandBlocked, Text: long}} {
		p.Apply(happens, &policy.Lifecycle{})
	}
	if len(p.Waits) != 1000 || len(p.Blocked) != 1000 {
		t.Errorf("%d and %d bytes", len(p.Waits), len(p.Blocked))
	}
	if p.Apply(event.FolderInspected{Wait: true, Text: long}, &policy.Lifecycle{}); len(p.Waits) > 1100 {
		t.Errorf("%d bytes", len(p.Waits))
	}
}
