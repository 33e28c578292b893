package acp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/acp"
	"github.com/ralph-loop/ralph/internal/agent/agenttest"
)

// suiteOf is the suite's agent with the profile of a program.
func suiteOf(program string) agenttest.Agent {
	return agenttest.Agent{
		New:  func() agent.Dialect { return acp.New(program) },
		Spec: func(program string) agent.Spec { return agent.Spec{Command: []string{program, "acp"}} },
		Fake: newFake,
		Stranger: func() agenttest.Fake {
			return func(stdin []byte) [][]byte {
				var in struct{ ID json.RawMessage }
				if stdin == nil || json.Unmarshal(stdin, &in) != nil {
					return nil
				}
				return [][]byte{fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":2}}`, in.ID)}
			}
		},
	}
}

// captured is the suite with what real agents printed.
func captured(program string) agenttest.Agent {
	suite := suiteOf(program)
	suite.Streams = streams()
	return suite
}

// streams are what the agents of the captured conversations printed. The ids of their answers are
// the numbers that the dialect gives its requests too.
func streams() map[string][]byte {
	all := map[string][]byte{}
	for path, wire := range agenttest.ReadStreams("testdata/*.wire") {
		var printed [][]byte
		for line := range bytes.Lines(wire) {
			if frame, ok := bytes.CutPrefix(line, []byte("< ")); ok {
				_, frame, _ = bytes.Cut(frame, []byte(" "))
				printed = append(printed, frame)
			}
		}
		all[filepath.Base(path)] = bytes.Join(printed, nil)
	}
	return all
}

// newFake plays an agent that gives a second prompt to the model with its next request, as opencode
// does, and that knows _session/steering, as codex-acp does.
func newFake() agenttest.Fake {
	session := 0
	var waiting []string // the ids of prompts that are not answered
	frame := func(format string, args ...any) []byte {
		return fmt.Appendf(nil, `{"jsonrpc":"2.0",`+format+`}`, args...)
	}
	update := func(body string) []byte {
		return frame(`"method":"session/update","params":{"sessionId":"s%d","update":%s}`, session, body)
	}
	say := func(words string) []byte {
		return update(fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}}`, words))
	}
	end := func(reason string) [][]byte {
		printed := [][]byte{update(`{"sessionUpdate":"usage_update","used":10,"size":100,"cost":{"amount":0.5,"currency":"USD"}}`)}
		for _, id := range waiting {
			printed = append(printed, frame(`"id":%s,"result":{"stopReason":%q,"usage":{"inputTokens":5,"outputTokens":2,"totalTokens":7}}`, id, reason))
		}
		waiting = nil
		return printed
	}
	return func(stdin []byte) [][]byte {
		if stdin == nil {
			return nil
		}
		var in struct {
			ID     json.RawMessage
			Method string
			Params struct{ Prompt []struct{ Text string } }
		}
		if err := json.Unmarshal(stdin, &in); err != nil {
			panic(err)
		}
		switch in.Method {
		case "initialize":
			return [][]byte{frame(`"id":%s,"result":{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"close":{}}},"agentInfo":{"name":"fake","version":"1"}}`, in.ID)}
		case "session/new":
			session++
			return [][]byte{frame(`"id":%s,"result":{"sessionId":"s%d"}`, in.ID, session)}
		case "session/close":
			return [][]byte{frame(`"id":%s,"result":{}`, in.ID)}
		case "session/cancel":
			return end("cancelled")
		case "_session/steering":
			return append([][]byte{frame(`"id":%s,"result":{"outcome":"injected"}`, in.ID), say("I heard.")}, end("end_turn")...)
		case "session/prompt":
			steered := len(waiting) > 0
			waiting = append(waiting, string(in.ID))
			if steered || !strings.Contains(in.Params.Prompt[0].Text, agenttest.Wait) {
				return append([][]byte{say("On it.")}, end("end_turn")...)
			}
			return [][]byte{say("I begin.")}
		}
		panic("the fake was asked for " + in.Method)
	}
}

func TestMain(m *testing.M) { agenttest.Main(m, suiteOf("opencode")) }

func TestSuite(t *testing.T) { agenttest.Suite(t, captured("opencode")) }

// Each way to take a prompt while another runs.
func TestSuiteWithSteering(t *testing.T) { agenttest.Suite(t, suiteOf("codex-acp")) }

func TestSuiteWithoutSteering(t *testing.T) { agenttest.Suite(t, suiteOf("some-acp")) }

func FuzzDialect(f *testing.F) { agenttest.Fuzz(f, captured("opencode")) }
