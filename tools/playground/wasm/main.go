//go:build js && wasm

// Program wasm gives the page the object playground, whose functions are those of package
// playground. What they return is JSON.
package main

import (
	"encoding/json"
	"syscall/js"
	"time"

	"github.com/ralph-loop/ralph/tools/playground"
)

// news is what a call of advance returns.
type news struct {
	Elapsed int64             `json:"elapsed"` // milliseconds since the start of the run
	Ended   bool              `json:"ended"`
	Lines   []playground.Line `json:"lines"`
	Facts   []playground.Fact `json:"facts"`
}

func main() {
	run := playground.New(1)
	js.Global().Set("playground", js.ValueOf(map[string]any{
		// start begins another run from a seed.
		"start": js.FuncOf(func(_ js.Value, args []js.Value) any {
			run = playground.New(uint64(args[0].Int()))
			return nil
		}),
		// plan(milliseconds, what, text) adds an act. It returns an error, or nothing.
		"plan": js.FuncOf(func(_ js.Value, args []js.Value) any {
			if err := run.Plan(milliseconds(args[0]), args[1].String(), args[2].String()); err != nil {
				return err.Error()
			}
			return nil
		}),
		// advance lets milliseconds pass.
		"advance": js.FuncOf(func(_ js.Value, args []js.Value) any {
			lines := run.Advance(milliseconds(args[0]))
			text, err := json.Marshal(news{run.Elapsed().Milliseconds(), run.Ended(), lines, run.Facts()})
			if err != nil {
				panic(err) // strings and numbers only
			}
			return string(text)
		}),
	}))
	js.Global().Call("dispatchEvent", js.Global().Get("Event").New("playground"))
	select {}
}

func milliseconds(n js.Value) time.Duration { return time.Duration(n.Int()) * time.Millisecond }
