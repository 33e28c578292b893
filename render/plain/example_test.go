package plain_test

import (
	"fmt"
	"os"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/plain"
)

func ExampleText() {
	text := plain.New(os.Stdout, render.Options{Width: 60})
	for _, e := range script(
		event.AgentSaid{Block: "1", Text: event.Plain("I'll look at the tests ")},
		event.AgentSaid{Block: "1", Text: event.Plain("first."), Final: true},
		event.ToolCalled{ID: "t1", Name: "bash", Input: []byte(`{"command":"make test"}`)},
		event.ToolReturned{ID: "t1", OK: true, Output: event.Plain("ok  shop/cart\nok  shop/price\n")},
	) {
		if err := text.Event(e); err != nil {
			fmt.Println(err)
		}
	}
	if err := text.Close(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// I'll look at the tests first.
	//
	// - bash  make test
	//   ok  shop/cart
	//   ok  shop/price
}
