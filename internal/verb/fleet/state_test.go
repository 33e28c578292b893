package fleet

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/ralph-loop/ralph/internal/testkit/testseed"
)

// TestClaimsRespectDependencies plays fleets of any shape: no task begins before what it depends on
// is merged, never more work than is allowed, and in the end each task is merged, failed or kept by
// a failed one.
func TestClaimsRespectDependencies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "tasks")
		parallel := rapid.IntRange(1, 5).Draw(t, "parallel")
		var tasks []Task
		for i := range n {
			task := Task{ID: string(rune('a' + i)), Done: rapid.Bool().Draw(t, "done") && i == 0}
			for j := range i {
				if rapid.IntRange(0, 3).Draw(t, "depends") == 0 {
					task.DependsOn = append(task.DependsOn, string(rune('a'+j)))
				}
			}
			tasks = append(tasks, task)
		}
		var s State
		for _, task := range tasks {
			s.of(task, "fleet")
		}
		for steps := 0; !over(tasks, &s); steps++ {
			if steps > 100*n {
				t.Fatalf("it does not end: %+v", s)
			}
			for _, id := range startable(tasks, &s, parallel) {
				at := slices.IndexFunc(tasks, func(o Task) bool { return o.ID == id })
				for _, on := range tasks[at].DependsOn {
					if s.step(on) != Merged {
						t.Fatalf("%s begins before %s is merged", id, on)
					}
				}
				s.of(tasks[at], "fleet").Step = Working
			}
			if s.count(Working, Merging) > parallel {
				t.Fatalf("more than %d at once: %+v", parallel, s)
			}
			for i := range s.Tasks {
				if s.Tasks[i].Step == Working && rapid.Bool().Draw(t, "ends") {
					s.Tasks[i].Step = rapid.SampledFrom([]Step{Merged, Merged, Failed}).Draw(t, "how")
				}
			}
		}
		stuck := kept(tasks, &s)
		for _, e := range s.Tasks {
			if e.Step != Merged && e.Step != Failed && stuck[e.ID] == "" {
				t.Fatalf("%s is left at %s", e.ID, e.Step)
			}
		}
	})
}

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

func TestLoopNames(t *testing.T) {
	var s State
	names := map[string]bool{}
	for _, id := range []string{"US-001", "us 001", "us/001", strings.Repeat("x", 200), strings.Repeat("x", 201)} {
		names[s.of(Task{ID: id}, "night").Loop] = true
	}
	if len(names) != 5 {
		t.Errorf("%q", slices.Sorted(maps.Keys(names)))
	}
}
