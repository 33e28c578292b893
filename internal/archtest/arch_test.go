package archtest

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// root is the repository as this package's tests see it.
const root = "../.."

func TestImportRules(t *testing.T) {
	pkgs := load(t)
	// An empty list would pass any check.
	if len(pkgs) < 10 || !slices.ContainsFunc(pkgs, func(p pkg) bool { return p.path == "journal/event" }) {
		t.Fatalf("go list found %d packages and perhaps no journal/event", len(pkgs))
	}
	for _, v := range check(pkgs) {
		t.Error(v)
	}
}

func TestPureFilesExist(t *testing.T) {
	for path, rule := range pure {
		for _, name := range slices.Concat(rule.only, rule.except) {
			if _, err := os.Stat(filepath.Join(root, path, name)); err != nil {
				t.Errorf("the plan names a file that does not exist: %v", err)
			}
		}
	}
	rules, err := filepath.Glob(filepath.Join(root, "internal/core/loop/next*.go"))
	if err != nil || len(rules) < 8 {
		t.Fatalf("%d files of Next, %v", len(rules), err)
	}
	for _, path := range rules {
		if name := filepath.Base(path); !strings.HasSuffix(name, "_test.go") && !slices.Contains(pure["internal/core/loop"].only, name) {
			t.Errorf("%s decides and is not among the pure files: add it to the plan", name)
		}
	}
}

func TestRootHoldsNothingElse(t *testing.T) {
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() && !strings.HasPrefix(name, ".") && !slices.Contains(atRoot, name) && !slices.Contains(besideRoot, name) {
			t.Errorf("folder %s is at the root\n\twhy not: %s", name, whyRoot)
		}
	}
	for _, name := range []string{"LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "README.md", "Makefile", ".ci/run", ".ralph/settings.json"} {
		if info, err := os.Stat(filepath.Join(root, name)); err != nil || !info.Mode().IsRegular() {
			t.Errorf("%s is missing at the root", name)
		}
	}
}

// A program that was built in the work tree is not committed: it would be in every clone for ever.
func TestNoProgramIsTracked(t *testing.T) {
	const most = 2 << 20
	names, err := exec.CommandContext(t.Context(), "git", "-C", root, "ls-files", "-z").Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		if info, err := os.Stat(filepath.Join(root, name)); err == nil && info.Size() > most {
			t.Errorf("%s has %d bytes, and %d are the most of a file in the repository", name, info.Size(), most)
		}
	}
}

// A person reads the README in a few minutes.
func TestReadmeIsShort(t *testing.T) {
	const most = 1200
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if words := len(strings.Fields(string(text))); words > most {
		t.Errorf("README.md has %d words, and %d are the most: move what is for some readers to a guide", words, most)
	}
}

// load reads all packages of the module, with the files of other platforms.
func load(t *testing.T) []pkg {
	t.Helper()
	// go test caches a result until a file that this process read has changed. Read every folder,
	// so that a new package or file counts as a change.
	for _, name := range atRoot {
		err := filepath.WalkDir(filepath.Join(root, name), func(string, os.DirEntry, error) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=Dir,ImportPath,Doc,GoFiles,CgoFiles,IgnoredGoFiles", "./...")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var listed struct {
			Dir, ImportPath, Doc              string
			GoFiles, CgoFiles, IgnoredGoFiles []string
		}
		if err := dec.Decode(&listed); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatalf("read the answer of go list: %v", err)
		}
		p := pkg{path: strings.TrimPrefix(listed.ImportPath, module)}
		// The sentence begins with "Package x " or "Command x ".
		if words := strings.SplitN(listed.Doc, " ", 3); len(words) == 3 {
			p.does = words[2]
		}
		for _, name := range slices.Concat(listed.GoFiles, listed.CgoFiles, listed.IgnoredGoFiles) {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			source, err := os.ReadFile(filepath.Join(listed.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			f, err := read(name, source)
			if err != nil {
				t.Fatal(err)
			}
			p.files = append(p.files, f)
		}
		pkgs = append(pkgs, p)
	}
}

// read returns the facts about a Go file that check uses.
func read(name string, source []byte) (file, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, name, source, parser.SkipObjectResolution)
	if err != nil {
		return file{}, err
	}
	f := file{name: name}
	clock := ""
	for _, spec := range tree.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return file{}, err
		}
		if path == "time" {
			if clock = "time"; spec.Name != nil {
				clock = spec.Name.Name
			}
		}
		if rest, ok := strings.CutPrefix(path, module); ok {
			path = "./" + rest
		}
		f.imports = append(f.imports, path)
	}
	line := func(n ast.Node) int { return set.Position(n.Pos()).Line }
	for n := range ast.Preorder(tree) {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv == nil {
				f.funcs = append(f.funcs, n.Name.Name)
			}
		case *ast.GoStmt:
			f.spawns = append(f.spawns, line(n))
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == clock && slices.Contains([]string{"Now", "Since", "Until"}, n.Sel.Name) {
				f.clock = append(f.clock, line(n))
			}
		case *ast.CallExpr:
			if called, ok := n.Fun.(*ast.Ident); ok {
				f.names = append(f.names, called.Name)
			}
		}
	}
	return f, nil
}
