package transcript_test

import (
	"testing"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render/transcript"
)

// BenchmarkBuilder takes in what agents print. A frame has 1,000 events.
func BenchmarkBuilder(b *testing.B) {
	line := make([]byte, 4000)
	for i := range line {
		line[i] = 'x'
	}
	loud := []event.Payload{event.ToolCalled{ID: "1", Name: "bash"}}
	for range 100 {
		loud = append(loud, event.ToolProgressed{ID: "1", Text: event.Plain(string(line))})
	}
	for name, events := range map[string][]event.Event{"demo": readRun(b, "demo"), "loud tool": script(loud...)} {
		b.Run(name, func(b *testing.B) {
			size := 0
			for _, e := range events {
				size += len(e.Line())
			}
			b.SetBytes(int64(size / len(events)))
			b.ReportAllocs()
			builder, n := transcript.New(transcript.Options{}), 0
			for b.Loop() {
				builder.Add(events[n%len(events)])
				if n++; n%1000 == 0 {
					builder.Take()
				}
			}
		})
	}
}
