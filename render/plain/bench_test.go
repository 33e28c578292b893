package plain_test

import (
	"io"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/testkit/testevent"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/plain"
)

// BenchmarkText renders what agents stream: mostly pieces of words, some tools.
func BenchmarkText(b *testing.B) {
	for name, opt := range map[string]render.Options{"80 columns": {Width: 80, Color: true}, "no terminal": {}} {
		for _, run := range []string{"demo", "pi-tools", "claude-partial"} {
			b.Run(run+"/"+name, func(b *testing.B) {
				bench(b, opt, testevent.Read(b, filepath.Join("..", "testdata", "runs", run+".jsonl")))
			})
		}
		b.Run("pieces/"+name, func(b *testing.B) {
			pieces := make([]any, 1000)
			for i := range pieces {
				pieces[i] = event.AgentSaid{Block: "1", Text: event.Plain("some more words, ")}
			}
			bench(b, opt, script(pieces...))
		})
	}
}

func bench(b *testing.B, opt render.Options, events []event.Event) {
	bytes := 0
	for _, e := range events {
		bytes += len(e.Line())
	}
	b.SetBytes(int64(bytes / len(events)))
	b.ReportAllocs()
	shown := plain.New(io.Discard, opt)
	n := 0
	for b.Loop() {
		if err := shown.Event(events[n%len(events)]); err != nil {
			b.Fatal(err)
		}
		n++
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
