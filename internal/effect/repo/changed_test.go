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
		if got, err := Changed(t.Context(), w.dir); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	changed()
	w.write("dir/new\nline", "1\n")
	w.write(".gitignore", "ignored\n")
	w.write("ignored", "1\n")
	w.write(".ralph/demo/task.md", "1\n")
	changed(".gitignore", "dir/new\nline")
	w.commit("all")
	changed()
	w.write(".gitignore", "")
	w.git("rm", "-q", "--cached", "dir/new\nline")
	changed(".gitignore", "dir/new\nline", "dir/new\nline", "ignored")
	if got, err := Changed(t.Context(), t.TempDir()); !Absent(err) {
		t.Errorf("outside a repository: %q, %v", got, err)
	}
}
