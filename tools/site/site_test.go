package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// made is the site of this repository, made once.
func made(t *testing.T) (*site, map[string][]byte) {
	t.Helper()
	s, err := read("../..")
	if err != nil {
		t.Fatal(err)
	}
	files, err := s.files()
	if err != nil {
		t.Fatal(err)
	}
	return s, files
}

// An htmlPage is what a browser would find on a page.
type htmlPage struct {
	ids           []string
	links, loaded []string
	title         string
}

// parseHTML reads a page strictly: each element ends, each attribute has a value in quotes.
func parseHTML(content []byte) (htmlPage, error) {
	var p htmlPage
	decoder := xml.NewDecoder(bytes.NewReader(content))
	decoder.Entity = xml.HTMLEntity
	for inTitle := false; ; {
		token, err := decoder.Token()
		switch token := token.(type) {
		case xml.StartElement:
			inTitle = token.Name.Local == "title"
			p.read(token)
		case xml.EndElement:
			inTitle = false
		case xml.CharData:
			if inTitle {
				p.title += string(token)
			}
		}
		if errors.Is(err, io.EOF) {
			return p, nil
		}
		if err != nil {
			return p, err
		}
	}
}

func (p *htmlPage) read(element xml.StartElement) {
	for _, a := range element.Attr {
		switch name := a.Name.Local; {
		case name == "id":
			p.ids = append(p.ids, a.Value)
		case name == "href" && element.Name.Local == "a":
			p.links = append(p.links, a.Value)
		case (name == "href" || name == "src") && !strings.HasPrefix(a.Value, "data:"):
			p.loaded = append(p.loaded, a.Value)
		}
	}
}

// playground is put beside the pages by 'make site'.
const playground = "playground/index.html"

func TestLinksOfSiteHaveTargets(t *testing.T) {
	s, files := made(t)
	pages := map[string]htmlPage{}
	for name, content := range files {
		if path.Ext(name) != ".html" {
			continue
		}
		p, err := parseHTML(content)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if p.title == "" {
			t.Errorf("%s has no title", name)
		}
		slices.Sort(p.ids)
		if len(slices.Compact(slices.Clone(p.ids))) != len(p.ids) {
			t.Errorf("%s has an id twice: %q", name, p.ids)
		}
		pages[name] = p
	}
	if len(pages) != len(s.pages) || len(pages) < 100 {
		t.Fatalf("%d pages of HTML for %d of Markdown", len(pages), len(s.pages))
	}
	reached := map[string]bool{}
	for name, p := range pages {
		for _, to := range p.loaded {
			if files[path.Join(path.Dir(name), to)] == nil {
				t.Errorf("%s loads %s, which is not part of the site", name, to)
			}
		}
		for _, to := range p.links {
			u, err := url.Parse(to)
			if err != nil || u.Scheme != "" {
				continue
			}
			target := name
			if u.Path != "" {
				target = path.Join(path.Dir(name), u.Path)
			}
			reached[target] = true
			if target == playground {
				continue
			}
			if files[target] == nil {
				t.Errorf("%s links to %s, which is not part of the site", name, to)
			} else if u.Fragment != "" && !slices.Contains(pages[target].ids, u.Fragment) {
				t.Errorf("%s links to %s, which has no such place", name, to)
			}
		}
	}
	for name := range pages {
		if !reached[name] {
			t.Errorf("no page leads to %s", name)
		}
	}
}

// Programs follow the links of llms.txt and of the pages as Markdown.
func TestLinksOfCopiesHaveTargets(t *testing.T) {
	s, files := made(t)
	links := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	fenced := regexp.MustCompile("(?ms)^```.*?^```")
	for _, name := range append(s.names(), "llms.txt") {
		for _, m := range links.FindAllSubmatch(fenced.ReplaceAll(files[name], nil), -1) {
			to, _, _ := strings.Cut(string(m[1]), "#")
			if strings.Contains(to, "://") || to == "" {
				continue
			}
			if target := path.Join(path.Dir(name), to); files[target] == nil && files[target+"/README.md"] == nil {
				t.Errorf("%s links to %s, which is not part of the site", name, to)
			}
		}
	}
}

func TestSiteIsTheSameAgain(t *testing.T) {
	_, first := made(t)
	_, second := made(t)
	if !maps.EqualFunc(first, second, bytes.Equal) {
		t.Error("two sites of the same pages differ")
	}
}

func TestShelves(t *testing.T) {
	s, _ := made(t)
	var names []string
	listed := map[string]int{}
	for _, shelf := range s.shelves {
		names = append(names, shelf.Name)
		for _, group := range shelf.Groups {
			for _, e := range group.Entries {
				listed[e.Path]++
			}
		}
	}
	if !slices.Equal(names[:3], []string{"Guides", "Concepts", "Reference"}) {
		t.Errorf("the shelves are %q", names)
	}
	if first := s.order()[1].Path; first != "docs/guide/first-loop.md" {
		t.Errorf("the first guide is %s", first)
	}
	for name := range s.pages {
		if name == contents {
			continue
		}
		if n := listed[name]; n > 1 || n == 0 && shelfOf[path.Dir(name)] != "" {
			t.Errorf("%s is on %d shelves", name, n)
		}
	}
}

func TestSearchIndexFindsPages(t *testing.T) {
	_, files := made(t)
	text, isScript := bytes.CutPrefix(files[indexFile], []byte("searchIndex("))
	var found index
	if err := json.Unmarshal(bytes.TrimSuffix(text, []byte(");\n")), &found); err != nil || !isScript {
		t.Fatal(err)
	}
	sections := func(word string) (anchors []string) {
		for line := range strings.Lines(found.Words) {
			fields := strings.Fields(line)
			if fields[0] != word {
				continue
			}
			at := int64(0)
			for _, step := range fields[1:] {
				by, err := strconv.ParseInt(step, 36, 64)
				if err != nil {
					t.Fatal(err)
				}
				at += by
				section := found.Sections[at]
				anchors = append(anchors, found.Pages[int(section[0].(float64))][0]+"#"+section[1].(string))
			}
		}
		return anchors
	}
	for word, want := range map[string]string{
		"worktree":          "docs/guide/worktree.html#what-the-worktree-gets",
		"enable":            "docs/guide/service.html#at-boot-without-a-login", // in a block of code
		"maximumiterations": "docs/guide/budgets.html#your-limits",             // in a table
		"withdraw":          "docs/reference/commands.html#ralph-withdraw",
		"429":               "docs/reference/adapters.html#failed-requests-over-acp",
		"29":                "docs/reference/format.html#a-journal",        // of J-29
		"9":                 "docs/concepts/architecture.html#one-kill--9", // of kill -9
	} {
		if got := sections(word); !slices.Contains(got, want) {
			t.Errorf("%q is found in %q", word, got)
		}
	}
	if got := sections("the"); got != nil {
		t.Errorf("a word of nearly every section is in the index")
	}
	if size := len(files[indexFile]); size > 400_000 {
		t.Errorf("the index has %d bytes: a phone loads it before the first search", size)
	}
}

func TestAnchorsAsOnGitHub(t *testing.T) {
	p := parse("x.md", []byte("# A `--flag`, and *more*\n\n## Text: `limits.cost`\n\n## Done: exit code 0\n\n## Done: exit code 0\n\n## [A link](y.md) of snake_case\n"))
	var got []string
	for _, section := range p.sections {
		got = append(got, section.Anchor)
	}
	want := []string{"a---flag-and-more", "text-limitscost", "done-exit-code-0", "done-exit-code-0-1", "a-link-of-snake_case"}
	if !slices.Equal(got, want) {
		t.Errorf("the anchors are %q", got)
	}
}

// repositoryOf writes a repository that has one guide with this text.
func repositoryOf(t *testing.T, guide string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"README.md": "# ralph\n\nIt runs. And more.\n", "CHANGELOG.md": "# Changes\n", "CONTRIBUTING.md": "# Contributing\n", "VISION.md": "# Vision\n",
		"docs/README.md": "# Documentation\n\n## Guides\n\n[a guide](guide/a.md)\n", "docs/guide/a.md": guide,
		"docs/decisions/0001-x.md": "# 1. A choice\n", "go.mod": "module x\n",
	} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRefusesWhatNoPageShows(t *testing.T) {
	for guide, want := range map[string]string{
		"# A\n\n[x](b.md)\n":              "the link b.md leads nowhere",
		"# A\n\n[x](#b)\n":                "the link #b leads to no heading",
		"# A\n\n[x](../README.md#zoo)\n":  "leads to no heading",
		"# A\n\n![x](b.png)\n":            "the picture b.png",
		"# A\n\nA <name> is needed.\n":    "<name> is HTML",
		"# A\n\n<div>\nx\n</div>\n":       "is HTML",
		"text without a heading at all\n": "does not begin with a heading",
	} {
		err := run(repositoryOf(t, guide), filepath.Join(t.TempDir(), "site"), io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "docs/guide/a.md") {
			t.Errorf("%q: %v", guide, err)
		}
	}
}

func TestLinksLeadIntoSite(t *testing.T) {
	guide := "# A\n\n<!-- a comment -->\n\n[a](../../README.md) [b](../decisions) [c](../../go.mod) [d](#a) [e](../decisions/0001-x.md) [f](../../docs) [g](https://x.example/#y)\n"
	out := filepath.Join(t.TempDir(), "site")
	if err := run(repositoryOf(t, guide), out, io.Discard); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(out, "docs/guide/a.html"))
	if err != nil {
		t.Fatal(err)
	}
	article, _, _ := strings.Cut(string(text[bytes.Index(text, []byte("<article>")):]), "</article>")
	var got []string
	for _, m := range regexp.MustCompile(`<a href="([^"]*)">`).FindAllStringSubmatch(article, -1) {
		got = append(got, m[1])
	}
	want := []string{
		"../../index.html", "../decisions/index.html", repository + "blob/main/go.mod", "#a", "../decisions/0001-x.html", "../index.html", "https://x.example/#y",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the links are %q", got)
	}
	programs, err := os.ReadFile(filepath.Join(out, "llms.txt"))
	if err != nil || !strings.Contains(string(programs), "> It runs.\n") || !strings.Contains(string(programs), "- [A](docs/guide/a.md): ") {
		t.Errorf("llms.txt is %s (%v)", programs, err)
	}
}

func TestReplacesOnlySites(t *testing.T) {
	dir, out := repositoryOf(t, "# A\n"), t.TempDir()
	mine := filepath.Join(out, "mine.txt")
	if err := os.WriteFile(mine, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(dir, out, io.Discard); err == nil {
		t.Error("a folder with other files was replaced")
	}
	if _, err := os.Stat(mine); err != nil {
		t.Error(err)
	}
	out = filepath.Join(out, "site")
	old := filepath.Join(out, "old.html")
	if err := errors.Join(run(dir, out, io.Discard), os.WriteFile(old, nil, 0o644), run(dir, out, io.Discard)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a page of an earlier site is still there: %v", err)
	}
	if err := run(dir, mine, io.Discard); err == nil {
		t.Error("a file was replaced")
	}
	if err := os.Mkdir(filepath.Join(out, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := run(dir, out, io.Discard); err == nil {
		t.Error("a repository with a site was replaced")
	}
}
