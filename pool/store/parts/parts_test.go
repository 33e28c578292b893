package parts_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/pool/store/dir"
	"github.com/ralph-loop/ralph/pool/store/parts"
)

const key = "loops/L/tree/000000000001"

func open(t *testing.T) (s *dir.Store, folder string) {
	t.Helper()
	folder = t.TempDir()
	s, err := dir.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, folder
}

func randomBytes(n int) []byte {
	value := make([]byte, n)
	rand.NewChaCha8([32]byte{1}).Read(value)
	return value
}

func keysOf(t *testing.T, s store.Store) (keys []string) {
	t.Helper()
	for key, err := range s.List(t.Context(), "", "") {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	return keys
}

func TestWhatIsStoredIsRead(t *testing.T) {
	for size, stored := range map[int]int{
		0: 1, 1: 1, 1000: 1, store.MaxValue - 1: 2, store.MaxValue: 2, store.MaxValue + 1: 2, 3*store.MaxValue + 7: 4, 2*store.MaxValue - 90: 3,
	} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			s, _ := open(t)
			value := randomBytes(size)
			h, err := parts.Put(t.Context(), s, key, iotest.HalfReader(bytes.NewReader(value)))
			if err != nil || h.Size != int64(size) {
				t.Fatalf("Put: %d bytes, %v", h.Size, err)
			}
			if got := keysOf(t, s); len(got) != stored {
				t.Errorf("%d keys, want %d: %q", len(got), stored, got)
			}
			var read bytes.Buffer
			if _, err := parts.Get(t.Context(), s, key, &read); err != nil || !bytes.Equal(read.Bytes(), value) {
				t.Errorf("Get: %d bytes, %v", read.Len(), err)
			}
			again, err := parts.Put(t.Context(), s, key, bytes.NewReader(value))
			if !errors.Is(err, store.ErrExists) || again.SHA256 != h.SHA256 {
				t.Errorf("Put again: %v", err)
			}
			if head, err := parts.Head(t.Context(), s, key); err != nil || head.SHA256 != h.SHA256 {
				t.Errorf("Head: %+v, %v", head, err)
			}
		})
	}
}

// limited refuses writes after some.
type limited struct {
	store.Store
	writes int
}

var errLost = errors.New("connection lost")

func (l *limited) PutIfAbsent(ctx context.Context, key string, value []byte) (store.Revision, error) {
	if l.writes--; l.writes < 0 {
		return "", errLost
	}
	return l.Store.PutIfAbsent(ctx, key, value)
}

func TestHalfIsNeverWhole(t *testing.T) {
	s, _ := open(t)
	value := randomBytes(3 * store.MaxValue)
	for writes := range 4 {
		if _, err := parts.Put(t.Context(), &limited{s, writes}, key, bytes.NewReader(value)); !errors.Is(err, errLost) {
			t.Fatalf("after %d writes: %v", writes, err)
		}
		if _, err := parts.Get(t.Context(), s, key, io.Discard); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Get after %d writes: %v", writes, err)
		}
	}
	if _, err := parts.Put(t.Context(), s, key, iotest.TimeoutReader(bytes.NewReader(value))); !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("Put of a reader that fails: %v", err)
	}
	if _, err := parts.Put(t.Context(), s, key, bytes.NewReader(value)); err != nil {
		t.Errorf("Put at last: %v", err)
	}
}

func TestDamagedPartsAreFound(t *testing.T) {
	s, folder := open(t)
	value := randomBytes(2*store.MaxValue + 5)
	if _, err := parts.Put(t.Context(), s, key, bytes.NewReader(value)); err != nil {
		t.Fatal(err)
	}
	for _, name := range keysOf(t, s) {
		file := filepath.Join(folder, name)
		good, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for what, bad := range map[string][]byte{
			"cut off": good[:len(good)-1], "longer": append(bytes.Clone(good), 0),
			"flipped": append(bytes.Clone(good[:len(good)-1]), good[len(good)-1]^1),
		} {
			if err := os.WriteFile(file, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := parts.Get(t.Context(), s, key, io.Discard); err == nil {
				t.Errorf("%s, %s: no error", name, what)
			}
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if _, err := parts.Get(t.Context(), s, key, io.Discard); err == nil {
			t.Errorf("%s, removed: no error", name)
		}
		if err := os.WriteFile(file, good, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDamagedPartIsReplaced(t *testing.T) {
	s, folder := open(t)
	value := randomBytes(2 * store.MaxValue)
	if _, err := parts.Put(t.Context(), &limited{s, 2}, key, bytes.NewReader(value)); !errors.Is(err, errLost) {
		t.Fatal(err)
	}
	for _, name := range keysOf(t, s) {
		file := filepath.Join(folder, name)
		if err := os.Truncate(file, 500); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := parts.Put(t.Context(), s, key, bytes.NewReader(value)); err != nil {
		t.Fatal(err)
	}
	if _, err := parts.Get(t.Context(), s, key, io.Discard); err != nil {
		t.Error(err)
	}
}

func TestHostileHeaderIsRefused(t *testing.T) {
	for i, header := range []string{
		"", "no line", "{}\n", "null\n", `{"v":2}` + "\n", `{"v":1,"size":-1}` + "\n", `{"v":1,"size":3}` + "\nabc",
		`{"v":1,"size":0,"sha256":"","parts":["../../../../loops"]}` + "\n", `{"v":1,"parts":["` + strings.Repeat("/", 600) + `"]}` + "\n",
	} {
		s, _ := open(t)
		if _, err := s.PutIfAbsent(t.Context(), key, []byte(header)); err != nil {
			t.Fatal(err)
		}
		if _, err := parts.Get(t.Context(), s, key, io.Discard); err == nil {
			t.Errorf("header %d, %.40q: no error", i, header)
		}
	}
}
