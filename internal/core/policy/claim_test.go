package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// files are rules by which the files of the loop claim.
func files() event.Rules {
	r := final
	r.Completion.DoneFile, r.Completion.Checklist = true, true
	return r
}

func TestClaimByFiles(t *testing.T) {
	off := final
	for name, row := range map[string]struct {
		rules event.Rules
		story []event.Payload
		want  string
	}{
		"a file DONE claims":                           {files(), []event.Payload{event.FolderInspected{Done: true}}, "doneFile"},
		"not where it is off":                          {off, []event.Payload{event.FolderInspected{Done: true}}, ""},
		"all boxes that are ticked claim":              {files(), []event.Payload{boxes(2, 2)}, "checklist"},
		"not where that is off":                        {off, []event.Payload{boxes(2, 2)}, ""},
		"not where one is open":                        {files(), []event.Payload{boxes(1, 2)}, ""},
		"not where there are none":                     {files(), []event.Payload{boxes(0, 0)}, ""},
		"the file goes before the boxes":               {files(), []event.Payload{event.FolderInspected{Done: true, Boxes: 1, Ticked: 1}}, "doneFile"},
		"the words go before the file":                 {files(), []event.Payload{says("1.0", marker), event.FolderInspected{Done: true}}, "promise"},
		"the last look counts":                         {files(), []event.Payload{event.FolderInspected{Done: true}, event.FolderInspected{}}, ""},
		"what was seen before the iteration does not":  {files(), []event.Payload{event.FolderInspected{Done: true}, event.IterationStarted{N: 2}}, ""},
		"ticked boxes of before do not either":         {files(), []event.Payload{boxes(2, 2), event.IterationStarted{N: 2}}, ""},
		"words elsewhere do not replace the file here": {func() event.Rules { r := files(); r.Completion.Match = "anywhere"; return r }(), []event.Payload{event.FolderInspected{Done: true}}, "doneFile"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := hear(t, row.rules, row.story...).Claim(row.rules); string(got) != row.want {
				t.Errorf("claims %q, want %q", got, row.want)
			}
		})
	}
}

func TestMissingByWayToClaim(t *testing.T) {
	failing := &policy.Verification{Checked: true, Ran: 1, Failures: []policy.Failure{{Name: "make test"}}}
	tool := event.ToolCalled{ID: "t"}
	silent := policy.Evidence{Files: true} // of an agent that shows no tools
	moved := policy.Evidence{Files: true, Moved: true}
	shows := policy.Evidence{ShowsTools: true}
	with := func(change func(*event.Rules)) event.Rules {
		r := files()
		change(&r)
		return r
	}
	const noChange, noTool = "no work was done: no file has changed, and nothing was committed", "no work was done: the claim came without a single use of a tool"
	for name, row := range map[string]struct {
		how      event.Claim
		rules    event.Rules
		evidence policy.Evidence
		story    []event.Payload
		want     []string
		warning  string
	}{
		"open boxes prevent a promise":                      {"promise", files(), shows, []event.Payload{tool, event.FolderInspected{Boxes: 3, Ticked: 1, Open: []string{"a", "b"}}}, []string{"2 of 3 boxes in task.md are not ticked: a; b"}, ""},
		"... and of the response":                           {"response", files(), shows, []event.Payload{tool, event.FolderInspected{Boxes: 3, Ticked: 1}}, []string{"2 of 3 boxes in task.md are not ticked"}, ""},
		"they do not prevent a file DONE":                   {"doneFile", files(), shows, []event.Payload{event.FolderInspected{Boxes: 3, Ticked: 1}}, nil, ""},
		"they do not matter where boxes are off":            {"promise", final, shows, []event.Payload{tool, boxes(1, 3)}, nil, ""},
		"ticked boxes prevent no claim":                     {"promise", files(), shows, []event.Payload{tool, boxes(3, 3)}, nil, ""},
		"a guardrail prevents a file DONE":                  {"doneFile", with(func(r *event.Rules) { r.Guardrails = 1 }), policy.Evidence{Verification: failing}, nil, []string{`the guardrail "make test" failed`}, ""},
		"a file is work by itself":                          {"doneFile", files(), shows, nil, nil, ""},
		"ticked boxes are work by themselves":               {"checklist", files(), shows, []event.Payload{boxes(1, 1)}, nil, ""},
		"the response is no work":                           {"response", files(), shows, nil, []string{noTool}, ""},
		"an agent without tools has to change something":    {"promise", files(), silent, nil, []string{noChange}, ""},
		"... and has when it has":                           {"promise", files(), moved, nil, nil, ""},
		"... or where that is unknown":                      {"promise", files(), policy.Evidence{}, nil, nil, ""},
		"an agent with tools need not change files":         {"promise", files(), policy.Evidence{ShowsTools: true, Files: true}, []event.Payload{tool}, nil, ""},
		"a warning goes with a claim that counts":           {"promise", with(func(r *event.Rules) { r.Completion.OnPromiseNoWork = "warn" }), shows, nil, nil, noTool},
		"no warning is needed where there was work":         {"promise", with(func(r *event.Rules) { r.Completion.OnPromiseNoWork = "warn" }), shows, []event.Payload{tool}, nil, ""},
		"no warning where everything is accepted":           {"promise", with(func(r *event.Rules) { r.Completion.OnPromiseNoWork = "accept" }), shows, nil, nil, ""},
		"no work is asked for where the least number is 0":  {"promise", with(func(r *event.Rules) { r.Completion.MinToolCalls = 0 }), silent, nil, nil, ""},
		"the least number of uses is enough":                {"promise", with(func(r *event.Rules) { r.Completion.MinToolCalls = 2 }), shows, []event.Payload{tool, tool}, nil, ""},
		"in one session the work of all iterations counts":  {"promise", with(func(r *event.Rules) { r.Context = "same" }), shows, []event.Payload{tool, closed, event.IterationStarted{N: 2}}, nil, ""},
		"in one session work is still required":             {"promise", with(func(r *event.Rules) { r.Context = "same" }), shows, []event.Payload{closed, event.IterationStarted{N: 2}}, []string{noTool}, ""},
		"all that is missing is named":                      {"promise", files(), shows, []event.Payload{event.FolderInspected{Boxes: 1}}, []string{noTool, "1 of 1 boxes in task.md are not ticked"}, ""},
		"an iteration of a fresh context begins without it": {"promise", files(), shows, []event.Payload{tool, closed, event.IterationStarted{N: 2}}, []string{noTool}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			row.evidence.Commands = &policy.Commands{}
			if row.evidence.Verification == nil {
				row.evidence.Verification = &policy.Verification{}
			}
			c := hear(t, row.rules, row.story...)
			if diff := cmp.Diff(row.want, c.Missing(row.how, row.rules, row.evidence)); diff != "" {
				t.Error(diff)
			}
			if got := c.Warning(row.how, row.rules, row.evidence); got != row.warning {
				t.Errorf("warning %q, want %q", got, row.warning)
			}
		})
	}
}

func TestOpenBoxesAreBounded(t *testing.T) {
	var open []string
	for n := range 9 {
		open = append(open, fmt.Sprint(n)+strings.Repeat("é", 300))
	}
	c := hear(t, files(), event.FolderInspected{Boxes: 9, Open: open})
	if len(c.Open) != 5 || len(c.Open[0]) > 200 || len(c.Open[0]) < 198 {
		t.Errorf("%d boxes, the first of %d bytes", len(c.Open), len(c.Open[0]))
	}
}

func TestBlockedTag(t *testing.T) {
	for text, want := range map[string]string{
		"<blocked>no access</blocked>":                                "no access",
		"So:\n  <blocked> no access </blocked>\nSorry.":               "no access",
		"<blocked>one</blocked>\n<blocked>two</blocked>":              "one",
		"<blocked></blocked>\n<blocked>two</blocked>":                 "two",
		"<blocked>  </blocked>":                                       "",
		"I am <blocked>no access</blocked>":                           "",
		"<blocked>no access</blocked>, I fear":                        "",
		"<blocked>no access":                                          "",
		"no access</blocked>":                                         "",
		"<BLOCKED>no access</BLOCKED>":                                "",
		"```\n<blocked>no access</blocked>\n```":                      "",
		"    <blocked>no access</blocked>":                            "",
		"`<blocked>no access</blocked>`":                              "",
		"<blocked>" + strings.Repeat("x", 5000) + "</blocked>":        strings.Repeat("x", 1000),
		"Nothing is in my way.":                                       "",
		"<blocked>no\naccess</blocked>":                               "",
		"<blocked>the <b>key</b></blocked>\r\n":                       "the <b>key</b>",
		"<promise>COMPLETE</promise>\n<blocked>but read me</blocked>": "but read me",
	} {
		if got := hear(t, final, message(text)...).Blocked(); got != want {
			t.Errorf("%.60q is blocked by %.60q, want %.60q", text, got, want)
		}
	}
	if got := hear(t, final, says("1.0", "<blocked>x</blocked>"), says("2.0", "No longer.")).Blocked(); got != "" {
		t.Errorf("an earlier message still says %q", got)
	}
}

func TestEarlyDoneFile(t *testing.T) {
	done, refused := event.FolderInspected{Done: true}, event.CompletionRefused{Missing: []string{"x"}}
	off := final
	type what struct{ early, aside bool }
	for name, row := range map[string]struct {
		rules event.Rules
		story []event.Payload
		want  what
	}{
		"it is early where an iteration is being begun":    {files(), []event.Payload{begins, done}, what{early: true}},
		"it is not where it is off":                        {off, []event.Payload{begins, done}, what{}},
		"no file is not early":                             {files(), []event.Payload{begins, event.FolderInspected{}}, what{}},
		"a file of the agent is not early":                 {files(), []event.Payload{done}, what{}},
		"nor after a beginning that failed":                {files(), []event.Payload{begins, event.EffectFailed{Do: event.DoBegin}, done}, what{}},
		"nor after another decision":                       {files(), []event.Payload{check, done}, what{}},
		"the check of it is not a second one":              {files(), []event.Payload{begins, done, refused, check, done}, what{aside: true}},
		"one that is refused goes aside":                   {files(), []event.Payload{begins, done, refused}, what{aside: true}},
		"one that the agent left and is refused goes, too": {files(), []event.Payload{done, refused}, what{aside: true}},
		"a refused promise moves no file":                  {files(), []event.Payload{event.FolderInspected{}, refused}, what{}},
		"it goes aside when the next iteration is begun":   {files(), []event.Payload{done, refused, begins}, what{aside: true}},
		"it went aside when that has started":              {files(), []event.Payload{done, refused, begins, event.IterationStarted{N: 2}}, what{}},
		"a resumed loop looks for itself":                  {files(), []event.Payload{begins, done, event.LoopResumed{}}, what{}},
	} {
		t.Run(name, func(t *testing.T) {
			c := throughJSON(t, hear(t, row.rules, row.story...))
			if got := (what{c.Early, c.Aside}); got != row.want {
				t.Errorf("%+v, want %+v", got, row.want)
			}
		})
	}
}

func TestRefusalOutlivesRefund(t *testing.T) {
	c := hear(t, final, event.CompletionClaimed{How: "promise"}, event.CompletionRefused{Missing: []string{"x"}}, closed, event.IterationStarted{N: 2}, limited)
	if diff := cmp.Diff([]string{"x"}, c.Refused); diff != "" {
		t.Error(diff)
	}
}

func TestAcceptedClaimOutlivesDeadRunner(t *testing.T) {
	for died, want := range map[bool]string{true: "promise", false: ""} {
		c := hear(t, final, event.CompletionAccepted{How: "promise"}, event.LoopResumed{Died: died})
		if string(c.Accepted) != want {
			t.Errorf("died %v: %q", died, c.Accepted)
		}
	}
}
