package codex

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/journal/event"
)

// talk is a dialect and a test that plays the app-server.
type talk struct {
	t     *testing.T
	d     *Dialect
	wrote []string // methods, and answers as they are
	facts []string
	fresh bool
	stale bool
}

func newTalk(t *testing.T, flags ...string) *talk {
	t.Helper()
	k := &talk{t: t, d: New(nil, nil)}
	if _, err := k.d.Command(agent.Spec{Command: []string{"codex"}, Flags: flags, Dir: "/project"}); err != nil {
		t.Fatal(err)
	}
	return k
}

func (k *talk) write(lines [][]byte) {
	for _, line := range lines {
		var a asked
		if err := json.Unmarshal(line, &a); err != nil {
			k.t.Fatalf("the dialect wrote %q: %v", line, err)
		}
		if a.Method == "" {
			k.wrote = append(k.wrote, string(line))
			continue
		}
		k.wrote = append(k.wrote, a.Method)
	}
}

// says gives the dialect lines of the app-server.
func (k *talk) says(lines ...string) *talk {
	for _, line := range lines {
		var out agent.Decoded
		k.d.Decode([]byte(line), agent.Stdout, &out)
		for _, fact := range out.Facts {
			if fact.EventType() != event.TypeAgentNoticed {
				k.facts = append(k.facts, fmt.Sprintf("%s %s", fact.EventType(), event.AppendData(nil, fact)))
			}
		}
		k.fresh, k.stale = k.fresh || out.Fresh, k.stale || out.Stale
		k.write(out.Reply)
	}
	return k
}

func (k *talk) open(prompt string) *talk {
	k.write(k.d.Open(agent.Prompt{Text: prompt, Iteration: 1}))
	return k
}

// The app-server's lines of a first turn. Its requests are numbers 1 to 3.
const (
	initialized   = `{"id":"ralph-1","result":{"userAgent":"ralph/0.169.0"}}`
	threadStarted = `{"id":"ralph-2","result":{"thread":{"id":"T"},"model":"gpt-5.5"}}`
	turnStarted   = `{"method":"turn/started","params":{"threadId":"T","turn":{"id":"U"}}}`
	completed     = `{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"U","status":"completed"}}}`
	interrupted   = `{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"U","status":"interrupted"}}}`
	ok            = `agent.finished {"outcome":"ok"}`
	aborted       = `agent.finished {"outcome":"aborted"}`
)

// begun is in the middle of a turn.
func begun(t *testing.T, flags ...string) *talk {
	t.Helper()
	return newTalk(t, flags...).open("go").says(initialized, threadStarted, turnStarted)
}

func TestSessionIsThread(t *testing.T) {
	k := newTalk(t).open("go")
	if got := k.d.Session(); got != "" {
		t.Errorf("before there is a thread it is %q", got)
	}
	if got := k.says(initialized, threadStarted).d.Session(); got != "T" {
		t.Errorf("the thread is T, the session %q", got)
	}
	once := New(nil, nil)
	if _, err := once.Command(agent.Spec{Command: []string{"codex", "exec"}}); err != nil {
		t.Fatal(err)
	}
	var out agent.Decoded
	once.Decode([]byte(`{"type":"thread.started","thread_id":"E"}`), agent.Stdout, &out)
	if got := once.Session(); got != "E" {
		t.Errorf("exec's thread is E, the session %q", got)
	}
}

func answer(number int) string { return fmt.Sprintf(`{"id":"ralph-%d","result":{}}`, number) }

func refusal(number int) string {
	return fmt.Sprintf(`{"id":"ralph-%d","error":{"code":-32600,"message":"not now"}}`, number)
}

func (k *talk) expect(what string, want, got []string) {
	k.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		k.t.Errorf("%s: %s", what, diff)
	}
}

func TestCompleteTurn(t *testing.T) {
	k := begun(t)
	k.expect("written", []string{"initialize", "initialized", "thread/start", "turn/start"}, k.wrote)
	k.says(completed)
	k.expect("before the terminals are ended", nil, k.facts)
	k.says(answer(4))
	k.expect("facts", []string{ok}, k.facts)
	if k.says(completed, answer(4)); len(k.facts) != 1 {
		t.Errorf("the end was reported again: %v", k.facts)
	}
}

func TestPartThatRefuses(t *testing.T) {
	const refused = `agent.finished {"outcome":"error","error":"I cannot help with that.","kind":"refusal"}`
	message := func(text, part string) string {
		return `{"method":"item/completed","params":{"threadId":"T","turnId":"U","item":{"type":"agentMessage","id":"m","text":"` + text + `","content":[` + part + `]}}}`
	}
	k := begun(t).says(message("", `{"type":"refusal","refusal":"I cannot help with that."}`), completed, answer(4))
	if last := k.facts[len(k.facts)-1]; last != refused {
		t.Errorf("the turn ends with %s", last)
	}
	k = begun(t).says(message("", `{"type":"refusal","refusal":"no"}`), message("Here it is.", ""), completed, answer(4))
	if last := k.facts[len(k.facts)-1]; last != ok {
		t.Errorf("a turn that goes on ends with %s", last)
	}
}

func TestTurnEndsDespiteTerminals(t *testing.T) {
	k := begun(t).says(completed, refusal(4))
	k.expect("facts", []string{ok}, k.facts)
}

func TestOtherTurnEndsNothing(t *testing.T) {
	k := begun(t).says(strings.Replace(completed, `"id":"U"`, `"id":"V"`, 1))
	k.expect("facts", nil, k.facts)
	k.says(completed, answer(4))
	k.expect("facts", []string{ok}, k.facts)
}

func TestRefusedStart(t *testing.T) {
	for name, row := range map[string]struct {
		lines []string
		want  string
	}{
		"initialize":   {[]string{refusal(1)}, "codex app-server refused initialize: not now"},
		"thread/start": {[]string{initialized, refusal(2)}, "codex app-server refused thread/start: not now"},
		"turn/start":   {[]string{initialized, threadStarted, refusal(3)}, "codex app-server refused turn/start: not now"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newTalk(t).open("go").says(row.lines...)
			k.expect("facts", []string{fmt.Sprintf(`agent.finished {"outcome":"error","error":%q,"kind":"other"}`, row.want)}, k.facts)
			if name != "turn/start" {
				if lines, same := k.d.Reset(); same || lines != nil {
					t.Error("a process that has no thread is kept")
				}
			}
		})
	}
}

func TestEarlySteerWaits(t *testing.T) {
	k := newTalk(t).open("go")
	early := func() {
		t.Helper()
		if lines, live := k.d.Steer("early", "x"); !live || len(lines) > 0 {
			t.Fatalf("live %v, %q", live, lines)
		}
	}
	early() // takes number 2
	k.says(initialized)
	early() // takes number 4
	k.says(strings.Replace(threadStarted, "ralph-2", "ralph-3", 1))
	k.wrote = nil
	k.says(turnStarted)
	k.expect("written", []string{"turn/steer", "turn/steer"}, k.wrote)
}

func userMessage(client, text string) string {
	return fmt.Sprintf(`{"method":"item/started","params":{"threadId":"T","turnId":"U","item":{"type":"userMessage","id":"m","clientId":%s,"content":[{"type":"text","text":%q}]}}}`, client, text)
}

func TestSteerDeliveredWithEcho(t *testing.T) {
	for name, row := range map[string]struct {
		echoes []string
		want   []string
	}{
		"by its id":                         {[]string{userMessage(`"ralph-prompt"`, "go"), userMessage(`"c2"`, "go")}, []string{"c2"}},
		"by its words, of an older Codex":   {[]string{userMessage(`null`, "go"), userMessage(`null`, "go")}, []string{"c1"}},
		"not by the prompt of the same":     {[]string{userMessage(`null`, "go")}, nil},
		"not by what another program sent":  {[]string{userMessage(`"ralph-prompt"`, "go"), userMessage(`"x"`, "go")}, nil},
		"once, however often it is echoed":  {[]string{userMessage(`"ralph-prompt"`, "go"), userMessage(`"c1"`, "go"), userMessage(`"c1"`, "go")}, []string{"c1"}},
		"in the order in which it is taken": {[]string{userMessage(`"ralph-prompt"`, "go"), userMessage(`"c2"`, "go"), userMessage(`"c1"`, "go")}, []string{"c2", "c1"}},
	} {
		t.Run(name, func(t *testing.T) {
			k := begun(t)
			for _, id := range []string{"c1", "c2"} {
				lines, live := k.d.Steer(id, "go")
				if !live {
					t.Fatal("not taken")
				}
				k.write(lines)
			}
			k.says(row.echoes...)
			var want []string
			for _, id := range row.want {
				want = append(want, fmt.Sprintf(`command.delivered {"id":%q,"how":"live"}`, id))
			}
			k.expect("facts", want, k.facts)
		})
	}
}

func TestLateSteerIsNotDelivered(t *testing.T) {
	k := begun(t)
	k.d.Steer("c1", "left")
	k.says(completed, refusal(4), userMessage(`"c1"`, "left"), answer(5))
	k.expect("facts", []string{ok}, k.facts)
	if _, live := k.d.Steer("c2", "left"); live {
		t.Error("a steer was taken after the turn")
	}
}

func TestEarlyAbortWaits(t *testing.T) {
	for name, row := range map[string]struct {
		before, after []string
		wrote         []string
	}{
		"before the greeting is answered": {nil, []string{initialized, threadStarted}, []string{"initialize", "initialized", "thread/start"}},
		"before there is a thread":        {[]string{initialized}, []string{threadStarted}, []string{"initialize", "initialized", "thread/start"}},
		"before the turn has an id": {[]string{initialized, threadStarted}, []string{turnStarted, answer(4), interrupted, answer(5)},
			[]string{"initialize", "initialized", "thread/start", "turn/start", "turn/interrupt", "thread/backgroundTerminals/clean"}},
	} {
		t.Run(name, func(t *testing.T) {
			k := newTalk(t).open("go").says(row.before...)
			if lines := k.d.Abort(); lines != nil {
				t.Errorf("written at once: %q", lines)
			}
			k.says(row.after...)
			k.expect("facts", []string{aborted}, k.facts)
			k.expect("written", row.wrote, k.wrote)
		})
	}
}

func TestAbortInTurn(t *testing.T) {
	k := begun(t)
	k.write(k.d.Abort())
	if lines := k.d.Abort(); lines != nil {
		t.Errorf("aborted again: %q", lines)
	}
	if _, live := k.d.Steer("c1", "left"); live {
		t.Error("a steer was taken by a turn that is being aborted")
	}
	// It failed, by chance, before it was interrupted.
	k.says(answer(4), `{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"U","status":"failed","error":{"message":"x","codexErrorInfo":"serverOverloaded"}}}}`, answer(5))
	k.expect("facts", []string{aborted}, k.facts)
}

func TestFreshThread(t *testing.T) {
	k := begun(t)
	if _, same := k.d.Reset(); same {
		t.Error("a reset in the middle of a turn")
	}
	k.says(completed, answer(4))
	k.wrote = nil
	lines, same := k.d.Reset()
	if !same {
		t.Fatal("no reset between two turns")
	}
	k.write(lines)
	k.says(`{"id":"ralph-5","result":{"status":"unsubscribed"}}`, `{"id":"ralph-6","result":{"thread":{"id":"T2"},"model":"m"}}`)
	if !k.fresh || k.stale {
		t.Errorf("fresh %v, stale %v", k.fresh, k.stale)
	}
	k.open("again")
	k.expect("written", []string{"thread/unsubscribe", "thread/start", "turn/start"}, k.wrote)
	if k.d.thread != "T2" {
		t.Errorf("the next turn is on thread %q", k.d.thread)
	}
}

func TestRefusedThreadIsStale(t *testing.T) {
	k := begun(t).says(completed, answer(4))
	k.d.Reset()
	if k.says(refusal(6)); k.fresh || !k.stale {
		t.Errorf("fresh %v, stale %v", k.fresh, k.stale)
	}
}

func TestThreadsAreLimited(t *testing.T) {
	k := begun(t).says(completed, answer(4))
	for n := 1; ; n++ {
		lines, same := k.d.Reset()
		if !same {
			if n != threadsMost {
				t.Errorf("%d threads", n)
			}
			return
		}
		k.says(fmt.Sprintf(`{"id":%q,"result":{"thread":{"id":"T"}}}`, k.d.awaited.thread))
		if len(lines) != 2 || !k.fresh {
			t.Fatalf("thread %d: fresh %v", n+1, k.fresh)
		}
	}
}

// A command that is ended with its turn keeps what it printed.
func TestEndedCommandKeepsItsOutput(t *testing.T) {
	k := begun(t).says(
		`{"method":"item/started","params":{"threadId":"T","item":{"type":"commandExecution","id":"c","command":"make","status":"inProgress"}}}`,
		`{"method":"item/commandExecution/outputDelta","params":{"threadId":"T","itemId":"c","delta":"one\ntw"}}`,
		`{"method":"item/commandExecution/outputDelta","params":{"threadId":"T","itemId":"c","delta":"o"}}`,
		completed, answer(4))
	want := `tool.returned {"id":"c","ok":false,"output":"one\ntwo\n` + agent.NoResult + `"}`
	k.expect("facts", []string{want, ok}, k.facts[len(k.facts)-2:])
}

func TestContextContinues(t *testing.T) {
	k := begun(t).says(completed, answer(4))
	k.wrote = nil
	k.open("again").says(`{"id":"ralph-5","result":{"turn":{"id":"V"}}}`, `{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"V","status":"completed"}}}`, answer(6))
	k.expect("written", []string{"turn/start", "thread/backgroundTerminals/clean"}, k.wrote)
	k.expect("facts", []string{ok, ok}, k.facts)
}

func TestRequestsAreAnsweredAtOnce(t *testing.T) {
	const approval = `{"method":"item/commandExecution/requestApproval","id":7,"params":{"threadId":"T","command":"rm x","reason":"why"}}`
	for name, row := range map[string]struct {
		flags    []string
		request  string
		reply    string
		question string
	}{
		"a command, where all is allowed": {nil, approval, `{"id":7,"result":{"decision":"accept"}}`, "rm x"},
		"a command, in a sandbox":         {[]string{"-s", "workspace-write"}, approval, `{"id":7,"result":{"decision":"decline"}}`, "rm x"},
		"a command, in one of -c":         {[]string{"-c", "sandbox_mode=read-only"}, approval, `{"id":7,"result":{"decision":"decline"}}`, "rm x"},
		"a patch": {nil, `{"method":"item/fileChange/requestApproval","id":"a","params":{"reason":"why"}}`,
			`{"id":"a","result":{"decision":"accept"}}`, "why"},
		"more permissions": {nil, `{"method":"item/permissions/requestApproval","id":1,"params":{"reason":"net"}}`,
			`{"id":1,"result":{"permissions":{},"scope":"turn"}}`, "net"},
		"a form of a server": {nil, `{"method":"mcpServer/elicitation/request","id":1,"params":{"message":"Your name?"}}`,
			`{"id":1,"result":{"_meta":null,"action":"decline","content":null}}`, "Your name?"},
		"questions of the model": {nil, `{"method":"item/tool/requestUserInput","id":1,"params":{"questions":[{"id":"a","question":"Red?"},{"id":"b","question":"Blue?"}]}}`,
			`{"id":1,"result":{"answers":{"a":{"answers":["` + agent.NoPerson + `"]},"b":{"answers":["` + agent.NoPerson + `"]}}}}`, "Red?"},
		"what a later Codex asks": {nil, `{"method":"moon/read","id":1,"params":{}}`,
			`{"error":{"code":-32601,"message":"ralph does not know this request"},"id":1}`, "moon/read"},
	} {
		t.Run(name, func(t *testing.T) {
			k := begun(t, row.flags...)
			k.wrote = nil
			k.says(row.request)
			k.expect("written", []string{row.reply}, k.wrote)
			if len(k.facts) != 1 || !strings.HasPrefix(k.facts[0], "agent.asked") || !strings.Contains(k.facts[0], row.question) {
				t.Errorf("facts: %v", k.facts)
			}
		})
	}
}

func usageLine(thread string, total, last int) string {
	return fmt.Sprintf(`{"method":"thread/tokenUsage/updated","params":{"threadId":%q,"tokenUsage":{"total":{"inputTokens":%d,"cachedInputTokens":%d,"outputTokens":%d,"reasoningOutputTokens":3},"last":{"inputTokens":%d,"outputTokens":1}}}}`,
		thread, total, total/10, total/100, last)
}

func TestTotalsCountOnce(t *testing.T) {
	k := begun(t)
	k.says(usageLine("T", 1000, 1000), usageLine("T", 1000, 1000), usageLine("T", 3000, 2000), usageLine("T", 3000, 2000))
	k.says(usageLine("child", 500, 500), usageLine("T", 3000, 2000))
	k.says(usageLine("T", 700, 700)) // a total that shrank began again
	var got []int64
	for _, fact := range k.facts {
		var used event.AgentUsed
		if err := json.Unmarshal([]byte(strings.TrimPrefix(fact, "agent.used ")), &used); err != nil {
			t.Fatal(err)
		}
		if used.USD != nil {
			t.Errorf("a cost: %s", fact)
		}
		got = append(got, used.In+used.CacheRead, used.Out)
	}
	if want := []int64{1000, 10, 2000, 20, 500, 5, 700, 1}; !slices.Equal(want, got) {
		t.Errorf("input and output %v, want %v", got, want)
	}
}

// Exec's usage is the thread's sum, and a repeated one adds nothing.
func TestTotalsOfExecCountOnce(t *testing.T) {
	k := &talk{t: t, d: New(nil, nil)}
	if _, err := k.d.Command(agent.Spec{Command: []string{"codex"}, Flags: []string{"exec"}}); err != nil {
		t.Fatal(err)
	}
	k.d.Open(agent.Prompt{Text: "go", Iteration: 1})
	total := func(n int) string {
		return fmt.Sprintf(`{"type":"turn.completed","usage":{"input_tokens":%d,"cached_input_tokens":%d,"output_tokens":%d}}`, n, n/10, n/100)
	}
	k.says(total(1000), total(1000), total(3000))
	var used []string
	for _, fact := range k.facts {
		if strings.HasPrefix(fact, "agent.used ") {
			used = append(used, fact)
		}
	}
	k.expect("used", []string{
		`agent.used {"in":900,"out":10,"cacheRead":100,"cacheWrite":0,"usd":null}`, `agent.used {"in":1800,"out":20,"cacheRead":200,"cacheWrite":0,"usd":null}`,
	}, used)
}

// The sums of the next iteration's thread begin at 0.
func TestFreshThreadCountsFromZero(t *testing.T) {
	k := begun(t)
	k.says(usageLine("T", 1000, 1000), completed, answer(4))
	if _, same := k.d.Reset(); !same {
		t.Fatal("no fresh thread")
	}
	k.facts = nil
	k.says(fmt.Sprintf(`{"id":%q,"result":{"thread":{"id":"T2"},"model":"gpt-fake"}}`, k.d.awaited.thread))
	k.d.Open(agent.Prompt{Text: "again", Iteration: 2})
	k.says(usageLine("T2", 1200, 1200), usageLine("T2", 1200, 1200))
	used := 0
	for _, fact := range k.facts {
		if strings.HasPrefix(fact, "agent.used ") {
			used++
			if !strings.Contains(fact, `"in":1080,"out":12,"cacheRead":120`) {
				t.Error(fact)
			}
		}
	}
	if used != 1 {
		t.Errorf("reported %d times: %q", used, k.facts)
	}
}

func TestSubagentEndsWithTurn(t *testing.T) {
	k := begun(t)
	k.says(
		`{"method":"item/completed","params":{"threadId":"T","item":{"type":"collabAgentToolCall","id":"call","tool":"spawnAgent","status":"completed","receiverThreadIds":["C"]}}}`,
		`{"method":"turn/started","params":{"threadId":"C","turn":{"id":"CU"}}}`,
		`{"method":"item/completed","params":{"threadId":"C","item":{"type":"agentMessage","id":"m","text":"done"}}}`,
	)
	k.wrote, k.facts = nil, k.facts[2:]
	k.says(completed)
	k.expect("written", []string{"turn/interrupt", "thread/backgroundTerminals/clean"}, k.wrote)
	k.says(answer(4), answer(5))
	k.expect("facts", []string{`agent.said {"block":"1.0","text":"done","final":true,"parent":"call"}`}, k.facts)
	k.says(`{"method":"turn/completed","params":{"threadId":"C","turn":{"id":"CU","status":"interrupted"}}}`)
	k.expect("the end", []string{ok}, k.facts[1:])
}

func TestEndedSubagentDoesNotBlock(t *testing.T) {
	k := begun(t).says(`{"method":"turn/started","params":{"threadId":"C","turn":{"id":"CU"}}}`, completed, answer(5), refusal(4))
	k.expect("facts", []string{ok}, k.facts)
}

func delta(item, text string) string {
	return fmt.Sprintf(`{"method":"item/agentMessage/delta","params":{"threadId":"T","itemId":%q,"delta":%q}}`, item, text)
}

func whole(item, text string) string {
	return fmt.Sprintf(`{"method":"item/completed","params":{"threadId":"T","item":{"type":"agentMessage","id":%q,"text":%q}}}`, item, text)
}

func TestMessages(t *testing.T) {
	for name, row := range map[string]struct{ lines, want []string }{
		"what was streamed is not said again": {[]string{delta("a", "Hel"), delta("a", "lo"), whole("a", "Hello")},
			[]string{`{"block":"1.0","text":"Hel"}`, `{"block":"1.0","text":"lo"}`, `{"block":"1.0","text":"","final":true}`}},
		"what was not streamed is said": {[]string{delta("a", "Hel"), whole("a", "Hello")},
			[]string{`{"block":"1.0","text":"Hel"}`, `{"block":"1.0","text":"lo","final":true}`}},
		"another text than was streamed takes its place": {[]string{delta("a", "Hel"), whole("a", "Bye")},
			[]string{`{"block":"1.0","text":"Hel"}`, `{"block":"1.0","text":"","final":true}`, `{"block":"1.0+","text":"Bye","final":true}`}},
		"one that was cut off ends where the next begins": {[]string{delta("a", "Hel"), delta("b", "As"), whole("b", "As you wish")},
			[]string{`{"block":"1.0","text":"Hel"}`, `{"block":"1.0","text":"","final":true}`, `{"block":"2.0","text":"As"}`, `{"block":"2.0","text":" you wish","final":true}`}},
	} {
		t.Run(name, func(t *testing.T) {
			k := begun(t).says(row.lines...)
			for i, want := range row.want {
				row.want[i] = "agent.said " + want
			}
			k.expect("facts", row.want, k.facts)
		})
	}
}

func TestPlan(t *testing.T) {
	k := begun(t).says(`{"method":"turn/plan/updated","params":{"threadId":"T","turnId":"U","explanation":null,"plan":[{"step":"one","status":"completed"},{"step":"two","status":"inProgress"},{"step":"three","status":"pending"}]}}`)
	k.expect("facts", []string{`agent.planned {"todos":[{"text":"one","status":"done"},{"text":"two","status":"active"},{"text":"three","status":"pending"}]}`}, k.facts)
}

func TestPlanOfExec(t *testing.T) {
	k := newTalk(t, "exec")
	k.d.Open(agent.Prompt{Text: "go"})
	k.says(`{"type":"item.updated","item":{"id":"item_1","type":"todo_list","items":[{"text":"one","completed":true},{"text":"two","completed":false}]}}`)
	k.expect("facts", []string{`agent.planned {"todos":[{"text":"one","status":"done"},{"text":"two","status":"pending"}]}`}, k.facts)
}

// What a hook says is reported where it keeps the agent from ending its turn.
func TestStopHookSendsBack(t *testing.T) {
	for line, want := range map[string]event.AgentNoticed{
		`{"eventName":"stop","status":"blocked","entries":[{"kind":"warning","text":"slow"},{"kind":"feedback","text":"the tests are red"}]}`: {What: event.NoticeSentBack, Text: "the tests are red"},
		`{"eventName":"stop","status":"completed","entries":[{"kind":"context","text":"x"}]}`:                                                 {What: "hook/completed", Text: "stop completed"},
		`{"eventName":"preToolUse","status":"blocked","entries":[{"kind":"feedback","text":"no"}]}`:                                           {What: "hook/completed", Text: "preToolUse blocked"},
	} {
		var out agent.Decoded
		begun(t).d.Decode([]byte(`{"method":"hook/completed","params":{"threadId":"T","turnId":"U","run":`+line+`}}`), agent.Stdout, &out)
		if len(out.Facts) != 1 || out.Facts[0] != want {
			t.Errorf("%s: %+v", line, out.Facts)
		}
	}
}

func TestCompactionIsReported(t *testing.T) {
	k := begun(t).says(`{"method":"item/completed","params":{"threadId":"T","item":{"type":"contextCompaction","id":"x"}}}`)
	k.expect("facts", []string{`agent.compacted {}`}, k.facts)
}
