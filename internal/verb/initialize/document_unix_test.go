//go:build unix

package initialize

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A repository may hold anything under the name of its settings. To open a pipe waits for a writer.
func TestPipeIsNoDocument(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if d, err := readDocument(path); err == nil {
		t.Errorf("read as %q", d.source)
	}
}
