package policy

import (
	"bytes"

	"github.com/ralph-loop/ralph/journal/event"
)

// Given says which settings a person gave the loop last, and whether an agent has been at work since: from then on the
// copy in the loop's folder may be the agent's doing, before that it may be one that a runner which died had no time to write.
type Given struct {
	SHA256 string `json:"sha256,omitempty"` // of config.json; empty in the journals of older versions
	Held   bool   `json:"held,omitempty"`
}

// Apply folds one event; ended says whether the loop had ended before it.
func (g *Given) Apply(e event.Event, ended bool) error {
	var settings *event.Settings
	switch e.Type {
	case event.TypeDecided:
		if string(e.Field("do")) == `"`+event.DoStart+`"` {
			g.Held = g.SHA256 != ""
		}
		return nil
	case event.TypeSegmentOpened:
		// A runner that goes on seals a segment before it begins the next. One that takes the loop up found the copy to be as it was
		// given, or a person accepted it, and writes it anew before it says loop.resumed: until then it may be either.
		if ended || !bytes.Contains(e.Field("prev"), []byte(`"sealed":true`)) {
			g.Held = false
		}
		return nil
	case event.TypeLoopStarted:
		p, err := event.As[event.LoopStarted](e)
		if err != nil {
			return err
		}
		settings = p.Settings
	case event.TypeLoopResumed:
		p, err := event.As[event.LoopResumed](e)
		if err != nil {
			return err
		}
		settings = p.Settings
	default:
		return nil
	}
	*g = Given{}
	if settings != nil {
		g.SHA256 = settings.SHA256
	}
	return nil
}
