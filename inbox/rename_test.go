//go:build linux || darwin

package inbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// The fallback for file systems without an exclusive rename.
func TestRenameIfFree(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	handle, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer handle.Close()
	if err := renameIfFree(handle, "a", handle, "b"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a name that is taken: %v", err)
	}
	if err := renameIfFree(handle, "a", handle, "c"); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]string{"b": "b", "c": "a"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); string(text) != want || err != nil {
			t.Errorf("%s holds %q, %v", name, text, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, "a")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
