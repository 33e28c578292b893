package why

import (
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// An Answer explains one event.
type Answer struct {
	Loop     string `json:"loop"`
	Question string `json:"question"`
	Answer   string `json:"answer"`
	// Event is what is explained; nil for a loop whose runner died.
	Event *Note `json:"event,omitempty"`
	// Rule is the row of the table of rules that decided; empty if no rule decided the event.
	Rule string `json:"rule,omitempty"`
	// Differs says that today's rules decide something else, so that the rule is unknown.
	Differs bool `json:"differs,omitempty"`
	// Settings are those that the rule depends on, as they were then.
	Settings []Setting `json:"settings,omitempty"`
	// Facts are the events that it was decided from, oldest first.
	Facts []Note `json:"facts,omitempty"`
	// Left is how many further facts there are, before the first one shown.
	Left int `json:"left,omitempty"`
	// Chain leads from the event to its causes, the nearest first.
	Chain []Note `json:"chain,omitempty"`
	// Outcome are the events that name it as their cause, up to outcomeMost.
	Outcome []Note `json:"outcome,omitempty"`
	Hint    string `json:"hint,omitempty"`
}

// A Note is an event in words.
type Note struct {
	Seq       event.Seq  `json:"seq"`
	At        time.Time  `json:"at"`
	Iteration int        `json:"iteration"`
	Type      event.Type `json:"type"`
	Text      string     `json:"text"`
	Rule      string     `json:"rule,omitempty"` // that decided it
}

// A Setting is a value at the time of a decision.
type Setting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	// From is a file with its line, a variable, the command line, or the person who changed it
	// while the loop ran; empty for a built-in value.
	From string    `json:"from,omitempty"`
	Seq  event.Seq `json:"seq,omitempty"` // of the event since which it has this value
}

const (
	factsMost   = 12
	outcomeMost = 6
	chainMost   = 8
)
