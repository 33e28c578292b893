package render_test

import (
	"log"
	"os"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
)

// night returns what happened in a loop, as a journal would have it.
func night() (events []event.Event) {
	at, crc := time.Date(2026, 11, 21, 1, 52, 28, 0, time.UTC), uint32(0)
	for i, p := range []event.Payload{
		event.LoopStarted{Name: "demo", Project: "/p", Agent: event.Agent{Protocol: "pi"}, Rules: event.Rules{MaximumIterations: 10}},
		event.IterationStarted{N: 1, Prompt: event.Blob{Text: "make the tests pass", Bytes: 19}},
		event.AgentSaid{Block: "1.0", Text: event.Plain("I will look at the tests first."), Final: true},
		event.ToolCalled{ID: "t1", Name: "bash", Input: []byte(`{"command":"make test"}`)},
		event.ToolReturned{ID: "t1", OK: true, Output: event.Plain("ok\n"), Took: 300},
		event.AgentSaid{Block: "2.0", Text: event.Plain("All pass. \x1b[31m<promise>COMPLETE</promise>"), Final: true},
	} {
		var line []byte
		line, crc = event.AppendLine(nil, event.Stamp{Seq: uint64(i + 1), At: at.Add(time.Duration(i) * time.Second)}, event.Encode(p, "story"), crc)
		e, err := event.Parse(line)
		if err != nil {
			log.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

// What one wants to read through a night. Escape sequences of the agent's do not reach the terminal.
func Example() {
	text := render.New(os.Stdout, render.Options{Width: 72, Location: time.UTC})
	for _, e := range night() {
		if err := text.Event(e); err != nil {
			log.Fatal(err)
		}
	}
	if err := text.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// ── loop demo ── 2026-11-21 01:52:28 ──
	// pi in /p, at most 10 iterations
	//
	// ── iteration 1 of 10 ── 01:52:29 ──
	// I will look at the tests first.
	//
	// - bash  make test
	//   ok
	//
	// All pass. <promise>COMPLETE</promise>
}

// One line for each event.
func ExampleNewLog() {
	lines := render.NewLog(os.Stdout, render.Options{Width: 72, Location: time.UTC})
	for _, e := range night() {
		if err := lines.Event(e); err != nil {
			log.Fatal(err)
		}
	}
	if err := lines.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 2026-11-21 01:52:28.000      1   0 loop.started         name=demo id="" dir…
	// 2026-11-21 01:52:29.000      2   0 iteration.started    n=1 prompt={"text":…
	// 2026-11-21 01:52:30.000      3   0 agent.said           block=1.0 text="I w…
	// 2026-11-21 01:52:31.000      4   0 tool.called          id=t1 name=bash inp…
	// 2026-11-21 01:52:32.000      5   0 tool.returned        id=t1 ok=true outpu…
	// 2026-11-21 01:52:33.000      6   0 agent.said           block=2.0 text="All…
}
