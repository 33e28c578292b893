package filewatch_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/filewatch"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
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
	must(t, os.WriteFile(path, []byte("text"), 0o600))
}

var must = testfile.Must

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

// A runner that claims a file of its inbox must not wake up again because of it.
func TestRemovalIsNotReported(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "claimed"))
	write(t, filepath.Join(dir, "removed"))
	w := watch(t, dir)
	must(t, os.Remove(filepath.Join(dir, "removed")))
	must(t, os.Rename(filepath.Join(dir, "claimed"), filepath.Join(t.TempDir(), "claimed")))
	must(t, os.Mkdir(filepath.Join(dir, "new"), 0o700))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if changed, err := w.Wait(ctx); err != nil || !slices.Equal(changed, []string{"new"}) {
		t.Errorf("%q, %v", changed, err)
	}
}

func TestGonePathIsReported(t *testing.T) {
	folder := func(t *testing.T, path string) { must(t, os.Mkdir(path, 0o700)) }
	remove := func(t *testing.T, path string) { must(t, os.Remove(path)) }
	move := func(t *testing.T, path string) { must(t, os.Rename(path, path+" elsewhere")) }
	for name, tt := range map[string]struct{ create, end func(*testing.T, string) }{
		"a folder is removed": {folder, remove},
		"a folder is moved":   {folder, move},
		"a file is removed":   {write, remove},
		"a file is moved":     {write, move},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "watched")
			tt.create(t, path)
			w := watch(t, path)
			tt.end(t, path)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			for ctx.Err() == nil {
				if _, err := w.Wait(ctx); errors.Is(err, filewatch.ErrGone) {
					return
				} else if err != nil {
					t.Fatal(err)
				}
			}
			t.Error("it was not reported")
		})
	}
}

// A watch that followed a link would report changes elsewhere as changes here.
func TestLinkIsNotWatched(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(t.TempDir(), link))
	if w, err := filewatch.New(link); !errors.Is(err, syscall.ELOOP) {
		if err == nil {
			w.Close()
		}
		t.Errorf("the error is %v", err)
	}
}

// Files that appear between two calls of Wait are the result of one.
func TestBurstIsOneWait(t *testing.T) {
	dir := t.TempDir()
	w := watch(t, dir)
	var want []string
	for name := 'a'; name <= 'z'; name++ {
		must(t, os.Mkdir(filepath.Join(dir, string(name)), 0o700))
		want = append(want, string(name))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for filewatch.Unread(w) < len(want) && ctx.Err() == nil {
		runtime.Gosched()
	}
	if changed, err := w.Wait(ctx); err != nil || !slices.Equal(changed, want) {
		t.Errorf("%q, %v", changed, err)
	}
}

// Close ends the goroutine also while it waits for room for an event.
func TestCloseEndsGoroutine(t *testing.T) {
	dir := t.TempDir()
	before := runtime.NumGoroutine()
	w := watch(t, dir)
	for i := range 200 {
		must(t, os.Mkdir(filepath.Join(dir, fmt.Sprint(i)), 0o700))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for filewatch.Unread(w) < filewatch.Waiting && ctx.Err() == nil {
		runtime.Gosched()
	}
	must(t, w.Close())
	for runtime.NumGoroutine() > before {
		if ctx.Err() != nil {
			t.Fatalf("%d goroutines, before it were %d", runtime.NumGoroutine(), before)
		}
		runtime.Gosched()
	}
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
