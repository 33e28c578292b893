package report

import (
	"cmp"
	"fmt"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render/phrase"
)

// Fault is something that went wrong in an iteration, with the event that says so.
type Fault struct {
	N    int
	Text string
	Seq  event.Seq
}

// faultsMost is how many faults are listed.
const faultsMost = 50

// Faults are what went wrong, the latest iteration first.
func (p page) Faults() (all []Fault) {
	iterations := p.Iterations()
	for n := len(iterations) - 1; n >= 0; n-- {
		i := &iterations[n]
		add := func(text string, seq event.Seq) {
			if len(all) < faultsMost {
				all = append(all, Fault{i.N, text, seq})
			}
		}
		for _, problem := range i.Problems {
			add(problem.Text, problem.Seq)
		}
		for _, c := range i.Checks {
			if !c.OK {
				add("guardrail "+c.Name+" "+c.How, c.Seq)
			}
		}
		for _, missing := range i.Refused {
			add(refused(missing), i.Last)
		}
		if i.Unkept != "" {
			add("not committed: "+i.Unkept, i.Last)
		}
		if i.Outcome != event.OutcomeDone && i.Outcome != "" && len(i.Problems) == 0 {
			add(cmp.Or(i.Error, "it ended: "+string(i.Outcome)), i.Last)
		}
	}
	return all
}

// refused says that a claim was refused, and why.
func refused(missing ...string) string {
	return phrase.Of(event.CompletionRefused{Missing: missing}, phrase.Known{}).Line()
}

// Place is the name of the place on the page that shows an event: of an iteration that is a summary
// only, the whole of it.
func (p page) Place(seq event.Seq) string {
	for _, i := range p.Iterations() {
		if i.First <= seq && seq <= i.Last && !p.full[i.N] {
			return fmt.Sprintf("iteration-%d", i.N)
		}
	}
	return seq.String()
}
