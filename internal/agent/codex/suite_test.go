package codex

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/agenttest"
)

var server = agenttest.Agent{
	New:  func() agent.Dialect { return New(nil, nil) },
	Spec: func(program string) agent.Spec { return agent.Spec{Command: []string{program}} },
	Fake: newFake,
}

// once is `codex exec`.
var once = agenttest.Agent{
	New: server.New,
	Spec: func(program string) agent.Spec {
		return agent.Spec{Command: []string{program}, Flags: []string{"exec"}}
	},
	Fake: newFake,
}

// withStreams adds the captures, which are not there where this binary plays Codex.
func withStreams(a agenttest.Agent, streams map[string][]byte) agenttest.Agent {
	a.Streams = streams
	return a
}

func execStreams() map[string][]byte { return agenttest.ReadStreams("testdata/exec/*.jsonl") }

// serverStreams are the server's lines of the captured conversations, whose requests have the
// numbers that the dialect gives them.
func serverStreams() map[string][]byte {
	streams := map[string][]byte{}
	for path, capture := range agenttest.ReadStreams("testdata/server/*.jsonl") {
		var stream []byte
		for line := range bytes.Lines(capture) {
			var said said
			if err := json.Unmarshal(line, &said); err != nil {
				panic(err)
			}
			if said.Out != nil {
				stream = append(append(stream, said.Out...), '\n')
			}
		}
		streams[filepath.Base(path)] = stream
	}
	return streams
}

// newFake plays Codex: the app-server by JSON-RPC, exec by a prompt that is none.
func newFake() agenttest.Fake {
	f := &fake{}
	return f.hear
}

type fake struct {
	threads, turns int
	waits          bool
	lines          [][]byte
}

func (f *fake) say(format string, args ...any) {
	f.lines = append(f.lines, fmt.Appendf(nil, format, args...))
}

func (f *fake) hear(stdin []byte) [][]byte {
	f.lines = nil
	var in struct {
		ID     string
		Method string
		Params struct {
			ClientUserMessageID string
			Input               []struct{ Text string }
		}
	}
	switch {
	case stdin == nil:
	case json.Unmarshal(stdin, &in) != nil:
		f.exec(string(stdin))
	case in.Method != "initialized":
		text := ""
		if len(in.Params.Input) > 0 {
			text = in.Params.Input[0].Text
		}
		f.asked(in.ID, in.Method, text, in.Params.ClientUserMessageID)
	}
	return f.lines
}

func (f *fake) exec(prompt string) {
	if !strings.Contains(prompt, agenttest.Finish) && !strings.Contains(prompt, agenttest.Wait) {
		return
	}
	f.say(`{"type":"thread.started","thread_id":"T"}`)
	f.say(`{"type":"turn.started"}`)
	f.say(`{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"On it."}}`)
	if strings.Contains(prompt, agenttest.Finish) {
		f.say(`{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":40,"output_tokens":20,"reasoning_output_tokens":5}}`)
	}
}

func (f *fake) asked(id, method, text, client string) {
	ok := func(result string) { f.say(`{"id":%q,"result":%s}`, id, result) }
	switch method {
	case "initialize":
		ok(`{"userAgent":"ralph/0.169.0 (fake)"}`)
	case "thread/start":
		f.threads++
		ok(fmt.Sprintf(`{"thread":{"id":"T%d"},"model":"gpt-fake"}`, f.threads))
		f.say(`{"method":"thread/started","params":{"thread":{"id":"T%d"}}}`, f.threads)
	case "turn/start":
		f.turns++
		ok(fmt.Sprintf(`{"turn":{"id":"U%d","status":"inProgress"}}`, f.turns))
		f.say(`{"method":"turn/started","params":{"threadId":"T%d","turn":{"id":"U%d"}}}`, f.threads, f.turns)
		f.user(text, client)
		f.message("On it.")
		if f.waits = strings.Contains(text, agenttest.Wait); !f.waits {
			f.ends("completed")
		}
	case "turn/steer":
		if !f.waits {
			f.say(`{"id":%q,"error":{"code":-32600,"message":"no active turn to steer"}}`, id)
			return
		}
		ok(fmt.Sprintf(`{"turnId":"U%d"}`, f.turns))
		f.user(text, client)
		f.message("As you wish.")
		f.ends("completed")
	case "turn/interrupt":
		ok(`{}`)
		if f.waits {
			f.ends("interrupted")
		}
	default:
		ok(`{}`)
	}
}

func (f *fake) user(text, client string) {
	words, _ := json.Marshal(text)
	for _, method := range []string{"item/started", "item/completed"} {
		f.say(`{"method":%q,"params":{"item":{"type":"userMessage","id":"m","clientId":%q,"content":[{"type":"text","text":%s}]},"threadId":"T%d","turnId":"U%d"}}`,
			method, client, words, f.threads, f.turns)
	}
}

func (f *fake) message(text string) {
	f.say(`{"method":"item/agentMessage/delta","params":{"threadId":"T%d","turnId":"U%d","itemId":"a","delta":%q}}`, f.threads, f.turns, text[:3])
	f.say(`{"method":"item/completed","params":{"item":{"type":"agentMessage","id":"a","text":%q},"threadId":"T%d","turnId":"U%d"}}`, text, f.threads, f.turns)
}

func (f *fake) ends(status string) {
	f.waits = false
	f.say(`{"method":"turn/completed","params":{"threadId":"T%d","turn":{"id":"U%d","status":%q,"error":null}}}`, f.threads, f.turns, status)
}

func TestMain(m *testing.M) { agenttest.Main(m, server) }

func TestSuite(t *testing.T) { agenttest.Suite(t, withStreams(server, serverStreams())) }

func TestSuiteOfExec(t *testing.T) { agenttest.Suite(t, withStreams(once, execStreams())) }

func FuzzDialect(f *testing.F) { agenttest.Fuzz(f, withStreams(server, serverStreams())) }

func FuzzExec(f *testing.F) { agenttest.Fuzz(f, withStreams(once, execStreams())) }

// canonical spells a JSON value with sorted members, as the dialect writes its lines.
func canonical(text string) string {
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		panic(err)
	}
	return string(agent.Line(value))
}
