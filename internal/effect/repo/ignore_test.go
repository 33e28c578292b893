package repo

import (
	"os"
	"path/filepath"
	"testing"
)

// A link in place of the files is neither followed nor changed.
func TestHideFromClean(t *testing.T) {
	outside, folder := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(folder, ".git")); err != nil {
		t.Skipf("this system makes no links: %v", err)
	}
	if err := HideFromClean(folder); err == nil {
		t.Error("made through a link")
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 0 {
		t.Errorf("something was made outside: %v, %v", entries, err)
	}
	folder = t.TempDir()
	if err := HideFromClean(folder); err != nil {
		t.Fatal(err)
	}
	head := filepath.Join(folder, ".git", "HEAD")
	if err := os.WriteFile(head, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := HideFromClean(folder); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(head); err != nil || string(text) != "mine" {
		t.Errorf("HEAD is %q, %v", text, err)
	}
	if err := HideFromClean(filepath.Join(folder, "gone")); err == nil {
		t.Error("the folder was made")
	}
}
