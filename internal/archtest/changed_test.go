package archtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The gate leaves out slow steps by what has changed, also when thousands of files have.
func TestChangedFilesAreFound(t *testing.T) {
	script, err := os.ReadFile(filepath.Join(root, "tools/changed.sh"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name string, text []byte) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) error {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		return cmd.Run()
	}
	write("tools/changed.sh", script)
	for _, args := range [][]string{
		{"git", "init", "-q"}, {"git", "add", "-A"}, {"git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "one"},
	} {
		if err := run(args...); err != nil {
			t.Fatalf("%q: %v", args, err)
		}
	}
	for n := range 3000 {
		write(fmt.Sprintf("a/%0100d", n), nil)
	}
	if err := run("tools/changed.sh", "touches", "HEAD", "b", "a"); err != nil {
		t.Errorf("the changed files are not found: %v", err)
	}
	if err := run("tools/changed.sh", "touches", "HEAD", "b"); err == nil {
		t.Error("a file is found that did not change")
	}
}
