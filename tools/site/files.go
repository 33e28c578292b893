package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

var (
	//go:embed page.html
	pageTemplate string
	//go:embed site.css
	style []byte
	//go:embed site.js
	script []byte

	layout = template.Must(template.New("page").Parse(pageTemplate))
)

const indexFile = "search-index.js"

// view is what the template shows.
type view struct {
	Root                 string // the way to the root of the site
	Path, Title, Summary string
	Front                bool
	Markdown, Source     string
	Body                 template.HTML
	Headings             []section
	Shelves              []shelf
	Siblings             []entry // the pages of a folder that is no shelf
	Previous, Next       *entry
}

// To is the way from the page to another one.
func (v view) To(e entry) string { return relative(v.Path, address(e.Path)) }

// Current reports whether an entry is the page itself.
func (v view) Current(e entry) bool { return e.Path == v.Path }

// files returns the files of the site by their paths.
func (s *site) files() (map[string][]byte, error) {
	files := map[string][]byte{
		"site.css": style, "site.js": script, "llms.txt": s.forPrograms(), indexFile: s.searchIndex(),
	}
	for name, content := range s.assets {
		files[name] = content
	}
	for _, name := range s.names() {
		p := s.pages[name]
		body, err := p.render()
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		if err := layout.Execute(&b, s.view(p, body)); err != nil {
			return nil, err
		}
		files[address(name)] = b.Bytes()
		files[name] = p.copy
	}
	return files, nil
}

func (s *site) view(p *page, body string) view {
	v := view{
		Root: strings.Repeat("../", strings.Count(p.path, "/")), Path: p.path, Title: p.title, Summary: p.summary,
		Front: p.path == "README.md", Markdown: path.Base(p.path), Source: repository + "blob/main/" + p.path,
		Body:    template.HTML(body), //nolint:gosec // goldmark leaves raw HTML out
		Shelves: s.shelves,
	}
	for _, section := range p.sections {
		if section.level == 2 {
			v.Headings = append(v.Headings, section)
		}
	}
	order := s.order()
	if folder := path.Dir(p.path); strings.HasPrefix(folder, "docs/") && shelfOf[folder] == "" {
		for _, name := range s.names() {
			if path.Dir(name) == folder {
				v.Siblings = append(v.Siblings, entry{name, s.pages[name].title})
			}
		}
		order = v.Siblings
	}
	if at := slices.IndexFunc(order, v.Current); at >= 0 {
		if at > 0 {
			v.Previous = &order[at-1]
		}
		if at+1 < len(order) {
			v.Next = &order[at+1]
		}
	}
	return v
}

// forPrograms is llms.txt: each page with its first sentence, as Markdown.
func (s *site) forPrograms() []byte {
	var b bytes.Buffer
	front := s.pages["README.md"]
	fmt.Fprintf(&b, "# %s\n\n> %s\n", front.title, front.summary)
	for _, shelf := range s.shelves {
		fmt.Fprintf(&b, "\n## %s\n\n", shelf.Name)
		for _, group := range shelf.Groups {
			for _, e := range group.Entries {
				fmt.Fprintf(&b, "- [%s](%s): %s\n", s.pages[e.Path].title, e.Path, s.pages[e.Path].summary)
			}
		}
	}
	return b.Bytes()
}

// replace writes the files into a folder. What is in the folder goes, if it is a site.
func replace(out string, files map[string][]byte) error {
	found, err := os.ReadDir(out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a file, perhaps
		return err
	}
	if len(found) > 0 {
		if _, err := os.Stat(filepath.Join(out, indexFile)); err != nil {
			return fmt.Errorf("%s is not empty and has no site: name another folder", out)
		}
		if _, err := os.Lstat(filepath.Join(out, ".git")); err == nil {
			return fmt.Errorf("%s is a repository of git, which would go: name another folder", out)
		}
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	for name, content := range files {
		file := filepath.Join(out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
