package policy

import "github.com/ralph-loop/ralph/journal/event"

// Reflection says whether the next iteration looks back: each reflect.every-th, and never the
// first, which has nothing to look back at. If its agent did not read its prompt, the next one
// looks back.
type Reflection struct {
	Last  int `json:"last,omitempty"`  // the last iteration that looked back
	Asked int `json:"asked,omitempty"` // the last iteration whose prompt asked for it
}

// Due reports whether iteration n looks back.
func (r *Reflection) Due(n int, rules event.Rules) bool {
	return rules.Reflect.Every > 0 && n > 1 && n-r.Last >= rules.Reflect.Every
}

// Apply folds one event. was is the loop before it.
func (r *Reflection) Apply(p event.Payload, was *Lifecycle) {
	switch p := p.(type) {
	case event.Decided:
		if p.Do == event.DoBegin && p.Reflect {
			r.Asked = p.Iteration
		}
	case event.IterationEnded:
		if p.N == r.Asked && !was.unread(p) {
			r.Last = p.N
		}
	}
}
