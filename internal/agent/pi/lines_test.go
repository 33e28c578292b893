package pi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/journal/event"
)

// decodeAll gives lines to a new dialect whose turn runs.
func decodeAll(t *testing.T, lines ...string) []event.Payload {
	t.Helper()
	f := newFake(t)
	f.open("go")
	f.facts = nil
	f.say(lines...)
	return f.facts
}

// data is the JSON of facts, one per line.
func data(facts []event.Payload) string {
	var b bytes.Buffer
	for _, fact := range facts {
		fmt.Fprintf(&b, "%s %s\n", fact.EventType(), event.AppendData(nil, fact))
	}
	return b.String()
}

func delta(kind, text string) string {
	return fmt.Sprintf(`{"type":"message_update","usage":{},"assistantMessageEvent":{"type":"%s_delta","contentIndex":0,"delta":"%s"}}`, kind, text)
}

func textEnd(text string) string {
	return fmt.Sprintf(`{"type":"message_update","usage":{},"assistantMessageEvent":{"type":"text_end","contentIndex":0,"content":"%s"}}`, text)
}

func whole(parts string) string {
	return `{"type":"message_end","message":{"role":"assistant","content":[` + parts + `],"stopReason":"stop"}}`
}

const start = `{"type":"message_start","message":{"role":"assistant","content":[]}}`

func TestAssistantText(t *testing.T) {
	tests := []struct {
		name  string
		lines []string
		want  string
	}{
		{
			"what deltas have said is not repeated",
			[]string{start, delta("text", "One "), delta("text", `\"two\"`), textEnd(`One \"two\"`), whole(`{"type":"text","text":"One \"two\""}`)},
			`agent.said {"block":"1.0","text":"One "}
agent.said {"block":"1.0","text":"\"two\""}
agent.said {"block":"1.0","text":"","final":true}
`,
		},
		{
			"the end says what deltas have not",
			[]string{start, delta("text", "One "), textEnd("One two")},
			`agent.said {"block":"1.0","text":"One "}
agent.said {"block":"1.0","text":"two","final":true}
`,
		},
		{
			"a message that was not streamed is said whole",
			[]string{whole(`{"type":"thinking","thinking":"hm"},{"type":"text","text":"Yes"}`)},
			`agent.thought {"block":"1.0","text":"hm","final":true}
agent.said {"block":"1.1","text":"Yes","final":true}
`,
		},
		{
			"a message that breaks off is closed with what it came to",
			[]string{start, delta("text", "One "), whole(`{"type":"text","text":"One tw"}`)},
			`agent.said {"block":"1.0","text":"One "}
agent.said {"block":"1.0","text":"tw","final":true}
`,
		},
		{
			"a streamed block that the message does not keep is closed",
			[]string{start, delta("text", "One "), whole(``)},
			`agent.said {"block":"1.0","text":"One "}
agent.said {"block":"1.0","text":"","final":true}
`,
		},
		{
			"a message that says something else than its deltas gets another block",
			[]string{start, delta("text", "One "), whole(`{"type":"text","text":"Two"}`)},
			`agent.said {"block":"1.0","text":"One "}
agent.said {"block":"1.0","text":"","final":true}
agent.said {"block":"1.0+","text":"Two","final":true}
`,
		},
		{
			"an empty part that pi leaves out of the message moves nothing",
			[]string{
				start,
				`{"type":"message_update","assistantMessageEvent":{"type":"thinking_end","contentIndex":0,"content":""}}`,
				`{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":1,"delta":"Yes"}}`,
				`{"type":"message_update","assistantMessageEvent":{"type":"text_end","contentIndex":1,"content":"Yes"}}`,
				whole(`{"type":"text","text":"Yes"}`),
			},
			`agent.thought {"block":"1.0","text":"","final":true}
agent.said {"block":"1.1","text":"Yes"}
agent.said {"block":"1.1","text":"","final":true}
`,
		},
		{
			"a character that two deltas share is kept whole",
			[]string{start, delta("text", `a\ud83d`), delta("text", `\ude00b`), textEnd("a😀b")},
			`agent.said {"block":"1.0","text":"a"}
agent.said {"block":"1.0","text":"😀b"}
agent.said {"block":"1.0","text":"","final":true}
`,
		},
		{
			"half a character without its other half stays as pi spells it",
			[]string{start, delta("text", `a\ud83d`), delta("text", `b\ud83d`), textEnd(`a\ud83db\ud83d`)},
			`agent.said {"block":"1.0","text":"a"}
agent.said {"block":"1.0","text":"\ud83db"}
agent.said {"block":"1.0","text":"\ud83d","final":true}
`,
		},
		{
			"a backslash and the letters of an escape are text",
			[]string{start, delta("text", `\\ud83d`), delta("text", `x`), textEnd(`\\ud83dx`)},
			`agent.said {"block":"1.0","text":"\\ud83d"}
agent.said {"block":"1.0","text":"x"}
agent.said {"block":"1.0","text":"","final":true}
`,
		},
		{
			"the next message has blocks of its own, also where its start was lost",
			[]string{start, delta("text", "One"), whole(`{"type":"text","text":"One"}`), delta("thinking", "hm")},
			`agent.said {"block":"1.0","text":"One"}
agent.said {"block":"1.0","text":"","final":true}
agent.thought {"block":"2.0","text":"hm"}
`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			diff(t, test.want, data(decodeAll(t, test.lines...)))
		})
	}
}

func toolUpdate(text string) string {
	q, _ := json.Marshal(text)
	return fmt.Sprintf(`{"type":"tool_execution_update","toolCallId":"c","toolName":"bash","args":{},"partialResult":{"content":[{"type":"text","text":%s}]}}`, q)
}

func TestToolOutputThatPiRepeatsIsToldOnce(t *testing.T) {
	var lines []string
	for i := range 200 {
		lines = append(lines, fmt.Sprintf(`line %d says "%d" \ and a bit more`, i, i*i))
	}
	upTo := func(from, to int) string { return strings.Join(lines[from:to], "\n") + "\n" }
	tests := []struct {
		name     string
		updates  []string
		replaced int
		want     string // all that the facts add up to
	}{
		{"it grows", []string{"", upTo(0, 1), upTo(0, 5), upTo(0, 5), upTo(0, 9)}, 0, upTo(0, 9)},
		{"its head is cut off while it grows", []string{upTo(0, 50), upTo(20, 70), upTo(65, 140)}, 0, upTo(0, 140)},
		{"its head is cut off and nothing is new", []string{upTo(0, 50), upTo(20, 50)}, 0, upTo(0, 50)},
		{"it is another", []string{upTo(0, 50), upTo(100, 140)}, 1, upTo(100, 140)},
		{"it becomes nothing", []string{"some", ""}, 1, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFake(t)
			f.open("go")
			b := newRebuilder()
			total := 0
			for _, u := range test.updates {
				f.facts = nil
				f.say(toolUpdate(u))
				b.add(f.facts)
				for _, p := range only[event.ToolProgressed](f.facts) {
					total += len(p.Text)
					if p.Replaced {
						test.replaced--
					}
				}
			}
			if b.progress["c"] != test.want {
				t.Errorf("rebuilt %q, want %q", b.progress["c"], test.want)
			}
			if test.replaced != 0 {
				t.Errorf("replaced %d times too few", test.replaced)
			}
		})
	}
}

func TestHalfACharacterOfToolOutputIsHeldBack(t *testing.T) {
	update := func(inner string) string {
		return `{"type":"tool_execution_update","toolCallId":"c","partialResult":{"content":[{"type":"text","text":"` + inner + `"}]}}`
	}
	diff(t, `tool.progressed {"id":"c","text":"a"}
tool.progressed {"id":"c","text":"😀"}
`, data(decodeAll(t, update(`a\ud83d`), update(`a😀`))))
}

func TestToolsOfEveryShape(t *testing.T) {
	tests := []struct {
		name  string
		lines []string
		want  string
	}{
		{
			"several texts and an image",
			[]string{`{"type":"tool_execution_end","toolCallId":"c","result":{"content":[{"type":"text","text":"a"},{"type":"image","data":"…"},{"type":"text","text":"b"}]},"isError":false,"durationMs":5.5}`},
			`tool.returned {"id":"c","ok":true,"output":"a\nb","took":5}` + "\n",
		},
		{
			"a result that is text alone",
			[]string{`{"type":"tool_execution_end","toolCallId":"c","result":"plain","isError":true}`},
			`tool.returned {"id":"c","ok":false,"output":"plain"}` + "\n",
		},
		{
			"a call under another",
			[]string{`{"type":"tool_execution_start","toolCallId":"c","toolName":"read","args":{"path":"x"},"parentToolCallId":"p"}`},
			`tool.called {"id":"c","name":"read","input":{"path":"x"},"parent":"p"}` + "\n",
		},
		{
			"a result that only the model was given",
			[]string{`{"type":"message_end","message":{"role":"toolResult","toolCallId":"c","toolName":"nope","content":[{"type":"text","text":"no such tool"}],"isError":true}}`},
			`tool.called {"id":"c","name":"nope"}
tool.returned {"id":"c","ok":false,"output":"no such tool"}
`,
		},
		{
			"a result that the model is given after it was told",
			[]string{
				`{"type":"tool_execution_end","toolCallId":"c","result":{"content":[{"type":"text","text":"a"}]}}`,
				`{"type":"message_end","message":{"role":"toolResult","toolCallId":"c","content":[{"type":"text","text":"a"}]}}`,
			},
			`tool.returned {"id":"c","ok":true,"output":"a"}` + "\n",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			diff(t, test.want, data(decodeAll(t, test.lines...)))
		})
	}
}

func TestCosts(t *testing.T) {
	tests := []struct{ name, content, usage, want string }{
		{"a price", "", `{"input":1,"output":2,"cacheRead":3,"cacheWrite":4,"cost":{"total":0.5}}`, `{"in":1,"out":2,"cacheRead":3,"cacheWrite":4,"usd":0.5,"model":"m"}`},
		{"tokens that cost nothing have no known price", "", `{"input":1,"output":2,"cost":{"total":0,"totalFromProvider":false}}`, `{"in":1,"out":2,"cacheRead":0,"cacheWrite":0,"usd":null,"model":"m"}`},
		{"the provider says that they are free", "", `{"input":1,"output":2,"cost":{"total":0,"totalFromProvider":true}}`, `{"in":1,"out":2,"cacheRead":0,"cacheWrite":0,"usd":0,"model":"m"}`},
		{"no cost", "", `{"input":1,"output":2}`, `{"in":1,"out":2,"cacheRead":0,"cacheWrite":0,"usd":null,"model":"m"}`},
		{"a failed call used nothing", "", `{"input":0,"output":0,"cost":{"total":0}}`, ""},
		{"an answer without usage", `{"type":"toolCall"}`, `{"input":0,"output":0,"cost":{"total":0}}`, `{"in":0,"out":0,"cacheRead":0,"cacheWrite":0,"usd":null,"model":"m"}`},
		{"a price that is no number", "", `{"input":1,"cost":{"total":"1"}}`, `{"in":1,"out":0,"cacheRead":0,"cacheWrite":0,"usd":null,"model":"m"}`},
		{"a price out of range", "", `{"input":1,"cost":{"total":1e999}}`, `{"in":1,"out":0,"cacheRead":0,"cacheWrite":0,"usd":null,"model":"m"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			line := `{"type":"message_end","message":{"role":"assistant","content":[` + test.content + `],"model":"m","stopReason":"stop","usage":` + test.usage + `}}`
			want := ""
			if test.want != "" {
				want = "agent.used " + test.want + "\n"
			}
			diff(t, want, data(decodeAll(t, line)))
		})
	}
}

func TestLinesThatAreNotUnderstood(t *testing.T) {
	long := strings.Repeat("x", 20<<20)
	tests := []struct{ name, line, want string }{
		{"null", `null`, `agent.unread {}`},
		{"an array", `[1]`, `agent.unread {}`},
		{"a number", `17`, `agent.unread {}`},
		{"an object without a type", `{"a":1}`, `agent.unread {}`},
		{"a type that is no text", `{"type":5}`, `agent.unread {}`},
		{"no JSON", `Warning: x`, `agent.unread {"line":"Warning: x"}`},
		{"half a line", `{"type":"agent_sett`, `agent.unread {"line":"{\"type\":\"agent_sett"}`},
		{"two values", `{"type":"turn_start"} {}`, `agent.unread {"line":"{\"type\":\"turn_start\"} {}"}`},
		{"no UTF-8", "{\"type\":\"x\xff\"}", `agent.unread {"line":"{\"type\":\"x` + `\ufffd` + `\"}"}`},
		{"a long line", long, `agent.unread {"line":"` + long + `"}`},
		{"a word of a later pi", `{"type":"dreamt","of":"sheep"}`, `agent.noticed {"what":"dreamt"}`},
		{"a step of a later pi", `{"type":"message_update","assistantMessageEvent":{"type":"image_delta"}}`, `agent.noticed {"what":"message_update image_delta"}`},
		{"nothing", ``, ``},
		{"blanks", " \r", ``},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := New()
			var out agent.Decoded
			d.Decode([]byte(test.line), agent.Stdout, &out)
			got := strings.TrimSuffix(strings.ReplaceAll(data(out.Facts), "\ufffd", `\ufffd`), "\n")
			if got != test.want {
				t.Errorf("got %.200s, want %.200s", got, test.want)
			}
			if keeps := len(test.want) > 0; out.DropRaw == keeps {
				t.Errorf("DropRaw is %t", out.DropRaw)
			}
		})
	}
	t.Run("a warning on stderr", func(t *testing.T) {
		d := New()
		var out agent.Decoded
		d.Decode([]byte(`{"type":"agent_settled"}`), agent.Stderr, &out)
		diff(t, `agent.unread {"line":"{\"type\":\"agent_settled\"}","stream":"stderr"}`+"\n", data(out.Facts))
	})
}

func TestOnlyLinesThatRepeatOthersLoseTheirRaw(t *testing.T) {
	drops := map[string]bool{}
	for _, path := range captures(t) {
		r := newReplay(t, path)
		r.seen = func(line []byte, out *agent.Decoded) {
			var l struct {
				Type    string          `json:"type"`
				Message json.RawMessage `json:"message"`
			}
			var m struct {
				Role string `json:"role"`
			}
			_ = json.Unmarshal(line, &l)
			_ = json.Unmarshal(l.Message, &m)
			name := strings.TrimSpace(l.Type + " " + m.Role)
			if before, seen := drops[name]; seen && before != out.DropRaw {
				t.Errorf("%s: DropRaw is now %t, now %t", name, before, out.DropRaw)
			}
			drops[name] = out.DropRaw
		}
		r.run(readSaid(t, path))
	}
	var got []string
	for name, dropped := range drops {
		if dropped {
			got = append(got, name)
		}
	}
	slices.Sort(got)
	want := []string{
		"agent_end", "message_end toolResult", "message_start system", "message_start toolResult", "message_start user",
		"message_update assistant", // pi 0.74; later ones carry no message here
		"tool_execution_update", "turn_end assistant",
	}
	if !slices.Equal(got, want) {
		t.Errorf("dropped %q, want %q", got, want)
	}
}

func TestAnOldPiIsAskedWhetherItIsDone(t *testing.T) {
	const end = `{"type":"agent_end","messages":[]}`
	state := func(id int, streaming, compacting bool) string {
		return fmt.Sprintf(`{"id":"ralph-%d","type":"response","command":"get_state","success":true,"data":{"isStreaming":%t,"isCompacting":%t}}`, id, streaming, compacting)
	}
	tests := []struct {
		name     string
		lines    []string
		finished bool
	}{
		{"it does nothing any more", []string{end, state(3, false, false)}, true},
		{"it has not answered yet", []string{end}, false},
		{"it retries", []string{end, `{"type":"auto_retry_start","attempt":1}`, state(3, false, false)}, false},
		{"it gives up its retries", []string{end, `{"type":"auto_retry_start","attempt":1}`, `{"type":"auto_retry_end","success":false}`, state(4, false, false)}, true},
		{"it compacts", []string{end, `{"type":"compaction_start"}`, state(3, false, true)}, false},
		{"it compacts and goes on", []string{end, `{"type":"compaction_start"}`, `{"type":"compaction_end","willRetry":true}`, `{"type":"agent_start"}`}, false},
		{"it has compacted and is done", []string{end, `{"type":"compaction_start"}`, `{"type":"compaction_end","willRetry":false}`, state(4, false, false)}, true},
		{"it streams and then does not", []string{end, state(3, true, false), state(4, false, false)}, true},
		{"it works again", []string{end, `{"type":"agent_start"}`, state(3, false, false)}, false},
		{"it says that it will retry", []string{`{"type":"agent_end","messages":[],"willRetry":true}`, state(3, false, false)}, false},
		{"it settles after all", []string{end, `{"type":"agent_settled"}`, state(3, false, false), `{"id":"ralph-4","type":"response","command":"clear_queue","success":false,"error":"Unknown command: clear_queue"}`}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := New()
			d.Open(agent.Prompt{Text: "go"})
			var out agent.Decoded
			lines := []string{
				`{"id":"ralph-1","type":"response","command":"get_state","success":true,"data":{}}`,
				`{"id":"ralph-2","type":"response","command":"prompt","success":true}`,
				`{"type":"agent_start"}`,
			}
			for _, line := range append(append(lines, whole(`{"type":"text","text":"x"}`)), test.lines...) {
				d.Decode([]byte(line), agent.Stdout, &out)
			}
			if n := len(only[event.AgentFinished](out.Facts)); n > 1 || n == 1 != test.finished {
				t.Errorf("finished %d times", n)
			}
		})
	}
}

func TestErrorsAreClassified(t *testing.T) {
	tests := []struct{ message, kind string }{
		{`401: {"message":"invalid api key","type":"authentication_error"}`, "auth"},
		{`403: {"error":{"message":"forbidden"}}`, "auth"},
		{`429: {"message":"Rate limit reached","type":"rate_limit_error"}`, "rate"},
		{`429: {"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}`, "quota"},
		{`402: {"error":"pay"}`, "quota"},
		{`400: {"error":{"message":"Your credit balance is too low"}}`, "quota"},
		{`400: {"error":{"message":"the word overloaded in a prompt that was refused, 429"}}`, "other"},
		{`529: {"message":"Overloaded","type":"overloaded_error"}`, "overload"},
		{`500 Internal server error`, "overload"},
		{`503`, "overload"},
		{`overloaded_error: try later`, "overload"},
		{`Connection error.`, "network"},
		{`connect ECONNREFUSED 127.0.0.1:1`, "network"},
		{`Request timed out.: This operation was aborted (20)`, "network"},
		{`terminated: Body Timeout Error`, "network"},
		{`Stream ended without finish_reason`, "network"},
		{`No API key found for anthropic.`, "auth"},
		{`Request was aborted`, "other"},
		{`4290 tokens`, "other"},
		{``, "other"},
	}
	for _, test := range tests {
		if got := classify(test.message); got != test.kind {
			t.Errorf("%q is %s, want %s", test.message, got, test.kind)
		}
	}
}

func TestCommand(t *testing.T) {
	tests := []struct {
		name string
		spec agent.Spec
		want string
	}{
		{"nothing but the program", agent.Spec{Command: []string{"pi"}}, "pi --mode rpc --no-session"},
		{
			"all settings", agent.Spec{Command: []string{"npx", "pi"}, Provider: "fake", Model: "text", Thinking: "high", Flags: []string{"--no-extensions"}},
			"npx pi --mode rpc --no-session --provider fake --model text --thinking high --no-extensions",
		},
		{
			"flags of the user replace settings", agent.Spec{Command: []string{"pi", "--thinking=low"}, Model: "text", Thinking: "high", Flags: []string{"--model", "other", "--mode", "rpc"}},
			"pi --thinking=low --no-session --model other --mode rpc",
		},
		{"a session of the user's", agent.Spec{Command: []string{"pi"}, Flags: []string{"--session-dir", "x"}}, "pi --mode rpc --session-dir x"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cmd, err := New().Command(test.spec)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(cmd.Argv, " "); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if cmd.Env != nil || cmd.Drop != nil || cmd.Text || cmd.CloseStdin || cmd.ParentDeath {
				t.Errorf("%+v", cmd)
			}
		})
	}
	for _, spec := range []agent.Spec{{}, {Command: []string{"pi"}, Flags: []string{"--mode=json"}}} {
		if cmd, err := New().Command(spec); err == nil {
			t.Errorf("%+v became %q", spec, cmd.Argv)
		}
	}
}
