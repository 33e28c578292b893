package pi

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/journal/event"
)

// part is one entry of a message's or a result's content.
type part struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Thinking string `json:"thinking"`
}

type piLine struct {
	Type          string  `json:"type"`
	ToolCallID    string  `json:"toolCallId"`
	PartialResult *result `json:"partialResult"`
	Result        *result `json:"result"`
	Message       struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"message"`
}

type result struct {
	Content []part `json:"content"`
}

func (r *result) text() string {
	var texts []string
	for _, p := range r.Content {
		if p.Type == "text" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// built is a block of text as its facts add up.
type built struct {
	name, text string
	thought    bool
	final      bool
}

// rebuilder adds facts up as a reader of the journal would.
type rebuilder struct {
	blocks   []built
	progress map[string]string
	returned map[string]string
}

func newRebuilder() *rebuilder {
	return &rebuilder{progress: map[string]string{}, returned: map[string]string{}}
}

func (b *rebuilder) add(facts []event.Payload) {
	for _, fact := range facts {
		switch f := fact.(type) {
		case event.AgentSaid:
			b.say(f.Block, f.Text.String(), f.Final, false)
		case event.AgentThought:
			b.say(f.Block, f.Text.String(), f.Final, true)
		case event.ToolProgressed:
			if f.Replaced {
				b.progress[f.ID] = ""
			}
			b.progress[f.ID] += f.Text.String()
		case event.ToolReturned:
			b.returned[f.ID] = f.Output.String()
		}
	}
}

func (b *rebuilder) say(name, text string, final, thought bool) {
	i := slices.IndexFunc(b.blocks, func(t built) bool { return t.name == name })
	if i < 0 {
		old := slices.IndexFunc(b.blocks, func(t built) bool { return t.name+"+" == name })
		if old >= 0 {
			i = old
			b.blocks[i] = built{name: name, thought: thought}
		} else {
			i = len(b.blocks)
			b.blocks = append(b.blocks, built{name: name, thought: thought})
		}
	}
	b.blocks[i].text += text
	b.blocks[i].final = final
}

func TestCapturesAreRebuilt(t *testing.T) {
	for _, path := range captures(t) {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			b := newRebuilder()
			messages, outputs := 0, 0
			r := newReplay(t, path)
			r.seen = func(line []byte, out *agent.Decoded) {
				var l piLine
				_ = json.Unmarshal(line, &l)
				if l.Type == "message_start" && l.Message.Role == "assistant" {
					b.blocks = nil
				}
				b.add(out.Facts)
				switch {
				case l.Type == "message_end" && l.Message.Role == "assistant":
					messages++
					checkBlocks(t, l.Message.Content, b.blocks)
				case l.Type == "tool_execution_update":
					if got, want := b.progress[l.ToolCallID], l.PartialResult.text(); got != want {
						t.Errorf("progress of %s: got %q, want %q", l.ToolCallID, got, want)
					}
				case l.Type == "tool_execution_end":
					outputs++
					if got, want := b.returned[l.ToolCallID], l.Result.text(); got != want {
						t.Errorf("output of %s: got %q, want %q", l.ToolCallID, got, want)
					}
				}
			}
			r.run(readSaid(t, path))
			if messages == 0 || strings.Contains(path, "tool_run") && outputs != 6 {
				t.Fatalf("the capture had %d messages and %d outputs", messages, outputs)
			}
		})
	}
}

func checkBlocks(t *testing.T, content json.RawMessage, got []built) {
	t.Helper()
	var parts []part
	if err := json.Unmarshal(content, &parts); err != nil {
		t.Fatal(err)
	}
	var want []built
	for _, p := range parts {
		switch p.Type {
		case "text":
			want = append(want, built{text: p.Text, final: true})
		case "thinking":
			want = append(want, built{text: p.Thinking, thought: true, final: true})
		}
	}
	for i := range got {
		got[i].name = ""
	}
	if !slices.Equal(got, want) {
		t.Errorf("blocks: got %+v, want %+v", got, want)
	}
}
