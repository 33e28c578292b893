package client_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// A program starts a loop, prints what its agent says, and reports how the loop ended.
func ExampleStart() {
	ctx := context.Background()
	loop, err := client.Start{Project: ".", Prompt: "Make the tests pass.", Agent: "claude", Iterations: 10}.Start(ctx)
	if refused, ok := errors.AsType[*client.ProgramError](err); ok {
		fmt.Println(refused.Text, refused.Hint)
		return
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	for e, err := range client.Follow(ctx, loop.Dir, 0) {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch p, _ := event.Decode(e); p := p.(type) {
		case event.AgentSaid:
			fmt.Println(p.Text)
		case event.LoopEnded:
			fmt.Println(p.Status, p.Why)
		}
	}
}

// A program answers the first question of the one loop that runs in a project.
func ExampleSend() {
	home, err := registry.Home(os.Getenv)
	if err != nil {
		fmt.Println(err)
		return
	}
	loop, err := client.Finder{Home: home, Project: "/src/shop"}.Find("")
	if several, ok := errors.AsType[*client.AmbiguousError](err); ok {
		for _, l := range several.Loops {
			fmt.Println("which one?", l.Name)
		}
		return
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	receipt, err := client.Send(context.Background(), loop, inbox.Command{Kind: inbox.Answer, Question: 1, Text: "postgres"}, 3*time.Second)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(receipt.Outcome, receipt.Why)
}
