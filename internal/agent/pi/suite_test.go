package pi

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

var suite = agenttest.Agent{
	New:  func() agent.Dialect { return New() },
	Spec: func(program string) agent.Spec { return agent.Spec{Command: []string{program}} },
	Fake: func() agenttest.Fake { return new(rpc).hear },
	// pi 0.74 repeats with each delta what the model has written of a call so far.
	Droppable: []string{"partialArgs"},
	Piecemeal: func(line []byte) bool { return bytes.Contains(line, []byte(`"toolcall_delta"`)) },
}

func TestMain(m *testing.M) { agenttest.Main(m, suite) }

func TestSuite(t *testing.T) { agenttest.Suite(t, withStreams(t)) }

func FuzzDialect(f *testing.F) { agenttest.Fuzz(f, withStreams(f)) }

func withStreams(t testing.TB) agenttest.Agent {
	a := suite
	a.Streams = map[string][]byte{}
	for _, path := range captures(t) {
		var out [][]byte
		for _, s := range readSaid(t, path) {
			if s.Out != nil {
				out = append(out, s.Out)
			}
		}
		a.Streams[filepath.Base(filepath.Dir(path))] = bytes.Join(out, []byte("\n"))
	}
	return a
}

// rpc is pi 1.5.2's side of a process: it answers each line of stdin at once with all that
// follows from it.
type rpc struct {
	session int
	waiting bool // a turn is open and its answer begun
	out     [][]byte
}

func (p *rpc) hear(stdin []byte) [][]byte {
	p.out = nil
	if stdin == nil {
		return nil // pi has no event that says it is ready
	}
	var in struct{ ID, Type, Message string }
	if err := json.Unmarshal(stdin, &in); err != nil {
		p.say(`{"type":"response","command":"parse","success":false,"error":"not JSON"}`)
		return p.out
	}
	respond := func(data string) {
		p.say(`{"id":%q,"type":"response","command":%q,"success":true,"data":%s}`, in.ID, in.Type, data)
	}
	switch in.Type {
	case "get_state":
		respond(fmt.Sprintf(`{"sessionId":"s%d","isStreaming":%t,"isCompacting":false}`, p.session, p.waiting))
	case "prompt":
		respond(`{"disposition":"started"}`)
		p.say(`{"type":"agent_start"}`)
		p.begin(in.Message)
		if p.waiting = strings.Contains(in.Message, agenttest.Wait); !p.waiting {
			p.end("stop")
			p.settle(false)
		}
	case "steer":
		p.say(`{"type":"queue_update","steering":[%s],"followUp":[]}`, quoted(in.Message))
		respond(`{"disposition":"queued"}`)
		if p.waiting {
			p.waiting = false
			p.end("stop")
			p.say(`{"type":"queue_update","steering":[],"followUp":[]}`)
			p.begin(in.Message)
			p.end("stop")
			p.settle(false)
		}
	case "abort":
		if p.waiting {
			p.waiting = false
			p.end("aborted")
			p.settle(true)
		}
		respond("null")
	case "clear_queue":
		respond(`{"steering":[],"followUp":[]}`)
	case "new_session":
		p.session++
		respond(`{"cancelled":false}`)
	default:
		p.say(`{"id":%q,"type":"response","command":%q,"success":false,"error":"Unknown command: %s"}`, in.ID, in.Type, in.Type)
	}
	return p.out
}

// begin gives a text to the model, which begins to answer.
func (p *rpc) begin(text string) {
	user := fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":%s}]}`, quoted(text))
	p.say(`{"type":"turn_start"}`)
	p.say(`{"type":"message_start","message":%s}`, user)
	p.say(`{"type":"message_end","message":%s}`, user)
	p.say(`{"type":"message_start","message":{"role":"assistant","content":[],"stopReason":"pending"}}`)
	p.say(`{"type":"message_update","assistantMessageEvent":{"type":"text_start","contentIndex":0}}`)
	p.say(`{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"I am looking at "}}`)
	p.say(`{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"it, caf\u00e9."}}`)
}

func (p *rpc) end(reason string) {
	message := fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":"I am looking at it, caf\u00e9."}],"model":"m",`+
		`"usage":{"input":10,"output":2,"cacheRead":0,"cacheWrite":0,"cost":{"total":0.01}},"stopReason":%q}`, reason)
	p.say(`{"type":"message_end","message":%s}`, message)
	p.say(`{"type":"turn_end","message":%s,"toolResults":[]}`, message)
}

func (p *rpc) settle(aborted bool) {
	p.say(`{"type":"agent_end","messages":[],"willRetry":false}`)
	p.say(`{"type":"agent_settled","aborted":%t}`, aborted)
}

func (p *rpc) say(format string, args ...any) {
	p.out = append(p.out, fmt.Appendf(nil, format, args...))
}

func quoted(text string) string {
	q, _ := json.Marshal(text)
	return string(q)
}
