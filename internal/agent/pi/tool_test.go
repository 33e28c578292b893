package pi

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/journal/event"
)

func toolUpdate(text string) string {
	q, _ := json.Marshal(text)
	return fmt.Sprintf(`{"type":"tool_execution_update","toolCallId":"c","toolName":"bash","args":{},"partialResult":{"content":[{"type":"text","text":%s}]}}`, q)
}

func TestRepeatedToolOutputReportedOnce(t *testing.T) {
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

func TestHalfCharacterIsWithheld(t *testing.T) {
	update := func(inner string) string {
		return `{"type":"tool_execution_update","toolCallId":"c","partialResult":{"content":[{"type":"text","text":"` + inner + `"}]}}`
	}
	diff(t, `tool.progressed {"id":"c","text":"a"}
tool.progressed {"id":"c","text":"😀"}
`, data(decodeAll(t, update(`a\ud83d`), update(`a😀`))))
}

func TestToolVariants(t *testing.T) {
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
			"a result that the model is given after it was reported",
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

// A tool whose end pi does not report does not count as at work forever.
func TestDroppedCalls(t *testing.T) {
	start := func(id, parent string) string {
		return fmt.Sprintf(`{"type":"tool_execution_start","toolCallId":%q,"toolName":"bash","args":{},"parentToolCallId":%q}`, id, parent)
	}
	end := func(id string) string {
		return fmt.Sprintf(`{"type":"tool_execution_end","toolCallId":%q,"toolName":"bash","result":{"content":[]},"isError":false}`, id)
	}
	const answers = `{"type":"message_start","message":{"role":"assistant"}}`
	for name, row := range map[string]struct {
		lines []string
		want  string // each call's end, in order; those that were lost with a "!"
	}{
		"tools of one message run side by side":       {[]string{start("a", ""), start("b", ""), end("b"), end("a"), answers}, "b a"},
		"one without an end is over with the next":    {[]string{start("a", ""), start("b", ""), end("b"), answers, start("c", ""), end("c")}, "b a! c"},
		"one that another has called is over with it": {[]string{start("a", ""), start("inner", "a"), end("a"), answers}, "a inner!"},
		"a turn that ends in a tool":                  {[]string{start("a", "")}, "a!"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.open("go")
			f.say(row.lines...)
			f.end("stop", "")
			f.settle(false)
			var got []string
			for _, r := range only[event.ToolReturned](f.facts) {
				if r.OK {
					got = append(got, r.ID)
				} else {
					got = append(got, r.ID+"!")
				}
			}
			if strings.Join(got, " ") != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}
