package dir_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/pool/store/dir"
)

// TestSyncedBeforeAcknowledged reads what was synced and what had a name by then: a loss of power
// keeps no more than that.
func TestSyncedBeforeAcknowledged(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder)
	const key = "loops/L/view"
	var synced []string
	value := func() string {
		text, _ := os.ReadFile(filepath.Join(folder, key))
		_, value, _ := strings.Cut(string(text), "\n")
		return value
	}
	s.OnSync(func(f *os.File) error {
		name, err := filepath.Rel(folder, f.Name())
		if err != nil {
			return err
		}
		if filepath.Dir(name) == ".new" {
			name = "file"
		}
		synced = append(synced, fmt.Sprintf("%s with %q", name, value()))
		return nil
	})
	expect := func(what string, want ...string) {
		t.Helper()
		if !slices.Equal(synced, want) {
			t.Errorf("%s: synced %q, want %q", what, synced, want)
		}
		synced = nil
	}
	revision, err := s.PutIfAbsent(t.Context(), key, []byte("one"))
	if err != nil {
		t.Fatal(err)
	}
	expect("PutIfAbsent", `file with ""`, `. with ""`, `loops with ""`, `loops/L with "one"`)
	if _, err := s.PutIfAbsent(t.Context(), key, nil); !errors.Is(err, store.ErrExists) {
		t.Fatal(err)
	}
	expect("PutIfAbsent of a key that exists", `file with "one"`, `loops/L with "one"`)
	if _, err := s.CompareAndSwap(t.Context(), key, revision, []byte("two")); err != nil {
		t.Fatal(err)
	}
	expect("CompareAndSwap", `file with "one"`, `loops/L with "two"`)
}

func TestFailedSyncIsNoSuccess(t *testing.T) {
	errSync := errors.New("input/output error")
	for good := range 4 {
		s := open(t, t.TempDir())
		revision, err := s.PutIfAbsent(t.Context(), "accounts/a", nil)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		s.OnSync(func(*os.File) error {
			if n++; n > good {
				return errSync
			}
			return nil
		})
		// The file, the folder above, the folder between, and the folder of the key.
		if _, err := s.PutIfAbsent(t.Context(), "loops/L/view", nil); !errors.Is(err, errSync) {
			t.Errorf("PutIfAbsent with %d good syncs: %v", good, err)
		}
		// The file, and its folder.
		n = 2
		if _, err := s.CompareAndSwap(t.Context(), "accounts/a", revision, nil); !errors.Is(err, errSync) {
			t.Errorf("CompareAndSwap with %d good syncs: %v", max(0, good-2), err)
		}
	}
}

// TestKilledWriterLosesNothing kills a process while it writes, and reads what it has
// acknowledged.
func TestKilledWriterLosesNothing(t *testing.T) {
	if folder := os.Getenv("STORE_WRITER"); folder != "" {
		writeForever(folder)
	}
	for acknowledged := range 6 {
		folder := t.TempDir()
		s := open(t, folder)
		writer := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledWriterLosesNothing$")
		writer.Env = append(os.Environ(), "STORE_WRITER="+folder)
		output, err := writer.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := writer.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(output)
		want := map[string]string{}
		for range 1 + 5*acknowledged {
			if !lines.Scan() {
				t.Fatal("the writer has ended")
			}
			key, value, _ := strings.Cut(lines.Text(), " ")
			want[key] = value
		}
		if err := writer.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() { // what it has acknowledged until then
			if key, value, found := strings.Cut(lines.Text(), " "); found {
				want[key] = value
			}
		}
		_ = writer.Wait() // killed
		for key, value := range want {
			entry, err := s.Get(t.Context(), key)
			// A swap of the same key may have been made and not been acknowledged.
			if err != nil || string(entry.Value) < value {
				t.Errorf("%s: %q, %v, want %q", key, entry.Value, err, value)
			}
		}
		for key, err := range s.List(t.Context(), "", "") {
			if _, get := s.Get(t.Context(), key); err != nil || get != nil {
				t.Errorf("List has %q: %v, %v", key, err, get)
			}
		}
		// The lock of the dead process is free.
		entry, err := s.Get(t.Context(), "accounts/a")
		if err == nil {
			_, err = s.CompareAndSwap(t.Context(), "accounts/a", entry.Revision, nil)
		}
		if err != nil {
			t.Errorf("CompareAndSwap afterwards: %v", err)
		}
	}
}

func writeForever(folder string) {
	s, err := dir.Open(folder)
	ctx := context.Background()
	var revision store.Revision
	for n := 0; err == nil; n++ {
		value := fmt.Sprintf("%09d", n)
		if revision, err = s.CompareAndSwap(ctx, "accounts/a", revision, []byte(value)); err != nil {
			break
		}
		fmt.Println("accounts/a", value)
		key := fmt.Sprintf("loops/%d/log/%d", n/3, n)
		if _, err = s.PutIfAbsent(ctx, key, []byte(value)); err == nil {
			fmt.Println(key, value)
		}
	}
	fmt.Println(err)
	os.Exit(1)
}

func TestAbandonedFilesAreRemoved(t *testing.T) {
	folder := t.TempDir()
	open(t, folder)
	old, young := filepath.Join(folder, ".new", "OLD"), filepath.Join(folder, ".new", "YOUNG")
	for _, name := range []string{old, young} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(-48*time.Hour)); err != nil {
		t.Fatal(err)
	}
	open(t, folder)
	if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old file: %v", err)
	}
	if _, err := os.Stat(young); err != nil {
		t.Errorf("the young file: %v", err)
	}
}
