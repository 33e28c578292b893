package markup

import (
	"html"
	"html/template"
	"io"
	"strings"

	"github.com/ralph-loop/ralph/render/highlight"
)

// code returns the HTML of a code in the language that the name of a file says.
func code(text, file string) template.HTML {
	var b strings.Builder
	writeTokens(&b, highlight.ByFile(file), text)
	return template.HTML(b.String()) //nolint:gosec // writeTokens escapes it
}

// writeCode writes a block of code in the language that a fence names.
func writeCode(w io.StringWriter, fence, text string) {
	_, _ = w.WriteString("<pre><code>")
	writeTokens(w, highlight.ByName(fence), text)
	_, _ = w.WriteString("</code></pre>\n")
}

// writeTokens writes the tokens of a code, each with its class.
func writeTokens(w io.StringWriter, l *highlight.Language, text string) {
	for _, token := range l.Tokens(text) {
		if token.Class == highlight.Plain {
			_, _ = w.WriteString(html.EscapeString(token.Text))
			continue
		}
		_, _ = w.WriteString(`<span class="` + token.Class.String() + `">` + html.EscapeString(token.Text) + "</span>")
	}
}
