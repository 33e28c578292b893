package projector_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

// A program that follows a loop and steers it: it needs the loop's folder and nothing else, from
// any process, whether the loop has not begun, is running or has ended.
func Example_followAndSteer() {
	loopDir := runALoop()
	defer os.RemoveAll(loopDir)

	var loop projector.Loop
	var sent string
	for e, err := range journal.Follow(context.Background(), loopDir, journal.FollowOptions{UntilEnded: true}) {
		if err == nil {
			err = loop.Fold(e)
		}
		if err != nil {
			log.Fatal(err)
		}
		switch e.Type {
		case event.TypeAgentStarted:
			view := loop.View()
			fmt.Printf("%s is %s in iteration %d\n", view.Name, view.Status, view.Iteration)
		case event.TypeAgentSaid:
			said, _ := event.As[event.AgentSaid](e)
			fmt.Println("agent:", said.Text)
		case event.TypeToolCalled:
			sent, err = inbox.Drop(loopDir, inbox.Command{Kind: inbox.Steer, From: "example", Text: "leave the schema alone"})
			if err != nil {
				log.Fatal(err)
			}
		case event.TypeCommandDelivered:
			if read, _ := event.As[event.CommandDelivered](e); read.ID == sent {
				fmt.Println("the agent has read it")
			}
		}
	}
	view := loop.View()
	fmt.Println(view.Status, "by", view.Ended.Reason)
	// Output:
	// demo is running in iteration 1
	// agent: I shall change the schema.
	// the agent has read it
	// agent: The schema stays as it is.
	// completed by promise
}

// runALoop is what 'ralph start' does: it returns the folder of a loop that runs by itself. This
// one writes a scripted journal instead of running an agent.
func runALoop() (loopDir string) {
	loopDir, err := os.MkdirTemp("", "loop")
	if err != nil {
		log.Fatal(err)
	}
	opt := journal.Options{Notify: true}
	recovery, err := journal.Recover(loopDir, opt)
	if err != nil {
		log.Fatal(err)
	}
	writer, _, err := journal.Create(loopDir, recovery, 1, nil, opt)
	if err != nil {
		log.Fatal(err)
	}
	write := func(story ...event.Payload) {
		for _, p := range story {
			if _, err := writer.Append([]event.Draft{event.Encode(p, "story")}); err != nil {
				log.Fatal(err)
			}
		}
	}
	write(
		event.LoopStarted{Name: "demo", Rules: event.Rules{MaximumIterations: 10}},
		event.IterationStarted{N: 1}, event.Decided{Do: event.DoStart, Iteration: 1}, event.AgentStarted{PID: 7, Live: true},
	)
	go func() {
		write(
			event.AgentSaid{Block: "1.0", Text: event.Plain("I shall change the schema."), Final: true},
			event.ToolCalled{ID: "t1", Name: "edit"},
		)
		box, err := inbox.Open(loopDir)
		if err != nil {
			log.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var steered string
		for range box.Watch(ctx) {
			items, err := box.Pending()
			if err != nil {
				log.Fatal(err)
			}
			if len(items) > 0 {
				steered = items[0].Command.ID
				break
			}
		}
		write(
			event.CommandReceived{ID: steered, Kind: "steer"}, event.CommandDelivered{ID: steered, How: "live", Iteration: 1},
			event.AgentSaid{Block: "2.0", Text: event.Plain("The schema stays as it is."), Final: true},
			event.LoopEnded{Status: event.StatusCompleted, Reason: event.ReasonPromise},
		)
		_ = writer.Close() // the example may have removed the folder by now
	}()
	return loopDir
}

// What is true of a loop now, from its files alone.
func ExampleLoad() {
	loopDir, err := os.MkdirTemp("", "loop")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(loopDir)

	loop, err := projector.Load(loopDir)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%q after %d events\n", loop.View().Status, loop.Seq())
	// Output:
	// "" after 0 events
}
