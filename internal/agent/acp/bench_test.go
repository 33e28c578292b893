package acp_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/acp"
	"github.com/ralph-loop/ralph/internal/jsonscan"
)

// BenchmarkDecode decodes what opencode printed in one turn. xvalid is how many times as long that takes as the validation alone, which
// nobody could leave out, each at its best of many passes.
func BenchmarkDecode(b *testing.B) {
	var lines [][]byte
	var size int64
	for line := range bytes.Lines(streams()["oc-acp-tool.wire"]) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		lines = append(lines, line)
		size += int64(len(line))
	}
	d := acp.New("opencode")
	var out agent.Decoded
	decode := func() {
		d.Open(agent.Prompt{Text: "go"}) // the first turn gets a session, and the others go on in it
		for _, line := range lines {
			out.Reset()
			d.Decode(line, agent.Stdout, &out)
		}
	}
	valid := func() {
		for _, line := range lines {
			if !jsonscan.Valid(line) {
				b.Fatal("not JSON")
			}
		}
	}
	ratio := float64(best(decode)) / float64(best(valid))
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		decode()
	}
	b.ReportMetric(ratio, "xvalid")
}

func best(pass func()) time.Duration {
	shortest := time.Hour
	for range 200 {
		begun := time.Now()
		pass()
		shortest = min(shortest, time.Since(begun))
	}
	return shortest
}
