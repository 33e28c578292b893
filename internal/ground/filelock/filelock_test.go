package filelock_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/ground/filelock"
)

// holdVariable makes the test binary play another process: it locks the file that the variable
// names, says so, and waits until its input ends.
const holdVariable = "RALPH_TEST_HOLD"

func TestMain(m *testing.M) {
	path := os.Getenv(holdVariable)
	if path == "" {
		os.Exit(m.Run())
	}
	f, err := os.Open(path)
	if err == nil {
		var ok bool
		if ok, err = filelock.TryExclusive(f); err == nil {
			fmt.Println(ok)
			_, err = io.Copy(io.Discard, os.Stdin)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// hold locks a file in another process.
func hold(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), holdVariable+"="+path), os.Stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "true\n" || err != nil {
		t.Fatalf("the other process says %q, %v", line, err)
	}
	return cmd
}

func lockFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lock")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func check(t *testing.T, what string, try func(*os.File) (bool, error), f *os.File, want bool) {
	t.Helper()
	if ok, err := try(f); ok != want || err != nil {
		t.Errorf("%s: %t, %v; want %t", what, ok, err, want)
	}
}

func TestLocksExcludeEachOther(t *testing.T) {
	path := lockFile(t)
	a, b := open(t, path), open(t, path)
	check(t, "exclusive", filelock.TryExclusive, a, true)
	check(t, "exclusive beside exclusive", filelock.TryExclusive, b, false)
	check(t, "shared beside exclusive", filelock.TryShared, b, false)
	if err := filelock.Release(a); err != nil {
		t.Fatal(err)
	}
	check(t, "shared after the release", filelock.TryShared, b, true)
	check(t, "shared beside shared", filelock.TryShared, a, true)
	if err := filelock.Release(a); err != nil {
		t.Fatal(err)
	}
	check(t, "exclusive beside shared", filelock.TryExclusive, a, false)
	b.Close()
	check(t, "exclusive after the close", filelock.TryExclusive, a, true)
}

func TestDeathEndsLock(t *testing.T) {
	path := lockFile(t)
	holder := hold(t, path)
	f := open(t, path)
	check(t, "while the holder lives", filelock.TryExclusive, f, false)
	check(t, "shared while the holder lives", filelock.TryShared, f, false)
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait() // the signal
	check(t, "after its death", filelock.TryExclusive, f, true)
}

func TestRemovedFolderKeepsLock(t *testing.T) {
	path := lockFile(t)
	holder := hold(t, path)
	f := open(t, path)
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Skip("open files cannot be removed here:", err)
	}
	check(t, "while the holder lives", filelock.TryExclusive, f, false)
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait() // the signal
	check(t, "after its death", filelock.TryExclusive, f, true)
}

func TestClosedFileIsAnError(t *testing.T) {
	f := open(t, lockFile(t))
	f.Close()
	if ok, err := filelock.TryExclusive(f); ok || err == nil {
		t.Errorf("%t, %v", ok, err)
	}
	if err := filelock.Release(f); err == nil {
		t.Error("no error")
	}
}
