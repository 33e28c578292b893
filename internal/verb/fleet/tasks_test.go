package fleet

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTaskFolder(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("01-parser.md", "# The parser\n\nWrite it.\n")
	write("02-printer.md", "dependsOn: 01-parser\n\nPrint it.\n")
	write("notes.txt", "no task")
	tasks, err := ReadTasks(t.TempDir(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(tasks.List) != 2 || tasks.List[0].Title != "The parser" || tasks.List[1].Text != "Print it." || !slices.Equal(tasks.List[1].DependsOn, []string{"01-parser"}) {
		t.Errorf("%+v", tasks)
	}
	for name, row := range map[string]struct{ file, text, want string }{
		"an unknown one": {"03.md", "dependsOn: 99\nx", "task 03 depends on 99, which does not exist"},
		"a circle":       {"01-parser.md", "dependsOn: 02-printer\nx", "depends on itself"},
		"an empty one":   {"03.md", "dependsOn: 01-parser\n", "task 03.md is empty"},
	} {
		write(row.file, row.text)
		if _, err := ReadTasks(t.TempDir(), dir); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v", name, err)
		}
		write("01-parser.md", "x")
		_ = os.Remove(filepath.Join(dir, "03.md"))
	}
	if _, err := ReadTasks(t.TempDir(), t.TempDir()); err == nil {
		t.Error("an empty folder has tasks")
	}
}
