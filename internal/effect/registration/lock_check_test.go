package registration_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/ralph-loop/ralph/internal/effect/registration"
)

// A lock whose file is gone keeps no process out, and says so.
func TestCheckSeesAMissingFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed")
	}
	for how, take := range map[string]func(dir string) error{
		"removed":        func(dir string) error { return os.Remove(filepath.Join(dir, "run.lock")) },
		"folder removed": os.RemoveAll,
		"folder moved":   func(dir string) error { return os.Rename(dir, dir+".moved") },
		"replaced": func(dir string) error {
			name := filepath.Join(dir, "run.lock")
			return errors.Join(os.Rename(name, name+".old"), os.WriteFile(name, nil, 0o600))
		},
		"taken by another": func(dir string) error {
			if err := os.Remove(filepath.Join(dir, "run.lock")); err != nil {
				return err
			}
			_, err := registration.Acquire(dir)
			return err
		},
	} {
		t.Run(how, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "loop")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			lock, err := registration.Acquire(dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := lock.Check(); err != nil {
				t.Errorf("before: %v", err)
			}
			if err := take(dir); err != nil {
				t.Fatal(err)
			}
			if err := lock.Check(); !errors.Is(err, registration.ErrLockGone) {
				t.Errorf("after: %v", err)
			}
			if err := lock.Release(); err != nil {
				t.Errorf("release: %v", err)
			}
		})
	}
}

// A folder that is moved away while its lock is being taken is no error of the lock: the caller
// gets the lock of the folder that is there, or hears that there is none.
func TestAcquireWhileFolderMoves(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be moved")
	}
	root := t.TempDir()
	dir := filepath.Join(root, "loop")
	done := make(chan error, 1)
	go func() {
		for i := range 300 {
			if err := os.Mkdir(dir, 0o700); err != nil {
				done <- err
				return
			}
			if err := os.Rename(dir, filepath.Join(root, strconv.Itoa(i))); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			return
		default:
		}
		lock, err := registration.Acquire(dir)
		switch {
		case errors.Is(err, registration.ErrNoFolder):
			continue
		case err != nil:
			// The holder's facts are written to the file that is locked, wherever it is by now.
			t.Fatal(err)
		}
		if err := lock.Release(); err != nil {
			t.Fatal(err)
		}
	}
}
