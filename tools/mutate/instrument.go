package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// mutant is one change.
type mutant struct {
	ID   int    `json:"id"`
	File string `json:"file"`
	Line int    `json:"line"`
	What string `json:"what"`
	// Reached means that a test executes the changed expression.
	Reached bool `json:"reached"`
}

func (m mutant) String() string {
	note := ""
	if !m.Reached {
		note = " (not reached)"
	}
	return fmt.Sprintf("%s:%d: %s%s", m.File, m.Line, m.What, note)
}

type mutants struct{ list []mutant }

// add puts a package with all its mutants into the overlay.
func (all *mutants) add(dir, pkg, work string, overlay map[string]string) error {
	p, err := load(dir, pkg)
	if err != nil {
		return err
	}
	var rows []string
	for _, file := range p.files {
		path := p.fset.Position(file.Pos()).Filename
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		in := &instrument{all: all, pkg: p.pkg, info: p.info, fset: p.fset, name: filepath.ToSlash(relative), imports: importsOf(file)}
		in.file(file)
		rows = append(rows, in.rows...)
		changed := filepath.Join(work, strings.ReplaceAll(in.name, "/", "_"))
		if err := os.WriteFile(changed, in.apply(source), 0o600); err != nil {
			return err
		}
		overlay[path] = changed
	}
	switches := filepath.Join(work, strings.ReplaceAll(pkg, "/", "_")+"_switches.go")
	text := fmt.Sprintf(switchesSource, p.pkg.Name(), strings.Join(rows, "\n"))
	if err := os.WriteFile(switches, []byte(text), 0o600); err != nil {
		return err
	}
	overlay[filepath.Join(dir, filepath.FromSlash(pkg), "mutate_switches.go")] = switches
	return nil
}

// checked is a package whose types are known.
type checked struct {
	pkg   *types.Package
	files []*ast.File
	info  *types.Info
	fset  *token.FileSet
}

// load parses and checks a package.
func load(dir, pkg string) (*checked, error) {
	list := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles", "./"+pkg)
	list.Dir, list.Stderr = dir, os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	exports := map[string]string{}
	var last struct {
		ImportPath, Export, Dir string
		GoFiles                 []string
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		next := last
		next.GoFiles, next.Export = nil, ""
		if err := decoder.Decode(&next); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		last = next // the package comes after its imports
		exports[last.ImportPath] = last.Export
	}
	p := &checked{fset: token.NewFileSet()}
	for _, name := range last.GoFiles {
		file, err := parser.ParseFile(p.fset, filepath.Join(last.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		p.files = append(p.files, file)
	}
	p.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	lookup := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	config := types.Config{Importer: importer.ForCompiler(p.fset, "gc", lookup)}
	p.pkg, err = config.Check(last.ImportPath, p.fset, p.files, p.info)
	return p, err
}

func importsOf(file *ast.File) map[string]string {
	imports := map[string]string{}
	for _, spec := range file.Imports {
		path := strings.Trim(spec.Path.Value, `"`)
		name := path[strings.LastIndexByte(path, '/')+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imports[path] = name
	}
	return imports
}

// edit replaces source[from:to].
type edit struct {
	from, to int
	text     string
	order    int // among insertions at one place
}

// instrument rewrites one file.
type instrument struct {
	all     *mutants
	pkg     *types.Package
	info    *types.Info
	fset    *token.FileSet
	name    string
	imports map[string]string
	edits   []edit
	rows    []string
	depth   int
}

func (in *instrument) mutant(at token.Pos, format string, args ...any) int {
	id := len(in.all.list) + 1
	in.all.list = append(in.all.list, mutant{ID: id, File: in.name, Line: in.fset.Position(at).Line, What: fmt.Sprintf(format, args...)})
	return id
}

// wrap puts texts before and after a node; the first wrap is outermost.
func (in *instrument) wrap(n ast.Node, before, after string) {
	in.depth++
	from, to := in.offset(n.Pos()), in.offset(n.End())
	in.edits = append(in.edits, edit{from, from, before, in.depth}, edit{to, to, after, -in.depth})
}

func (in *instrument) replace(from, to token.Pos, text string) {
	in.edits = append(in.edits, edit{in.offset(from), in.offset(to), text, 0})
}

func (in *instrument) offset(p token.Pos) int { return in.fset.Position(p).Offset }

// apply returns the source with all edits. At one place, a text that ends a node comes before one
// that begins another.
func (in *instrument) apply(source []byte) []byte {
	slices.SortStableFunc(in.edits, func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.order, b.order))
	})
	var out bytes.Buffer
	at := 0
	for _, e := range in.edits {
		out.Write(source[at:e.from])
		out.WriteString(e.text)
		at = e.to
	}
	out.Write(source[at:])
	return out.Bytes()
}

func (in *instrument) file(file *ast.File) {
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				in.block(d.Body.List)
			}
		case *ast.GenDecl:
			if d.Tok == token.VAR {
				for _, spec := range d.Specs {
					in.variable(spec.(*ast.ValueSpec))
				}
			}
		}
	}
}

// variable changes the initial value of a package's variable.
func (in *instrument) variable(spec *ast.ValueSpec) {
	for i, value := range spec.Values {
		in.expr(value)
		table, ok := value.(*ast.CompositeLit)
		if !ok || len(spec.Names) != len(spec.Values) || spec.Names[i].Name == "_" {
			continue
		}
		if _, slice := in.info.TypeOf(table).Underlying().(*types.Slice); !slice {
			continue
		}
		name := spec.Names[i].Name
		for row, element := range table.Elts {
			id := in.mutant(element.Pos(), "row %d of %s is left out", row+1, name)
			in.rows = append(in.rows, fmt.Sprintf("\tif mutOn(%[1]d) { %[2]s = append(%[2]s[:%[3]d:%[3]d], %[2]s[%[4]d:]...) }", id, name, row, row+1))
			if row > 0 {
				id := in.mutant(element.Pos(), "rows %d and %d of %s change places", row, row+1, name)
				in.rows = append(in.rows, fmt.Sprintf("\tif mutOn(%[1]d) { %[2]s[%[3]d], %[2]s[%[4]d] = %[2]s[%[4]d], %[2]s[%[3]d] }", id, name, row-1, row))
			}
		}
	}
}
