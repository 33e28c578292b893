package project_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/pool/project"
)

// A tree is a clone of a bare repository with one commit.
type tree struct {
	t   *testing.T
	dir string
}

func newTree(t *testing.T) *tree {
	t.Helper()
	home := t.TempDir()
	for name, value := range map[string]string{
		"HOME": home, "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
	} {
		t.Setenv(name, value)
	}
	w := &tree{t, filepath.Join(home, "app")}
	w.git(home, "init", "-q", "--bare", "-b", "main", "app.git")
	w.git(home, "clone", "-q", "app.git", "app")
	w.git(w.dir, "switch", "-q", "-c", "main")
	w.write("web/x", "x")
	w.git(w.dir, "add", ".")
	w.git(w.dir, "commit", "-q", "-m", "one")
	return w
}

func (w *tree) git(dir string, args ...string) {
	w.t.Helper()
	command := exec.Command("git", args...)
	command.Dir = dir
	if out, err := command.CombinedOutput(); err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (w *tree) write(name, text string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
	return path
}

func (w *tree) find(without ...string) (project.Project, string) {
	w.t.Helper()
	p, err := project.Find(w.t.Context(), filepath.Join(w.dir, "web"), without)
	if err != nil {
		return p, err.Error()
	}
	return p, ""
}

func (w *tree) refused(want string, without ...string) {
	w.t.Helper()
	if _, got := w.find(without...); !strings.Contains(got, want) || want == "" && got != "" {
		w.t.Errorf("%q, want %q", got, want)
	}
}

func TestMissingWorkIsNamed(t *testing.T) {
	w := newTree(t)
	w.refused("origin has no branch main: 'git push -u origin main'")
	w.git(w.dir, "push", "-q", "-u", "origin", "main")
	p, problem := w.find()
	if problem != "" || p.Branch != "main" || p.Inside != "web" || p.Repository != filepath.Join(filepath.Dir(w.dir), "app.git") {
		t.Errorf("%+v, %s", p, problem)
	}
	task := w.write("tasks/one.md", "one")
	w.write(".ralph/demo/task.md", "of a loop")
	w.refused("", task)
	w.refused(`"tasks/one.md" is not committed`)
	w.write("web/x", "changed")
	w.refused(`"web/x" is not committed`, task)
	w.git(w.dir, "commit", "-q", "-am", "two")
	w.refused("not pushed: 1): 'git push origin main'", task)
	w.git(w.dir, "push", "-q")
	w.git(w.dir, "reset", "-q", "--hard", "HEAD~1")
	w.refused("", task) // the remote has more
	w.git(w.dir, "switch", "-q", "--detach")
	w.refused("no branch is checked out", task)
}

func TestFolderWithoutRemote(t *testing.T) {
	w := newTree(t)
	w.git(w.dir, "remote", "remove", "origin")
	w.refused("has no remote origin")
	if _, err := project.Find(t.Context(), t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "is in no git repository") {
		t.Error(err)
	}
}

func TestTasksOfFolder(t *testing.T) {
	w := newTree(t)
	w.write("tasks/02 Second task!.md", "two")
	w.write("tasks/01.md", "one")
	w.write("tasks/notes.txt", "no task")
	got, err := project.Tasks(filepath.Join(w.dir, "tasks"))
	if err != nil || len(got) != 2 || got[0].Name != "01" || got[0].Prompt != "one" || got[1].Name != "02-second-task" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := project.Tasks(filepath.Join(w.dir, "web")); err == nil || !strings.Contains(err.Error(), "has neither files *.md") {
		t.Error(err)
	}
	w.write("ralph/tasks.json", "{}")
	for _, path := range []string{w.dir, filepath.Join(w.dir, "ralph", "tasks.json")} {
		if got, err := project.Tasks(path); err != nil || len(got) != 1 || !got[0].Plan || got[0].Name != "app" {
			t.Errorf("%+v, %v", got, err)
		}
	}
	long := w.write("long.md", strings.Repeat("x", 10<<20))
	if _, err := project.Tasks(long); err == nil || !strings.Contains(err.Error(), "10485760 bytes") {
		t.Error(err)
	}
}
