//go:build unix

package cli

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestOwnFolder(t *testing.T) {
	folder := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	if must(os.Chmod(folder, 0o775)); !ownFolder(folder, "") { //nolint:gosec // a group of one's own is usual
		t.Error("a folder of one's own is not")
	}
	link := filepath.Join(folder, "link")
	if must(os.Symlink(folder, link)); !ownFolder(link, "") {
		t.Error("a link of one's own is not")
	}
	if must(os.Chmod(folder, 0o1777)); ownFolder(folder, "") { //nolint:gosec // that is the point
		t.Error("a folder that anybody may write to is one's own")
	}
	must(os.Chmod(folder, 0o700)) //nolint:gosec // a folder
	if ownFolder(filepath.Join(folder, "none"), "") {
		t.Error("a folder that is not there is one's own")
	}
	if os.Geteuid() != 0 {
		if ownFolder("/", "") {
			t.Error("the root folder is this person's")
		}
		return
	}
	if must(os.Chown(folder, 1, -1)); ownFolder(folder, "") {
		t.Error("another's folder is root's own")
	}
}

// A person who is in the home folder runs what is installed there, and not what a work tree has.
func TestInstalledProgramsAreRun(t *testing.T) {
	home := WithoutLinks(t.TempDir())
	program := filepath.Join(home, "app", "bin", "tool")
	for _, folder := range []string{filepath.Dir(program), filepath.Join(home, RalphFolder), filepath.Join(home, "app", ".git")} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(program, nil, 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	for project, refused := range map[string]bool{home: false, filepath.Join(home, "app"): true, filepath.Join(home, "app", "bin"): false} {
		e := &Env{Home: filepath.Join(home, RalphFolder), Cwd: project, Project: project}
		if err := e.CheckProgram(program); errors.Is(err, ErrForeign) != refused || !refused && err != nil {
			t.Errorf("in %s: %v", project, err)
		}
	}
	link := filepath.Join(home, "link")
	if err := os.Symlink(program, link); err != nil {
		t.Fatal(err)
	}
	e := &Env{Home: filepath.Join(home, RalphFolder), Project: filepath.Join(home, "app")}
	if err := e.CheckProgram(link); !errors.Is(err, ErrForeign) {
		t.Errorf("a link into the work tree: %v", err)
	}
	link = filepath.Join(home, "app", "bin", "link")
	if err := os.Symlink("/bin/sh", link); err != nil {
		t.Fatal(err)
	}
	if err := e.CheckProgram(link); !errors.Is(err, ErrForeign) {
		t.Errorf("a link of the work tree to a shell: %v", err)
	}
}
