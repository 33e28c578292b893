package manual

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Markdown returns all of the manual as one page.
func (m Manual) Markdown() string {
	var b strings.Builder
	b.WriteString("# Commands\n\n<!-- Generated from the source by `make docs`. -->\n\n")
	for _, text := range m.Text {
		b.WriteString(wrapped(inText(text)) + "\n\n")
	}
	b.WriteString("`ralph help VERB` prints the same on a terminal, `ralph man VERB | man -l -` shows it as a page.\n")
	for _, v := range m.Verbs {
		b.WriteString("\n## ralph " + v.Name + "\n\n")
		v.markdown(&b)
		for _, sub := range v.Verbs {
			b.WriteString("\n### ralph " + sub.Name + "\n\n")
			sub.markdown(&b)
		}
	}
	return b.String()
}

func (v Verb) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "%s\n\n```\n%s\n```\n", inText(v.Help), v.Usage)
	for _, text := range v.Text {
		if literal(text) {
			fmt.Fprintf(b, "\n```\n%s\n```\n", text)
			continue
		}
		b.WriteString("\n" + wrapped(inText(text)) + "\n")
	}
	if len(v.Arguments)+len(v.Flags) > 0 {
		b.WriteString("\n| | |\n|---|---|\n")
	}
	for _, items := range [][]Item{v.Arguments, v.Flags} {
		for _, item := range items {
			fmt.Fprintf(b, "| `%s` | %s |\n", strings.ReplaceAll(item.Name, "|", `\|`), strings.ReplaceAll(inText(item.Help), "|", `\|`))
		}
	}
	if len(v.Examples) > 0 {
		b.WriteString("\n```sh\n" + strings.Join(v.Examples, "\n") + "\n```\n")
	}
}

// lineMost is how long the lines of a page are, except in tables.
const lineMost = 120

// wrapped breaks a text between words.
func wrapped(text string) string {
	var b strings.Builder
	length := 0
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case length+1+n > lineMost:
			b.WriteByte('\n')
			length = 0
		default:
			b.WriteByte(' ')
			length++
		}
		b.WriteString(word)
		length += n
	}
	return b.String()
}

// inText spells a help text for Markdown, on one line.
func inText(text string) string {
	return strings.NewReplacer("<", "&lt;", "*", `\*`, "_", `\_`, "`", "\\`").Replace(strings.Join(strings.Fields(text), " "))
}
