package policy

import "github.com/ralph-loop/ralph/journal/event"

// Ownership says which host of a pool has the loop. A loop that is in no pool has epoch 1.
type Ownership struct {
	// Moved is the epoch of the last take-over; 0 for a loop that is where it began.
	Moved uint64 `json:"moved,omitempty"`
	// Fenced says which host has the loop now; nil while it is the one of this journal. Nothing
	// takes it back: the journal on that host is another one since then.
	Fenced *event.LoopFenced `json:"fenced,omitempty"`
}

// Apply folds one event.
func (o *Ownership) Apply(p event.Payload) {
	switch p := p.(type) {
	case event.LoopMoved:
		o.Moved = p.Epoch
	case event.LoopFenced:
		p.Host = firstBytes(p.Host, nameMost)
		o.Fenced = &p
	}
}

// Epoch counts the hosts that the loop has had, up to the one of this journal, from 1.
func (o *Ownership) Epoch() uint64 { return max(1, o.Moved) }

// Elsewhere returns the host that has the loop now; empty while it is the one of this journal.
func (o *Ownership) Elsewhere() string {
	if o.Fenced == nil {
		return ""
	}
	return o.Fenced.Host
}
