package plan_test

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
)

// project is a project with an empty plan.
func project(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(plan.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func text(t *testing.T, path string) string { t.Helper(); return string(testfile.Read(t, path)) }

func TestTasksAreReplaced(t *testing.T) {
	dir := project(t)
	if _, err := plan.ReadTasks(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
	if plan.Exists(dir) {
		t.Error("there is a plan without a file")
	}
	if err := plan.WriteTasks(dir, []byte("one")); err != nil {
		t.Fatal(err)
	}
	path := plan.Path(dir, plan.Tasks)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o600 != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.WriteTasks(dir, []byte("two")); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(path)
	if err != nil || after.Mode() != before.Mode() || os.SameFile(before, after) {
		t.Errorf("the file was not replaced, or its mode is not kept: %v, %v, %v", before.Mode(), after.Mode(), err)
	}
	if got, err := plan.ReadTasks(dir); string(got) != "two" || err != nil || !plan.Exists(dir) {
		t.Errorf("%q, %v", got, err)
	}
	if all, err := os.ReadDir(plan.Dir(dir)); len(all) != 1 || err != nil {
		t.Errorf("the folder has %v, %v", all, err)
	}
}

func TestTasksAreBounded(t *testing.T) {
	dir := project(t)
	testfile.Write(t, plan.Path(dir, plan.Tasks), strings.Repeat("x", plan.MaxFile))
	if _, err := plan.ReadTasks(dir); err != nil {
		t.Error(err)
	}
	testfile.Write(t, plan.Path(dir, plan.Tasks), strings.Repeat("x", plan.MaxFile+1))
	if _, err := plan.ReadTasks(dir); !is(err, safefile.TooLarge) {
		t.Errorf("%v", err)
	}
}

func TestTasksNeedTheirFolder(t *testing.T) {
	dir := t.TempDir()
	if err := plan.WriteTasks(dir, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if err := os.MkdirAll(plan.Path(dir, plan.Tasks), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := plan.WriteTasks(dir, nil); err == nil {
		t.Error("a folder was replaced")
	}
	if _, err := plan.ReadTasks(dir); !is(err, safefile.IsFolder) {
		t.Errorf("%v", err)
	}
}

func is(err error, problem safefile.Problem) bool {
	wrong, ok := errors.AsType[*safefile.Error](err)
	return ok && wrong.Problem == problem
}
