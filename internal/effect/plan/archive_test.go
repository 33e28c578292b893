package plan

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/testkit/testfile"
)

// archived is a project with a plan that people have worked on.
func archived(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{PRD: "prd", Tasks: "tasks", Progress: "progress", Prompt: "prompt"} {
		testfile.Write(t, Path(dir, name), text)
	}
	return dir
}

// tree returns the files below a folder with their content.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var fresh = Values{Project: "demo", Branch: "ralph/demo", Date: "2025-06-16"}

// archive makes an archive as the verb does: it finishes one that was not finished, or begins one.
func archive(t *testing.T, dir string) (changed []string) {
	t.Helper()
	u, err := UnfinishedArchive(dir)
	if err == nil && u == nil {
		u = &Unfinished{}
		u.Name, err = FreeArchive(dir, "2025-06-15-demo")
		if err == nil {
			err = Store(dir, *u, []byte("summary"))
		}
	}
	if err == nil {
		changed, err = Reset(dir, u.Name, fresh)
	}
	if err == nil {
		err = Finish(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

func wantArchived() map[string]string {
	return map[string]string{
		"ralph-archive/2025-06-15-demo/prd.md": "prd", "ralph-archive/2025-06-15-demo/tasks.json": "tasks",
		"ralph-archive/2025-06-15-demo/progress.txt": "progress", "ralph-archive/2025-06-15-demo/summary.md": "summary",
		"ralph/prd.md": string(Template(PRD, fresh)), "ralph/tasks.json": string(Template(Tasks, fresh)),
		"ralph/progress.txt": string(Template(Progress, fresh)), "ralph/prompt.md": "prompt",
	}
}

func TestArchiveMovesThePlan(t *testing.T) {
	dir := archived(t)
	if changed := archive(t, dir); changed != nil {
		t.Errorf("changed: %v", changed)
	}
	if diff := cmp.Diff(wantArchived(), tree(t, dir)); diff != "" {
		t.Error(diff)
	}
	// The name is taken now.
	for _, want := range []string{"2025-06-15-demo-2", "2025-06-15-demo-3"} {
		if name, err := FreeArchive(dir, "2025-06-15-demo"); name != want || err != nil {
			t.Errorf("%s, %v", name, err)
		}
		testfile.Write(t, filepath.Join(ArchiveDir(dir, want), "x"), "")
	}
}

// A kill after any step leaves every file somewhere, and the next call has the same result as one
// without a kill.
func TestKilledArchiveIsFinished(t *testing.T) {
	var steps []string
	step = func(name string) { steps = append(steps, name) }
	defer func() { step = func(string) {} }()
	archive(t, archived(t))
	if len(steps) < 9 || len(slices.Compact(slices.Clone(steps))) != len(steps) {
		t.Fatalf("steps: %v", steps)
	}
	for _, last := range steps {
		t.Run(last, func(t *testing.T) {
			dir := archived(t)
			killedAfter(t, last, dir)
			for _, text := range []string{"prd", "tasks", "progress"} {
				found := false
				for _, have := range tree(t, dir) {
					found = found || have == text
				}
				if !found {
					t.Errorf("the kill has lost %s", text)
				}
			}
			archive(t, dir)
			if diff := cmp.Diff(wantArchived(), tree(t, dir)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func killedAfter(t *testing.T, last, dir string) {
	t.Helper()
	step = func(name string) {
		if name == last {
			panic("killed")
		}
	}
	defer func() {
		step = func(string) {}
		if recover() == nil {
			t.Error("it was not killed")
		}
	}()
	archive(t, dir)
}

// What a person writes between a kill and the next call stays.
func TestResetKeepsChangedFiles(t *testing.T) {
	dir := archived(t)
	killedAfter(t, "named", dir)
	testfile.Write(t, Path(dir, Tasks), "new tasks")
	if err := os.Remove(Path(dir, Progress)); err != nil {
		t.Fatal(err)
	}
	if changed := archive(t, dir); !slices.Equal(changed, []string{Tasks}) {
		t.Errorf("changed: %v", changed)
	}
	got := tree(t, dir)
	if got["ralph/tasks.json"] != "new tasks" || got["ralph-archive/2025-06-15-demo/tasks.json"] != "tasks" || got["ralph/progress.txt"] == "" {
		t.Errorf("%v", got)
	}
}

func TestArchiveWithoutAFile(t *testing.T) {
	dir := archived(t)
	if err := os.Remove(Path(dir, PRD)); err != nil {
		t.Fatal(err)
	}
	archive(t, dir)
	want := wantArchived()
	delete(want, "ralph-archive/2025-06-15-demo/prd.md")
	if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
		t.Error(diff)
	}
}

// The note of an unfinished archive is foreign text: it names no other folder.
func TestUnfinishedArchiveIsChecked(t *testing.T) {
	dir := archived(t)
	for text, want := range map[string]bool{`{"name": "../../x"}`: true, `{"name": ".git"}`: true, `{"name": ""}`: true, `{`: true, `{"name": "missing"}`: false} {
		testfile.Write(t, filepath.Join(dir, Archives, resetting), text)
		if u, err := UnfinishedArchive(dir); u != nil || (err != nil) != want {
			t.Errorf("%s: %v, %v", text, u, err)
		}
	}
}
