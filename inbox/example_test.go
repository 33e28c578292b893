package inbox_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/ralph-loop/ralph/inbox"
)

// A person steers; the runner is woken, claims, and removes the command once its journal has the
// receipt.
func Example() {
	loopDir, err := os.MkdirTemp("", "inbox")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(loopDir)

	if _, err := inbox.Drop(loopDir, inbox.Command{Kind: inbox.Steer, From: "cli:ada@mill", Text: "leave the schema alone"}); err != nil {
		log.Fatal(err)
	}
	second, err := inbox.Drop(loopDir, inbox.Command{Kind: inbox.Stop, From: "cli:ada@mill"})
	if err != nil {
		log.Fatal(err)
	}
	withdrawn, err := inbox.Withdraw(loopDir, second)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("thought better of the stop:", withdrawn)

	box, err := inbox.Open(loopDir)
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for range box.Watch(ctx) {
		items, err := box.Pending()
		if err != nil {
			log.Fatal(err)
		}
		for _, item := range items {
			if item.Reject != nil {
				err = box.Reject(item.Reject.Name, item.Reject.Reason)
			} else {
				fmt.Println(item.Command.Kind, "from", item.Command.From+":", item.Command.Text)
				err = box.Done(item.Command.ID)
			}
			if err != nil {
				log.Fatal(err)
			}
		}
		cancel()
	}
	// Output:
	// thought better of the stop: true
	// steer from cli:ada@mill: leave the schema alone
}
