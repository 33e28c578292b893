package journal_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// A writer takes up the journal, appends, and closes; a reader needs the folder only.
func Example() {
	loopDir, err := os.MkdirTemp("", "loop")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(loopDir)

	opt := journal.Options{}
	recovery, err := journal.Recover(loopDir, opt)
	if err != nil {
		log.Fatal(err)
	}
	writer, _, err := journal.Create(loopDir, recovery, 1, nil, opt)
	if err != nil {
		log.Fatal(err)
	}
	_, err = writer.Append([]event.Draft{
		event.Encode(event.LoopStarted{Name: "demo"}, "loop"),
		event.Encode(event.LoopEnded{Status: event.StatusStopped, Reason: event.ReasonStop}, "loop"),
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := writer.Close(); err != nil { // durable, and sealed
		log.Fatal(err)
	}

	for e, err := range journal.Read(loopDir, journal.ReadOptions{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.Seq, e.Type)
	}
	// Output:
	// 1 segment.opened
	// 2 loop.started
	// 3 loop.ended
	// 4 segment.sealed
}

// A follower hands out what is there, then each event as it is written, until it is told to stop.
func ExampleFollow() {
	loopDir, err := os.MkdirTemp("", "loop")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(loopDir)
	recovery, err := journal.Recover(loopDir, journal.Options{})
	if err != nil {
		log.Fatal(err)
	}
	writer, _, err := journal.Create(loopDir, recovery, 1, nil, journal.Options{Bell: true})
	if err != nil {
		log.Fatal(err)
	}
	defer writer.Close()

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	live := false
	opt := journal.FollowOptions{Idle: func(journal.Position) {
		if live {
			return
		}
		live = true
		fmt.Println("that was history")
		if _, err := writer.Append([]event.Draft{event.Encode(event.LoopPaused{Why: "a person paused the loop"}, "loop")}); err != nil {
			log.Fatal(err)
		}
	}}
	for e, err := range journal.Follow(ctx, loopDir, opt) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.Seq, e.Type)
		if e.Type == event.TypeLoopPaused {
			cancel()
		}
	}
	// Output:
	// 1 segment.opened
	// that was history
	// 2 loop.paused
}

// Positions let a reader that shows the end of a loop go on from there without a gap.
func ExampleLast() {
	loopDir, err := os.MkdirTemp("", "loop")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(loopDir)
	recovery, err := journal.Recover(loopDir, journal.Options{})
	if err != nil {
		log.Fatal(err)
	}
	writer, _, err := journal.Create(loopDir, recovery, 1, nil, journal.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer writer.Close()
	for _, what := range []string{"one", "two", "three"} {
		if _, err := writer.Append([]event.Draft{event.Encode(event.AgentNoticed{What: what}, "agent:demo")}); err != nil {
			log.Fatal(err)
		}
	}

	events, position, err := journal.Last(loopDir, 2)
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range events {
		fmt.Println(e.Seq, string(e.Field("what")))
	}
	fmt.Println("go on in", position.Segment)
	// Output:
	// 3 "two"
	// 4 "three"
	// go on in 000001-i0001.jsonl
}
