package dir_test

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/pool/store/dir"
	"github.com/ralph-loop/ralph/pool/store/storetest"
)

func open(t *testing.T, folder string) *dir.Store {
	t.Helper()
	s, err := dir.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func put(t *testing.T, s store.Store, keys ...string) {
	t.Helper()
	for _, key := range keys {
		if _, err := s.PutIfAbsent(t.Context(), key, []byte(key)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFolderHasToExist(t *testing.T) {
	if s, err := dir.Open(filepath.Join(t.TempDir(), "absent")); err == nil {
		s.Close()
		t.Fatal("a folder that does not exist was opened")
	}
}

func TestListInOrderOfKeys(t *testing.T) {
	s := open(t, t.TempDir())
	want := []string{"a-b", "a.b/1", "a/1", "a/2/3", "a/20", "a0", "b"}
	put(t, s, "b", "a/20", "a0", "a/2/3", "a-b", "a/1", "a.b/1")
	for _, c := range []struct {
		prefix, after string
		want          []string
	}{
		{"", "", want},
		{"a", "", want[:6]},
		{"a/", "", want[2:5]},
		{"a/", "a/1", want[3:5]},
		{"a/2", "a/2/3", want[4:5]},
		{"", "a/2/2", want[3:]},
		{"a/", "b", nil},
		{".new/", "", nil},
		{"../", "", nil},
		{"/", "", nil},
	} {
		var got []string
		for key, err := range s.List(t.Context(), c.prefix, c.after) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, key)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("List(%q, %q) = %q, want %q", c.prefix, c.after, got, c.want)
		}
	}
}

func TestForeignFilesAreRefused(t *testing.T) {
	folder, elsewhere := t.TempDir(), t.TempDir()
	s := open(t, folder)
	put(t, s, "a/1")
	if err := os.WriteFile(filepath.Join(folder, "a/damaged"), []byte("no revision"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(folder, "out")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), "a/damaged"); err == nil || errors.Is(err, store.ErrNotFound) {
		t.Errorf("Get of a damaged file: %v", err)
	}
	if _, err := s.PutIfAbsent(t.Context(), "out/1", nil); err == nil {
		t.Error("a link has led out of the folder")
	}
	if _, err := s.PutIfAbsent(t.Context(), "a", nil); err == nil || errors.Is(err, store.ErrExists) {
		t.Errorf("PutIfAbsent of a folder: %v", err)
	}
}

func TestWatchSeesOtherProcess(t *testing.T) {
	folder := t.TempDir()
	s, other := open(t, folder), open(t, folder)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	want := []string{"", "hosts/h/wake", "hosts/h/a/b/c"}
	for key, err := range s.Watch(ctx, "hosts/h/") {
		if err != nil {
			t.Fatal(err)
		}
		if key != want[0] {
			t.Errorf("got %q, want %q", key, want[0])
		}
		if want = want[1:]; len(want) == 0 {
			return
		}
		put(t, other, "queue/"+path.Base(want[0]), want[0])
	}
	t.Errorf("never reported: %q", want)
}

func TestContract(t *testing.T) {
	folder := t.TempDir()
	storetest.Run(t, storetest.Engine{Open: func(t testing.TB) store.Store {
		s, err := dir.Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}})
}

func BenchmarkStore(b *testing.B) {
	s, err := dir.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	storetest.Bench(b, s)
}
