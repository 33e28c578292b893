package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// sections are the tables of the page.
func sections(g group, all int) map[string]string {
	main := g.where(func(f facts) bool { return slices.Contains(mainArms, f.Arm) })
	calm := g.where(func(f facts) bool { return f.Rate == 0 })
	count := fmt.Sprintf("%d of %d trials were played; the figures are of the %d in complete blocks. In %d of the %d trials without faults the machine\n"+
		"was so busy that an agent dropped a request, and sent it again. The most expensive trial used $%.2f.",
		all, blocks*64, len(g), calm.count(func(f facts) bool { return f.late }), len(calm),
		slices.MaxFunc(g, func(a, b facts) int { return cmp.Compare(a.usd, b.usd) }).usd)
	return map[string]string{
		"count": count, "arms": armsTable(main), "faults": ratesTable(main) + kindsTable(main), "models": modelsTable(main),
		"differences": differencesTable(main), "ralph": ralphTable(g), "ablations": ablationsTable(g),
		"verdicts": verdicts(main, g), "limits": limitsTable(main),
	}
}

func seconds(of func(facts) int64) func(facts) float64 {
	return func(f facts) float64 { return float64(of(f)) / 1000 }
}

func wallOf(f facts) int64   { return f.wall.Milliseconds() }
func activeOf(f facts) int64 { return f.active.Milliseconds() }

func tokensOf(f facts) float64 { return float64(f.in + f.out) }
func usdOf(f facts) float64    { return f.usd }

// after is the mean of the tokens after the first success, of the trials that had one.
func (g group) after() float64 {
	early := g.where(func(f facts) bool { return f.early })
	return early.sum(func(f facts) float64 { return float64(f.after) }) / float64(len(early))
}

func armsTable(g group) string {
	t := &table{}
	t.head("arm", "verified", "false done", "mean gap", "protected files touched", "pass^5", "$ per verified", "tokens per verified", "tokens after success",
		"wall time s", "active s")
	for _, arm := range mainArms {
		a := g.arm(arm)
		said := a.where(func(f facts) bool { return f.said })
		verified := float64(a.count(facts.verified))
		t.row("`"+arm+"`", of(a.count(facts.verified), len(a.solvable())), of(a.count(facts.falseDone), len(a)),
			said.sum(func(f facts) float64 { return f.gap })/float64(len(said)), a.count(func(f facts) bool { return f.protected }), a.passAll(5),
			a.sum(usdOf)/verified, a.sum(tokensOf)/verified, a.after(), a.median(seconds(wallOf)), a.median(seconds(activeOf)))
	}
	return t.String()
}

func ratesTable(g group) string {
	t := &table{}
	t.head("arm", "verified, λ = 0", "λ = 0.05", "λ = 0.2", "false done, λ = 0", "λ = 0.05", "λ = 0.2", "with a fault: verified",
		"a person had to come")
	for _, arm := range mainArms {
		a := g.arm(arm)
		cells := []any{"`" + arm + "`"}
		for _, measured := range []struct {
			of  group
			has func(facts) bool
		}{{a.solvable(), facts.verified}, {a, facts.falseDone}} {
			for _, rate := range rates {
				at := measured.of.where(func(f facts) bool { return f.Rate == rate })
				cells = append(cells, of(at.count(measured.has), len(at)))
			}
		}
		met := a.solvable().where(func(f facts) bool { return len(f.faults) > 0 })
		t.row(append(cells, of(met.count(facts.verified), len(met)), a.total(func(f facts) int { return f.persons }))...)
	}
	return t.String()
}

// A measure is a row of a table with a column for each main arm.
type measure struct {
	name string
	cell func(arm group) string
}

func (g group) cross(title string, rows []measure) string {
	t := &table{}
	cells := []any{title}
	for _, arm := range mainArms {
		cells = append(cells, "`"+arm+"`")
	}
	t.head(cells...)
	for _, row := range rows {
		cells := []any{row.name}
		for _, arm := range mainArms {
			cells = append(cells, row.cell(g.arm(arm)))
		}
		t.row(cells...)
	}
	return t.String()
}

func kindsTable(g group) string {
	var rows []measure
	for _, kind := range faults {
		rows = append(rows, measure{"`" + kind + "`", func(arm group) string {
			met := arm.solvable().where(func(f facts) bool { return slices.Contains(f.faults, kind) })
			return of(met.count(facts.verified), len(met))
		}})
	}
	return g.cross("fault", rows)
}

func modelsTable(g group) string {
	var rows []measure
	for _, model := range models {
		rows = append(rows, measure{"`" + model + "`", func(arm group) string {
			a := arm.where(func(f facts) bool { return f.Model == model })
			return fmt.Sprintf("%d + %d of %d", a.count(facts.verified), a.count(facts.falseDone), len(a))
		}})
	}
	return g.cross("model", rows)
}

// limitsTable has what ralph is not better at, and what its lead depends on.
func limitsTable(g group) string {
	said := func(keep func(facts) bool) func(group) string {
		return func(arm group) string {
			a := arm.where(keep)
			return of(a.count(func(f facts) bool { return f.said }), len(a))
		}
	}
	easy := func(f facts) bool { return f.Model != "looping" && f.solvable() }
	return g.cross("", []measure{
		{"says done, rightly or not: λ = 0", said(func(f facts) bool { return f.Rate == 0 })},
		{"λ = 0.05", said(func(f facts) bool { return f.Rate == 0.05 })},
		{"λ = 0.2", said(func(f facts) bool { return f.Rate == 0.2 })},
		{"λ above 0, `honest` and `forgetful`, solvable tasks", said(func(f facts) bool {
			return f.Rate > 0 && (f.Model == "honest" || f.Model == "forgetful") && f.solvable()
		})},
		{"of the task that is already done", said(func(f facts) bool { return f.Task == "done" })},
		{"of the impossible task", said(func(f facts) bool { return !f.solvable() })},
		{"ended by the bound of money or time", func(arm group) string {
			return of(arm.count(func(f facts) bool { return f.end == "money" || f.end == "time" }), len(arm))
		}},
		{"$ for a trial of the looping model", func(arm group) string {
			a := arm.where(func(f facts) bool { return f.Model == "looping" })
			return shortNumber(a.sum(usdOf) / float64(len(a)))
		}},
		{"$ per verified task, without that model and the impossible task", func(arm group) string {
			a := arm.where(easy)
			return shortNumber(a.sum(usdOf) / float64(a.count(facts.verified)))
		}},
		{"tokens of a request, median of trials", func(arm group) string {
			return shortNumber(arm.median(func(f facts) float64 { return tokensOf(f) / float64(max(1, f.answers)) }))
		}},
		{"wall time, mean s", func(arm group) string {
			return shortNumber(arm.sum(seconds(wallOf)) / float64(len(arm)))
		}},
	})
}

func differencesTable(g group) string {
	t := &table{}
	t.head("`heldout` less", "verified, points", "false done, points")
	for _, arm := range mainArms[:4] {
		t.row("`"+arm+"`", g.solvable().compare("heldout", arm, facts.verified), g.compare("heldout", arm, facts.falseDone))
	}
	return t.String()
}

func ablationsTable(g group) string {
	t := &table{}
	t.head("arm", "verified", "false done", "waits for a person", "$ per verified", "tokens after success", "refusals")
	for _, arm := range append([]string{"heldout"}, ablations...) {
		a := g.arm(arm).where(func(f facts) bool { return ablated[f.Task] })
		t.row("`"+arm+"`", of(a.count(facts.verified), len(a)), of(a.count(facts.falseDone), len(a)), a.count(func(f facts) bool { return f.end == "person" }),
			a.sum(usdOf)/float64(a.count(facts.verified)), a.after(), a.total(func(f facts) int { return f.refusals }))
	}
	return t.String()
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
		t.row("`"+arm+"`", a.total(func(f facts) int { return f.iterations }), a.total(func(f facts) int { return f.refusals }),
			a.total(func(f facts) int { return f.unread }),
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
