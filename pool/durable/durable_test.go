package durable_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/pool/durable"
)

func TestReplaceLeavesOneFile(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new")
	path := filepath.Join(folder, "file")
	for n := range 2 {
		if err := durable.ReplaceJSON(path, n); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil || string(text) != "1\n" {
		t.Errorf("%q, %v", text, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := durable.Replace(folder, nil); err == nil {
		t.Error("a folder was replaced")
	}
	for _, folder := range []string{folder, filepath.Dir(folder)} {
		if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
			t.Errorf("%s has %v, %v", folder, entries, err)
		}
	}
}
