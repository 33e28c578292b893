package report

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/render/markup"
	"github.com/ralph-loop/ralph/render/phrase"
)

// PageOptions say what a page of one loop shows.
type PageOptions struct {
	Location *time.Location // of times of day; nil is the system's
	// Full chooses the iterations that are shown in full, as far as the size of a page allows; nil
	// is the first, the last, those that failed, and then the latest.
	Full func(n int) bool
	// Most is how many bytes of events are shown at most; 0 is 6 MiB.
	Most int64
	Name string // how a person here names the loop; empty is its own name
}

const pageMost = 6 << 20

// textMost is how many bytes are shown of one output.
const textMost = 16 << 10

//go:embed page.html overview.html report.css page.js
var files embed.FS

var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("report").Funcs(template.FuncMap{
		"markdown": func(text string) template.HTML { return markup.Markdown(text, 4) },
		"names":    phrase.And,
		"span":     Span,
		"quantity": units.Quantity,
		"stamp":    func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"bytes":    units.Bytes,
		"tokens":   units.Tokens,
	}).ParseFS(files, "page.html", "overview.html"))
})

func asset(name string) string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err) // it is part of the program
	}
	return string(text)
}

// head is what begins each page: the style and the script, and the policy that allows these two and
// nothing else.
type head struct {
	Title  string
	Policy string
	Style  template.HTML
	Script template.HTML
}

func newHead(title string) head {
	style, script := markup.Stylesheet()+asset("report.css"), asset("page.js")
	return head{
		Title:  title,
		Policy: fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'", digest(style), digest(script)),
		// Both are part of the program, and have no text from elsewhere.
		Style:  template.HTML("<style>" + style + "</style>"),    //nolint:gosec // see above
		Script: template.HTML("<script>" + script + "</script>"), //nolint:gosec // see above
	}
}

// Policy is the content security policy of each page, for a server that sends one.
func Policy() string { return newHead("").Policy }

// digest is how a content security policy names a style or a script.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// page is what the templates read.
type page struct {
	head
	*Report

	opt   PageOptions
	full  map[int]bool
	Plots []plot
}

// Clock is a moment for a person.
func (p page) Clock(at time.Time) string { return clock(at, p.opt.Location) }

// Call is how a person names the loop.
func (p page) Call() string {
	if p.opt.Name != "" {
		return p.opt.Name
	}
	return p.Name
}

// Iterations are all iterations, with the one that runs.
func (p page) Iterations() []Iteration {
	all := p.Done
	if p.Open != nil {
		all = append(all[:len(all):len(all)], *p.Open)
	}
	return all
}

// Latest is the last iteration with words of the agent; nil if none has any.
func (p page) Latest() *Iteration {
	for n := len(p.Done) - 1; n >= 0; n-- {
		if p.Done[n].Words() != "" {
			return &p.Done[n]
		}
	}
	return nil
}

// LeftOut counts the iterations that are shown as a summary only.
func (p page) LeftOut() (n int) {
	for _, i := range p.Iterations() {
		if !p.full[i.N] {
			n++
		}
	}
	return n
}

// Spent is what was used by agent and model.
func (p page) Spent() []Spent { return ByAgent(p.Days) }

// Failing are the guardrails that failed when they ran last.
func (p page) Failing() (all []Check) {
	for _, c := range p.Checks {
		if !c.OK {
			all = append(all, c)
		}
	}
	return all
}

// HTML writes the page of a loop, whose journal is in the folder dir. The error is the writer's, or
// that of reading the journal.
func HTML(w io.Writer, r *Report, dir string, o PageOptions) error {
	if o.Location == nil {
		o.Location = time.Local
	}
	if o.Most == 0 {
		o.Most = pageMost
	}
	p := page{head: newHead(r.Name + ": report"), Report: r, opt: o, Plots: r.plots()}
	p.full = choose(p.Iterations(), o)
	if err := templates().ExecuteTemplate(w, "page", p); err != nil {
		return err
	}
	if err := p.iterations(w, dir); err != nil {
		return err
	}
	return templates().ExecuteTemplate(w, "foot", p)
}

// choose returns the iterations that are shown in full.
func choose(all []Iteration, o PageOptions) map[int]bool {
	full := map[int]bool{}
	left := o.Most
	take := func(i *Iteration) {
		// A long iteration is not shown completely: see chunk.
		if size := min(i.Bytes, chunkMost); !full[i.N] && size <= left {
			full[i.N] = true
			left -= size
		}
	}
	if len(all) == 0 {
		return full
	}
	if o.Full != nil {
		for n := range all {
			if o.Full(all[n].N) {
				take(&all[n])
			}
		}
		return full
	}
	take(&all[len(all)-1])
	take(&all[0])
	for n := len(all) - 1; n >= 0; n-- {
		if all[n].Failing() {
			take(&all[n])
		}
	}
	for n := len(all) - 1; n >= 0; n-- {
		take(&all[n])
	}
	return full
}

// chunkMost is about how many bytes of one iteration are shown.
const chunkMost = 1 << 20
