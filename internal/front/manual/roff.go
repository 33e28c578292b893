package manual

import (
	"fmt"
	"slices"
	"strings"
)

// A Page is a page for man(1): its file name and its roff.
type Page struct{ Name, Roff string }

// Pages returns ralph.1 and a page for each verb. date is YYYY-MM-DD.
func (m Manual) Pages(version, date string) []Page {
	pages := []Page{{"ralph.1", m.overview(version, date)}}
	for _, v := range m.Verbs {
		pages = append(pages, Page{"ralph-" + v.Name + ".1", v.page(version, date)})
	}
	return pages
}

// Page returns the page of a verb, or for no name that of ralph; false if there is no such verb.
func (m Manual) Page(name, version, date string) (string, bool) {
	file := "ralph.1"
	if name != "" {
		file = "ralph-" + name + ".1"
	}
	pages := m.Pages(version, date)
	at := slices.IndexFunc(pages, func(p Page) bool { return p.Name == file })
	if at < 0 {
		return "", false
	}
	return pages[at].Roff, true
}

// roff writes one page.
type roff struct{ strings.Builder }

func newRoff(name, version, date, about string) *roff {
	r := new(roff)
	fmt.Fprintf(r, ".TH \"%s\" 1 %s \"ralph %s\" \"ralph manual\"\n", escape(strings.ToUpper(name)), date, escape(version))
	r.section("NAME")
	r.WriteString(escape(name) + ` \- ` + escape(strings.TrimSuffix(about, ".")) + "\n")
	return r
}

func (r *roff) macro(name string, arguments ...string) {
	r.WriteString("." + name)
	for _, a := range arguments {
		r.WriteString(` "` + strings.ReplaceAll(escape(a), `"`, `\(dq`) + `"`)
	}
	r.WriteByte('\n')
}

func (r *roff) section(title string) { r.macro("SH", title) }

func (r *roff) paragraphs(all []string) {
	for i, text := range all {
		switch {
		case literal(text):
			r.WriteString(".PP\n")
			r.example(strings.Split(text, "\n"))
			continue
		case i > 0:
			r.WriteString(".PP\n")
		}
		r.WriteString(escape(strings.Join(strings.Fields(text), " ")) + "\n")
	}
}

func (r *roff) example(lines []string) {
	r.WriteString(".nf\n")
	for _, line := range lines {
		r.WriteString(escape(line) + "\n")
	}
	r.WriteString(".fi\n")
}

func (r *roff) items(items []Item) {
	for _, item := range items {
		r.WriteString(".TP\n\\fB" + strings.ReplaceAll(escape(item.Name), "=", `\fR=\fI`) + "\\fR\n" + escape(item.Help) + "\n")
	}
}

func (m Manual) overview(version, date string) string {
	r := newRoff("ralph", version, date, "run a coding agent until the work is proved done")
	r.section("SYNOPSIS")
	r.WriteString("\\fBralph\\fR \\fIVERB\\fR [\\fIARGUMENTS\\fR] [\\fIFLAGS\\fR]\n")
	r.section("DESCRIPTION")
	r.paragraphs(m.Text)
	r.section("VERBS")
	var items []Item
	for _, v := range m.Verbs {
		items = append(items, Item{v.Name, v.Help})
	}
	r.items(items)
	r.section("SEE ALSO")
	var also []string
	for _, v := range m.Verbs {
		also = append(also, fmt.Sprintf(`\fBralph\-%s\fR(1)`, escape(v.Name)))
	}
	r.WriteString(strings.Join(also, ",\n") + "\n")
	return r.String()
}

func (v Verb) page(version, date string) string {
	r := newRoff("ralph-"+v.Name, version, date, v.Help)
	r.section("SYNOPSIS")
	r.usage(v)
	if len(v.Text) > 0 {
		r.section("DESCRIPTION")
		r.paragraphs(v.Text)
	}
	r.lists(v, "ARGUMENTS", "FLAGS")
	for _, sub := range v.Verbs {
		r.section(strings.ToUpper(sub.Name))
		r.usage(sub)
		r.WriteString(".PP\n" + escape(sub.Help) + "\n")
		if len(sub.Text) > 0 {
			r.WriteString(".PP\n")
			r.paragraphs(sub.Text)
		}
		r.items(slices.Concat(sub.Arguments, sub.Flags))
	}
	if examples := v.allExamples(); len(examples) > 0 {
		r.section("EXAMPLES")
		r.example(examples)
	}
	r.section("SEE ALSO")
	r.WriteString("\\fBralph\\fR(1)\n")
	return r.String()
}

// allExamples are those of a verb and of its verbs.
func (v Verb) allExamples() []string {
	all := slices.Clone(v.Examples)
	for _, sub := range v.Verbs {
		all = append(all, sub.Examples...)
	}
	return all
}

func (r *roff) usage(v Verb) {
	name := "ralph " + v.Name
	r.WriteString(`\fB` + escape(name) + `\fR` + escape(strings.TrimPrefix(v.Usage, name)) + "\n")
}

func (r *roff) lists(v Verb, arguments, flags string) {
	if len(v.Arguments) > 0 {
		r.section(arguments)
		r.items(v.Arguments)
	}
	if len(v.Flags) > 0 {
		r.section(flags)
		r.items(v.Flags)
	}
}

// escape writes a text for roff: no character of it is a command, and it is ASCII.
func escape(text string) string {
	var b strings.Builder
	for i, c := range text {
		switch {
		case c == '\\':
			b.WriteString(`\e`)
		case c == '-':
			b.WriteString(`\-`)
		case c == '\'':
			b.WriteString(`\(aq`)
		case c == '`':
			b.WriteString(`\(ga`)
		case c == '^':
			b.WriteString(`\(ha`)
		case c == '~':
			b.WriteString(`\(ti`)
		case c == '.' && i == 0:
			b.WriteString(`\&.`)
		case c > 0x7E:
			fmt.Fprintf(&b, `\[u%04X]`, c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}
