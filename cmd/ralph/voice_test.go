package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// told plays events, a second apart, to a voice that writes to the same place as the
// viewer beside it, and returns what stands there.
func told(t *testing.T, o followOptions, terminal bool, events ...string) string {
	t.Helper()
	var out bytes.Buffer
	v := voiced(&env{stdout: &out, stderr: &out}, o)
	if terminal {
		v.shown = &edge{Writer: &out}
		v.viewer = o.viewer(&env{stdout: &out}, v.shown)
	}
	for i, data := range events {
		at := event.AppendTime(nil, begin.Add(time.Duration(i)*time.Second))
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
	`"rules":{"maximumIterations":3,"completionPromise":"COMPLETE","completionResponse":"DONE"}}`

func TestVoice(t *testing.T) {
	for _, tt := range []struct {
		name   string
		events []string
		want   []string
	}{
		{"the agent's command, as it was set", []string{startedLine}, []string{
			"[ralph] Loop run in /p/.ralph/run",
			"[ralph] Agent command: claude --model opus (spoken to as text)",
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
			`[ralph] Prompt of 5 B, made in 1.0s: "do\nit"`,
			"[ralph] Agent started after 1.0s, pid 7: claude -p",
			"[ralph] Agent finished its turn: ok (1.0s)",
			"[ralph] Agent exited with code 3 (250ms)",
			"[ralph] Completion looked for: <promise>COMPLETE</promise> or <response>DONE</response>; not claimed",
			"[ralph] Iteration 2/3 ended: done (4.2s)",
		}},
		{"of a long prompt the first 200 characters", []string{
			`"type":"iteration.started","data":{"n":1,"prompt":{"text":"` + strings.Repeat("ä", 250) + `","bytes":99000,"sha256":"0"}}`,
		}, []string{`[ralph] Prompt of 99.0 kB, made in 0s: "` + strings.Repeat("ä", 200) + `" …`}},
		{"a claim that is refused, and why", []string{
			startedLine,
			`"type":"completion.claimed","data":{"how":"promise"}`,
			`"type":"completion.refused","data":{"missing":["no work was done","a box is not ticked"]}`,
			`"type":"iteration.ended","data":{"n":1,"outcome":"done","took":1}`,
		}, []string{
			"[ralph] Completion looked for: <promise>COMPLETE</promise> or <response>DONE</response>; claimed by promise",
			"[ralph] Completion refused: no work was done; a box is not ticked",
			"[ralph] Iteration 1/3 ended: done (1ms)",
		}},
		{"a claim that counts, and the end", []string{
			startedLine,
			`"type":"completion.accepted","data":{"how":"response"}`,
			`"type":"loop.ended","data":{"status":"completed","reason":"promise","why":"nothing is missing"}`,
		}, []string{
			"[ralph] Completion accepted by response",
			"[ralph] Loop completed: nothing is missing (2.0s)",
		}},
		{"guardrails, their exit codes and times", []string{
			`"type":"guardrail.started","data":{"name":"make_lint","command":"make lint"}`,
			`"type":"guardrail.ended","data":{"name":"make_lint","command":"make lint","ok":true,"code":0,"took":1200}`,
			`"type":"guardrail.started","data":{"name":"make test"}`,
			`"type":"guardrail.ended","data":{"name":"make test","ok":false,"code":2,"took":90,"log":"guardrail_1_make_test.log"}`,
		}, []string{
			"[ralph] Running guardrail: make lint",
			"[ralph] Guardrail exited with code 0 (1.2s): make lint",
			"[ralph] Running guardrail: make test",
			"[ralph] Guardrail exited with code 2 (90ms): make test",
			"[ralph] Output of the guardrail: guardrail_1_make_test.log",
		}},
		{"what fails", []string{
			`"type":"decided","data":{"do":"agent.start","iteration":1}`,
			`"type":"effect.failed","data":{"do":"agent.start","error":"not found"}`,
			`"type":"agent.exited","data":{"code":-1,"signal":"killed","took":1500}`,
			`"type":"timer.fired","data":{"name":"idle"}`,
		}, []string{
			"[ralph] agent.start failed after 1.0s: not found",
			"[ralph] Agent ended by signal killed (1.5s)",
			"[ralph] Deadline passed: idle",
		}},
		{"of types that nobody knows yet nothing", []string{`"type":"worktree.opened","data":{"path":"/p"}`, `"type":"decided","data":{"do":"repo.commit"}`}, nil},
		{"no words of an agent move the cursor or begin a line", []string{
			`"type":"agent.finished","data":{"outcome":"error","error":"\u001b[2Jgone\n[ralph] Completion accepted"}`,
		}, []string{"[ralph] Agent finished its turn: error gone [ralph] Completion accepted"}},
		{"an event that cannot be read is told", []string{`"type":"iteration.ended","data":{"n":"two"}`}, []string{"[ralph] event 1 iteration.ended: "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			shown := told(t, followOptions{quiet: true}, false, tt.events...)
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
func TestVoiceBeginsALine(t *testing.T) {
	shown := told(t, followOptions{}, true,
		`"type":"agent.said","data":{"block":"1.0","text":"I have begun to "}`,
		`"type":"agent.rested","data":{}`,
	)
	if !strings.Contains(shown, "I have begun to") || !strings.Contains(shown, "\n[ralph] Agent kept for the next iteration\n") {
		t.Errorf("%q", shown)
	}
}
