package markup_test

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/markup"
	"github.com/ralph-loop/ralph/render/transcript"
)

// tags are all that a fragment consists of, with their attributes.
var tags = map[string][]string{
	"article": {"class", "id", "data-kind", "data-last", "data-state", "data-parent"},
	"a":       {"class", "id", "href", "title", "rel"},
	"time":    {"datetime"}, "details": {"class", "open"}, "summary": {}, "div": {"class"}, "span": {"class"}, "small": {},
	"h1": {}, "h2": {}, "h3": {}, "h4": {}, "h5": {}, "h6": {}, "p": {"class"}, "ul": {"class"}, "ol": {"start"}, "li": {"id", "class"},
	"pre": {"class"}, "code": {"class"}, "blockquote": {"class"}, "strong": {}, "em": {}, "del": {}, "br": {}, "hr": {},
	"table": {}, "thead": {}, "tbody": {}, "tr": {}, "th": {"align"}, "td": {"align"}, "input": {"checked", "disabled", "type"},
}

// problem returns what a fragment contains that it may not.
func problem(fragment string) error {
	d := xml.NewDecoder(strings.NewReader("<body>" + fragment + "</body>"))
	d.Entity = map[string]string{}
	ids := map[string]bool{}
	depth := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch x := token.(type) {
		case xml.Comment, xml.ProcInst, xml.Directive:
			return errors.New("a comment or an instruction")
		case xml.EndElement:
			depth--
		case xml.StartElement:
			if depth++; depth == 1 {
				continue
			}
			allowed, ok := tags[x.Name.Local]
			if !ok {
				return errors.New("tag " + x.Name.Local)
			}
			for _, a := range x.Attr {
				name := a.Name.Local
				if !slices.Contains(allowed, name) {
					return errors.New("attribute " + name + " of " + x.Name.Local)
				}
				if name == "id" && ids[a.Value] && depth > 2 {
					return errors.New("id " + a.Value + " is there twice")
				}
				ids[a.Value] = ids[a.Value] || name == "id"
				if name == "href" && !leadsOut(a.Value) {
					return errors.New("link to " + a.Value)
				}
			}
		}
	}
}

func leadsOut(address string) bool {
	for _, prefix := range []string{"#", "http://", "https://", "mailto:"} {
		if strings.HasPrefix(strings.ToLower(address), prefix) {
			return true
		}
	}
	return false
}

// check fails unless each article is well-formed and safe.
func check(t *testing.T, fragments string) {
	t.Helper()
	for article := range strings.SplitAfterSeq(fragments, "</article>\n") {
		if err := problem(article); err != nil {
			t.Errorf("%v in\n%s", err, article)
		}
	}
}

// words returns the fragment of an agent's text.
func words(t testing.TB, text string) string {
	return fragments(t, []transcript.Entry{{Seq: 1, At: at, Body: transcript.Words{Text: string(render.CleanText(text))}}}, markup.Options{})
}

func TestHostileMarkdown(t *testing.T) {
	for _, text := range hostile {
		got := words(t, text)
		if err := problem(got); err != nil {
			t.Errorf("%q: %v\n%s", text, err, got)
		}
	}
}

var hostile = []string{
	"<script>alert(1)</script>",
	"a <img src=x onerror=alert(1)> b",
	"<!-- comment -->\n\n<?php ?>\n\n<![CDATA[x]]>\n\n<!DOCTYPE html>",
	"<div style=\"x\">\n<p>a</p>\n</div>",
	"[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](data:text/html,x) [d](vbscript:x) [e](//evil.example) [f](/path) [g](#x)",
	"[a](<https://a.example/\"onmouseover=alert(1)>) [b](https://a.example \"a title\")",
	"<javascript:alert(1)> <https://a.example/?a=b&c=d> <a@b.example>",
	"![i](https://a.example/i.png) [![i](https://a.example/i.png)](https://b.example) ![x](javascript:x)",
	"https://a.example/<b> www.b.example a@b.example",
	"```\"><script>\nalert(1)\n```\n\n    <b>indented</b>",
	"| a | b |\n|:--|--:|\n| <b> | `|` |",
	"- [x] done\n- [ ] <i>open</i>\n\n3. three\n",
	"&lt;b&gt; &copy; &#0; &#x202e; \\<b\\>",
	"# a {#id onclick=x}\n\n## b <b>\n",
	strings.Repeat("> ", 500) + "deep",
	strings.Repeat("- ", 200) + "deep",
	strings.Repeat("*a **b ", 300),
	strings.Repeat("[", 3000),
	"[x]: javascript:alert(1)\n\n[x] [x][x] ![x]",
}

func TestMarkdownIsShown(t *testing.T) {
	for text, want := range map[string]string{
		"<b>bold</b>":                   "&lt;b&gt;bold&lt;/b&gt;",
		"[a](javascript:x)":             "a (javascript:x)",
		"[a](https://a.example)":        `<a rel="noopener noreferrer" href="https://a.example">a</a>`,
		"![a](https://a.example/i.png)": `<a rel="noopener noreferrer" href="https://a.example/i.png">image: a</a>`,
		"<a@b.example>":                 `<a rel="noopener noreferrer" href="mailto:a@b.example">a@b.example</a>`,
		"# a":                           "<h3>a</h3>",
		"~~a~~":                         "<del>a</del>",
		"<div>\nx\n</div>":              "<pre>&lt;div&gt;\nx\n&lt;/div&gt;</pre>",
	} {
		if got := words(t, text); !strings.Contains(got, want) {
			t.Errorf("%q: %s", text, got)
		}
	}
}

func TestLaboriousMarkdown(t *testing.T) {
	for _, unit := range []string{"> ", "[a](", "1. ", "| a "} {
		got := words(t, strings.Repeat(unit, 64<<10/len(unit)))
		if !strings.Contains(got, "<pre>") || problem(got) != nil {
			t.Errorf("%q: %.200s", unit, got)
		}
	}
	if got := words(t, strings.Repeat("A **long** text.\n\n", 5000)); strings.Contains(got, "<pre>") {
		t.Errorf("%.200s", got)
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || strings.ContainsAny(text, "\uFFFE\uFFFF") { // not in XML
			return
		}
		got := words(t, text)
		if err := problem(got); err != nil && !strings.Contains(err.Error(), "illegal character code") {
			t.Fatalf("%v\n%s", err, got)
		}
	})
}
