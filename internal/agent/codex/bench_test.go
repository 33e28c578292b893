package codex

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/agenttest"
)

func BenchmarkDecode(b *testing.B) {
	b.Run("server", func(b *testing.B) { agenttest.BenchmarkDecode(b, withStreams(server, serverStreams())) })
	b.Run("exec", func(b *testing.B) { agenttest.BenchmarkDecode(b, withStreams(once, execStreams())) })
}

func BenchmarkDecodeDelta(b *testing.B) {
	line := []byte(delta("msg_1", "I will look around "))
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	d := New(nil, nil)
	d.Open(agent.Prompt{})
	var out agent.Decoded
	for _, line := range []string{initialized, threadStarted, turnStarted} {
		d.Decode([]byte(line), agent.Stdout, &out)
	}
	for b.Loop() {
		out.Reset()
		d.Decode(line, agent.Stdout, &out)
	}
}
