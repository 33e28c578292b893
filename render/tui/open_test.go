package tui

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Only regular files of the project are opened, also where the agent made links.
func TestOnlyProjectFilesAreOpened(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(base, "project")
	for _, dir := range []string{"project/sub", "other"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"project/sub/a.go", "project/-rf", "other/secret", "projects"} {
		if err := os.WriteFile(filepath.Join(base, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../other/secret", filepath.Join(project, "link")); err != nil {
		t.Skip(err)
	}
	for _, tt := range []struct {
		names []string
		want  string // relative to the project; empty if nothing may be opened
	}{
		{[]string{"sub/a.go"}, "sub/a.go"},
		{[]string{"sub/a.go:12:3"}, "sub/a.go"},
		{[]string{"gone.go", "../other/secret", "sub/a.go"}, "sub/a.go"},
		{[]string{filepath.Join(project, "sub", "a.go")}, "sub/a.go"},
		{[]string{"-rf"}, "-rf"},
		{[]string{"link"}, ""},
		{[]string{"../other/secret", "/etc/passwd", "../projects", "sub", "."}, ""},
		{nil, ""},
	} {
		got, err := inProject(project, tt.names)
		want := tt.want
		if want != "" {
			want = filepath.Join(project, want)
		}
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v, want %q", tt.names, got, err, want)
		}
	}
}

func TestEditorIsThePersons(t *testing.T) {
	for _, tt := range []struct {
		environ, want []string
	}{
		{[]string{"EDITOR=nano"}, []string{"nano"}},
		{[]string{"EDITOR=nano", "VISUAL=code --wait"}, []string{"code", "--wait"}},
		{[]string{"VISUAL= "}, []string{"vi"}},
	} {
		if got := editorOf(tt.environ); !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q", tt.environ, got)
		}
	}
}
