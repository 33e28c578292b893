package proving

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/phrase"
)

// progress says how far a proof is: on a terminal in one line that changes, else a line for each
// kind of trial.
type progress struct {
	e       *cli.Env
	most    int // mutants
	mutants int // done
	said    string
}

func (p *progress) count(t event.ProofTried) {
	if t.Mutant != nil {
		p.mutants++
	}
}

func (p *progress) started(t event.ProofTried, mutants int) {
	p.say(phrase.Of(t, phrase.Known{}).Text, t.Mutant != nil, mutants)
}

func (p *progress) say(what string, isMutant bool, mutants int) {
	if !cli.OnTerminal(p.e.Stderr) {
		if isMutant {
			what = "tried on " + units.Quantity(mutants, "mutant") + " of the lines that changed"
		}
		if what != p.said {
			cli.Tell(p.e.Stderr, "%s", what)
		}
		p.said = what
		return
	}
	if isMutant {
		what = fmt.Sprintf("%d of %d: %s", p.mutants+1, mutants, cli.Clean(what))
	}
	columns, _ := p.e.Size()
	p.said = what
	fmt.Fprintf(p.e.Stderr, "\r\x1b[Kralph: %s", units.Cut(what, max(columns-len("ralph: ")-1, 1)))
}

// clear removes the line from a terminal.
func (p *progress) clear() {
	if p.said != "" && cli.OnTerminal(p.e.Stderr) {
		fmt.Fprint(p.e.Stderr, "\r\x1b[K")
	}
}

// print prints what a proof came to.
func (p Prove) print(e *cli.Env, s subject, strength event.Strength) error {
	if p.JSON {
		return cli.PrintJSON(e.Stdout, Result{Strength: strength, Name: s.name, HeldOut: strength.HeldOut, Mutants: strength.Mutants}, "")
	}
	return cli.Buffered(e.Stdout, func(w io.Writer) error { return write(w, strength) })
}

// write writes a strength for a person: the guardrails, what to read, and what it is worth.
func write(w io.Writer, s event.Strength) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, g := range s.Guardrails {
		fmt.Fprintf(table, "%s\t%s\t%s\n", cli.Clean(units.Cut(g.Command, maxCommand)), g.Verdict, cli.Clean(g.At))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, g := range s.Guardrails {
		if g.Log != "" {
			fmt.Fprintf(w, "\n%s fails in a fresh work tree of the claimed state:\n%s  all of it: %s\n",
				cli.Clean(units.Cut(g.Command, maxCommand)), marked("    ", cmp.Or(g.Output, "(it printed nothing)")), cli.Clean(g.Log))
		}
	}
	if m := s.Mutants; m.Tried > 0 {
		fmt.Fprintf(w, "mutants: %d noticed, %d survived, %d invalid, of %d\n", m.Killed, m.Survived, m.Invalid, m.Tried)
	}
	if c := s.HeldOut; c.Passed+c.Failed > 0 {
		fmt.Fprintf(w, "held out: %d passed, %d failed\n", c.Passed, c.Failed)
	}
	for i, m := range s.Survivors {
		if i == 0 {
			fmt.Fprint(w, "\nno guardrail noticed these changes:\n")
		}
		fmt.Fprintf(w, "\n%s:%d  %s\n%s%s", cli.Clean(m.File), m.Line, m.Operator, marked("-", m.Was), marked("+", m.Now))
	}
	for i, f := range s.Facts {
		if i == 0 {
			fmt.Fprint(w, "\nworth reading:\n")
		}
		fmt.Fprintf(w, "  %s%s\n", where(f), cli.Clean(f.Text))
	}
	fmt.Fprintf(w, "\nstrength: %s\n", s.Grade)
	for _, why := range s.Why {
		fmt.Fprintf(w, "  %s\n", cli.Clean(why))
	}
	if s.Cut {
		fmt.Fprint(w, "the time was over before all was tried: the same command continues\n")
	}
	return nil
}

const (
	// maxCommand bounds a command in the table, in characters, and maxLines a part of a survivor.
	maxCommand = 60
	maxLines   = 8
)

// marked writes the lines of a part of a difference. An empty text has none.
func marked(mark, text string) string {
	if text == "" {
		return ""
	}
	var b strings.Builder
	lines := strings.Split(text, "\n")
	for _, line := range lines[:min(len(lines), maxLines)] {
		fmt.Fprintf(&b, "%s%s\n", mark, string(render.CleanText(line)))
	}
	if more := len(lines) - maxLines; more > 0 {
		fmt.Fprintf(&b, "%s … and %s more\n", mark, units.Quantity(more, "line"))
	}
	return b.String()
}

// where names the place of a fact.
func where(f event.GamingFact) string {
	switch {
	case f.File == "":
		return ""
	case f.Line == 0:
		return cli.Clean(f.File) + ": "
	}
	return fmt.Sprintf("%s:%d: ", cli.Clean(f.File), f.Line)
}
