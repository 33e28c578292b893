package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/ground/config"
)

// A listed package is what 'go list' reports about it.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	Standard                bool
}

// TestEverySettingHasAReader type-checks the module and looks for code outside of
// internal/ground/config that reads the field of each key: a setting without one has no effect.
func TestEverySettingHasAReader(t *testing.T) {
	const module = "github.com/ralph-loop/ralph"
	list := exec.Command("go", "list", "-export", "-trimpath", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Standard", module+"/cmd/ralph")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	var own []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if strings.HasPrefix(p.ImportPath, module) {
			own = append(own, p)
		}
	}
	files := token.NewFileSet()
	imports := importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })

	read := map[*types.Var]bool{}
	for _, p := range own {
		if p.ImportPath == module+"/internal/ground/config" {
			continue
		}
		var parsed []*ast.File
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			parsed = append(parsed, file)
		}
		info := types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}}
		if _, err := (&types.Config{Importer: imports}).Check(p.ImportPath, files, parsed, &info); err != nil {
			t.Fatal(err)
		}
		for _, selection := range info.Selections {
			if v, ok := selection.Obj().(*types.Var); ok {
				read[v] = true
			}
		}
	}

	settings, err := imports.Import(module + "/internal/ground/config")
	if err != nil {
		t.Fatal(err)
	}
	var walked []string
	var walk func(typ types.Type, parent string)
	walk = func(typ types.Type, parent string) {
		s := typ.Underlying().(*types.Struct)
		for i := range s.NumFields() {
			if s.Field(i).Embedded() { // its keys are those of the struct around it
				walk(s.Field(i).Type(), parent)
				continue
			}
			name, _, _ := strings.Cut(reflect.StructTag(s.Tag(i)).Get("json"), ",")
			if name == "-" {
				continue
			}
			key := strings.TrimPrefix(parent+"."+name, ".")
			walked = append(walked, key)
			if !read[s.Field(i)] && name != "protocol" { // others call config.Agent.ResolvedProtocol
				t.Errorf("no code reads %s", key)
			}
			switch typ := s.Field(i).Type().Underlying().(type) {
			case *types.Struct:
				walk(typ, key)
			case *types.Map:
				if _, ok := typ.Elem().Underlying().(*types.Struct); ok {
					walk(typ.Elem(), key+".NAME")
				}
			case *types.Slice:
				if _, ok := typ.Elem().Underlying().(*types.Struct); ok {
					walk(typ.Elem(), key+"[]")
				}
			}
		}
	}
	walk(settings.Scope().Lookup("Settings").Type(), "")
	var keys []string
	for _, key := range config.Keys() {
		keys = append(keys, key.Name)
	}
	if !slices.Equal(walked, keys) {
		t.Errorf("checked %q, not all of %q", walked, keys)
	}
}
