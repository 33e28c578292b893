package journal_test

import (
	"context"
	"fmt"
	"os"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// A program that follows a loop and prints what its agent says, until the loop
// has ended. The loop is a small one that has ended already; that of another
// process is followed in the same way.
func Example() {
	dir, err := os.MkdirTemp("", "loop")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	runSmallLoop(dir)

	ctx := context.Background()
	for e, err := range journal.Follow(ctx, dir, journal.FollowOptions{UntilEnded: true}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch e.Type {
		case event.TypeAgentSaid:
			if said, err := event.As[event.AgentSaid](e); err == nil {
				fmt.Printf("%3d %s: %s\n", e.Seq, e.By(), said.Text)
			}
		case event.TypeLoopEnded:
			if ended, err := event.As[event.LoopEnded](e); err == nil {
				fmt.Printf("%3d ended: %s\n", e.Seq, ended.Reason)
			}
		}
	}
	// Output:
	//   2 agent:pi: I am looking at the tests.
	//   3 agent:pi: They pass.
	//   4 ended: promise
}

func runSmallLoop(dir string) {
	rec, err := journal.Recover(dir, journal.Options{})
	if err != nil {
		panic(err)
	}
	w, _, err := journal.Create(dir, rec, 0, nil, journal.Options{})
	if err != nil {
		panic(err)
	}
	_, err = w.Append([]event.Draft{
		event.Encode(event.AgentSaid{Block: "1", Text: event.Plain("I am looking at the tests.")}, "agent:pi"),
		event.Encode(event.AgentSaid{Block: "2", Text: event.Plain("They pass.")}, "agent:pi"),
		event.Encode(event.LoopEnded{Status: event.StatusCompleted, Reason: event.ReasonPromise}, "loop"),
	})
	if err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
}
