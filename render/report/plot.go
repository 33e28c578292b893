package report

import (
	"fmt"
	"html"
	"html/template"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

// plot is one measure over the iterations.
type plot struct {
	Title string
	About string // what a bar is, for a person who does not see it
	Image template.HTML
}

// bar is one iteration, or several in a row.
type bar struct {
	from, to int // numbers of iterations
	value    float64
	unknown  bool // more than the value, or all of it, is not known
	failed   bool
	text     string // the value in words
}

// Size of a plot in its own units.
const (
	plotWidth  = 240
	plotHeight = 114
	plotTop    = 16
	plotBottom = 24
	barsMost   = 90
)

// measure says what a plot shows of an iteration.
type measure struct {
	title string
	of    func(*Iteration) (value float64, unknown bool)
	spell func(float64) string
	most  bool // several iterations in one bar: the largest, not the sum
}

var measures = []measure{
	{"Cost", func(i *Iteration) (float64, bool) { return dollars(i.Used), i.Used.USDAtLeast }, func(v float64) string { return units.Cost(&v) }, false},
	{"Tokens", func(i *Iteration) (float64, bool) { return float64(i.Used.Tokens()), i.Used.TokensAtLeast }, spellTokens, false},
	{"Context", func(i *Iteration) (float64, bool) { return float64(i.Context), i.Context == 0 }, spellTokens, true},
	{"Duration", func(i *Iteration) (float64, bool) { return float64(i.Took), false }, func(v float64) string { return Span(int64(v)) }, false},
}

func dollars(a Amount) float64 {
	if a.USD == nil {
		return 0
	}
	return *a.USD
}

func spellTokens(v float64) string { return units.Tokens(int64(v)) }

// plots returns the plots of a report; none for fewer than two iterations.
func (r *Report) plots() (all []plot) {
	if len(r.Done) < 2 {
		return nil
	}
	for _, m := range measures {
		if bars := m.bars(r.Done); differ(bars) {
			all = append(all, plot{m.title, describe(bars), image(m.title, bars, m.spell)})
		}
	}
	if p, ok := r.progress(); ok {
		all = append(all, p)
	}
	return all
}

// progress is the checklist where there is one, else whether files changed.
func (r *Report) progress() (plot, bool) {
	if r.Boxes > 0 {
		boxes := measure{"Progress: boxes ticked",
			func(i *Iteration) (float64, bool) { return float64(i.Ticked), false },
			func(v float64) string { return fmt.Sprintf("%.0f of %d", v, r.Boxes) }, true}
		bars := boxes.bars(r.Done)
		if !differ(bars) {
			return plot{}, false
		}
		return plot{boxes.title, describe(bars), image(boxes.title, bars, boxes.spell)}, true
	}
	if !r.Useful.Known {
		return plot{}, false
	}
	changed := measure{"Progress: files changed", func(i *Iteration) (float64, bool) {
		if i.Progress == "yes" {
			return 1, false
		}
		return 0, i.Progress == ""
	}, func(v float64) string {
		if v > 0 {
			return "yes"
		}
		return "no"
	}, true}
	bars := changed.bars(r.Done)
	if !differ(bars) {
		return plot{}, false
	}
	return plot{changed.title, describe(bars), image(changed.title, bars, changed.spell)}, true
}

// differ reports whether bars say something: some value is known, and not all are the same.
func differ(bars []bar) bool {
	some, same := false, true
	for _, b := range bars {
		some = some || b.value > 0
		same = same && b.value == bars[0].value && b.unknown == bars[0].unknown
	}
	return some && !same
}

// bars returns a bar for each iteration, or for several in a row where there are many.
func (m measure) bars(all []Iteration) (bars []bar) {
	each := (len(all) + barsMost - 1) / barsMost
	for n := range all {
		i := &all[n]
		if n%each == 0 {
			bars = append(bars, bar{from: i.N})
		}
		b := &bars[len(bars)-1]
		value, unknown := m.of(i)
		b.to, b.unknown, b.failed = i.N, b.unknown || unknown, b.failed || i.Outcome != "done"
		if b.value += value; m.most {
			b.value = max(b.value-value, value)
		}
	}
	for n := range bars {
		bars[n].text = bars[n].words(m.spell)
	}
	return bars
}

func (b bar) words(spell func(float64) string) string {
	said := fmt.Sprintf("iteration %d", b.from)
	if b.to != b.from {
		said = fmt.Sprintf("iterations %d to %d", b.from, b.to)
	}
	switch {
	case b.unknown && b.value == 0:
		said += ": unknown"
	case b.unknown:
		said += ": at least " + spell(b.value)
	default:
		said += ": " + spell(b.value)
	}
	if b.failed {
		said += ", did not end well"
	}
	return said
}

func describe(bars []bar) string {
	if bars[0].to != bars[0].from {
		return fmt.Sprintf("Each bar is %d iterations.", bars[0].to-bars[0].from+1)
	}
	return "Each bar is an iteration."
}

// image draws the bars. All of its text is escaped here; the rest are numbers and constants.
func image(title string, bars []bar, spell func(float64) string) template.HTML {
	highest := 0.0
	at := 0
	for i, b := range bars {
		if b.value > highest {
			highest, at = b.value, i
		}
	}
	label := title + " of " + units.Quantity(len(bars), "bar") + "."
	if highest > 0 {
		label += " The highest is " + bars[at].text + "."
	}
	var s strings.Builder
	fmt.Fprintf(&s, `<svg class="plot" viewBox="0 0 %d %d" role="img" aria-label="%s">`, plotWidth, plotHeight, html.EscapeString(label))
	base := float64(plotHeight - plotBottom)
	fmt.Fprintf(&s, `<line class="axis" x1="0" y1="%s" x2="%d" y2="%s"/>`, place(base), plotWidth, place(base))
	if highest > 0 {
		fmt.Fprintf(&s, `<text class="label" x="0" y="11">%s</text>`, html.EscapeString(spell(highest)))
	}
	step := min(float64(plotWidth)/float64(len(bars)), 30)
	for i, b := range bars {
		drawBar(&s, b, float64(i)*step, step, base, highest)
	}
	last := bars[len(bars)-1]
	fmt.Fprintf(&s, `<text class="label" x="0" y="%d">%d</text>`, plotHeight-2, bars[0].from)
	fmt.Fprintf(&s, `<text class="label end" x="%s" y="%d">%d</text>`, place(step*float64(len(bars))), plotHeight-2, last.to)
	s.WriteString("</svg>")
	return template.HTML(s.String()) //nolint:gosec // see above
}

// place is a coordinate or a length in a plot.
func place(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// drawBar draws one bar, which links to its iteration. What is not known is a dashed frame, and an
// iteration that did not end well has a mark below.
func drawBar(s *strings.Builder, b bar, x, step, base, highest float64) {
	height := 1.0
	if highest > 0 {
		height = max(1, b.value/highest*(base-plotTop))
	}
	class := "bar"
	if b.unknown {
		class = "bar unknown"
		height = max(height, 14)
	}
	gap := min(step*0.2, 3)
	fmt.Fprintf(s, `<a href="#iteration-%d"><title>%s</title><rect class="hit" x="%s" y="0" width="%s" height="%d"/>`,
		b.from, html.EscapeString(b.text), place(x), place(step), plotHeight)
	fmt.Fprintf(s, `<rect class="%s" x="%s" y="%s" width="%s" height="%s"/>`, class, place(x+gap/2), place(base-height), place(step-gap), place(height))
	if b.failed && step >= 3 {
		fmt.Fprintf(s, `<text class="mark" x="%s" y="%s">×</text>`, place(x+step/2), place(base+10))
	}
	s.WriteString("</a>")
}
