package report

import (
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// Overview says what many loops came to since a moment.
type Overview struct {
	Since time.Time `json:"since"`
	At    time.Time `json:"at"`
	Loops []Line    `json:"loops"` // in the order of a list
	Older int       `json:"older"` // loops that did nothing since then, and are left out
	// OlderNeed counts those of them that need a person.
	OlderNeed int    `json:"olderNeed"`
	Used      Amount `json:"used"` // by all loops since then
	Days      []Day  `json:"days"`
}

// Line is what one loop came to.
type Line struct {
	Name       string       `json:"name"` // how a person here names it
	Project    string       `json:"project"`
	Group      string       `json:"group"` // needs you, working, ended, gone or damaged
	Status     event.Status `json:"status"`
	Reason     event.Reason `json:"reason,omitempty"`
	Died       bool         `json:"died"` // its runner died
	Sentence   string       `json:"sentence"`
	Needs      []Need       `json:"needs,omitempty"`
	Started    time.Time    `json:"started"`
	At         time.Time    `json:"at"` // of its last event
	Ended      bool         `json:"ended"`
	Iterations int          `json:"iterations"`
	Used       Amount       `json:"used"`  // since the moment
	Total      Amount       `json:"total"` // since it began
	Report     string       `json:"report,omitempty"`
	Problem    string       `json:"problem,omitempty"` // why it cannot be read
}

// Add takes in the report of a loop whose days begin at the moment Since.
func (o *Overview) Add(l Line, r *Report) {
	l.Status, l.Reason, l.Sentence, l.Needs = r.Status, r.Reason, r.Sentence, r.Needs
	l.Started, l.At, l.Ended, l.Died, l.Iterations, l.Total = r.Started, r.At, r.Status.Ended(), r.Died, r.Begun, r.Used
	l.Used = Amount{}
	for _, d := range r.Days {
		l.Used.add(d.Used)
		i := slices.IndexFunc(o.Days, func(have Day) bool { return have.Date == d.Date && have.Agent == d.Agent && have.Model == d.Model })
		if i < 0 {
			i = len(o.Days)
			o.Days = append(o.Days, Day{Date: d.Date, Agent: d.Agent, Model: d.Model})
		}
		o.Days[i].Used.add(d.Used)
	}
	if r.Damage != "" {
		l.Used.USDAtLeast, l.Used.TokensAtLeast = true, true
	}
	o.Used.add(l.Used)
	o.Loops = append(o.Loops, l)
}

// Sort orders days by their date.
func (o *Overview) Sort() {
	slices.SortStableFunc(o.Days, func(a, b Day) int { return strings.Compare(a.Date, b.Date) })
}

// groups are the groups of a page in its order.
var groups = []struct{ Name, Title string }{
	{"needs you", "Needs you"}, {"damaged", "Damaged"}, {"working", "Works now"}, {"ended", "Ended"}, {"gone", "Gone"},
}

// Sentence says how many loops there are in each group.
func (o *Overview) Sentence() string {
	var parts []string
	for _, g := range groups {
		if n := len(o.in(g.Name)); n > 0 {
			parts = append(parts, units.Quantity(n, "loop")+" "+verb(g.Name, n))
		}
	}
	if len(parts) == 0 {
		return "No loop did anything."
	}
	return strings.Join(parts, ", ") + "; together " + o.Used.Cost() + " for " + o.Used.Counted() + " tokens."
}

func verb(group string, n int) string {
	one := n == 1
	switch group {
	case "needs you":
		if one {
			return "needs you"
		}
		return "need you"
	case "working":
		if one {
			return "works"
		}
		return "work"
	case "ended":
		return "ended"
	}
	if one {
		return "is " + group
	}
	return "are " + group
}

func (o *Overview) in(group string) (lines []Line) {
	for _, l := range o.Loops {
		if l.Group == group {
			lines = append(lines, l)
		}
	}
	return lines
}

// overview is what the template reads.
type overview struct {
	head
	*Overview

	location *time.Location
}

// Part is one group of loops.
type Part struct {
	Title string
	Loops []Line
}

// Parts are the groups that have loops.
func (v overview) Parts() (parts []Part) {
	for _, g := range groups {
		if lines := v.in(g.Name); len(lines) > 0 {
			parts = append(parts, Part{g.Title, lines})
		}
	}
	return parts
}

// Clock is a moment for a person.
func (v overview) Clock(at time.Time) string { return clock(at, v.location) }

// PerDay is what was used on each day.
func (v overview) PerDay() []Day { return PerDay(v.Days) }

// Spent is what was used by agent and model.
func (v overview) Spent() []Spent { return ByAgent(v.Days) }

// OverviewHTML writes the page of all loops. Times of day are those of the location.
func OverviewHTML(w io.Writer, o *Overview, in *time.Location) error {
	return templates().ExecuteTemplate(w, "overview", overview{newHead("All loops: report"), o, in})
}

// OverviewMarkdown writes the report of all loops as text.
func OverviewMarkdown(w io.Writer, o *Overview, in *time.Location) error {
	t := &document{}
	t.add("# All loops since %s\n\n%s\n", clock(o.Since, in), plain(o.Sentence()))
	for _, part := range (overview{Overview: o}).Parts() {
		t.add("\n## %s\n\n", part.Title)
		for _, l := range part.Loops {
			t.add("- **%s** %s", plain(l.Name), plain(l.Sentence))
			if l.Problem != "" {
				t.add(" %s", plain(l.Problem))
			}
			t.add("\n  Cost %s since then, %s in all", l.Used.Cost(), l.Total.Cost())
			if l.Report != "" {
				t.add("; `%s`", l.Report)
			}
			t.add("\n")
			for _, n := range l.Needs {
				t.add("  - %s", plain(n.What))
				if n.Command != "" {
					t.add(" `%s`", n.Command)
				}
				t.add("\n")
			}
		}
	}
	if days := PerDay(o.Days); len(days) > 0 {
		t.add("\n## By day\n\n| day | cost | tokens |\n|---|---|---|\n")
		for _, d := range days {
			t.add("| %s | %s | %s |\n", d.Date, d.Used.Cost(), d.Used.Counted())
		}
	}
	t.spent(ByAgent(o.Days))
	if o.Older > 0 {
		t.add("\n%s\n", o.Left())
	}
	_, err := w.Write(t.Bytes())
	return err
}

// Left says which loops are left out.
func (o *Overview) Left() string {
	said := units.Quantity(o.Older, "loop") + " did nothing since then"
	if o.OlderNeed > 0 {
		said += "; " + units.Quantity(o.OlderNeed, "loop") + " of them " + verb("needs you", o.OlderNeed)
	}
	return said + ": ralph list --all"
}
