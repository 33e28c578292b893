package policy

import "github.com/ralph-loop/ralph/journal/event"

// GivenSettings says which settings a person gave the loop last, and whether an agent has worked
// since. If one has, it may have changed the copy in the loop's folder; if not, a runner may have
// died before it wrote the copy.
type GivenSettings struct {
	// of config.json; empty in the journals of older versions
	SHA256   string `json:"sha256,omitempty"`
	AgentRan bool   `json:"agentRan,omitempty"`
}

// Apply folds one event. was is the loop before it.
func (g *GivenSettings) Apply(p event.Payload, was *Lifecycle) {
	switch p := p.(type) {
	case event.Decided:
		if p.Do == event.DoStart {
			g.AgentRan = g.SHA256 != ""
		}
	case event.SegmentOpened:
		// A runner seals a segment before it begins the next. One that resumes the loop found the
		// copy to be as it was given, or a person accepted it, and writes it again before it says
		// loop.resumed: until then it may be either.
		if was.Ended != nil || p.Prev == nil || !p.Prev.Sealed {
			g.AgentRan = false
		}
	case event.LoopStarted:
		g.given(p.Settings)
	case event.LoopResumed:
		g.given(p.Settings)
	}
}

func (g *GivenSettings) given(settings *event.Settings) {
	*g = GivenSettings{SHA256: shaOf(settings)}
}

func shaOf(s *event.Settings) string {
	if s == nil {
		return ""
	}
	return s.SHA256
}
