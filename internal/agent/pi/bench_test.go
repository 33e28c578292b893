package pi

import (
	"encoding/json"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/agenttest"
)

// stream is what pi prints in a run with tools.
func stream(b *testing.B) (lines [][]byte, size int64) {
	for _, s := range readSaid(b, "testdata/tool_run_v152/said.jsonl") {
		if s.Out != nil {
			lines = append(lines, s.Out)
			size += int64(len(s.Out)) + 1
		}
	}
	return lines, size
}

func BenchmarkDecode(b *testing.B) { agenttest.BenchmarkDecode(b, withStreams(b)) }

// BenchmarkUnmarshal is what merely reading the same lines with encoding/json
// costs.
func BenchmarkUnmarshal(b *testing.B) {
	lines, size := stream(b)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for _, line := range lines {
			var v map[string]any
			if err := json.Unmarshal(line, &v); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkDecodeDelta(b *testing.B) {
	line := []byte(`{"type":"message_update","usage":{"input":291,"output":30,"cacheRead":290,"cacheWrite":0,"reasoning":0,"totalTokens":611,"cost":{"input":0.00029,"output":0.00006,"cacheRead":0.000029,"cacheWrite":0,"total":0.00038,"totalFromProvider":false}},"assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"I will look around "}}`)
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	d := New()
	var out agent.Decoded
	for b.Loop() {
		out.Reset()
		d.Decode(line, agent.Stdout, &out)
	}
}
