package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree lays out a module of one file.
func tree(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	for _, root := range roots {
		if err := os.MkdirAll(filepath.Join(dir, root), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range exempt {
		if err := os.WriteFile(filepath.Join(dir, e.file), []byte("package "+filepath.Dir(e.file)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "journal", "a.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

const source = "package journal\n\nfunc save(f file) error {\n\t_ = f.Rename(a, b)\n\treturn f.Sync()\n}\n"

func TestACallWithoutARowIsAnError(t *testing.T) {
	rename := row{file: "journal/a.go", at: "f.Rename(a, b)", test: "TestX", mutants: []mutant{without("f.Rename(a, b)", "nil")}}
	sync := row{file: "journal/a.go", at: "return f.Sync()", test: "TestX", mutants: []mutant{without("return f.Sync()", "return nil")}}
	gone := sync
	gone.at = "return f.SyncAll()"
	common := sync
	common.at = "f."
	stale := sync
	stale.mutants = []mutant{without("return f.Sync(1)", "")}
	idle := sync
	idle.mutants = nil
	for name, c := range map[string]struct {
		rows []row
		want string
	}{
		"all have one":           {[]row{rename, sync}, ""},
		"a sync has none":        {[]row{rename}, "journal/a.go:5: a call of Sync without a row"},
		"a rename has none":      {[]row{sync}, "journal/a.go:4: a call of Rename without a row"},
		"a text that is gone":    {[]row{rename, gone}, "is there 0 times"},
		"a text that is common":  {[]row{rename, sync, common}, "is there 2 times"},
		"a mutant that is stale": {[]row{rename, stale}, "the text of the mutant"},
		"a row without a mutant": {[]row{rename, idle}, "without a mutant"},
	} {
		places, err := check(tree(t, source), c.rows)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if err == nil && places[0] != "journal/a.go: f.Rename in save" {
			t.Errorf("%s: %q", name, places)
		}
	}
}

// The tool itself fails where a mutant is not noticed.
func TestAMutantThatNobodyNotices(t *testing.T) {
	dir := tree(t, "package journal\n\ntype File struct{ Synced int }\n\nfunc (f *File) Sync() { f.Synced++ }\n\nfunc Save(f *File) {\n\tf.Sync()\n}\n")
	for name, text := range map[string]string{
		"go.mod": "module example.org/m\n\ngo 1.26\n",
		"journal/a_test.go": "package journal\n\nimport \"testing\"\n\nfunc TestSaves(t *testing.T) { Save(&File{}) }\n\n" +
			"func TestSyncs(t *testing.T) {\n\tf := &File{}\n\tSave(f)\n\tif f.Synced != 1 {\n\t\tt.Error(f.Synced)\n\t}\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for test, want := range map[string]bool{"TestSaves": false, "TestSyncs": true} {
		r := row{file: "journal/a.go", at: "f.Sync()\n", pkg: "journal", test: test, mutants: []mutant{without("\tf.Sync()\n", "")}}
		all := []trial{{row: r, place: "save"}, {row: r, place: "save", mutant: &r.mutants[0]}}
		if err := runAll(dir, t.TempDir(), all, 2); err != nil {
			t.Fatal(err)
		}
		if all[1].failed != want {
			t.Errorf("%s notices: %v", test, all[1].failed)
		}
	}
	r := row{file: "journal/a.go", pkg: "journal", test: "TestNone"}
	if err := runAll(dir, t.TempDir(), []trial{{row: r}}, 1); err == nil || !strings.Contains(err.Error(), "no such test") {
		t.Errorf("a test that is not there: %v", err)
	}
}
