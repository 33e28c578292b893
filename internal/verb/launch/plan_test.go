package launch

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/internal/front/cli"
)

// aProject is a project with one file. files returns the names and contents in it.
func aProject(t *testing.T) (e *cli.Env, printed *bytes.Buffer, files func() string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	printed = &bytes.Buffer{}
	e = &cli.Env{Cwd: filepath.Join(root, "project"), Home: filepath.Join(root, "home"), Stdin: strings.NewReader("from stdin"), Stderr: printed, Now: time.Now}
	if err := errors.Join(os.Mkdir(e.Cwd, 0o700), os.WriteFile(filepath.Join(e.Cwd, "own.md"), []byte("# Goals\n\nDo it.\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	return e, printed, func() string {
		var all strings.Builder
		err := filepath.WalkDir(e.Cwd, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				text, _ := os.ReadFile(path)
				all.WriteString(path + "\n" + string(text) + "\n")
			} else {
				all.WriteString(path + "/\n")
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return all.String()
	}
}

func starting(change func(*Start)) *Start {
	v := &Start{Name: "one", Options: Options{Agent: "ralph rehearse x", Set: map[string]string{"breaker.noProgress": "0"}}}
	change(v)
	return v
}

// A plan says what would be done. Neither it nor its check changes a file.
func TestPlanAndCheckChangeNothing(t *testing.T) {
	for name, row := range map[string]struct {
		change     func(*Start)
		text, file string
		copied     string
		refused    string
	}{
		"a prompt":            {func(v *Start) { v.Prompt = "do it" }, "do it", "", "", ""},
		"a prompt from stdin": {func(v *Start) { v.Prompt = "-" }, "from stdin", "", "", ""},
		"a file":              {func(v *Start) { v.PromptFile = "own.md" }, "", "own.md", "", ""},
		"a task":              {func(v *Start) { v.Task = "own.md" }, "", ".ralph/one/task.md", "own.md", ""},
		"a task and a prompt": {func(v *Start) { v.Task, v.Prompt = "own.md", "do it" }, "do it", "", "own.md", ""},
		"no task":             {func(*Start) {}, "", "", "", "there is no task yet"},
		"nothing to resume":   {func(v *Start) { v.Resume = true }, "", "", "", `there is no loop "one"`},
		"two prompts":         {func(v *Start) { v.Prompt, v.PromptFile = "one", "two" }, "", "", "", "both given"},
		"no such setting":     {func(v *Start) { v.Prompt, v.Set["nosuch"] = "do it", "1" }, "", "", "", "nosuch"},
	} {
		t.Run(name, func(t *testing.T) {
			e, _, files := aProject(t)
			v, before := starting(row.change), files()
			p, err := v.plan(e)
			if err == nil {
				p.check(e)
			}
			if now := files(); now != before {
				t.Errorf("changed to\n%s", now)
			}
			if row.refused != "" {
				if err == nil || !strings.Contains(err.Error(), row.refused) {
					t.Errorf("error %v, want %q", err, row.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for what, pair := range map[string][2]string{"text": {p.text, row.text}, "file": {p.file, row.file}, "copied": {p.copied, row.copied}, "folder": {p.Dir, ".ralph/one"}} {
				if got, err := filepath.Rel(e.Cwd, pair[0]); err == nil {
					pair[0] = got
				}
				if pair[0] != pair[1] {
					t.Errorf("%s is %q, want %q", what, pair[0], pair[1])
				}
			}
			if p.Resume || p.Fresh || p.loaded.Settings.Candidates()[0].Command != "ralph rehearse x" || v.Prompt != starting(row.change).Prompt {
				t.Errorf("planned %+v", p)
			}
		})
	}
}

// What was prepared goes again when the rest cannot be, except for what was there before.
func TestPrepareUndoesWhatItMade(t *testing.T) {
	for name, prepared := range map[string]bool{"a new folder": false, "a folder with a task": true} {
		t.Run(name, func(t *testing.T) {
			e, _, files := aProject(t)
			v := starting(func(v *Start) { v.Task = "own.md" })
			if prepared {
				dir := filepath.Join(e.Cwd, ".ralph", "one")
				if err := errors.Join(MakeFolders(e, dir), os.WriteFile(filepath.Join(dir, "reflect.md"), []byte("a person's"), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			p, err := v.plan(e)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(e.Cwd, "own.md")); err != nil {
				t.Fatal(err)
			}
			before := files()
			if _, err := p.prepare(e); err == nil || !strings.Contains(err.Error(), "read the task") {
				t.Errorf("error %v", err)
			}
			_, gone := os.Stat(p.Dir)
			if prepared && !strings.Contains(files(), "a person's") || !prepared && !errors.Is(gone, fs.ErrNotExist) {
				t.Errorf("before\n%s\nafter\n%s", before, files())
			}
		})
	}
}

// Between the plan and its preparation, another process may take the loop.
func TestPrepareRefusesWhatHasChanged(t *testing.T) {
	e, _, _ := aProject(t)
	p, err := starting(func(v *Start) { v.Prompt = "do it" }).plan(e)
	if err != nil {
		t.Fatal(err)
	}
	if err := MakeFolders(e, p.Dir); err != nil {
		t.Fatal(err)
	}
	lock, err := registration.Acquire(p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.prepare(e); err == nil || !strings.Contains(err.Error(), "loop one is already run") {
		t.Errorf("error %v", err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	p.before.State.Seq++
	if _, err := p.prepare(e); !errors.Is(err, errChanged) || err.Error() != "loop one has changed meanwhile" {
		t.Errorf("error %v", err)
	}
}

// A worktree that this start has not made is not removed with what it made, whatever it is refused
// for: it may have the work of a loop whose journal is gone, or be that of another start.
func TestRefusedStartLeavesWorktree(t *testing.T) {
	branch := ""
	for name, change := range map[string]func(*Start){
		"with --worktree": func(v *Start) { v.Prompt, v.Worktree = "do it", &branch },
		"without":         func(v *Start) { v.Task = "own.md" },
	} {
		t.Run(name, func(t *testing.T) {
			e, _, _ := aProject(t)
			work := filepath.Join(e.Cwd, ".ralph", "one", "worktree", "work.txt")
			v := starting(change)
			p, err := v.plan(e)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(os.MkdirAll(filepath.Dir(work), 0o700), os.WriteFile(work, []byte("an agent's"), 0o600), os.Remove(filepath.Join(e.Cwd, "own.md"))); err != nil {
				t.Fatal(err)
			}
			if _, err := p.prepare(e); err == nil {
				t.Error("it is prepared")
			}
			if text, err := os.ReadFile(work); string(text) != "an agent's" {
				t.Errorf("the work is %q, %v", text, err)
			}
		})
	}
}
