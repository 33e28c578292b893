package policy_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestWhetherALoopNeedsAPerson(t *testing.T) {
	says42 := event.AgentExited{Code: 42}
	asks := func(kind, text string) event.Payload { return event.CommandReceived{ID: "c", Kind: kind, Text: text} }
	taken := event.CommandDelivered{ID: "c", How: "loop"}
	begin := event.Decided{Do: event.DoBegin}
	file := event.FolderSeen{Wait: true, Text: "the password"}
	rules := event.Rules{WaitExitCode: 42}
	for name, row := range map[string]struct {
		rules event.Rules
		story []event.Payload
		want  policy.Person
	}{
		"nobody asks":                                         {rules, []event.Payload{opened, gone, event.FolderSeen{}, closed}, policy.Person{}},
		"the exit code asks":                                  {rules, []event.Payload{opened, says42}, policy.Person{Waits: "the agent exited with code 42"}},
		"another exit code does not":                          {rules, []event.Payload{opened, event.AgentExited{Code: 41}}, policy.Person{}},
		"the exit code of a killed process is no word":        {rules, []event.Payload{opened, event.AgentExited{Code: 42, Signal: "killed"}}, policy.Person{}},
		"where no exit code is set, none asks":                {event.Rules{}, []event.Payload{opened, gone, says42}, policy.Person{}},
		"the file asks":                                       {rules, []event.Payload{opened, event.FolderSeen{Wait: true}}, policy.Person{Waits: "the agent left the file WAIT_WITHOUT_RESTART"}},
		"the file says for what":                              {rules, []event.Payload{opened, file}, policy.Person{Waits: "the agent left the file WAIT_WITHOUT_RESTART: the password"}},
		"the words of a file DONE are not its":                {rules, []event.Payload{opened, event.FolderSeen{Wait: true, Done: true, Text: "all done"}}, policy.Person{Waits: "the agent left the file WAIT_WITHOUT_RESTART"}},
		"a file from before the iteration is old":             {rules, []event.Payload{begin, file}, policy.Person{Opening: true}},
		"... and does not ask when it is over":                {rules, []event.Payload{begin, file, opened, gone}, policy.Person{}},
		"a file of this iteration is new":                     {rules, []event.Payload{begin, opened, file}, policy.Person{Waits: "the agent left the file WAIT_WITHOUT_RESTART: the password"}},
		"after a beginning that failed it is new":             {rules, []event.Payload{begin, event.EffectFailed{Do: event.DoBegin}, file}, policy.Person{Waits: "the agent left the file WAIT_WITHOUT_RESTART: the password"}},
		"another decision begins nothing":                     {rules, []event.Payload{opened, check, file}, policy.Person{Waits: "the agent left the file WAIT_WITHOUT_RESTART: the password"}},
		"a message asks":                                      {rules, []event.Payload{asks(policy.Wait, "which database?")}, policy.Person{Waits: "which database?", Asked: "c"}},
		"a message without words asks":                        {rules, []event.Payload{asks(policy.Wait, "")}, policy.Person{Waits: "the agent asked for a person", Asked: "c"}},
		"a message says that it is blocked":                   {rules, []event.Payload{asks(policy.Blocked, "no access")}, policy.Person{Blocked: "no access", Asked: "c"}},
		"a message without words says so, too":                {rules, []event.Payload{asks(policy.Blocked, "")}, policy.Person{Blocked: "the agent did not say by what", Asked: "c"}},
		"other messages ask for nobody":                       {rules, []event.Payload{asks(policy.Steer, "x"), asks(policy.Pause, "x")}, policy.Person{}},
		"a resume is the answer":                              {rules, []event.Payload{opened, says42, asks(policy.Blocked, "x"), taken, event.LoopUnpaused{}}, policy.Person{}},
		"a resume from before a message is no answer to it":   {rules, []event.Payload{asks(policy.Blocked, "x"), event.LoopUnpaused{}}, policy.Person{Blocked: "x", Asked: "c"}},
		"another runner is the answer":                        {rules, []event.Payload{opened, says42, asks(policy.Blocked, "x"), taken, event.LoopResumed{}}, policy.Person{}},
		"a message that was not answered outlives its runner": {rules, []event.Payload{asks(policy.Blocked, "x"), event.LoopResumed{}}, policy.Person{Blocked: "x", Asked: "c"}},
		"it asks until somebody answers":                      {rules, []event.Payload{opened, says42, closed, event.LoopPaused{For: "person"}}, policy.Person{Waits: "the agent exited with code 42"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &policy.Person{}
			for _, happens := range row.story {
				if err := p.Apply(happened(t, noon, happens), row.rules); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(&row.want, throughJSON(t, p)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAReasonIsKeptInPart(t *testing.T) {
	long := strings.Repeat("x", 5000)
	p := &policy.Person{}
	for _, happens := range []event.Payload{event.CommandReceived{Kind: policy.Wait, Text: long}, event.CommandReceived{Kind: policy.Blocked, Text: long}} {
		if err := p.Apply(happened(t, noon, happens), event.Rules{}); err != nil {
			t.Fatal(err)
		}
	}
	if len(p.Waits) != 1000 || len(p.Blocked) != 1000 {
		t.Errorf("%d and %d bytes", len(p.Waits), len(p.Blocked))
	}
	if err := p.Apply(happened(t, noon, event.FolderSeen{Wait: true, Text: long}), event.Rules{}); err != nil || len(p.Waits) > 1100 {
		t.Errorf("%d bytes, %v", len(p.Waits), err)
	}
}
