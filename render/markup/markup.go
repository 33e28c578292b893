package markup

import (
	"embed"
	"html/template"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render/phrase"
	"github.com/ralph-loop/ralph/render/transcript"
)

// Options say how entries look. The zero value is for a page of its own.
type Options struct {
	Location *time.Location // of times of day; nil is the system's
	// Heading is the level of the heading of an iteration; 0 is 2. Those in an agent's words are
	// lower.
	Heading int
	// Most is how many bytes are shown of an output, an input or a prompt; 0 is all that the entry
	// has. The end is shown, since it says what failed.
	Most int
	// Diffs shows the changes of files without unfolding.
	Diffs bool
	// Blob returns the address of a text that is a file of its own; nil names the file in the
	// loop's folder.
	Blob func(event.BlobRef) string
}

//go:embed entry.html markup.css
var files embed.FS

// templates are parsed when the first page needs them: other commands start without that.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("markup").Funcs(functions).ParseFS(files, "entry.html"))
})

var functions = template.FuncMap{
	"capital":  phrase.Capital,
	"bytes":    func(n int) string { return units.Bytes(int64(n)) },
	"code":     code,
	"markdown": markdown,
	"join":     func(facts []string) string { return strings.Join(facts, " · ") },
	"plan":     planWord,
	"quantity": units.Quantity,
	"span":     units.Span,
	"stamp":    func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) },
	"tidy":     func(s string) string { return strings.Trim(s, "\n") },
}

// Stylesheet is the style of all fragments, and of the elements that pages have around them. It is
// for light and dark screens, narrow ones, and paper.
func Stylesheet() string {
	css, err := files.ReadFile("markup.css")
	if err != nil {
		panic(err) // it is part of the program
	}
	return string(css)
}

// Entry writes an entry as an <article>. The error is the writer's.
func Entry(w io.Writer, e transcript.Entry, o Options) error {
	if o.Location == nil {
		o.Location = time.Local
	}
	if o.Heading == 0 {
		o.Heading = 2
	}
	return templates().ExecuteTemplate(w, "entry", view{e, o})
}
