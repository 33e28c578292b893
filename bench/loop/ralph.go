package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// overheads of all iterations, sorted.
func (g group) overheads() []time.Duration {
	var all []time.Duration
	for _, f := range g {
		all = append(all, f.overhead...)
	}
	slices.Sort(all)
	return all
}

// quantile returns a value of sorted ones; 0 without any.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[int(q*float64(len(sorted)-1))]
}

// ralphTable has what ralph's own journals say.
func ralphTable(g group) string {
	t := &table{}
	t.head("arm", "iterations", "refused claims", "agents without the refusal before them", "overhead per iteration, median ms",
		"95th percentile ms", "money that its journal lacks", "ended for a person")
	for _, arm := range append([]string{"visible", "heldout"}, ablations...) {
		a := g.arm(arm)
		over := a.overheads()
		known := a.sum(func(f facts) float64 { return f.known })
		iterations := a.sum(func(f facts) float64 { return float64(f.iterations) })
		refusals := a.sum(func(f facts) float64 { return float64(f.refusals) })
		unread := a.sum(func(f facts) float64 { return float64(f.unread) })
		t.row("`"+arm+"`", int(iterations), int(refusals), int(unread),
			quantile(over, 0.5).Milliseconds(), quantile(over, 0.95).Milliseconds(), fmt.Sprintf("%.1f%%", 100*(1-known/a.sum(usdOf))),
			a.count(func(f facts) bool { return f.end == "person" }))
	}
	t.head("grade of a done of `heldout`", "dones", "of them false")
	for _, grade := range []event.Grade{event.GradeStrong, event.GradeFair, event.GradeWeak, event.GradeNone} {
		a := g.arm("heldout").where(func(f facts) bool { return f.said && f.grade == grade })
		t.row(string(grade), len(a), a.count(facts.falseDone))
	}
	return t.String()
}

// verdicts answers what the plan says would count against ralph.
func verdicts(g, all group) string {
	heldout, while := g.arm("heldout"), g.arm("while")
	falseDone := g.compare("heldout", "while", facts.falseDone)
	at := func(a group, rate float64) int {
		return a.count(func(f facts) bool { return f.Rate == rate && f.verified() })
	}
	cost := func(a group) float64 { return a.sum(usdOf) / float64(a.count(facts.verified)) }
	both := g.where(func(f facts) bool { return f.Arm == "visible" || f.Arm == "heldout" })
	over := quantile(both.overheads(), 0.5)
	said := func(task string) (n, of int) {
		a := heldout.where(func(f facts) bool { return f.Task == task })
		return a.count(func(f facts) bool { return f.said }), len(a)
	}
	impossible, tried := said("impossible")
	done, begun := said("done")
	ofBoth := func(arm string) int {
		return all.arm(arm).count(func(f facts) bool { return ablated[f.Task] && f.verified() })
	}
	var b strings.Builder
	b.WriteString("\n")
	for i, c := range []struct {
		against bool
		text    string
	}{
		{falseDone.high >= 0, fmt.Sprintf("False done of `heldout` less that of `while`: %s points.", falseDone)},
		{at(heldout, 0) < at(while, 0), fmt.Sprintf("Verified at λ = 0: `heldout` %d, `while` %d.", at(heldout, 0), at(while, 0))},
		{at(heldout, 0.2) < at(while, 0.2), fmt.Sprintf("Verified at λ = 0.2: `heldout` %d, `while` %d.", at(heldout, 0.2), at(while, 0.2))},
		{cost(heldout) > 1.5*cost(while), fmt.Sprintf("Money per verified task: `heldout` $%.3f, `while` $%.3f.", cost(heldout), cost(while))},
		{heldout.after() > while.after(), fmt.Sprintf("Tokens after the first success: `heldout` %.0f, `while` %.0f.", heldout.after(), while.after())},
		{over > time.Second/2, fmt.Sprintf("Median overhead per iteration: %d ms.", over.Milliseconds())},
		{impossible > 0 || done < begun, fmt.Sprintf("`heldout` says done: of the impossible task %d of %d times, of the one already done %d of %d.", impossible, tried, done, begun)},
		{ofBoth("same") >= ofBoth("heldout") || ofBoth("mute") >= ofBoth("heldout"), fmt.Sprintf("Verified of the two tasks of the ablations: `heldout` %d, `same` %d, `mute` %d.",
			ofBoth("heldout"), ofBoth("same"), ofBoth("mute"))},
	} {
		word := "Does not count against ralph."
		if c.against {
			word = "**Counts against ralph.**"
		}
		fmt.Fprintf(&b, "%d. %s %s\n", i+1, c.text, word)
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
