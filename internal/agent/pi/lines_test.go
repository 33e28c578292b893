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
			"a message that differs from its deltas gets another block",
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

// What cannot be read is unknown, and said to be: a limit of tokens must not take it for nothing.
func TestUnreadableUsage(t *testing.T) {
	const unread = `agent.noticed {"what":"agent/unread-usage","text":"the agent reported its usage in a form that cannot be read: limits of tokens count less than that"}` + "\n"
	for name, row := range map[string]struct{ usage, want string }{
		"a count below nothing":  {`{"input":-5,"output":2}`, `{"in":0,"out":2,"cacheRead":0,"cacheWrite":0,"usd":null}`},
		"all below nothing":      {`{"input":-5,"output":-2,"cacheRead":-1,"cacheWrite":-1,"cost":{"total":-3}}`, `{"in":0,"out":0,"cacheRead":0,"cacheWrite":0,"usd":null}`},
		"a count that is a word": {`{"input":"5","output":2}`, `{"in":0,"out":2,"cacheRead":0,"cacheWrite":0,"usd":null}`},
		"half a token":           {`{"input":0.5,"output":2}`, `{"in":0,"out":2,"cacheRead":0,"cacheWrite":0,"usd":null}`},
		"too many to be true":    {`{"input":1e300,"output":2}`, `{"in":0,"out":2,"cacheRead":0,"cacheWrite":0,"usd":null}`},
		"other names":            {`{"inputTokens":5,"cost":{"total":0.5}}`, `{"in":0,"out":0,"cacheRead":0,"cacheWrite":0,"usd":0.5}`},
	} {
		line := `{"type":"message_end","message":{"role":"assistant","content":[],"stopReason":"stop","usage":` + row.usage + `}}`
		t.Run(name, func(t *testing.T) { diff(t, "agent.used "+row.want+"\n"+unread, data(decodeAll(t, line))) })
	}
	for _, usage := range []string{`{}`, `null`, `{"input":100.0,"output":0}`} {
		line := `{"type":"message_end","message":{"role":"assistant","content":[],"stopReason":"stop","usage":` + usage + `}}`
		if got := data(decodeAll(t, line)); strings.Contains(got, "unread") {
			t.Errorf("usage %s: %s", usage, got)
		}
	}
}

func TestMessageEndingTwiceCountsOnce(t *testing.T) {
	const (
		start = `{"type":"message_start","message":{"role":"assistant","stopReason":"pending"}}`
		end   = `{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"a"}],"stopReason":"stop","timestamp":1,"usage":{"input":1,"output":2}}}`
		used  = `agent.used {"in":1,"out":2,"cacheRead":0,"cacheWrite":0,"usd":null}` + "\n"
		again = `agent.noticed {"what":"message_end repeated"}` + "\n"
	)
	said := func(block string) string {
		return `agent.said {"block":"` + block + `.0","text":"a","final":true}` + "\n"
	}
	diff(t, said("1")+used+again+again, data(decodeAll(t, start, end, end, end)))
	// Another answer with the same words is another one.
	diff(t, said("1")+used+said("2")+used, data(decodeAll(t, start, end, start, end)))
}

// pi reports a message with its usage four times: as it grows, when it is complete, with its turn
// and with the complete run. A retry's run holds those before it as well.
func TestRepeatedMessageCostsOnce(t *testing.T) {
	message := func(n string) string {
		return `{"role":"assistant","content":[{"type":"text","text":"a` + n + `"}],"model":"m","stopReason":"stop","usage":{"input":1,"output":` + n + `,"cost":{"total":0.5}}}`
	}
	first, second := message("1"), message("2")
	lines := []string{
		`{"type":"agent_start"}`, `{"type":"turn_start"}`,
		`{"type":"message_start","message":` + first + `}`,
		`{"type":"message_update","assistantMessageEvent":{"type":"text_end","contentIndex":0,"content":"a1","partial":` + first + `},"message":` + first + `}`,
		`{"type":"message_end","message":` + first + `}`, `{"type":"turn_end","message":` + first + `,"toolResults":[]}`,
		`{"type":"turn_start"}`, `{"type":"message_start","message":` + second + `}`, `{"type":"message_end","message":` + second + `}`,
		`{"type":"turn_end","message":` + second + `,"toolResults":[]}`,
		`{"type":"agent_end","messages":[` + first + `,` + second + `],"willRetry":false}`, `{"type":"agent_settled"}`,
	}
	var used []string
	for line := range strings.Lines(data(decodeAll(t, lines...))) {
		if strings.HasPrefix(line, "agent.used ") {
			used = append(used, strings.TrimSpace(line))
		}
	}
	want := []string{
		`agent.used {"in":1,"out":1,"cacheRead":0,"cacheWrite":0,"usd":0.5,"model":"m"}`,
		`agent.used {"in":1,"out":2,"cacheRead":0,"cacheWrite":0,"usd":0.5,"model":"m"}`,
	}
	diff(t, strings.Join(want, "\n"), strings.Join(used, "\n"))
}

func TestUnparsedLines(t *testing.T) {
	long := strings.Repeat("x", 20<<20)
	tests := []struct{ name, line, want string }{
		{"null", `null`, `agent.unparsed {}`},
		{"an array", `[1]`, `agent.unparsed {}`},
		{"a number", `17`, `agent.unparsed {}`},
		{"an object without a type", `{"a":1}`, `agent.unparsed {}`},
		{"a type that is no text", `{"type":5}`, `agent.unparsed {}`},
		{"no JSON", `Warning: x`, `agent.unparsed {"line":"Warning: x"}`},
		{"half a line", `{"type":"agent_sett`, `agent.unparsed {"line":"{\"type\":\"agent_sett"}`},
		{"two values", `{"type":"turn_start"} {}`, `agent.unparsed {"line":"{\"type\":\"turn_start\"} {}"}`},
		{"no UTF-8", "{\"type\":\"x\xff\"}", `agent.unparsed {"line":"{\"type\":\"x` + `\ufffd` + `\"}"}`},
		{"a long line", long, `agent.unparsed {"line":"` + long + `"}`},
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
		diff(t, `agent.unparsed {"line":"{\"type\":\"agent_settled\"}","stream":"stderr"}`+"\n", data(out.Facts))
	})
}

func TestRepeatingLinesLoseRaw(t *testing.T) {
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
		"message_update",
		"message_update assistant", // pi 0.74; later ones carry no message here
		"tool_execution_update", "turn_end assistant",
	}
	if !slices.Equal(got, want) {
		t.Errorf("dropped %q, want %q", got, want)
	}
}

func TestOldPiIsProbed(t *testing.T) {
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
