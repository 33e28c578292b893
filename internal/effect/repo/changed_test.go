package repo

import (
	"slices"
	"testing"
)

func TestChangedListsFiles(t *testing.T) {
	t.Parallel()
	w := born(t)
	changed := func(want ...string) {
		t.Helper()
		if got, err := Changed(t.Context(), w.Dir); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	changed()
	w.Write("dir/new\nline", "1\n")
	w.Write(".gitignore", "ignored\n")
	w.Write("ignored", "1\n")
	w.Write(".ralph/demo/task.md", "1\n")
	changed(".gitignore", "dir/new\nline")
	w.Commit("all")
	changed()
	w.Write(".gitignore", "")
	w.Git("rm", "-q", "--cached", "dir/new\nline")
	changed(".gitignore", "dir/new\nline", "dir/new\nline", "ignored")
	if got, err := Changed(t.Context(), t.TempDir()); !Absent(err) {
		t.Errorf("outside a repository: %q, %v", got, err)
	}
}
