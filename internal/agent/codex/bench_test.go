package codex

import (
	"bytes"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
)

// stream is what the app-server prints in a turn with tools.
func stream(b *testing.B) [][]byte {
	b.Helper()
	all := serverStreams()["work.jsonl"]
	b.SetBytes(int64(len(all)))
	b.ReportAllocs()
	return bytes.Split(bytes.TrimSuffix(all, []byte("\n")), []byte("\n"))
}

// BenchmarkDecode compares with the validation alone, which nobody could leave out. xvalid is how many times as long decoding takes,
// each at its best of many passes, so that a busy machine says the same as an idle one.
func BenchmarkDecode(b *testing.B) {
	lines := stream(b)
	var out agent.Decoded
	decode := func() {
		d := New(nil, nil)
		d.Open(agent.Prompt{})
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
	for b.Loop() {
		decode()
	}
	b.ReportMetric(ratio, "xvalid")
}

func best(pass func()) time.Duration {
	least := time.Hour
	for range 2000 {
		began := time.Now()
		pass()
		least = min(least, time.Since(began))
	}
	return least
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
