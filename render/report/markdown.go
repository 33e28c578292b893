package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/render/phrase"
	"github.com/ralph-loop/ralph/render/reading"
)

// Markdown writes the report of a loop as text, without what was said in it. Times of day are those
// of the location.
func Markdown(w io.Writer, r *Report, in *time.Location) error {
	t := &document{}
	t.add("# %s: %s\n\n%s\n", plain(r.Name), r.State(), plain(r.Sentence))
	t.reading(r.Reading)
	t.needs("## Needs a person", r.Needs)
	t.short(r, in)
	t.stories(r.Plan)
	t.work(r)
	t.iterations(r)
	t.failing(r)
	t.spent(ByAgent(r.Days))
	_, err := w.Write(t.Bytes())
	return err
}

// document is a text in Markdown.
type document struct{ bytes.Buffer }

func (t *document) add(format string, args ...any) { fmt.Fprintf(t, format, args...) }

// reading is what a person has to read, in order.
func (t *document) reading(l *reading.List) {
	if l == nil {
		return
	}
	t.add("\n## What to read\n\n%s.\n", capital(l.String()))
	if l.Compared != "" {
		t.add("%s\n", plain(l.Compared))
	}
	for _, g := range l.Groups() {
		t.add("\n### %s\n\n", g.Title)
		for _, item := range g.Items {
			t.add("- %s: %s\n  %s\n", plain(item.Place()), plain(item.Why()), code(item.Command))
			for _, file := range item.Files {
				t.add("  - %s\n", plain(file))
			}
			if item.Diff != "" {
				fence := fenceFor(item.Diff)
				t.add("\n  %sdiff\n  %s\n  %s\n\n", fence, strings.ReplaceAll(item.Diff, "\n", "\n  "), fence)
			}
		}
	}
	if l.Unknown != "" {
		t.add("\nWhich files changed is not known: %s.\n", plain(l.Unknown))
	}
}

func (t *document) needs(title string, needs []Need) {
	if len(needs) == 0 {
		return
	}
	t.add("\n%s\n\n", title)
	for _, n := range needs {
		t.add("- %s", plain(n.What))
		if n.Seq != 0 {
			t.add(" (event %d)", n.Seq)
		}
		if n.Command != "" {
			t.add("\n  `%s`", n.Command)
		}
		t.add("\n")
	}
}

func (t *document) short(r *Report, in *time.Location) {
	t.add("\n## In short\n\n")
	fact := func(name, format string, args ...any) {
		t.add("- %s: %s\n", name, plain(fmt.Sprintf(format, args...)))
	}
	fact("Iterations", "%s", units.Count{Begun: r.Begun, Refunded: r.Refunded, Maximum: r.Maximum}.Number())
	fact("Cost", "%s", r.Used.Cost())
	if r.Changed != nil {
		fact("Changed", "%s", r.Changed)
	}
	if r.Strength != nil {
		fact("Strength", "%s", r.Strength.Done())
	}
	for _, request := range r.Published {
		fact("Pull request", "%s", request)
	}
	for _, kept := range r.Kept {
		fact("Kept", "%s", kept)
	}
	for _, away := range r.Away {
		fact("Branch", "%s", away)
	}
	fact("Tokens", "%s", r.Used.Counted())
	fact("Wall time", "%s, %s of it in iterations", Span(r.Wall), Span(r.Active))
	for _, w := range r.Waits {
		fact("Waited", "%s for %s, %s", Span(w.Took), w.For, units.Times(w.Times))
	}
	fact("Started", "%s", clock(r.Started, in))
	if r.Ended.IsZero() {
		fact("Last event", "%s", clock(r.At, in))
	} else {
		fact("Ended", "%s", clock(r.Ended, in))
	}
	if r.Plan != nil {
		fact("Stories", "%d of %d done", r.Plan.Done, r.Plan.Total)
	}
	fact("Agent", "%s", strings.Join(r.Agents, ", then "))
	if len(r.Reviewers) > 0 {
		fact("Reviewed by", "%s", phrase.And(r.Reviewers))
	}
	fact("Project", "%s", r.Project)
	fact("Task", "%s", r.Task)
	if len(r.Done) > 0 {
		fact("Where it stopped being useful", "%s", r.Useful)
	}
	if r.Missing > 0 {
		fact("Missing", "the journal keeps no event of the iterations up to %d", r.Missing)
	}
	if r.Newer != nil {
		fact("Not shown", "%s", r.Newer)
	}
	if r.Damage != "" {
		fact("Damage", "%s", r.Damage)
	}
}

// work names the files that the agent edited, and its last words.
func (t *document) work(r *Report) {
	if words := (page{Report: r}).Latest(); words != nil {
		t.add("\n## Last words of the agent\n\n%s\n", quoted(words.Words()))
	}
	if len(r.Files) == 0 {
		return
	}
	t.add("\n## Edited files\n\n| file | lines | last in iteration |\n|---|---|---|\n")
	for _, f := range r.Files {
		t.add("| %s | +%d -%d | %d |\n", plain(f.Path), f.Insertions, f.Deletions, f.Last)
	}
}

// quoted is a text as a quotation, which shows it as it is.
func quoted(s string) string {
	var lines []string
	for l := range strings.Lines(s) {
		lines = append(lines, strings.TrimRight("> "+plain(strings.TrimRight(l, "\n")), " "))
	}
	return strings.Join(lines, "\n")
}

func (t *document) iterations(r *Report) {
	if len(r.Done) == 0 {
		return
	}
	t.add("\n## Iterations\n\n| n | outcome | duration | cost | tokens | tools | guardrails | changed | last words |\n|---|---|---|---|---|---|---|---|---|\n")
	for n := range r.Done {
		i := &r.Done[n]
		tools := fmt.Sprint(i.Tools)
		if i.Failed > 0 {
			tools += fmt.Sprintf(", %d failed", i.Failed)
		}
		result := i.Result()
		if does := i.Does(); does != "" {
			result += " " + plain(does)
		}
		t.add("| %d | %s | %s | %s | %s | %s | %s | %s | %s |\n", i.N, result, Span(i.Took), i.Used.Cost(),
			i.Used.Counted(), tools, i.Verified(), i.Changed(), plain(i.FirstLine()))
	}
}

func (t *document) failing(r *Report) {
	for _, c := range r.Checks {
		if c.OK {
			continue
		}
		t.add("\n## Guardrail `%s` %s\n\nIn iteration %d; it failed in %d of %s.\n",
			strings.ReplaceAll(c.Name, "`", "'"), c.How, c.Iteration, c.Failed, units.Quantity(c.Runs, "run"))
		if c.Output != "" {
			fence := fenceFor(c.Output)
			t.add("\n%s\n%s\n%s\n", fence, c.Output, fence)
		}
	}
}

func (t *document) spent(all []Spent) {
	if len(all) == 0 {
		return
	}
	t.add("\n## By agent and model\n\n| agent | model | cost | tokens |\n|---|---|---|---|\n")
	for _, s := range all {
		t.add("| %s | %s | %s | %s |\n", plain(s.Agent), plain(s.Model), s.Used.Cost(), s.Used.Counted())
	}
}

// escapes are the characters that mean something in Markdown where a text may have them.
var escapes = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", `*`, `\*`, `_`, `\_`, `[`, `\[`, `]`, `\]`, `<`, `\<`, `>`, `\>`, `|`, `\|`, `#`, `\#`, `!`, `\!`, `~`, `\~`, "\n", " ",
)

// plain returns a text that Markdown shows as it is, in one line.
func plain(s string) string { return escapes.Replace(s) }

// code is a text as a span of code, whatever quotes it has.
func code(text string) string {
	if !strings.Contains(text, "`") {
		return "`" + text + "`"
	}
	quote := "``"
	for strings.Contains(text, quote) {
		quote += "`"
	}
	return quote + " " + text + " " + quote
}

// fenceFor returns a fence that is longer than any in the text.
func fenceFor(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}
