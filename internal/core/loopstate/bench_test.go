package loopstate_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/agenttest"
	"github.com/ralph-loop/ralph/internal/agent/claude"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

const (
	journalBytes = 200 << 20
	naiveBytes   = 16 << 20
	rounds       = 5
)

// BenchmarkRebuild folds a journal of 200 MB in the page cache from its first line, with every
// checksum checked, on one core. One yardstick only reads the same files; the other unmarshals each
// line with encoding/json and adds up its usage. All run in turns, and the median of the rounds
// counts.
func BenchmarkRebuild(b *testing.B) {
	dir := longJournal(b)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	files, size := segmentFiles(b, dir)
	var toRead, toJSON []float64
	var events event.Seq
	b.SetBytes(size * rounds)
	b.ReportAllocs()
	for b.Loop() {
		for range rounds {
			b.StopTimer()
			read := rate(size, func() { readOnly(b, files) })
			naive := rate(naiveBytes, func() { unmarshalOnly(b, files) })
			b.StartTimer()
			ours := rate(size, func() { events = fold(b, dir) })
			toRead = append(toRead, ours/read)
			toJSON = append(toJSON, ours/naive)
		}
	}
	b.ReportMetric(median(toRead), "x-read")
	b.ReportMetric(median(toJSON), "x-json")
	b.ReportMetric(float64(size)/float64(events), "B/event")
}

func fold(b *testing.B, dir string) event.Seq {
	var s loopstate.State
	for e, err := range journal.Read(dir, journal.ReadOptions{}) {
		if err == nil {
			err = s.Fold(e)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	if s.Budget.Current.Tools == 0 {
		b.Fatal("nothing was folded")
	}
	return s.Seq
}

func readOnly(b *testing.B, files []string) {
	buf := make([]byte, 256<<10)
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			b.Fatal(err)
		}
		for {
			_, err := f.Read(buf)
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		f.Close()
	}
}

// unmarshalOnly is the simplest fold, over the journal's first lines.
func unmarshalOnly(b *testing.B, files []string) {
	text := make([]byte, naiveBytes)
	f, err := os.Open(files[0])
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if _, err := io.ReadFull(f, text); err != nil {
		b.Fatal(err)
	}
	var tools, out int64
	for line := range bytes.Lines(text[:bytes.LastIndexByte(text, '\n')+1]) {
		var e struct {
			Seq  event.Seq
			Type string
			Data json.RawMessage
		}
		if err := json.Unmarshal(line, &e); err != nil {
			b.Fatal(err)
		}
		switch e.Type {
		case "agent.used":
			var used struct{ Out int64 }
			if err := json.Unmarshal(e.Data, &used); err != nil {
				b.Fatal(err)
			}
			out += used.Out
		case "tool.called":
			tools++
		}
	}
	if tools+out == 0 {
		b.Fatal("nothing was counted")
	}
}

// longJournal writes the journal of a loop whose one iteration goes on and on, as the
// runner does: decoded from an agent's stream, with the agent's own lines in it.
func longJournal(b *testing.B) (dir string) {
	b.Helper()
	stream := agenttest.WorkStream(b, "../../agent/claude/testdata/tool-run.jsonl", 32<<20)
	dir = b.TempDir()
	w, _, err := journal.Create(dir, journal.Recovery{NextSeq: 1}, 1, nil, journal.Options{})
	if err != nil {
		b.Fatal(err)
	}
	appendAll := func(drafts ...event.Draft) {
		if _, err := w.Append(drafts); err != nil {
			b.Fatal(err)
		}
	}
	appendAll(
		event.Encode(event.LoopStarted{Name: "bench", Rules: event.Rules{MaximumIterations: 10, Completion: event.CompletionRules{Promise: "COMPLETE", Match: "final"}}}, "loop"),
		event.Encode(event.IterationStarted{N: 1, Mode: "work"}, "loop"),
		event.Encode(event.AgentStarted{PID: 1, Argv: []string{"claude"}, Tools: true}, "agent:claude"),
	)
	dialect := claude.New(nil)
	dialect.Open(agent.Prompt{Text: "work", Iteration: 1})
	var out agent.Decoded
	for sealed := int64(0); sealed+w.Position().Offset < journalBytes; {
		for line := range bytes.Lines(stream) {
			line = bytes.TrimSuffix(line, []byte("\n"))
			out.Reset()
			dialect.Decode(line, agent.Stdout, &out)
			for i, fact := range out.Facts {
				draft := event.Encode(fact, "agent:claude")
				draft.Iter = 1
				if i == 0 && !out.DropRaw {
					draft.Raw = line
				}
				appendAll(draft)
			}
			if w.Full() {
				sealed += w.Position().Offset
				if _, err := w.Rotate(1, nil); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return dir
}

func segmentFiles(b *testing.B, dir string) (files []string, size int64) {
	b.Helper()
	segments, err := journal.Segments(dir)
	if err != nil {
		b.Fatal(err)
	}
	for _, s := range segments {
		files = append(files, filepath.Join(dir, "journal", s.Name))
		size += s.Size
	}
	if size < journalBytes {
		b.Fatalf("the journal has only %d bytes", size)
	}
	return files, size
}

func rate(bytes int64, do func()) float64 {
	began := time.Now()
	do()
	return float64(bytes) / time.Since(began).Seconds()
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
