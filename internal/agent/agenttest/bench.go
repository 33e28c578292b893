package agenttest

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
)

// BenchmarkDecode decodes the captured streams of an agent, each by a dialect of its own in an open turn, and reports
//
//	xvalid     how many times as long decoding takes as the fastest validation of the same bytes, over all streams
//	worst      the same of the stream for which it is most
//	valid-ns   what that validation takes for all streams
//
// The validations run in turns with the decoding, stream by stream, and the best of many passes counts: what else the machine does
// then strikes all of them alike.
func BenchmarkDecode(b *testing.B, a Agent) {
	streams := benchStreams(b, a)
	var out agent.Decoded
	size := 0
	for _, s := range streams {
		size += s.size
	}
	decode := func() {
		for _, s := range streams {
			s.decode(open(b, a).d, &out)
		}
	}
	var decoded, valid time.Duration
	worst := 0.0
	for _, s := range streams {
		s.measure(b, a, &out)
		valid += s.valid
		decoded += s.decoded
		times := float64(s.decoded) / float64(s.valid)
		if worst = max(worst, times); testing.Verbose() {
			b.Logf("%s: %d lines, %d bytes, valid %v, decode %.2f times that", s.name, len(s.lines), s.size, s.valid, times)
		}
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		decode()
	}
	b.ReportMetric(float64(decoded)/float64(valid), "xvalid")
	b.ReportMetric(worst, "worst")
	b.ReportMetric(float64(valid.Nanoseconds()), "valid-ns")
}

// benchStream is one captured stream and the shortest times that were measured of it.
type benchStream struct {
	name           string
	lines          [][]byte
	size           int
	decoded, valid time.Duration
}

func benchStreams(b *testing.B, a Agent) []*benchStream {
	b.Helper()
	var all []*benchStream
	for _, name := range slices.Sorted(maps.Keys(a.Streams)) {
		s := &benchStream{name: name}
		for line := range bytes.Lines(a.Streams[name]) {
			line = bytes.TrimSuffix(line, []byte("\n"))
			s.lines = append(s.lines, line)
			s.size += len(line)
			if !jsonscan.Valid(line) || !json.Valid(line) {
				b.Fatalf("%s holds a line that is no JSON: %s", name, short(line))
			}
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		b.Fatal("no streams")
	}
	return all
}

func (s *benchStream) decode(d agent.Dialect, out *agent.Decoded) {
	for _, line := range s.lines {
		out.Reset()
		d.Decode(line, agent.Stdout, out)
	}
}

// validators are what decoding is compared with: the fastest of them.
var validators = []func([]byte) bool{jsonscan.Valid, json.Valid, readable}

var document = jsonscan.NewDocument()

// readable is a validation too, which has to be no slower because it does more.
func readable(line []byte) bool {
	_, err := document.Read(line)
	return err == nil
}

// benchPasses of each stream: enough for all three to have met a quiet moment.
const benchPasses = 400

func (s *benchStream) measure(b *testing.B, a Agent, out *agent.Decoded) {
	b.Helper()
	s.decoded, s.valid = time.Hour, time.Hour
	for range benchPasses {
		d := open(b, a).d
		began := time.Now()
		s.decode(d, out)
		s.decoded = min(s.decoded, time.Since(began))
		for _, valid := range validators {
			began := time.Now()
			for _, line := range s.lines {
				if !valid(line) {
					b.Fatal("not JSON")
				}
			}
			s.valid = min(s.valid, time.Since(began))
		}
	}
}
