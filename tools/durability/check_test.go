package main

import (
	"os"
	"path/filepath"
	"reflect"
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
		file, folder := filepath.Join(dir, e.file), filepath.Dir(e.file)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("package "+filepath.Base(folder)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "journal", "a.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

const source = "package journal\n\nfunc save(f file) error {\n\t_ = f.Rename(a, b)\n\treturn f.Sync()\n}\n"

func rowOf(t *testing.T, file, test, from, to string) row {
	t.Helper()
	rows, err := parse("# A heading\n\n" + file + "\nlost: it\ntest: journal " + test + "\nmutant: left out\n-" +
		strings.ReplaceAll(from, "\n", "\n-") + "\n+" + to + "\n")
	if err != nil {
		t.Fatal(err)
	}
	return rows[0]
}

func TestCallWithoutARow(t *testing.T) {
	rename := rowOf(t, "journal/a.go", "TestX", "f.Rename(a, b)", "nil")
	sync := rowOf(t, "journal/a.go", "TestX", "return f.Sync()", "return nil")
	gone := rowOf(t, "journal/a.go", "TestX", "return f.SyncAll()", "return nil")
	common := rowOf(t, "journal/a.go", "TestX", "f.", "")
	for name, c := range map[string]struct {
		rows []row
		want string
	}{
		"all have one":          {[]row{rename, sync}, ""},
		"a sync has none":       {[]row{rename}, "journal/a.go:5: a call of Sync without a row"},
		"a rename has none":     {[]row{sync}, "journal/a.go:4: a call of Rename without a row"},
		"a text that is gone":   {[]row{rename, gone}, "is there 0 times"},
		"a text that is common": {[]row{rename, sync, common}, "is there 2 times"},
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

func TestParseReadsChanges(t *testing.T) {
	rows, err := parse("// a comment\n\n# Files\n\na.go\nlost: x\ntest: p TestA|TestB\nmutant: moved\n-a\n-\tb\n+c\n+\n-d: e\n\nb.go\ntest: p T\nmutant: m\n-a\n")
	want := row{under: "Files", file: "a.go", at: "a\n\tb", lost: "x", pkg: "p", test: "TestA|TestB", mutants: []mutant{{"moved", []change{{"a\n\tb", "c\n"}, {"d: e", ""}}}}}
	if err != nil || len(rows) != 2 || !reflect.DeepEqual(rows[0], want) {
		t.Errorf("%+v %v", rows, err)
	}
	for _, text := range []string{"a.go\nlost: x\ntest: p T", "a.go\n-a\n", "a.go\nmutant: m\n+a\n", "a.go\ntest: p T\nmutant: m\nother\n", "a.go\nmutant: m\n-a"} {
		if _, err := parse(text); err == nil {
			t.Errorf("no error for %q", text)
		}
	}
}

// The tool itself fails where a mutant is not noticed.
func TestUnnoticedMutant(t *testing.T) {
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
		r := rowOf(t, "journal/a.go", test, "\tf.Sync()\n", "")
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

func TestRowDependsOnFiles(t *testing.T) {
	r := row{file: "internal/ground/safefile/os.go", pkg: "journal"}
	for file, want := range map[string]bool{
		"internal/ground/safefile/os.go":       true,
		"internal/ground/safefile/safefile.go": false,
		"journal/sim_test.go":                  true,
		"journal/writer.go":                    false,
		"journal/testdata/v1/a.jsonl":          true,
		"journal/event/event_test.go":          false,
		"tools/durability/mutants.txt":         true,
	} {
		if got := r.dependsOn([]string{"README.md", file}); got != want {
			t.Errorf("%s: %v, want %v", file, got, want)
		}
	}
}
