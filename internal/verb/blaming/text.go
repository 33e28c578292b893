package blaming

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/render"
)

const (
	whoColumns = 20 // of the names before the lines
	indent     = "    "
	shortSHA   = 10
)

// text is the answer for a person: the lines with who wrote them, then what is known of each.
func (a *Answer) text(lines []string, o render.Options, now time.Time) []byte {
	var out bytes.Buffer
	last := 0
	if n := len(a.Ranges); n > 0 {
		last = a.Ranges[n-1].To
	}
	digits := len(fmt.Sprint(last))
	var told []string
	width := func(prefix string) int {
		if o.Width <= 0 {
			return -1 // no line is broken
		}
		return o.Width - len(prefix)
	}
	var legend bytes.Buffer
	for _, r := range a.Ranges {
		for at := r.From; at <= r.To; at++ {
			row := fmt.Sprintf("%-*s %*d  %s", whoColumns, units.Cut(r.who(), whoColumns), digits, at, render.CleanText(lines[at-1]))
			fmt.Fprintln(&out, strings.TrimRight(row, " "))
		}
		about := r.about(now)
		if key := strings.Join(about, "\n"); !slices.Contains(told, key) {
			told = append(told, key)
			fmt.Fprintln(&legend)
			for i, line := range about {
				prefix := indent
				if i == 0 {
					prefix = ""
				}
				for _, row := range cli.Wrapped(line, width(prefix)) {
					fmt.Fprintln(&legend, prefix+row)
				}
			}
		}
	}
	out.Write(legend.Bytes())
	if a.Unknown > 0 {
		fmt.Fprintf(&out, "\nunknown: %s of %d\n", units.Quantity(a.Unknown, "line"), a.count())
	}
	for _, name := range a.Unread {
		fmt.Fprintf(&out, "the journal of loop %s cannot be read to its end: its lines may be unknown\n", render.Clean(name))
	}
	return out.Bytes()
}

func (a *Answer) count() (n int) {
	for _, r := range a.Ranges {
		n += r.To - r.From + 1
	}
	return n
}

// who is the short name before the lines.
func (o Origin) who() string {
	switch {
	case o.By == byUnknown:
		return "?"
	case o.Loop != nil:
		return fmt.Sprintf("%s/%d", o.Loop.Name, o.Loop.Iteration)
	case o.Trace != nil:
		return "trace: " + o.Trace.Contributor
	case o.Commit != nil && o.How == "git":
		return units.Prefix(o.Commit.SHA, shortSHA) + " " + o.Commit.Author
	}
	return "not by a loop"
}

// about is what is known, for the part below the lines; the first line names it.
func (o Origin) about(now time.Time) (lines []string) {
	switch {
	case o.By == byUnknown:
		lines = append(lines, "?: not known: written "+o.Why)
	case o.Loop != nil:
		lines = o.Loop.about(o)
	case o.Trace != nil:
		said := "trace: a record of Agent Trace says: " + o.Trace.Contributor
		for _, more := range []string{o.Trace.Model, o.Trace.Tool, o.Trace.URL} {
			if more != "" {
				said += ", " + more
			}
		}
		lines = append(lines, said)
	case o.How != "git":
		lines = append(lines, "not by a loop: "+o.Why+", by a person or another program")
	}
	if o.Commit != nil {
		c := o.Commit
		text := fmt.Sprintf("%s %s <%s>, %s: %s", units.Prefix(c.SHA, shortSHA), c.Author, c.Email, cli.Clock(c.At, now), c.Subject)
		if len(lines) > 0 {
			text = "in " + text
		}
		lines = append(lines, text)
	}
	return lines
}

func (l *LoopPart) about(o Origin) (lines []string) {
	first := fmt.Sprintf("%s/%d: iteration %d of loop %s, #%d", l.Name, l.Iteration, l.Iteration, l.Name, l.Seq)
	if o.By == byNote {
		first += ", as a note says; its journal is not here"
	}
	lines = append(lines, first)
	by := strings.Join(l.Models, ", ")
	if l.Agent != "" && by != "" {
		by = l.Agent + " (" + by + ")"
	} else if by == "" {
		by = l.Agent
	}
	if by != "" {
		lines = append(lines, "by "+by+", "+cost(l.USD))
	}
	if l.Prompt != "" {
		lines = append(lines, "prompt: "+l.Prompt)
	}
	for _, reason := range l.Because {
		lines = append(lines, "after "+reason)
	}
	for _, c := range l.Checks {
		if c.OK {
			lines = append(lines, "passed: "+render.Clean(c.Name))
		} else {
			lines = append(lines, "failed: "+render.Clean(c.Name))
		}
	}
	return lines
}

func cost(usd *float64) string {
	if usd == nil {
		return "cost unknown"
	}
	return units.Cost(usd)
}
