package event_test

import (
	"fmt"
	"log"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/frame"
	"github.com/ralph-loop/ralph/journal/event"
)

// A line is written from a payload and read back without touching what is not asked for.
func Example() {
	draft := event.Encode(event.ToolCalled{ID: "t1", Name: "bash", Input: []byte(`{"command":"make"}`)}, "agent:pi")
	draft.Iter = 3
	stamp := frame.Stamp{Seq: 412, At: time.Date(2026, 11, 21, 1, 52, 28, 0, time.UTC)}
	copy(stamp.ID[:], "01JD0000000000000000000000")
	line, _ := frame.Append(nil, stamp, draft, 0)
	fmt.Printf("%s\n", line)

	e, err := event.Parse(line)
	if err != nil {
		log.Fatal(err)
	}
	called, err := event.As[event.ToolCalled](e)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(e.Seq, e.By(), "calls", called.Name, string(called.Input))
	// Output:
	// {"v":1,"seq":412,"id":"01JD0000000000000000000000","at":"2026-11-21T01:52:28.000000Z","iter":3,"by":"agent:pi","type":"tool.called","data":{"id":"t1","name":"bash","input":{"command":"make"}},"crc":"f5b42452"}
	// 412 agent:pi calls bash {"command":"make"}
}

// Of a type of a later version the envelope is read, and its bytes are kept.
func ExampleParse() {
	e, err := event.Parse([]byte(`{"v":1,"seq":7,"id":"01JD0000000000000000000000","at":"2026-11-21T01:52:28.000000Z","iter":1,"by":"moon","type":"moon.risen","data":{"full":true}}`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(e.Type, string(e.Data()), string(e.Field("full")))
	_, err = event.As[event.TimerFired](e)
	fmt.Println(err)
	// Output:
	// moon.risen {"full":true} true
	// event moon.risen: read as timer.fired
}

// Each line carries a checksum over itself and the line before it.
func ExampleVerify() {
	stamp := frame.Stamp{Seq: 1, At: time.Date(2026, 11, 21, 1, 52, 28, 0, time.UTC)}
	first, sum := frame.Append(nil, stamp, event.Encode(event.LoopPaused{}, "loop"), 0)
	stamp.Seq++
	second, _ := frame.Append(nil, stamp, event.Encode(event.LoopUnpaused{}, "loop"), sum)

	sum, ok := frame.Verify(first, 0)
	fmt.Println("the first line:", ok)
	_, ok = frame.Verify(second, sum)
	fmt.Println("the second after it:", ok)
	_, ok = frame.Verify(second, 0)
	fmt.Println("the second without it:", ok)
	// Output:
	// the first line: true
	// the second after it: true
	// the second without it: false
}

// The reason why a loop ended determines its status and the exit code.
func ExampleReason_ExitCode() {
	for _, r := range []event.Reason{event.ReasonPromise, event.ReasonCost, event.ReasonAuth, event.ReasonInterrupt} {
		fmt.Println(r, r.Status(), r.ExitCode())
	}
	// Output:
	// promise completed 0
	// cost stopped 1
	// auth failed 4
	// interrupt stopped 130
}
