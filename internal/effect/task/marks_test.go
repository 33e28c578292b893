package task_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/effect/task"
)

// folder returns a loop's folder with the given files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func sum(content string) string {
	s := sha256.Sum256([]byte(content))
	return hex.EncodeToString(s[:])
}

func TestReadMarks(t *testing.T) {
	const work = "# Checklist\n- [x] a\n- [ ] b\n"
	for name, row := range map[string]struct {
		files map[string]string
		want  task.Marks
	}{
		"nothing":        {nil, task.Marks{}},
		"an empty DONE":  {map[string]string{"DONE": ""}, task.Marks{Done: true}},
		"a DONE of text": {map[string]string{"DONE": "\n all tests pass\n\n"}, task.Marks{Done: true, DoneText: "all tests pass"}},
		"a wait":         {map[string]string{"WAIT_WITHOUT_RESTART": "I need a password"}, task.Marks{Wait: true, WaitText: "I need a password"}},
		"a task":         {map[string]string{"task.md": work}, task.Marks{TaskSHA256: sum(work), Boxes: task.Boxes{Total: 2, Ticked: 1, Open: []string{"b"}}}},
		"an empty task":  {map[string]string{"task.md": ""}, task.Marks{TaskSHA256: sum("")}},
		"a long DONE is cut, at a letter": {
			map[string]string{"DONE": strings.Repeat("é", 600)}, task.Marks{Done: true, DoneText: strings.Repeat("é", 510) + "…"},
		},
		"all of them": {
			map[string]string{"task.md": work, "DONE": "d", "WAIT_WITHOUT_RESTART": "w"},
			task.Marks{Done: true, DoneText: "d", Wait: true, WaitText: "w", TaskSHA256: sum(work), Boxes: task.Boxes{Total: 2, Ticked: 1, Open: []string{"b"}}},
		},
		"files of other names": {map[string]string{"done.txt": "", "DONE.md": "", "WAIT": ""}, task.Marks{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := task.ReadMarks(folder(t, row.files))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFolderIsNoMark(t *testing.T) {
	for _, name := range []string{task.DoneFile, task.WaitFile, task.TaskFile} {
		t.Run(name, func(t *testing.T) {
			// The other marks are still reported.
			files := map[string]string{task.DoneFile: "", task.WaitFile: "", task.TaskFile: "- [ ] a"}
			delete(files, name)
			dir := folder(t, files)
			if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
				t.Fatal(err)
			}
			marks, err := task.ReadMarks(dir)
			notFile, ok := errors.AsType[*task.FileError](err)
			if !ok || !strings.Contains(err.Error(), filepath.Join(dir, name)+" is a folder") || !strings.Contains(notFile.Hint(), filepath.Join(dir, name)) {
				t.Fatalf("%v", err)
			}
			if marks.Done != (name != task.DoneFile) || marks.Wait != (name != task.WaitFile) || (marks.TaskSHA256 != "") != (name != task.TaskFile) {
				t.Errorf("%+v", marks)
			}
		})
	}
}

func TestTaskIsBounded(t *testing.T) {
	box := "- [ ] a\n"
	dir := folder(t, map[string]string{task.TaskFile: box + strings.Repeat("a", task.MaxTask-len(box))})
	if marks, err := task.ReadMarks(dir); err != nil || marks.Boxes.Total != 1 {
		t.Fatalf("%+v, %v", marks, err)
	}
	f, err := os.OpenFile(filepath.Join(dir, task.TaskFile), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("a"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	marks, err := task.ReadMarks(dir)
	tooBig, ok := errors.AsType[*task.FileError](err)
	if !ok || tooBig.Cause.Limit != task.MaxTask || !strings.Contains(tooBig.Hint(), tooBig.Cause.Path) || marks.TaskSHA256 != "" {
		t.Errorf("%+v, %v", marks, err)
	}
}

func TestMissingLoopFolder(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone")
	_, looked := task.ReadMarks(gone)
	_, created := task.Create(gone, []byte("a"))
	_, reflected := task.Reflection(gone)
	for _, err := range []error{looked, created, reflected, task.RemoveWait(gone), task.RemoveDone(gone)} {
		// Also for RemoveWait and RemoveDone: a missing loop is not a loop without a mark.
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v", err)
		}
	}
}

func TestMarksAreRemoved(t *testing.T) {
	dir := folder(t, map[string]string{task.DoneFile: "d", task.WaitFile: "w", task.TaskFile: "- [ ] a"})
	for _, take := range []func(string) error{task.RemoveWait, task.RemoveWait, task.RemoveDone, task.RemoveDone} {
		if err := take(dir); err != nil {
			t.Fatal(err)
		}
	}
	marks, err := task.ReadMarks(dir)
	if err != nil || marks.Done || marks.Wait || marks.TaskSHA256 == "" {
		t.Errorf("%+v, %v", marks, err)
	}
}

func TestFolderIsNotRemoved(t *testing.T) {
	dir := folder(t, nil)
	if err := os.Mkdir(filepath.Join(dir, task.DoneFile), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, ok := errors.AsType[*task.FileError](task.RemoveDone(dir)); !ok {
		t.Error("an empty folder was removed")
	}
	if _, err := os.Lstat(filepath.Join(dir, task.DoneFile)); err != nil {
		t.Error(err)
	}
}

func TestReflection(t *testing.T) {
	for name, row := range map[string]struct {
		files map[string]string
		want  string
	}{
		"ours where there is no file":  {nil, task.DefaultReflection},
		"ours where the file is blank": {map[string]string{task.ReflectFile: " \n\t\n"}, task.DefaultReflection},
		"a person's own":               {map[string]string{task.ReflectFile: "\nlook\n\nback\n"}, "look\n\nback"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := task.Reflection(folder(t, row.files))
			if err != nil || got != row.want {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	_, err := task.Reflection(folder(t, map[string]string{task.ReflectFile: strings.Repeat("a", task.MaxTask+1)}))
	if _, ok := errors.AsType[*task.FileError](err); !ok {
		t.Errorf("%v", err)
	}
}
