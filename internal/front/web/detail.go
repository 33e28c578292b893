package web

import (
	"time"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

// Detail is the state of one loop.
type Detail struct {
	Loop
	Now       time.Time `json:"now"`            // by the clock of this machine
	Doing     string    `json:"doing"`          // what the open iteration does
	Until     time.Time `json:"until,omitzero"` // of a loop that waits for a moment
	Hint      string    `json:"hint,omitempty"` // the next step after an end
	Why       string    `json:"why,omitempty"`  // why it ended
	Ticked    int       `json:"ticked"`         // boxes of the task's checklist
	Boxes     int       `json:"boxes"`
	Story     string    `json:"story,omitempty"` // what the open iteration does with which story
	Agents    []string  `json:"agents"`
	Iteration *ended    `json:"lastIteration,omitempty"`
	// Commands are those that were received and have not taken effect.
	Commands []event.CommandReceived `json:"commands"`
	// Questions are those of the agent that have no answer, by number.
	Questions []question `json:"questions"`
}

// question is what the agent asks while it works on.
type question struct {
	Number  int      `json:"number"`
	Text    string   `json:"text"`
	Choices []string `json:"choices"` // answers that it expects
	Blocks  bool     `json:"blocks"`  // the work is not done without an answer
}

// questionOf is a question without what would reorder or hide its text. A choice that is shown is
// the answer that is sent.
func questionOf(q projector.Question) question {
	s := question{q.Number, string(render.CleanText(q.Text)), []string{}, q.Blocks}
	for _, choice := range q.Choices {
		s.Choices = append(s.Choices, render.Clean(choice))
	}
	return s
}

// ended is the last iteration that ended.
type ended = projector.Iteration

// detail reads the state of a loop.
func (s *Server) detail(l registry.Status) (Detail, error) {
	loop, err := projector.Load(l.Dir)
	if err != nil {
		return Detail{}, err
	}
	return s.detailOf(l, loop.View()), nil
}

// detailOf joins what the registry and what the events say about a loop.
func (s *Server) detailOf(l registry.Status, v projector.View) Detail {
	if v.Seq > 0 {
		l.Head = v.Summary
		l.Died = !l.Live.Alive && !v.Status.Ended()
	}
	d := Detail{
		Loop: describe(s.env, []registry.Status{l})[0], Now: s.env.Now(), Doing: v.Doing, Until: v.Until,
		Ticked: v.Ticked, Boxes: v.Boxes, Iteration: v.Last, Agents: []string{}, Commands: v.Commands, Questions: []question{},
	}
	for _, q := range v.Questions {
		if q.Open() {
			d.Questions = append(d.Questions, questionOf(q))
		}
	}
	if v.Open && v.Story != nil && v.Story.ID != "" {
		d.Story = render.Clean(string(v.Story.Mode) + " " + v.Story.ID)
	}
	if v.Ended != nil {
		d.Why, d.Hint = render.Clean(v.Ended.Why), render.Clean(v.Ended.Hint)
	}
	for _, a := range v.Agents {
		d.Agents = append(d.Agents, a.Protocol)
	}
	if d.Commands == nil {
		d.Commands = []event.CommandReceived{}
	}
	return d
}
