package registration

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/registry"
)

func TestOneLoopPerTree(t *testing.T) {
	home, tree := t.TempDir(), t.TempDir()
	enter := func(share bool) *TreeLock {
		t.Helper()
		l, err := AcquireTree(home, tree, share)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	refused := func(who string) {
		t.Helper()
		if _, err := AcquireTree(home, tree, false); !errors.Is(err, ErrTreeHeld) {
			t.Errorf("%s: %v", who, err)
		}
		if held, err := TreeHeld(home, tree); !held || err != nil {
			t.Errorf("%s: held %v, %v", who, held, err)
		}
	}
	first := enter(false)
	refused("beside the first")
	other, err := AcquireTree(home, t.TempDir(), false)
	if err != nil {
		t.Errorf("in another tree: %v", err)
	}
	second := enter(true)
	if err := errors.Join(first.Release(), other.Release()); err != nil {
		t.Error(err)
	}
	refused("beside one that shares")
	if err := second.Release(); err != nil {
		t.Error(err)
	}
	if held, err := TreeHeld(home, tree); held || err != nil {
		t.Errorf("when all are gone: %v, %v", held, err)
	}
	if err := enter(false).Release(); err != nil {
		t.Error(err)
	}
}

func TestOneOfManyPasses(t *testing.T) {
	for range 20 {
		home := t.TempDir()
		var passed, failed atomic.Int32
		// a lock that no process knows of any more may be closed at any time
		var locks [16]*TreeLock
		var all sync.WaitGroup
		begin := make(chan struct{})
		for i := range locks {
			all.Go(func() {
				<-begin
				var err error
				if i%4 == 3 {
					_, err = TreeHeld(home, "/tree") // TreeHeld keeps no process out
				} else if locks[i], err = AcquireTree(home, "/tree", false); err == nil {
					passed.Add(1)
				}
				if err != nil && !errors.Is(err, ErrTreeHeld) {
					failed.Add(1)
					t.Error(err)
				}
			})
		}
		close(begin)
		all.Wait()
		if passed.Load() != 1 || failed.Load() > 0 {
			t.Fatalf("%d passed: %v", passed.Load(), locks)
		}
	}
}

func TestTreeLockIsNoLink(t *testing.T) {
	for _, kind := range []string{"alone", "shared"} {
		home := t.TempDir()
		path := filepath.Join(home, "trees", strings.TrimSuffix(registry.FileName("/tree", kind), ".json")+".lock")
		if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), os.Symlink("/etc/hostname", path)); err != nil {
			t.Fatal(err)
		}
		for _, share := range []bool{true, false} {
			_, err := AcquireTree(home, "/tree", share)
			if wrong, ok := errors.AsType[*safefile.Error](err); !ok || wrong.Problem != safefile.IsLink {
				t.Errorf("%s, share %v: %v", kind, share, err)
			}
		}
	}
}

func BenchmarkAcquireTree(b *testing.B) {
	home := b.TempDir()
	for b.Loop() {
		l, err := AcquireTree(home, "/tree", false)
		if err == nil {
			err = l.Release()
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
