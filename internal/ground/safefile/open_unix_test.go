//go:build unix

package safefile_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

func TestOpenRefusesOtherFiles(t *testing.T) {
	link := func(p string) error { return os.Symlink("real", p) }
	for _, row := range []struct {
		name, path string
		put        func(path string) error
		problem    safefile.Problem
		linked     bool // OpenLinked accepts it
	}{
		{name: "a regular file", put: func(p string) error { return os.WriteFile(p, []byte("text"), 0o600) }},
		{name: "a folder", put: func(p string) error { return os.Mkdir(p, 0o700) }, problem: safefile.IsFolder},
		{name: "a link", put: link, problem: safefile.IsLink, linked: true},
		{name: "a pipe", put: func(p string) error { return syscall.Mkfifo(p, 0o600) }, problem: safefile.IsPipe},
		{name: "a socket", put: listen, problem: safefile.IsSocket},
		{name: "a device", path: "/dev/zero", problem: safefile.NotRegular},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, os.WriteFile(filepath.Join(dir, "real"), []byte("text"), 0o600))
			path := filepath.Join(dir, "f")
			if row.path != "" {
				path, dir = row.path, filepath.Dir(row.path)
			} else {
				must(t, row.put(path))
			}
			root, err := os.OpenRoot(dir)
			must(t, err)
			defer root.Close()
			check(t, path, row.problem)(safefile.Read(path, 9))
			check(t, path, row.problem)(safefile.ReadIn(root, filepath.Base(path), 9))
			problem := row.problem
			if row.linked {
				problem = ""
			}
			check(t, path, problem)(safefile.ReadLinked(path, 9))
			err = safefile.CheckLinked(path, 9)
			check(t, path, problem)([]byte("text"), err)
		})
	}
}

func listen(path string) error {
	l, err := net.Listen("unix", path)
	if err == nil {
		l.(*net.UnixListener).SetUnlinkOnClose(false)
		err = l.Close()
	}
	return err
}

// check compares what a Read returned with the problem that it should name.
func check(t *testing.T, path string, problem safefile.Problem) func([]byte, error) {
	t.Helper()
	return func(text []byte, err error) {
		t.Helper()
		if problem == "" {
			if err != nil || string(text) != "text" {
				t.Errorf("%q, %v", text, err)
			}
			return
		}
		wrong, ok := errors.AsType[*safefile.Error](err)
		if !ok || wrong.Problem != problem || wrong.Path != path || !strings.HasPrefix(err.Error(), path+" is ") {
			t.Errorf("error %v, want %q", err, problem)
		}
	}
}

func TestReadHasALimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	must(t, os.WriteFile(path, []byte("text"), 0o600))
	check(t, path, "")(safefile.Read(path, 4))
	for _, read := range []func(string, int64) ([]byte, error){
		safefile.Read, safefile.ReadLinked, func(p string, n int64) ([]byte, error) { return nil, safefile.CheckLinked(p, n) },
	} {
		_, err := read(path, 3)
		if err == nil || err.Error() != path+" is larger than 3 bytes" {
			t.Error(err)
		}
	}
}

func TestOpenFileCreates(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"f", "f"} { // the second time it is there
		f, err := safefile.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		must(t, err)
		_, err = f.WriteString("x")
		must(t, errors.Join(err, f.Close()))
	}
	if text, err := safefile.Read(filepath.Join(dir, "f"), 9); err != nil || string(text) != "xx" {
		t.Errorf("%q, %v", text, err)
	}
	must(t, os.Symlink("nothing", filepath.Join(dir, "link")))
	_, err := safefile.OpenFile(filepath.Join(dir, "link"), os.O_CREATE|os.O_WRONLY, 0o600)
	if wrong, ok := errors.AsType[*safefile.Error](err); !ok || wrong.Problem != safefile.IsLink {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "nothing")); !errors.Is(err, os.ErrNotExist) {
		t.Error("the link's target was made")
	}
}

// A writer that replaces a file is no obstacle to its readers.
func TestOpenDuringReplacement(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	if err := os.WriteFile(path, []byte("0"), 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		var err error
		for i := 0; i < 500 && err == nil; i++ {
			if err = os.WriteFile(path+".new", []byte("1"), 0o600); err == nil {
				err = os.Rename(path+".new", path)
			}
		}
		done <- err
	}()
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			return
		default:
			if _, err := safefile.Read(path, 10); err != nil {
				t.Fatal(err)
			}
		}
	}
}
