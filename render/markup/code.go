package markup

import (
	"html"
	"html/template"
	"io"
	"strings"
)

// code returns the HTML of a code in the language that the name of a file says.
func code(text, file string) template.HTML {
	var b strings.Builder
	writeTokens(&b, file, text)
	return template.HTML(b.String()) //nolint:gosec // writeTokens escapes it
}

// writeCode writes a block of code in the language of that name.
func writeCode(w io.StringWriter, language, text string) {
	_, _ = w.WriteString("<pre><code>")
	writeTokens(w, language, text)
	_, _ = w.WriteString("</code></pre>\n")
}

// writeTokens writes the tokens of a code, each with its class.
func writeTokens(w io.StringWriter, _, text string) {
	_, _ = w.WriteString(html.EscapeString(text))
}
