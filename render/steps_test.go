package render_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/plain"
)

// stepsBegin is when the first event happened.
var stepsBegin = time.Date(2026, 11, 21, 1, 52, 28, 0, time.UTC)

// stepsOf shows events, a second apart, with a Steps that writes to the same place as its viewer,
// and returns what both wrote.
func stepsOf(t *testing.T, o render.Options, terminal bool, events ...string) string {
	t.Helper()
	var out bytes.Buffer
	v := render.NewSteps(&out, &out, terminal, func(w io.Writer) render.Viewer { return plain.New(w, o) })
	for i, data := range events {
		at := stepsBegin.Add(time.Duration(i) * time.Second).UTC().Format("2006-01-02T15:04:05.000000Z")
		e, err := event.Parse(fmt.Appendf(nil, `{"v":1,"seq":%d,"id":"01JD%022d","at":%q,"iter":1,"by":"loop",%s}`, i+1, i+1, at, data))
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if err := v.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

const startedLine = `"type":"loop.started","data":{"name":"run","dir":"/p/.ralph/run","project":"/p","agent":{"protocol":"text","command":["claude","--model opus"]},` +
	`"rules":{"maximumIterations":3,"completion":{"promise":"COMPLETE"},"completionResponse":"DONE","breaker":{"environment":3}}}`

func TestSteps(t *testing.T) {
	for _, tt := range []struct {
		name   string
		events []string
		want   []string
	}{
		{"the agent's command, as it was set", []string{startedLine}, []string{
			"[ralph] Agent command: claude --model opus (protocol text)",
			"[ralph] Loop run started: text (claude --model opus) in /p, at most 3 iterations",
		}},
		{"an iteration, its prompt, and how long each took", []string{
			startedLine,
			`"type":"decided","data":{"do":"iteration.begin","iteration":2}`,
			`"type":"iteration.started","data":{"n":2,"prompt":{"text":"do\nit","bytes":5}}`,
			`"type":"decided","data":{"do":"agent.start","iteration":2}`,
			`"type":"agent.started","data":{"pid":7,"argv":["claude","-p"]}`,
			`"type":"agent.finished","data":{"outcome":"ok"}`,
			`"type":"agent.exited","data":{"code":3,"took":250}`,
			`"type":"iteration.ended","data":{"n":2,"outcome":"done","took":4200}`,
		}, []string{
			"[ralph] Iteration 2/3 starting",
			`[ralph] Prompt of 5 B, made in 1s: "do\nit"`,
			"[ralph] Running agent: claude -p",
			"[ralph] The agent's process 7 started (1s)",
			"[ralph] The agent's turn ended well (2s)",
			"[ralph] The agent's process exited with code 3 (0.2s)",
			"[ralph] Completion looked for: <promise>COMPLETE</promise> or <response>DONE</response>; not claimed",
			"[ralph] Iteration 2 done (4.2s · 0 tools · 0 tokens in · 0 out · cost unknown)",
		}},
		{"of a long prompt the first 200 characters", []string{
			`"type":"iteration.started","data":{"n":1,"prompt":{"text":"` + strings.Repeat("ä", 250) + `","bytes":99000,"sha256":"0"}}`,
		}, []string{`[ralph] Prompt of 99.0 kB: "` + strings.Repeat("ä", 200) + `" …`}},
		{"the stories of a plan", []string{
			`"type":"stories.read","data":{"mode":"review","story":"US-002","file":{"text":"{}","bytes":2},"stories":[{"id":"US-001","title":"Store","passes":true,"reviewStatus":"approved","reviewCount":1},{"id":"US-002","title":"List\nall","passes":false,"reviewStatus":"needs_review","reviewCount":0}]}`,
			`"type":"stories.judged","data":{"mode":"review","stories":[{"id":"US-001","passes":true,"reviewStatus":"approved","reviewCount":1},{"id":"US-002","passes":false,"reviewStatus":"changes_requested","reviewCount":1}],"problems":[{"story":"US-001","text":"story US-001: it is not the one of this review","undone":true}]}`,
			`"type":"story.reviewed","data":{"story":"US-002","approved":false,"count":1,"feedback":"the order\nis wrong"}`,
		}, []string{
			"[ralph] tasks.json was read: 1 of 2 stories pass · 1 review; next: review US-002",
			"[ralph] Story US-001: it is not the one of this review; ralph corrected it",
			"[ralph] Changes of US-002 requested in review 1; the order; is wrong",
		}},
		{"a claim that is refused, and why", []string{
			startedLine,
			`"type":"completion.claimed","data":{"how":"promise"}`,
			`"type":"completion.refused","data":{"missing":["no work was done","a box is not ticked"]}`,
			`"type":"iteration.ended","data":{"n":1,"outcome":"done","took":1}`,
		}, []string{
			"[ralph] Completion looked for: <promise>COMPLETE</promise> or <response>DONE</response>",
			"[ralph] The agent claims that the work is done (promise)",
			"[ralph] Claim refused: no work was done; a box is not ticked",
			"[ralph] Iteration 1 done (0.0s",
		}},
		{"a claim that counts, and the end", []string{
			startedLine,
			`"type":"completion.accepted","data":{"how":"response"}`,
			`"type":"loop.ended","data":{"status":"completed","reason":"promise","why":"nothing is missing"}`,
		}, []string{
			"[ralph] Claim accepted (response)",
			"[ralph] Loop run completed (promise): nothing is missing (2s)",
			"[ralph] Result: promise, exit code 0",
		}},
		{"guardrails, their exit codes and times", []string{
			`"type":"decided","data":{"do":"iteration.check","iteration":1}`,
			`"type":"guardrail.edited","data":{"path":"Makefile","how":"changed","restored":true}`,
			`"type":"folder.inspected","data":{"boxes":3,"ticked":2,"wait":true}`,
			`"type":"guardrail.started","data":{"name":"make lint"}`,
			`"type":"guardrail.ended","data":{"name":"make lint","ok":true,"code":0,"took":1200}`,
			`"type":"guardrail.started","data":{"name":"make test"}`,
			`"type":"guardrail.ended","data":{"name":"make test","ok":false,"code":2,"action":"APPEND","took":90,"log":"guardrail_1_make_test.log"}`,
			`"type":"guardrail.ended","data":{"name":"slow","ok":false,"code":-1,"timedOut":true,"took":60000}`,
			`"type":"guardrail.ended","data":{"name":"shot","ok":false,"code":-1,"took":10}`,
			`"type":"iteration.checked","data":{"guardrails":4,"failed":3}`,
		}, []string{
			"[ralph] A guardrail's file changed in this iteration: Makefile, put back before the check",
			"[ralph] The file WAIT_WITHOUT_RESTART is there; task.md: 2 of 3 boxes ticked",
			"[ralph] Running guardrail: make lint",
			"[ralph] Guardrail exited with code 0 (1.2s): make lint",
			"[ralph] Running guardrail: make test",
			"[ralph] Guardrail exited with code 2 (0.1s · fail action APPEND): make test",
			"[ralph] Output of the guardrail: guardrail_1_make_test.log",
			"[ralph] Guardrail timed out (1m0s): slow",
			"[ralph] Guardrail failed, ended by a signal (0.0s): shot",
			"[ralph] Checked: 4 guardrails ran, 3 failed (9s)",
		}},
		{"what becomes a commit, and what does not", []string{
			`"type":"decided","data":{"do":"repo.commit","iteration":1}`,
			`"type":"repo.committed","data":{"sha":"93a1f0c77be2aa","message":"Mend the shop\n\nAll of it.","files":1,"insertions":12,"deletions":1}`,
			`"type":"scm.ended","data":{"tasks":["commit","push"]}`,
			`"type":"scm.ended","data":{"nothing":true}`,
			`"type":"scm.ended","data":{"tasks":["commit"],"failed":"push","error":"no upstream"}`,
		}, []string{
			"[ralph] Committed 93a1f0c77b Mend the shop (1 file +12 −1)",
			"[ralph] Done: push (2s)",
			"[ralph] Nothing to commit (3s)",
			"[ralph] Push failed: no upstream (4s)",
		}},
		{"limits, waits and an end that needs a person", []string{
			`"type":"agent.limited","data":{"kind":"rate","until":"2026-11-22T04:30:00Z","text":"5-hour limit"}`,
			`"type":"iteration.ended","data":{"n":1,"outcome":"limited","error":"5-hour limit","took":4200,"refunded":true}`,
			`"type":"budget.warned","data":{"limit":"limits.cost","why":"$8.10 of $10.00 are spent"}`,
			`"type":"breaker.tripped","data":{"rule":"noProgress","step":"backoff","count":4,"evidence":"nothing moved","delay":10000}`,
			`"type":"clock.jumped","data":{"by":3600000}`,
			`"type":"loop.waiting","data":{"why":"the till needs a key","for":"person"}`,
			`"type":"iteration.ended","data":{"n":2,"outcome":"overspent","took":4200,"progress":"no"}`,
			`"type":"loop.ended","data":{"status":"stopped","reason":"blocked","why":"the agent is blocked: no key","hint":"give it what it needs"}`,
		}, []string{
			"[ralph] Rate limit until 2026-11-22T04:30:00Z: 5-hour limit",
			"[ralph] Iteration 1 limited (4.2s · 0 tools · 0 tokens in · 0 out · cost unknown · refunded): 5-hour limit",
			"[ralph] limits.cost: $8.10 of $10.00 are spent",
			"[ralph] No progress: nothing moved; the next iteration waits 10s, and its prompt says so",
			"[ralph] The machine slept or its clock was set forward; no limit counts these 1h0m",
			"[ralph] Waiting for a person: the till needs a key",
			"[ralph] Iteration 2 overspent (4.2s · 0 tools · 0 tokens in · 0 out · cost unknown · no progress)",
			"[ralph] Loop stopped (blocked): the agent is blocked: no key",
			"[ralph] Hint: give it what it needs",
			"[ralph] Result: blocked, exit code 4",
		}},
		{"what fails", []string{
			`"type":"decided","data":{"do":"agent.start","iteration":1}`,
			`"type":"effect.failed","data":{"do":"agent.start","error":"not found"}`,
			`"type":"agent.exited","data":{"code":-1,"signal":"killed","took":1500}`,
			`"type":"timer.fired","data":{"name":"idle"}`,
		}, []string{
			"[ralph] agent.start failed: not found (1s)",
			"[ralph] The agent's process was ended by signal killed (1.5s)",
			"[ralph] The agent said nothing for as long as limits.idle allows",
		}},
		{"unknown types are ignored", []string{`"type":"worktree.opened","data":{"path":"/p"}`, `"type":"decided","data":{"do":"repo.commit"}`}, nil},
		{"no words of an agent move the cursor or begin a line", []string{
			`"type":"agent.finished","data":{"outcome":"error","error":"\u001b[2Jgone\n[ralph] Completion accepted"}`,
		}, []string{"[ralph] The agent's turn ended with error: gone; [ralph] Completion accepted"}},
		{"an event that cannot be read is reported", []string{`"type":"iteration.ended","data":{"n":"two"}`}, []string{"[ralph] event 1 iteration.ended: "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			shown := stepsOf(t, render.Options{Quiet: true}, false, tt.events...)
			var got []string
			for line := range strings.Lines(shown) {
				if strings.HasPrefix(line, "[ralph]") {
					got = append(got, strings.TrimSuffix(line, "\n"))
				}
			}
			rest := strings.Join(got, "\n")
			for _, want := range tt.want {
				_, after, ok := strings.Cut(rest, want)
				if !ok {
					t.Fatalf("not in its place: %q\n%s", want, shown)
				}
				rest = after
			}
			if len(tt.want) == 0 && len(got) > 0 {
				t.Errorf("%q", got)
			}
		})
	}
}

// On a terminal that shows both, a line of ralph's own begins a line, also while the agent
// is in the middle of one.
func TestStepsBeginLine(t *testing.T) {
	shown := stepsOf(t, render.Options{}, true,
		`"type":"agent.said","data":{"block":"1.0","text":"I have begun to "}`,
		`"type":"agent.parked","data":{}`,
	)
	if !strings.Contains(shown, "I have begun to") || !strings.Contains(shown, "\n[ralph] The agent's process is parked\n") {
		t.Errorf("%q", shown)
	}
}
