package text_test

import (
	"bytes"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/agenttest"
	"github.com/ralph-loop/ralph/internal/agent/text"
)

var onStdin = agenttest.Agent{
	New:  func() agent.Dialect { return text.New() },
	Spec: func(program string) agent.Spec { return agent.Spec{Command: []string{program}} },
	Fake: func() agenttest.Fake {
		return func(stdin []byte) [][]byte {
			if !bytes.Contains(stdin, []byte(agenttest.Finish)) && !bytes.Contains(stdin, []byte(agenttest.Wait)) {
				return nil
			}
			return [][]byte{[]byte("I have read this:"), stdin, nil, []byte("\x1b[32mcafé\x1b[0m <promise>COMPLETE</promise>")}
		}
	},
	Streams: map[string][]byte{"a build": []byte("make\r\ncc -o main main.c\n\n\tmain.c:3: warning\n{\"json\": true}\n")},
}

// asArgument differs in how the prompt arrives.
var asArgument = agenttest.Agent{
	New:  onStdin.New,
	Spec: func(program string) agent.Spec { return agent.Spec{Command: []string{program, "{prompt}"}} },
	Fake: onStdin.Fake,
}

func TestMain(m *testing.M) { agenttest.Main(m, onStdin) }

func TestSuite(t *testing.T) { agenttest.Suite(t, onStdin) }

func TestPromptAsArgument(t *testing.T) {
	agenttest.Processes(t, asArgument)
}

func FuzzDialect(f *testing.F) { agenttest.Fuzz(f, onStdin) }
