package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/effect/prove/mutant"
	"github.com/ralph-loop/ralph/journal/event"
)

// change is a mutant.
type change struct {
	event.Mutant
	id      int // from 1
	place   int // the function that has to run; 0 for a row of a table, which takes effect at once
	code    string
	reached bool // by a test
}

func (c *change) String() string {
	note := ""
	if !c.reached {
		note = " (not reached)"
	}
	return fmt.Sprintf("%s:%d: %s: %s -> %s%s", c.File, c.Line, c.Operator, one(c.Was), one(c.Now), note)
}

func one(text string) string { return strings.Join(strings.Fields(text), " ") }

// source is a file of the packages that are changed.
type source struct {
	name      string // from the module's folder
	text      string
	tree      *ast.File
	functions []function
	changes   []*change
	lines     map[int]*change // of the text with all changes
}

// function is one with mutants, whose statements begin at an offset. Its place is the number of the
// first mutant.
type function struct {
	place, from int
	results     string
}

// compile returns an overlay in which all mutants are, and those that compile.
func compile(o options, work string) (overlay string, all []*change, err error) {
	var sources []*source
	replaced := map[string]string{}
	lay := func(name, text string) error {
		path := filepath.Join(work, flat(name))
		replaced[filepath.Join(o.dir, filepath.FromSlash(name))] = path
		return os.WriteFile(path, []byte(text), 0o600)
	}
	for _, pkg := range o.packages {
		files, err := filepath.Glob(filepath.Join(o.dir, filepath.FromSlash(pkg), "*.go"))
		if err != nil {
			return "", nil, err
		}
		rows := ""
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			s, err := read(o.dir, path, len(all))
			if err != nil {
				return "", nil, err
			}
			sources, all = append(sources, s), append(all, s.changes...)
			for _, c := range s.changes {
				if c.place == 0 {
					rows += fmt.Sprintf("\tcase %d:\n\t\t%s\n", c.id, c.code)
				}
			}
		}
		if len(sources) == 0 {
			return "", nil, fmt.Errorf("no Go file in %s", pkg)
		}
		if err := lay(pkg+"/mutate_switch.go", fmt.Sprintf(switches, sources[len(sources)-1].tree.Name, rows)); err != nil {
			return "", nil, err
		}
	}
	overlay = filepath.Join(work, "overlay.json")
	for {
		for _, s := range sources {
			if err := lay(s.name, s.switched()); err != nil {
				return "", nil, err
			}
		}
		data, err := json.Marshal(map[string]any{"Replace": replaced})
		if err == nil {
			err = os.WriteFile(overlay, data, 0o600)
		}
		if err != nil {
			return "", nil, err
		}
		bad, err := broken(o, overlay, sources)
		if err != nil || len(bad) == 0 {
			return overlay, all, err
		}
		fails := func(c *change) bool { return bad[c] }
		all = slices.DeleteFunc(all, fails)
		for _, s := range sources {
			s.changes = slices.DeleteFunc(s.changes, fails)
		}
	}
}

// flat is the name of a changed file, in one folder for all of them.
func flat(name string) string { return strings.ReplaceAll(name, "/", "_") }

var compileError = regexp.MustCompile(`(?m)^(\S+\.go):(\d+):\d+: (.*)$`)

// broken builds the packages and returns the mutants that do not compile.
func broken(o options, overlay string, sources []*source) (map[*change]bool, error) {
	build := exec.Command("go", "build", "-gcflags=-e", "-overlay", overlay)
	for _, pkg := range o.packages {
		build.Args = append(build.Args, "./"+pkg)
	}
	build.Dir = o.dir
	out, err := build.CombinedOutput()
	if err == nil {
		return nil, nil
	}
	bad := map[*change]bool{}
	for _, found := range compileError.FindAllStringSubmatch(string(out), -1) {
		line, _ := strconv.Atoi(found[2])
		i := slices.IndexFunc(sources, func(s *source) bool { return flat(s.name) == filepath.Base(found[1]) })
		if i < 0 || sources[i].lines[line] == nil {
			return nil, fmt.Errorf("the changed program does not compile: %s", found[0])
		}
		bad[sources[i].lines[line]] = true
	}
	if len(bad) == 0 {
		return nil, fmt.Errorf("build the changed program: %w\n%s", err, out)
	}
	return bad, nil
}

// read finds the mutants of a file, whose numbers come after the last one.
func read(dir, path string, last int) (*source, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	name, err := filepath.Rel(dir, path)
	if err != nil {
		return nil, err
	}
	s := &source{name: filepath.ToSlash(name), text: string(text)}
	set := token.NewFileSet()
	if s.tree, err = parser.ParseFile(set, path, text, parser.SkipObjectResolution); err != nil {
		return nil, err
	}
	add := func(place int, code string, m event.Mutant) {
		last++
		s.changes = append(s.changes, &change{Mutant: m, id: last, place: place, code: code})
	}
	mutants := mutant.Find(s.name, s.text, func(int) bool { return true })
	for _, decl := range s.tree.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Body == nil {
				continue
			}
			at := func(p token.Pos) int { return set.Position(p).Offset }
			fn := function{place: last + 1, from: at(d.Body.Lbrace) + 1}
			if r := d.Type.Results; r != nil {
				fn.results = s.text[at(r.Pos()):at(r.End())]
			}
			for _, m := range mutants {
				if body, ok := s.body(set, d, m); ok {
					add(fn.place, body, m)
				}
			}
			if last >= fn.place {
				s.functions = append(s.functions, fn)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.VAR && len(v.Values) == 1 {
					s.rows(set, v, func(code string, m event.Mutant) { add(0, code, m) })
				}
			}
		}
	}
	return s, nil
}

// body returns the changed statements of a function; false where the mutant changes something else,
// or they are not Go.
func (s *source) body(set *token.FileSet, f *ast.FuncDecl, m event.Mutant) (string, bool) {
	from, to := set.Position(f.Body.Lbrace).Offset+1, set.Position(f.Body.Rbrace).Offset
	at := set.Position(set.File(f.Pos()).LineStart(m.Line)).Offset
	was, now := m.Was, m.Now
	for was != "" && now != "" && was[0] == now[0] {
		was, now, at = was[1:], now[1:], at+1
	}
	for was != "" && now != "" && was[len(was)-1] == now[len(now)-1] {
		was, now = was[:len(was)-1], now[:len(now)-1]
	}
	if at < from || at+len(was) > to {
		return "", false
	}
	code := s.text[from:at] + now + s.text[at+len(was):to]
	_, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc _() {"+code+"}", parser.SkipObjectResolution)
	return code, err == nil
}

// rows finds the mutants of a table: a row is left out, or changes places with the one before.
func (s *source) rows(set *token.FileSet, v *ast.ValueSpec, add func(code string, m event.Mutant)) {
	table, ok := v.Values[0].(*ast.CompositeLit)
	if !ok {
		return
	}
	if kind, ok := table.Type.(*ast.ArrayType); !ok || kind.Len != nil || v.Names[0].Name == "_" {
		return
	}
	name := v.Names[0].Name
	for i, row := range table.Elts {
		m := event.Mutant{File: s.name, Line: set.Position(row.Pos()).Line, Operator: "table", Was: fmt.Sprintf("row %d of %s", i+1, name), Now: "left out"}
		add(fmt.Sprintf("%[1]s = append(%[1]s[:%[2]d:%[2]d], %[1]s[%[3]d:]...)", name, i, i+1), m)
		if i > 0 {
			m.Now = "before the one above"
			add(fmt.Sprintf("%[1]s[%[2]d], %[1]s[%[3]d] = %[1]s[%[3]d], %[1]s[%[2]d]", name, i-1, i), m)
		}
	}
}

// switched returns the file with a copy of its function for each mutant, before the function's own
// statements.
func (s *source) switched() string {
	var b strings.Builder
	s.lines = map[int]*change{}
	at, line := 0, 1
	write := func(text string, c *change) {
		b.WriteString(text)
		for range strings.Count(text, "\n") {
			s.lines[line] = c
			line++
		}
	}
	for _, f := range s.functions {
		write(s.text[at:f.from], nil)
		at = f.from
		fmt.Fprintf(&b, "switch mutOn(%d) {", f.place)
		for _, c := range s.changes {
			if c.place != f.place {
				continue
			}
			before, after := "return func() ", "()\n"
			if f.results == "" {
				before, after = "func() ", "()\nreturn\n"
			}
			write(fmt.Sprintf("\ncase %d:\n", c.id), nil)
			write(before+f.results+" {"+c.code+"}"+after, c)
		}
		write("}\n", nil)
	}
	write(s.text[at:], nil)
	return b.String()
}

// switches is the file that is added to each package: its name, and the rows of its tables. MUTANT
// is the mutant that is on, MUTANT_REACHED a file to which the functions that run are written.
const switches = `package %s

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

var (
	mutActive, _ = strconv.Atoi(os.Getenv("MUTANT"))
	mutReached   = os.Getenv("MUTANT_REACHED")
	mutSeen      sync.Map
)

func mutOn(place int) int {
	if mutReached != "" {
		if _, seen := mutSeen.LoadOrStore(place, true); !seen {
			f, err := os.OpenFile(mutReached, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				panic(err)
			}
			fmt.Fprintln(f, place)
			f.Close()
		}
	}
	return mutActive
}

func init() {
	switch mutActive {
%s	}
}
`
