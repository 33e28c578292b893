package markup

import (
	"bytes"
	"html"
	"html/template"
	"net/url"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	plain "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
)

// The functions markdown and code are the only ones that return HTML which the templates do not
// escape. Both escape every text themselves; the tags between are constants.

// Markdown returns the HTML of a text in GitHub's Markdown, safe whatever the text is. Its headings
// are at most of level top.
func Markdown(text string, top int) template.HTML { return markdown(text, top) }

// markdown returns the HTML of a text in GitHub's Markdown. Its headings are at most of level top.
func markdown(text string, top int) template.HTML {
	var b bytes.Buffer
	if laborious(text) {
		return template.HTML("<pre>" + html.EscapeString(text) + "</pre>") //nolint:gosec // escaped
	}
	if err := converter(top).Convert([]byte(text), &b); err != nil {
		return template.HTML("<pre>" + html.EscapeString(text) + "</pre>") //nolint:gosec // escaped
	}
	return template.HTML(b.String()) //nolint:gosec // the converter escapes it
}

// A text beyond one of these is shown as it is: the time to convert it can grow with the square.
const (
	quotedMost = 100      // quotations within one another
	blockMost  = 16 << 10 // bytes without an empty line
)

// laborious reports whether a text has more than a person writes.
func laborious(text string) bool {
	block := 0
	for line := range strings.Lines(text) {
		rest := strings.TrimLeft(line, "> \t")
		if strings.Count(line[:len(line)-len(rest)], ">") > quotedMost {
			return true
		}
		if block += len(line); strings.TrimSpace(rest) == "" {
			block = 0
		}
		if block > blockMost {
			return true
		}
	}
	return false
}

// converters are made once for each level of headings.
var converters sync.Map

func converter(top int) goldmark.Markdown {
	if c, ok := converters.Load(top); ok {
		return c.(goldmark.Markdown)
	}
	c := goldmark.New(
		goldmark.WithExtensions(
			extension.NewLinkify(), extension.Strikethrough, extension.TaskList,
			extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
		),
		goldmark.WithRendererOptions(
			plain.WithXHTML(),
			renderer.WithNodeRenderers(util.Prioritized(safe{top}, 100)),
		),
	)
	converters.Store(top, c)
	return c
}

// safe renders the nodes of Markdown that could lead out of a page, and code.
type safe struct{ top int }

// RegisterFuncs implements renderer.NodeRenderer.
func (s safe) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHeading, s.heading)
	r.Register(ast.KindRawHTML, s.rawHTML)
	r.Register(ast.KindHTMLBlock, s.htmlBlock)
	r.Register(ast.KindLink, s.link)
	r.Register(ast.KindImage, s.image)
	r.Register(ast.KindAutoLink, s.autoLink)
	r.Register(ast.KindCodeBlock, s.codeBlock)
	r.Register(ast.KindFencedCodeBlock, s.fencedCodeBlock)
}

const proceed = ast.WalkContinue

func (s safe) heading(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	h, _ := n.(*ast.Heading)
	tag := "h" + string(rune('0'+min(s.top+h.Level-1, 6))) + ">"
	if entering {
		_, _ = w.WriteString("<" + tag)
	} else {
		_, _ = w.WriteString("</" + tag + "\n")
	}
	return proceed, nil
}

// rawHTML shows tags as they are written.
func (safe) rawHTML(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if raw, _ := n.(*ast.RawHTML); entering {
		_, _ = w.WriteString(html.EscapeString(string(raw.Segments.Value(source))))
	}
	return ast.WalkSkipChildren, nil
}

func (safe) htmlBlock(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	block, _ := n.(*ast.HTMLBlock)
	if !entering {
		return proceed, nil
	}
	text := string(block.Lines().Value(source))
	if block.HasClosure() {
		text += string(block.ClosureLine.Value(source))
	}
	_, _ = w.WriteString("<pre>" + html.EscapeString(text) + "</pre>\n")
	return proceed, nil
}

// link shows where a link leads if a reader may not follow it.
func (safe) link(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	l, _ := n.(*ast.Link)
	address := string(l.Destination)
	switch allowed := mayFollow(address); {
	case allowed && entering:
		_, _ = w.WriteString(anchor(address))
	case allowed:
		_, _ = w.WriteString("</a>")
	case !entering && address != "":
		_, _ = w.WriteString(" (" + html.EscapeString(address) + ")")
	}
	return proceed, nil
}

// image is a link to the image: a page loads nothing.
func (safe) image(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	i, _ := n.(*ast.Image)
	address := string(i.Destination)
	within := n.Parent() != nil && n.Parent().Kind() == ast.KindLink // no link in a link
	switch allowed := mayFollow(address) && !within; {
	case allowed && entering:
		_, _ = w.WriteString(anchor(address) + "image: ")
	case allowed:
		_, _ = w.WriteString("</a>")
	case entering:
		_, _ = w.WriteString("image: ")
	default:
		_, _ = w.WriteString(" (" + html.EscapeString(address) + ")")
	}
	return proceed, nil
}

func (safe) autoLink(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	l, _ := n.(*ast.AutoLink)
	if !entering {
		return proceed, nil
	}
	address, label := string(l.URL(source)), html.EscapeString(string(l.Label(source)))
	if l.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(address), "mailto:") {
		address = "mailto:" + address
	}
	if mayFollow(address) {
		label = anchor(address) + label + "</a>"
	}
	_, _ = w.WriteString(label)
	return proceed, nil
}

func (safe) codeBlock(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		writeCode(w, "", string(n.Lines().Value(source)))
	}
	return ast.WalkSkipChildren, nil
}

func (safe) fencedCodeBlock(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	block, _ := n.(*ast.FencedCodeBlock)
	if !entering {
		return proceed, nil
	}
	name := ""
	if block.Info != nil {
		name = string(block.Info.Value(source))
	}
	writeCode(w, name, string(n.Lines().Value(source)))
	return ast.WalkSkipChildren, nil
}

// mayFollow reports whether a page may link to an address.
func mayFollow(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	switch u.Scheme {
	case "http", "https":
		return u.Host != ""
	case "mailto":
		return u.Opaque != ""
	}
	return false
}

func anchor(address string) string {
	return `<a rel="noopener noreferrer" href="` + html.EscapeString(address) + `">`
}
