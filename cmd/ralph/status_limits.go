package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/units"
	"github.com/ralph-loop/ralph/render"
)

// What a loop has used, and how much it may.

func (d *details) account() {
	b := &d.Budget
	d.add("used", "%s · %s · %s", b.Count().Iterations(), render.Span(b.Ran()), render.Usage(b.Used()))
	for i := range b.Agents {
		if len(b.Rules.Agents) < 2 {
			break // it was resumed with one, whose share nobody keeps
		}
		s := &b.Agents[i]
		d.add("", "%s: %s · %s", s.Name, s.Count().Iterations(), render.Usage(s.Spent()))
	}
	for i, limit := range b.Warned {
		d.add(map[bool]string{true: "warned"}[i == 0], "%s", d.warning(limit))
	}
}

// warning says how near a limit is that was warned of.
func (d *details) warning(limit string) string {
	b, r := &d.Budget, &d.Budget.Rules
	used := b.Used()
	switch limit {
	case "limits.cost":
		if !d.Life.Process.Costs || used.USD == nil {
			return limit + ": not all costs are reported, and what is not reported cannot stop the loop"
		}
		return fmt.Sprintf("%s: %s of %s", limit, render.Cost(used.USD), render.Cost(&r.LimitCost))
	case "limits.tokens":
		if d.Life.Process.Uncounted || used.TokensUnknown {
			return limit + ": not all tokens are reported, and what is not reported cannot stop the loop"
		}
		return fmt.Sprintf("%s: %s of %s", limit, render.Tokens(used.Tokens()), render.Tokens(r.LimitTokens))
	case "limits.duration":
		return fmt.Sprintf("%s: %s of %s", limit, render.Span(b.Ran()), render.Span(time.Duration(r.LimitDuration)*time.Millisecond))
	case "maximumIterations":
		return fmt.Sprintf("%s: %d of %d", limit, b.Counted, r.MaximumIterations)
	}
	return limit + " is near"
}

func (d *details) limits() {
	r := d.Budget.Rules
	var parts []string
	if r.MaximumIterations > 0 {
		parts = append(parts, quantity(r.MaximumIterations, "iteration"))
	}
	money := func(usd float64, of string) {
		if usd > 0 {
			parts = append(parts, render.Cost(&usd)+of)
		}
	}
	tokens := func(n int64, of string) {
		if n > 0 {
			parts = append(parts, render.Tokens(n)+" tokens"+of)
		}
	}
	money(r.LimitCost, "")
	tokens(r.LimitTokens, "")
	money(r.IterationCost, " an iteration")
	tokens(r.IterationTokens, " an iteration")
	for _, l := range []struct {
		name string
		ms   int64
	}{
		{"duration", r.LimitDuration}, {"iteration", r.IterationLimit}, {"idle", r.IdleAfter}, {"tool", r.ToolIdleAfter},
		{"afterResult", r.AfterResult}, {"outage", r.OutageLimit},
	} {
		if l.ms > 0 {
			parts = append(parts, l.name+" "+setting(l.ms))
		}
	}
	d.add("limits", "%s", strings.Join(parts, ", "))
	d.stops()
}

// setting spells milliseconds as a setting has them.
func setting(ms int64) string { return units.Plain(time.Duration(ms) * time.Millisecond) }

// stops: what ends the loop besides those limits.
func (d *details) stops() {
	r := d.Budget.Rules
	var parts []string
	for _, l := range []struct {
		most int
		what string
	}{
		{r.NoProgress, "%s without progress"}, {r.SameError, "%s with the same error"},
	} {
		if l.most > 0 {
			parts = append(parts, fmt.Sprintf(l.what, quantity(l.most, "iteration")))
		}
	}
	if r.RestartMax > 0 {
		parts = append(parts, "more than "+quantity(r.RestartMax, "failure")+" in a row")
	}
	if len(parts) > 0 {
		d.add("ends at", "%s", strings.Join(parts, ", "))
	}
}
