package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// site is all that the pages say.
type site struct {
	dir     string
	pages   map[string]*page // by path
	shelves []shelf
	assets  map[string][]byte // pictures, by path
}

// A shelf is a part of the table of contents.
type shelf struct {
	Name   string
	Groups []group
}

// A group is a part of a shelf; the name of the first one may be empty.
type group struct {
	Name    string
	Entries []entry
}

// An entry leads to a page.
type entry struct {
	Path, Label string
}

// projectPages are the pages at the root of the repository.
var projectPages = []string{"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "VISION.md"}

const contents = "docs/README.md"

// shelfOf names the shelf of the pages in a folder that the table of contents does not name.
var shelfOf = map[string]string{"docs/guide": "Guides", "docs/concepts": "Concepts", "docs/reference": "Reference", "docs": "Reference"}

// read reads and parses all pages.
func read(dir string) (*site, error) {
	s := &site{dir: dir, pages: map[string]*page{}, assets: map[string][]byte{}}
	names := slices.Clone(projectPages)
	err := filepath.WalkDir(filepath.Join(dir, "docs"), func(file string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.HasSuffix(file, ".md") {
			name, _ := filepath.Rel(dir, file)
			names = append(names, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		source, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		s.pages[name] = parse(name, source)
	}
	s.listFolders()
	var problems []error
	for _, name := range s.names() {
		problems = append(problems, s.resolve(s.pages[name])...)
	}
	if len(problems) == 0 {
		s.arrange()
	}
	return s, errors.Join(problems...)
}

func (s *site) names() []string { return slices.Sorted(maps.Keys(s.pages)) }

// listFolders makes a page for each folder without one whose pages are on no shelf.
func (s *site) listFolders() {
	folders := map[string][]string{}
	for _, name := range s.names() {
		if folder := path.Dir(name); strings.HasPrefix(folder, "docs/") && shelfOf[folder] == "" {
			folders[folder] = append(folders[folder], name)
		}
	}
	for folder, names := range folders {
		if s.pages[folder+"/README.md"] != nil {
			continue
		}
		var b bytes.Buffer
		title := path.Base(folder)
		fmt.Fprintf(&b, "# %s%s\n\n", strings.ToUpper(title[:1]), title[1:])
		for _, name := range names {
			fmt.Fprintf(&b, "- [%s](%s)\n", s.pages[name].title, path.Base(name))
		}
		s.pages[folder+"/README.md"] = parse(folder+"/README.md", b.Bytes())
	}
}

// arrange reads the shelves from the table of contents, and adds the pages that it does not name.
func (s *site) arrange() {
	listed := map[string]bool{contents: true}
	table := s.pages[contents]
	_ = ast.Walk(table.doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			name := textOf(n, table.source)
			switch {
			case n.Level == 2:
				s.shelves = append(s.shelves, shelf{name, []group{{}}})
			case n.Level == 3 && len(s.shelves) > 0:
				last := &s.shelves[len(s.shelves)-1]
				last.Groups = append(last.Groups, group{Name: name})
			}
			return ast.WalkSkipChildren, nil
		case *ast.Link:
			target := table.targets[n]
			if target == "" || listed[target] || len(s.shelves) == 0 {
				break
			}
			listed[target] = true
			s.add(s.shelves[len(s.shelves)-1].Name, entry{target, label(textOf(n, table.source), s.pages[target].title)})
		}
		return ast.WalkContinue, nil
	})
	for _, name := range s.names() {
		if shelf := shelfOf[path.Dir(name)]; shelf != "" && !listed[name] {
			s.add(shelf, entry{name, s.pages[name].title})
		}
	}
}

// add puts an entry at the end of a shelf.
func (s *site) add(name string, e entry) {
	at := slices.IndexFunc(s.shelves, func(sh shelf) bool { return sh.Name == name })
	if at < 0 {
		s.shelves = append(s.shelves, shelf{name, []group{{}}})
		at = len(s.shelves) - 1
	}
	groups := s.shelves[at].Groups
	groups[len(groups)-1].Entries = append(groups[len(groups)-1].Entries, e)
}

// order is all pages of the shelves, as a reader turns them.
func (s *site) order() []entry {
	all := []entry{{"README.md", "ralph"}}
	for _, shelf := range s.shelves {
		for _, group := range shelf.Groups {
			all = append(all, group.Entries...)
		}
	}
	return all
}

// label is what a link says, as the title spells it if it says the same.
func label(link, title string) string {
	if strings.EqualFold(link, title) {
		return title
	}
	return capital(link)
}

func capital(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
