package client

import (
	"fmt"

	"github.com/ralph-loop/ralph/journal/event"
)

// limitOf is the setting that ended a loop for a reason.
var limitOf = map[event.Reason]string{
	event.ReasonIterations: "maximumIterations", event.ReasonCost: "limits.cost", event.ReasonTokens: "limits.tokens",
	event.ReasonDuration: "limits.duration", event.ReasonRestarts: "restart.max",
}

// NextStep is the hint after the end of a loop; empty if there is none.
func NextStep(name string, ended *event.LoopEnded) string {
	switch key := limitOf[ended.Reason]; {
	case ended.Hint != "":
		return ended.Hint
	case key != "":
		return fmt.Sprintf("'ralph start %s --resume --set %s=…' raises it", name, key)
	case ended.Reason == event.ReasonDisk:
		return fmt.Sprintf("make room, make the folder writable or put it back, then 'ralph start %s --resume'", name)
	case ended.Reason == event.ReasonFault:
		return fmt.Sprintf("'ralph start %s --resume' resumes it; 'ralph logs %s --type fault.' makes a good report", name, name)
	}
	return ""
}
