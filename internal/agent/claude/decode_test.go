package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// TestLines: what single lines come to that the captures do not hold.
func TestLines(t *testing.T) {
	tests := []struct {
		name string
		line string
		want string // the facts, as JSON
	}{
		{"null", `null`, `agent.unparsed {}`},
		{"an array", `[{"type":"result"}]`, `agent.unparsed {}`},
		{"an unknown type", `{"type":"telepathy"}`, `agent.unparsed {}`},
		{"a type that is no string", `{"type":7}`, `agent.unparsed {}`},
		{"no JSON", `Error: "x"`, `agent.unparsed {"line":"Error: \"x\""}`},
		{"a line that was cut off", `{"type":"assistant"`, `agent.unparsed {"line":"{\"type\":\"assistant\""}`},
		{"bytes that are no UTF-8", "{\"type\":\"\xff\"}", `agent.unparsed {"line":"{\"type\":\"�\"}"}`},
		{"an empty line", ``, ``},
		{"tool output in parts is joined, and what is no text is named",
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"a\n\"b\""},{"type":"image","source":{}},{"type":"text","text":"c"}]}]}}`,
			`tool.returned {"id":"t","ok":true,"output":"a\n\"b\"\n[image]\nc"}`},
		{"several results in one line keep their own output",
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},{"type":"tool_result","tool_use_id":"u","content":[{"type":"text","text":"c"},{"type":"text","text":"d"}],"is_error":true}]}}`,
			`tool.returned {"id":"t","ok":true,"output":"a\nb"}; tool.returned {"id":"u","ok":false,"output":"c\nd"}`},
		{"a tool without output", `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t"}]}}`,
			`tool.returned {"id":"t","ok":true,"output":""}`},
		{"the agent's own list is a plan as well as a tool",
			`{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"TodoWrite","input":{"todos":[{"content":"a","status":"completed","activeForm":"A"},{"content":"b","status":"in_progress"},{"content":"c","status":"pending"}]}}]}}`,
			`tool.called {"id":"t","name":"TodoWrite","input":{"todos":[{"content":"a","status":"completed","activeForm":"A"},{"content":"b","status":"in_progress"},{"content":"c","status":"pending"}]}}; ` +
				`agent.planned {"todos":[{"text":"a","status":"done"},{"text":"b","status":"active"},{"text":"c","status":"pending"}]}`},
		{"a subagent's list is not the plan",
			`{"type":"assistant","parent_tool_use_id":"p","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"TodoWrite","input":{"todos":[]}}]}}`,
			`tool.called {"id":"t","name":"TodoWrite","input":{"todos":[]},"parent":"p"}`},
		{"the blocks of one line are counted",
			`{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"a"},{"type":"redacted_thinking","data":"x"},{"type":"text","text":"b"}]}}`,
			`agent.said {"block":"m.0","text":"a","final":true}; agent.noticed {"what":"assistant/redacted_thinking"}; agent.said {"block":"m.2","text":"b","final":true}`},
		{"a tool that ran at the API",
			`{"type":"assistant","message":{"id":"m","content":[{"type":"server_tool_use","id":"t","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"t","content":[{"type":"web_search_result","url":"x"}]}]}}`,
			`tool.called {"id":"t","name":"web_search","input":{}}; tool.returned {"id":"t","ok":true,"output":"[web_search_result]"}`},
		{"an assistant without content", `{"type":"assistant","message":{"id":"m","content":[]}}`, `agent.noticed {"what":"assistant"}`},
		{"a heartbeat", `{"type":"tool_progress","tool_use_id":"t","tool_name":"Bash","elapsed_time_seconds":30,"heartbeat":true}`, `tool.progressed {"id":"t"}`},
		{"a heartbeat with an id of its own", `{"type":"tool_progress","tool_use_id":"t-heartbeat-0","tool_name":"Bash","parent_tool_use_id":"t","heartbeat":true}`, `tool.progressed {"id":"t"}`},
		{"a heartbeat without its tool", `{"type":"tool_progress","tool_name":"Bash"}`, `agent.noticed {"what":"tool_progress","text":"Bash"}`},
		{"a delay in fractions, as 2.1.197 writes it",
			`{"type":"system","subtype":"api_retry","attempt":1,"max_retries":1,"retry_delay_ms":503.47924091599145,"error_status":529,"error":"overloaded"}`,
			`agent.retried {"attempt":1,"max":1,"delay":503,"kind":"overload","text":"overloaded"}`},
		{"an unknown subtype", `{"type":"system","subtype":"weather","text":"rain"}`, `agent.noticed {"what":"system/weather","text":"rain"}`},
		{"a hook that failed", `{"type":"system","subtype":"hook_response","hook_name":"Stop","outcome":"error"}`, `agent.noticed {"what":"system/hook_response","text":"Stop: error"}`},
		{"a hook that sends the model back", `{"type":"user","isSynthetic":true,"message":{"role":"user","content":"Stop hook feedback:\nthe tests are red\n"}}`, `agent.noticed {"what":"agent/sent-back","text":"the tests are red"}`},
		{"a person who writes the same", `{"type":"user","message":{"role":"user","content":"Stop hook feedback:\nno"}}`, `agent.noticed {"what":"user","text":"Stop hook feedback:\nno"}`},
		{"a request that cannot be answered", `{"type":"control_request","request":{"subtype":"can_use_tool"}}`, `agent.unparsed {}`},
		{"a refused request of ours", `{"type":"control_response","response":{"subtype":"error","request_id":"ralph-1","error":"no"}}`, `agent.noticed {"what":"control_response","text":"no"}`},
		{"deltas before their block", `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}}`, `agent.noticed {"what":"stream_event/text_delta"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, fact := range decode(opened(), test.line) {
				got = append(got, string(fact.EventType())+" "+string(event.AppendData(nil, fact)))
			}
			if s := strings.Join(got, "; "); s != test.want {
				t.Errorf("got  %s\nwant %s", s, test.want)
			}
		})
	}
}

// TestStderr: warnings are kept, and never taken for the protocol.
func TestStderr(t *testing.T) {
	var out agent.Decoded
	opened().Decode([]byte(`{"type":"result","subtype":"success"}`), agent.Stderr, &out)
	if len(out.Facts) != 1 || out.JSON {
		t.Fatalf("%+v", out)
	}
	unread, ok := out.Facts[0].(event.AgentUnparsed)
	if !ok || unread.Stream != "stderr" || unread.Line.String() != `{"type":"result","subtype":"success"}` {
		t.Errorf("%+v", out.Facts[0])
	}
}

// TestDeltas: what the deltas of a block left out is said with its end, and nothing twice.
func TestDeltas(t *testing.T) {
	const start = `{"type":"stream_event","event":{"type":"message_start","message":{"id":"m"}}}`
	const block = `{"type":"stream_event","event":{"type":"content_block_start","index":3,"content_block":{"type":"text"}}}`
	const delta = `{"type":"stream_event","event":{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"a\u00e9"}}}`
	tests := []struct {
		name, whole, said string
	}{
		{"all was said", `aé`, `{"block":"m.3","text":"","final":true}`},
		{"the rest is said", `aéb\n`, `{"block":"m.3","text":"b\n","final":true}`},
		{"another text is kept as it came", `other`, `{"block":"m.3","text":"","final":true}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := opened()
			decode(d, start, block)
			if said := only[event.AgentSaid](decode(d, delta)); len(said) != 1 || said[0].Block != "m.3" || said[0].Text.String() != "aé" || said[0].Final {
				t.Errorf("the delta said %+v", said)
			}
			var out agent.Decoded
			d.Decode([]byte(`{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"`+test.whole+`"}]}}`), agent.Stdout, &out)
			if got := string(event.AppendData(nil, out.Facts[0])); got != test.said || out.DropRaw {
				t.Errorf("got %s, dropped %v", got, out.DropRaw)
			}
		})
	}
}

// TestStreamedMessage: what several blocks of a message are streamed in is reported once, whether
// each is reported as one before its end is or all of them after the message's.
func TestStreamedMessage(t *testing.T) {
	api := func(e string) string {
		return `{"type":"stream_event","event":` + e + `,"parent_tool_use_id":null}`
	}
	begin := func(index int, kind string) string {
		return api(fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":%q}}`, index, kind))
	}
	delta := func(index int, kind, member, piece string) string {
		return api(fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":%q,%q:%q}}`, index, kind, member, piece))
	}
	stop := func(index int) string { return api(fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, index)) }
	whole := func(block string) string {
		return `{"type":"assistant","message":{"id":"m","content":[` + block + `]},"parent_tool_use_id":null}`
	}
	streamed := [][]string{
		{begin(0, "thinking"), delta(0, "thinking_delta", "thinking", "I th"), delta(0, "thinking_delta", "thinking", "ink"), delta(0, "signature_delta", "signature", "c2ln")},
		{begin(1, "text"), delta(1, "text_delta", "text", "first "), delta(1, "text_delta", "text", "words")},
		{begin(2, "tool_use"), delta(2, "input_json_delta", "partial_json", `{"command":`), delta(2, "input_json_delta", "partial_json", `"ls"}`)},
		{begin(3, "text"), delta(3, "text_delta", "text", "second")},
	}
	wholes := []string{
		whole(`{"type":"thinking","thinking":"I think","signature":"c2ln"}`), whole(`{"type":"text","text":"first words"}`),
		whole(`{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}`), whole(`{"type":"text","text":"second"}`),
	}
	start := api(`{"type":"message_start","message":{"id":"m"}}`)
	end := []string{api(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}`), api(`{"type":"message_stop"}`)}
	before, after := []string{start}, []string{start}
	for i, lines := range streamed {
		before = append(append(append(before, lines...), wholes[i]), stop(i))
		after = append(append(after, lines...), stop(i))
	}
	before, after = append(before, end...), append(append(after, end...), wholes...)
	for name, lines := range map[string][]string{"each before its end": before, "all after the message's": after} {
		t.Run(name, func(t *testing.T) {
			d := opened()
			said, calls := map[string]string{}, 0
			for _, line := range lines {
				var out agent.Decoded
				d.Decode([]byte(line), agent.Stdout, &out)
				if pieces := strings.Contains(line, "_delta\",\""); pieces && !strings.Contains(line, "message_delta") && !out.DropRaw {
					t.Errorf("kept beside what the whole says: %s", line)
				}
				for _, fact := range out.Facts {
					text, block := "", ""
					switch p := fact.(type) {
					case event.AgentSaid:
						block, text = p.Block, p.Text.String()
						if p.Final {
							text += "."
						}
					case event.AgentThought:
						block, text = p.Block, p.Text.String()
						if p.Final {
							text += "."
						}
					case event.ToolCalled:
						calls++
					}
					said[block] += text
				}
			}
			delete(said, "")
			want := map[string]string{"m.0": "I think.", "m.1": "first words.", "m.3": "second."}
			if !maps.Equal(said, want) || calls != 1 {
				t.Errorf("%d calls, said %q", calls, said)
			}
		})
	}
}

// TestLongLine: tool output of 20 MB passes through without a copy.
func TestLongLine(t *testing.T) {
	words := bytes.Repeat([]byte(`0123456789abcde\n`), 20<<20/16)
	line := append([]byte(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"`), words...)
	line = append(line, `"}]}}`...)
	d := opened()
	var out agent.Decoded
	d.Decode(line, agent.Stdout, &out)
	returned := only[event.ToolReturned](out.Facts)
	if len(returned) != 1 || len(returned[0].Output) != len(words)+2 || &returned[0].Output[1] != &line[len(line)-len(words)-5] {
		t.Errorf("the output is another one")
	}
	out.Reset()
	d.Decode(append([]byte("no JSON "), words...), agent.Stdout, &out)
	if len(only[event.AgentUnparsed](out.Facts)) != 1 {
		t.Error("a long line that is no JSON was lost")
	}
}

// TestNoticesAreShort: an event that changes nothing does not swell the journal.
func TestNoticesAreShort(t *testing.T) {
	const limit = 2 << 10
	for _, letter := range []string{"x", "é", `\u00e9`, `\\`, "😀"} {
		for _, n := range []int{100, limit, 20 * limit} {
			line := `{"type":"system","subtype":"informational","content":"` + strings.Repeat(letter, n) + `"}`
			notice := only[event.AgentNoticed](decode(opened(), line))
			if len(notice) != 1 || len(notice[0].Text) > limit+len("…") || n > limit && len(notice[0].Text) < limit-8 {
				t.Fatalf("%d times %s: %d bytes", n, letter, len(notice[0].Text))
			}
			if !strings.HasPrefix(jsonscan.Unquote([]byte(`"`+strings.Repeat(letter, n)+`"`)), strings.TrimSuffix(notice[0].Text, "…")) {
				t.Errorf("%d times %s was cut to something else", n, letter)
			}
		}
	}
}

// FuzzDecode: whatever is printed, facts are valid, and a turn ends once.
func FuzzDecode(f *testing.F) {
	for _, path := range captures(f) {
		out := printed(f, path)
		f.Add(bytes.Join(out, []byte("\n")))
		for _, line := range out {
			f.Add(line)
		}
	}
	f.Add([]byte("null\n[]\n\xff\n{\"type\":\"result\"}\n{\"type\":\"result\"}"))
	f.Fuzz(func(t *testing.T, printed []byte) {
		d := New(nil)
		opened, finished := 0, 0
		for n, line := range bytes.Split(printed, []byte("\n")) {
			switch n % 8 {
			case 0:
				d.Open(agent.Prompt{Text: "x", Iteration: n})
				opened++
			case 3:
				d.Steer("s", "y")
			case 6:
				d.Abort()
			}
			before := finished
			var out agent.Decoded
			d.Decode(line, agent.Stdout, &out)
			for _, fact := range out.Facts {
				if data := event.AppendData(nil, fact); !json.Valid(data) {
					t.Fatalf("%s is no JSON: %s", fact.EventType(), data)
				}
				if fact.EventType() == event.TypeAgentFinished {
					finished++
				}
			}
			for _, reply := range out.Reply {
				if !json.Valid(reply) || bytes.Contains(reply, []byte("\n")) {
					t.Fatalf("the reply is no line of JSON: %s", reply)
				}
			}
			if finished > before+1 || finished > opened {
				t.Fatalf("%d turns were opened, %d finished", opened, finished)
			}
			if out.JSON != jsonscan.Valid(line) || len(out.Facts) == 0 && len(line) > 0 && !out.DropRaw {
				t.Fatalf("JSON %v, facts %d: %q", out.JSON, len(out.Facts), line)
			}
		}
	})
}

// TestDroppedCalls: a tool whose result never comes does not count as at work forever.
func TestDroppedCalls(t *testing.T) {
	const (
		call   = `{"type":"assistant","message":{"id":"%m","content":[{"type":"tool_use","id":"%t","name":"Bash","input":{}}]},"parent_tool_use_id":%p}`
		words  = `{"type":"assistant","message":{"id":"%m","content":[{"type":"text","text":"on"}]},"parent_tool_use_id":%p}`
		back   = `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"%t","content":"ok"}]},"parent_tool_use_id":%p}`
		begins = `{"type":"stream_event","event":{"type":"message_start","message":{"id":"%m"}},"parent_tool_use_id":%p}`
		tasks  = `{"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"b","task_type":"local_agent","description":"look"}]}`
		none   = `{"type":"system","subtype":"background_tasks_changed","tasks":[]}`
		result = `{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed"}`
	)
	line := func(pattern, message, tool, parent string) string {
		if parent = strconv.Quote(parent); parent == `""` {
			parent = "null"
		}
		return strings.NewReplacer("%m", message, "%t", tool, "%p", parent).Replace(pattern)
	}
	for name, row := range map[string]struct {
		lines []string
		want  string // each call's end, in order; those that were lost with a "!"
	}{
		"tools of one message run side by side": {[]string{
			line(call, "m1", "a", ""), line(call, "m1", "b", ""), line(words, "m1", "", ""),
			line(back, "", "b", ""), line(back, "", "a", ""), line(words, "m2", "", ""), result,
		}, "b a"},
		"an answer that broke off and was asked for again": {[]string{
			line(call, "m1", "a", ""), line(words, "m2", "", ""), line(call, "m2", "b", ""), line(back, "", "b", ""), result,
		}, "a! b"},
		"one that is streamed": {[]string{
			line(call, "m1", "a", ""), line(begins, "m2", "", ""), line(words, "m2", "", ""), result,
		}, "a!"},
		"a turn that ends in a tool": {[]string{line(call, "m1", "a", ""), result}, "a!"},
		"a subagent that ends in a tool": {[]string{
			line(call, "m1", "task", ""), line(call, "s1", "inner", "task"), line(back, "", "task", ""), line(words, "m2", "", ""), result,
		}, "task inner!"},
		"the main agent's words leave a subagent's tool alone": {[]string{
			tasks, line(call, "m1", "task", ""), line(call, "s1", "inner", "task"), line(back, "", "task", ""), line(words, "m2", "", ""),
			line(back, "", "inner", "task"), none,
		}, "task inner"},
		"a background subagent's tool is over when the subagent is": {[]string{
			tasks, line(call, "m1", "task", ""), line(call, "s1", "inner", "task"), line(back, "", "task", ""), none,
		}, "task inner!"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, r := range only[event.ToolReturned](decode(opened(), row.lines...)) {
				end := r.ID
				if !r.OK {
					end += "!"
				}
				got = append(got, end)
			}
			if strings.Join(got, " ") != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

// TestBackground: what the agent has put into the background is named while it is there.
func TestBackground(t *testing.T) {
	task := func(n int) string {
		return `{"type":"system","subtype":"background_tasks_changed","tasks":[` +
			strings.TrimSuffix(strings.Repeat(`{"task_type":"local_bash","description":"make"},`, n), ",") + `]}`
	}
	facts := decode(opened(), task(1), task(10), `{"type":"system","subtype":"background_tasks_changed","tasks":[{"task_type":"local_bash"}]}`, task(0))
	var got []string
	for _, n := range only[event.AgentNoticed](facts) {
		if n.What != event.NoticeBackground {
			t.Errorf("%+v", n)
		}
		got = append(got, n.Text)
	}
	want := []string{"make", "make, make, make, make, make, make, make, make, and 2 more", "local_bash", ""}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A heartbeat of a subagent's tool is that tool's, and not the subagent's.
func TestHeartbeatNamesTool(t *testing.T) {
	d := opened()
	decode(d, `{"type":"assistant","message":{"id":"a","content":[{"type":"tool_use","id":"task","name":"Task","input":{}}]},"parent_tool_use_id":null}`)
	decode(d, `{"type":"assistant","message":{"id":"b","content":[{"type":"tool_use","id":"sub","name":"Bash","input":{}}]},"parent_tool_use_id":"task"}`)
	for line, want := range map[string]string{
		`{"type":"tool_progress","tool_use_id":"sub","parent_tool_use_id":"task","heartbeat":true}`:              "sub",
		`{"type":"tool_progress","tool_use_id":"sub-heartbeat-3","parent_tool_use_id":"sub","heartbeat":true}`:   "sub",
		`{"type":"tool_progress","tool_use_id":"task-heartbeat-1","parent_tool_use_id":"task","heartbeat":true}`: "task",
	} {
		if got := only[event.ToolProgressed](decode(d, line)); len(got) != 1 || got[0].ID != want {
			t.Errorf("%s is of %+v, want %s", line, got, want)
		}
	}
}
