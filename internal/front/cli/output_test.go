package cli

import (
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"
)

// A file that is forced takes the place of a file, and never that of a device or a socket.
func TestForceReplacesOnlyFiles(t *testing.T) {
	dir, err := os.MkdirTemp("", "ralph") // short: the path of a socket is limited
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket, file := filepath.Join(dir, "socket"), filepath.Join(dir, "file")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := &Env{Cwd: dir, Stderr: io.Discard}
	write := func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }
	if err := e.WriteFile(file, true, write); err != nil {
		t.Error(err)
	}
	if text, _ := os.ReadFile(file); string(text) != "new" {
		t.Errorf("the file has %q", text)
	}
	if err := e.WriteFile(socket, true, write); err == nil {
		t.Error("a socket was replaced")
	}
	if info, err := os.Lstat(socket); err != nil || info.Mode()&fs.ModeSocket == 0 {
		t.Errorf("the socket is %v, %v", info, err)
	}
}
