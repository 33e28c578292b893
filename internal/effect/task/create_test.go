package task_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ralph-loop/ralph/internal/effect/task"
	"github.com/ralph-loop/ralph/internal/testkit/golden"
)

func TestTaskIsCreatedOnce(t *testing.T) {
	dir := folder(t, nil)
	file := filepath.Join(dir, task.TaskFile)
	if created, err := task.Create(dir, []byte("first")); err != nil || !created {
		t.Fatalf("%v, %v", created, err)
	}
	if created, err := task.Create(dir, []byte("second")); err != nil || created {
		t.Fatalf("%v, %v", created, err)
	}
	content, err := os.ReadFile(file)
	if err != nil || string(content) != "first" {
		t.Errorf("%q, %v", content, err)
	}
	info, err := os.Stat(file)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestEmptyTaskIsFilled(t *testing.T) {
	dir := folder(t, map[string]string{task.TaskFile: ""})
	if created, err := task.Create(dir, []byte("first")); err != nil || !created {
		t.Fatalf("%v, %v", created, err)
	}
	if content, err := os.ReadFile(filepath.Join(dir, task.TaskFile)); err != nil || string(content) != "first" {
		t.Errorf("%q, %v", content, err)
	}
}

func TestTooLargeTaskIsRefused(t *testing.T) {
	dir := folder(t, nil)
	_, err := task.Create(dir, make([]byte, task.MaxTask+1))
	if _, ok := errors.AsType[*task.FileError](err); !ok {
		t.Errorf("%v", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, task.TaskFile)); err == nil {
		t.Error("there is a file")
	}
}

func TestFolderInPlaceOfTask(t *testing.T) {
	dir := folder(t, nil)
	if err := os.Mkdir(filepath.Join(dir, task.TaskFile), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := task.Create(dir, []byte("a"))
	if _, ok := errors.AsType[*task.FileError](err); !ok {
		t.Errorf("%v", err)
	}
}

func TestTemplate(t *testing.T) {
	got := task.Template("Make the login work.\n\n```\n- [ ] an example\r\n\nIt must be fast.\n")
	golden.Check(t, "testdata/template.md", got)
}

func TestTemplateOfLongTask(t *testing.T) {
	lines := strings.Repeat("a line of a task\n", 10_000)
	for name, text := range map[string]string{"of lines": lines, "of one line": strings.ReplaceAll(lines, "\n", " ")} {
		got := string(task.Template(text))
		if len(got) > 6000 || !strings.HasPrefix(got, "# Goals\n\n> a line of a task") || !strings.Contains(got, "…\n\n# Checklist") {
			t.Errorf("%s: %d bytes: %.100q", name, len(got), got)
		}
	}
}

// Whatever the task says, its template claims nothing, and the agent's boxes are seen.
func TestTaskStaysOutsideTheChecklist(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(fragments), rapid.String(), rapid.Just("\r")), 0, 30).Draw(t, "task"), "")
		template := string(task.Template(text))
		if boxes := task.Checklist([]byte(template)); boxes.Total != 0 {
			t.Fatalf("%q: %+v", template, boxes)
		}
		worked := strings.Replace(template, "\n# Notes\n", "\n- [x] one\n- [ ] two\n\n# Notes\n", 1)
		want := task.Boxes{Total: 2, Ticked: 1, Open: []string{"two"}}
		if diff := cmp.Diff(want, task.Checklist([]byte(worked))); diff != "" {
			t.Fatalf("%q: %s", worked, diff)
		}
	})
}

// Text replaces the unchanged template, and nothing replaces one that a person has changed.
func TestBlankTemplateIsFilled(t *testing.T) {
	dir := t.TempDir()
	for _, step := range []struct {
		write   []byte // by a person, before
		content []byte
		created bool
		want    []byte
	}{
		{nil, task.Template(""), true, task.Template("")},
		{nil, task.Template(""), false, task.Template("")},
		{nil, task.Template("do it"), true, task.Template("do it")},
		{append(task.Template(""), "- [ ] one\n"...), task.Template("do it"), false, append(task.Template(""), "- [ ] one\n"...)},
	} {
		if step.write != nil {
			if err := os.WriteFile(filepath.Join(dir, task.TaskFile), step.write, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		created, err := task.Create(dir, step.content)
		if err != nil || created != step.created {
			t.Errorf("%q: %v, %v", step.content, created, err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, task.TaskFile)); err != nil || string(got) != string(step.want) {
			t.Errorf("task.md is %q, want %q; %v", got, step.want, err)
		}
	}
}
