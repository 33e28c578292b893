package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// repository is where the files are that are no pages.
const repository = "https://github.com/ralph-loop/ralph/"

// A page is one file of Markdown.
type page struct {
	path     string
	source   []byte
	copy     []byte // the source, with links to what is no part of the site made complete
	doc      ast.Node
	title    string
	summary  string // its first sentence
	sections []section
	anchors  map[string]bool
	targets  map[*ast.Link]string // the pages that its links lead to
}

// A section is a heading with the text below it.
type section struct {
	level         int
	Anchor, Title string
	text          string
}

// XHTML is HTML as well, and a test can parse it strictly.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.Linkify, extension.Strikethrough,
		extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignStyle))),
	goldmark.WithRendererOptions(html.WithXHTML()),
)

// address is the path of the page in the site.
func address(name string) string {
	dir, file := path.Split(name)
	if file == "README.md" {
		file = "index.md"
	}
	return dir + strings.TrimSuffix(file, ".md") + ".html"
}

// parse reads the headings and texts of a page, and gives each heading its anchor.
func parse(name string, source []byte) *page {
	p := &page{path: name, source: source, copy: source, anchors: map[string]bool{}, targets: map[*ast.Link]string{}}
	p.doc = markdown.Parser().Parse(text.NewReader(source))
	for n := p.doc.FirstChild(); n != nil; n = n.NextSibling() {
		heading, ok := n.(*ast.Heading)
		words := textOf(n, source)
		if !ok {
			if len(p.sections) == 0 {
				continue
			}
			if p.summary == "" && n.Kind() == ast.KindParagraph {
				p.summary = firstSentence(words)
			}
			p.sections[len(p.sections)-1].text += " " + words
			continue
		}
		if p.title == "" {
			p.title = words
		}
		s := section{level: heading.Level, Title: words, Anchor: p.free(slug(words))}
		heading.SetAttributeString("id", []byte(s.Anchor))
		p.sections = append(p.sections, s)
	}
	if p.summary == "" {
		p.summary = p.title
	}
	return p
}

// free returns a name for an anchor that no earlier heading has, as GitHub numbers them.
func (p *page) free(name string) string {
	unused := name
	for i := 1; p.anchors[unused]; i++ {
		unused = name + "-" + strconv.Itoa(i)
	}
	p.anchors[unused] = true
	return unused
}

// slug is the name by which GitHub links to a heading.
func slug(heading string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == ' ':
			return '-'
		case c == '-' || c == '_' || unicode.IsLetter(c) || unicode.IsNumber(c):
			return unicode.ToLower(c)
		}
		return -1
	}, heading)
}

// textOf is the text of a node without its marks. Blocks and cells are apart.
func textOf(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Value(source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.AutoLink:
			b.Write(n.Label(source))
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			b.WriteByte(' ')
			b.Write(n.Lines().Value(source))
		default:
			if n.Type() == ast.TypeBlock {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.TrimSpace(unescape(b.String()))
}

// unescape undoes what Markdown needs to show a character as it is.
func unescape(words string) string {
	return strings.NewReplacer("&lt;", "<", "&amp;", "&", `\|`, "|", `\*`, "*", `\_`, "_", "\\`", "`").Replace(words)
}

func firstSentence(words string) string {
	for i, c := range words {
		if rest := words[i+1:]; (c == '.' || c == '?') && (rest == "" || rest[0] == ' ') {
			return words[:i+1]
		}
	}
	return words
}

// resolve checks the links of a page, and lets them lead to the pages of the site.
func (s *site) resolve(p *page) []error {
	var problems []error
	report := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf(p.path+": "+format, args...))
	}
	_ = ast.Walk(p.doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			to, target, err := s.follow(p, string(n.Destination))
			if err != nil {
				report("%w", err)
			}
			if strings.HasPrefix(to, repository) {
				p.copy = bytes.ReplaceAll(p.copy, slices.Concat([]byte("]("), n.Destination, []byte(")")), []byte("]("+to+")"))
			}
			n.Destination = []byte(to)
			p.targets[n] = target
		case *ast.Image:
			picture := path.Join(path.Dir(p.path), string(n.Destination))
			content, err := os.ReadFile(filepath.Join(s.dir, picture))
			if err != nil {
				report("the picture %s: %w", n.Destination, err)
			}
			s.assets[picture] = content
		case *ast.RawHTML:
			if raw := string(n.Segments.Value(p.source)); !strings.HasPrefix(raw, "<!--") {
				report("%s is HTML, which no page shows: write &lt;, or code", raw)
			}
		case *ast.HTMLBlock:
			if raw := string(n.Lines().Value(p.source)); !strings.HasPrefix(raw, "<!--") {
				report("%.40q is HTML, which no page shows", raw)
			}
		}
		return ast.WalkContinue, nil
	})
	return problems
}

// follow returns where a link of a page leads in the site, and the path of the page that it names,
// if any.
func (s *site) follow(from *page, link string) (to, target string, err error) {
	u, err := url.Parse(link)
	if err != nil || u.Scheme != "" || u.Host != "" {
		return link, "", err
	}
	target = from.path
	if u.Path != "" {
		target = path.Join(path.Dir(from.path), u.Path)
	}
	if s.pages[target] == nil && s.pages[target+"/README.md"] != nil {
		target += "/README.md"
	}
	found := s.pages[target]
	if found == nil {
		info, err := os.Stat(filepath.Join(s.dir, target))
		switch {
		case err != nil:
			return link, "", fmt.Errorf("the link %s leads nowhere", link)
		case info.IsDir():
			return repository + "tree/main/" + target, "", nil
		}
		return repository + "blob/main/" + target, "", nil
	}
	if u.Fragment != "" && !found.anchors[u.Fragment] {
		return link, "", fmt.Errorf("the link %s leads to no heading", link)
	}
	if found == from && u.Fragment != "" {
		return "#" + u.Fragment, "", nil
	}
	to = relative(from.path, address(target))
	if u.Fragment != "" {
		to += "#" + u.Fragment
	}
	return to, target, nil
}

// relative is the way from a page to a file of the site.
func relative(from, to string) string {
	way, err := filepath.Rel(filepath.Dir(from), to)
	if err != nil {
		panic(err) // both are paths within the site
	}
	return filepath.ToSlash(way)
}

// render returns the page's HTML. What is wide scrolls in its own box, also by keys.
func (p *page) render() (string, error) {
	if len(p.sections) == 0 || p.sections[0].level != 1 {
		return "", errors.New(p.path + " does not begin with a heading")
	}
	for n := p.doc.FirstChild(); n != nil; n = n.NextSibling() {
		heading, ok := n.(*ast.Heading)
		if id, has := n.AttributeString("id"); ok && has && heading.Level > 1 {
			link := ast.NewLink()
			link.Destination = append([]byte("#"), id.([]byte)...)
			link.SetAttributeString("class", []byte("anchor"))
			link.Title = []byte("a link to this heading")
			link.AppendChild(link, ast.NewString([]byte("#")))
			n.AppendChild(n, link)
		}
	}
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, p.source, p.doc); err != nil {
		return "", err
	}
	return strings.NewReplacer("<table>", `<div class="wide" tabindex="0"><table>`, "</table>", "</table></div>",
		"<pre>", `<pre tabindex="0">`, "<!-- raw HTML omitted -->\n", "", "<!-- raw HTML omitted -->", "").Replace(b.String()), nil
}
