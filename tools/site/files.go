package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"os"
	"path"
	"path/filepath"
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
	Headings             []heading
	Shelves              []shelfView
	Siblings             []link // the pages of a folder that is no shelf
	Previous, Next       *link
}

type heading struct{ Anchor, Title string }

type shelfView struct {
	Name   string
	Groups []groupView
}

type groupView struct {
	Name  string
	Links []link
}

type link struct {
	To, Label string
	Current   bool
}

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
		Body: template.HTML(body), //nolint:gosec // goldmark leaves raw HTML out
	}
	for _, section := range p.sections {
		if section.level == 2 {
			v.Headings = append(v.Headings, heading{section.anchor, section.title})
		}
	}
	to := func(e entry) link {
		return link{relative(p.path, address(e.Path)), e.Label, e.Path == p.path}
	}
	for _, sh := range s.shelves {
		shown := shelfView{Name: sh.Name}
		for _, g := range sh.Groups {
			group := groupView{Name: g.Name}
			for _, e := range g.Entries {
				group.Links = append(group.Links, to(e))
			}
			if len(group.Links) > 0 {
				shown.Groups = append(shown.Groups, group)
			}
		}
		v.Shelves = append(v.Shelves, shown)
	}
	v.turn(s, p, to)
	return v
}

// turn finds the pages before and after a page. One in a folder that is no shelf has the pages of
// that folder beside it.
func (v *view) turn(s *site, p *page, to func(entry) link) {
	order := s.order()
	if folder := path.Dir(p.path); strings.HasPrefix(folder, "docs/") && shelfOf[folder] == "" {
		order = nil
		for _, name := range s.names() {
			if path.Dir(name) == folder {
				order = append(order, entry{name, s.pages[name].title})
				v.Siblings = append(v.Siblings, to(order[len(order)-1]))
			}
		}
	}
	for i, e := range order {
		if e.Path != p.path {
			continue
		}
		if i > 0 {
			before := to(order[i-1])
			v.Previous = &before
		}
		if i+1 < len(order) {
			after := to(order[i+1])
			v.Next = &after
		}
	}
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
	if found, _ := os.ReadDir(out); len(found) > 0 {
		if _, err := os.Stat(filepath.Join(out, indexFile)); err != nil {
			return fmt.Errorf("%s is not empty and has no site: name another folder", out)
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
