package policy

import "github.com/ralph-loop/ralph/journal/event"

// Reflection says whether the next iteration is one that looks back: each reflect.every-th, and never the first, which has
// nothing to look back at. One that was given back was not the one; the iteration that takes its place is.
type Reflection struct {
	Last  int `json:"last,omitempty"`  // the last iteration that looked back
	Asked int `json:"asked,omitempty"` // the last one that was asked to
}

// Due reports whether iteration n looks back.
func (p *Reflection) Due(n int, r event.Rules) bool {
	return r.ReflectEvery > 0 && n > 1 && n-p.Last >= r.ReflectEvery
}

// Apply folds one event.
func (p *Reflection) Apply(e event.Event) error {
	switch e.Type {
	case event.TypeDecided:
		d, err := event.As[event.Decided](e)
		if err != nil {
			return err
		}
		if d.Do == event.DoBegin && d.Reflect {
			p.Asked = d.Iteration
		}
	case event.TypeIterationEnded:
		ended, err := event.As[event.IterationEnded](e)
		if err != nil {
			return err
		}
		if ended.N == p.Asked && !ended.Refunded {
			p.Last = ended.N
		}
	}
	return nil
}
