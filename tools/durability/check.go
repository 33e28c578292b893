package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// roots are the folders in which calls are looked for; no loop depends on the folders in passed.
var (
	roots  = []string{"cmd", "inbox", "internal", "journal", "projector", "registry", "render"}
	passed = []string{"testdata", "agenttest", "simfs", "archtest", "rehearsal"}
)

// lasting are the functions that make something durable or give it its name.
var lasting = regexp.MustCompile(`^((?i:f?sync|fdatasync|syncfolder(in)?|syncnames|rename|renameat2?|renameatxnp|renamenoreplace)|ReplaceFile)$`)

// operation finds the call in a row's text.
var operation = regexp.MustCompile(`[A-Za-z.]*(?i:replacefile|fdatasync|syncfolder\w*|syncnames|sync|rename\w*)\b`)

// check compares the table with the tree and returns the place of each row: the file and the
// function.
func check(dir string, rows []row) (places []string, err error) {
	var errs []error
	covered := map[string][][2]int{}
	for _, r := range rows {
		text, err := os.ReadFile(filepath.Join(dir, r.file))
		if err != nil {
			return nil, err
		}
		for _, m := range r.mutants {
			for _, c := range m.changes {
				if n := bytes.Count(text, []byte(c.from)); n != 1 {
					errs = append(errs, fmt.Errorf("%s: the text of the mutant %q is there %d times, not once: %q", r.file, m.how, n, c.from))
				}
			}
		}
		from := bytes.Index(text, []byte(r.at))
		covered[r.file] = append(covered[r.file], [2]int{from, from + len(r.at)})
		places = append(places, r.file+": "+operation.FindString(r.at)+" in "+function(r.file, text, from))
	}
	for _, e := range exempt {
		if _, err := os.Stat(filepath.Join(dir, e.file)); err != nil {
			errs = append(errs, fmt.Errorf("without a mutant: %w", err))
		}
	}
	for _, root := range roots {
		errs = append(errs, filepath.WalkDir(filepath.Join(dir, root), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() && slices.Contains(passed, entry.Name()) {
				return fs.SkipDir
			}
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			name, err := filepath.Rel(dir, path)
			if err != nil || slices.ContainsFunc(exempt, func(e exemption) bool { return e.file == filepath.ToSlash(name) }) {
				return err
			}
			return uncovered(path, filepath.ToSlash(name), covered[filepath.ToSlash(name)])
		}))
	}
	return places, errors.Join(errs...)
}

// uncovered returns an error for each call of a file that has no row.
func uncovered(path, name string, covered [][2]int) error {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	var errs []error
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		var called *ast.Ident
		switch f := call.Fun.(type) {
		case *ast.Ident:
			called = f
		case *ast.SelectorExpr:
			called = f.Sel
		}
		if called == nil || !lasting.MatchString(called.Name) {
			return true
		}
		at := set.Position(called.Pos())
		if !slices.ContainsFunc(covered, func(c [2]int) bool { return c[0] <= at.Offset && at.Offset < c[1] }) {
			errs = append(errs, fmt.Errorf("%s:%d: a call of %s without a row in tools/durability/mutants.txt", name, at.Line, called.Name))
		}
		return true
	})
	return errors.Join(errs...)
}

// function returns the name of the function at an offset.
func function(name string, text []byte, offset int) string {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
	if err != nil {
		return "?"
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		// A row may begin with the function's own line.
		if ok && set.Position(f.Pos()).Offset <= offset && offset < set.Position(f.End()).Offset {
			return f.Name.Name
		}
		if g, ok := d.(*ast.GenDecl); ok && set.Position(g.Pos()).Offset <= offset && offset < set.Position(g.End()).Offset {
			if v, ok := g.Specs[0].(*ast.ValueSpec); ok {
				return v.Names[0].Name
			}
		}
	}
	return "?"
}
