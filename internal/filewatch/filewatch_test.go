package filewatch_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/filewatch"
)

func watch(t *testing.T, path string) *filewatch.Watch {
	t.Helper()
	w, err := filewatch.New(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// awaitName waits until a name is reported as changed.
func awaitName(t *testing.T, w *filewatch.Watch, name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		changed, err := w.Wait(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(changed, name) {
			return
		}
	}
	t.Fatalf("no change of %q was reported", name)
}

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFolderChangesAreReported(t *testing.T) {
	dir, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "moved")
	write(t, elsewhere)
	w := watch(t, dir)
	write(t, filepath.Join(dir, "created"))
	awaitName(t, w, "created")
	if err := os.Rename(elsewhere, filepath.Join(dir, "moved here")); err != nil {
		t.Fatal(err)
	}
	awaitName(t, w, "moved here")
}

func TestFileWritesAreReported(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	write(t, path)
	w := watch(t, path)
	for range 3 {
		write(t, path)
		awaitName(t, w, "")
	}
}

func TestRemovedPathIsGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "folder")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w := watch(t, dir)
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		if _, err := w.Wait(ctx); errors.Is(err, filewatch.ErrGone) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
	t.Error("the removal was not reported")
}

func TestMissingPathIsAnError(t *testing.T) {
	if w, err := filewatch.New(filepath.Join(t.TempDir(), "missing")); err == nil {
		w.Close()
		t.Error("no error")
	}
}

// After its context has ended a wait, the watch is still usable.
func TestWaitEndsWithContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	write(t, path)
	w := watch(t, path)
	for range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		changed, err := w.Wait(ctx)
		cancel()
		if len(changed) > 0 || err != nil {
			t.Fatalf("%v, %v", changed, err)
		}
		write(t, path)
		awaitName(t, w, "")
		drain(t, w)
	}
}

// drain receives the notifications of one write after the first.
func drain(t *testing.T, w *filewatch.Watch) {
	t.Helper()
	for {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		changed, err := w.Wait(ctx)
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		if len(changed) == 0 {
			return
		}
	}
}
