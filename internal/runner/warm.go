package runner

import (
	"encoding/json"
	"os"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

// Warm does what each first use would do on the way to the agent: encoding/json compiles a type when it
// first meets one, package os tries once whether the kernel has descriptors of processes. Both
// together are as long as two syncs. It may run beside Run, and is of no use after it.
func Warm() {
	for _, p := range []event.Payload{
		event.SegmentOpened{}, event.LoopStarted{}, event.IterationStarted{}, event.Decided{}, event.AgentStarted{},
	} {
		_, _ = json.Marshal(p)
	}
	projector.Encode(new(projector.State))
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Release()
	}
}
