package registry

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// TreeLock says that a loop is at work in a work tree. It is the process's, as Lock is.
type TreeLock struct{ held *flock.Flock }

// ErrTreeHeld says that another loop is at work in the work tree.
var ErrTreeHeld = errors.New("another loop is at work in this work tree")

// AcquireTree says that a loop works in a work tree from now on: a folder's absolute path, without links in it. Where another loop of that home
// does, the error is ErrTreeHeld after some 50 ms, unless share asks for that; who shares keeps later ones out as
// anybody does. Of several that come at once without asking to share, one passes. Nothing is synced: the lock ends with Release or
// with the process, and the files under it say nothing.
func AcquireTree(home, tree string, share bool) (*TreeLock, error) {
	// A process that was killed in the middle of starting another one leaves its locks to that one for an instant.
	held, err := enterTree(home, tree, share)
	for try := 1; errors.Is(err, ErrTreeHeld) && try < lockTries; try++ {
		time.Sleep(lockPause)
		held, err = enterTree(home, tree, share)
	}
	if err != nil {
		return nil, err
	}
	return &TreeLock{held}, nil
}

// TreeHeld reports whether a loop of that home is at work in the work tree.
func TreeHeld(home, tree string) (bool, error) {
	held, err := AcquireTree(home, tree, false)
	if errors.Is(err, ErrTreeHeld) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, held.Release()
}

// Release lets the next loop in. Call it once.
func (l *TreeLock) Release() error {
	if err := l.held.Unlock(); err != nil {
		return fmt.Errorf("release the work tree: %w", err)
	}
	return nil
}

// gateTries times lockPause is how long the gate may be held by others: each goes through it in some ten microseconds.
const gateTries = 5000

// enterTree takes a shared lock on the tree's file, after it has seen that nobody else has one. The two are one step
// because everybody takes it behind the same gate, a lock of its own.
func enterTree(home, tree string, share bool) (*flock.Flock, error) {
	dir := filepath.Join(home, "trees")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, &HomeError{err}
	}
	gate, err := locked(filepath.Join(dir, "gate.lock"), (*flock.Flock).TryLock, gateTries)
	if errors.Is(err, fs.ErrPermission) {
		return nil, &HomeError{err}
	}
	if err != nil {
		return nil, fmt.Errorf("take the work tree: %w", err)
	}
	held, err := pass(filepath.Join(dir, treeFile(tree)), share)
	if left := gate.Unlock(); left != nil && err == nil {
		err = errors.Join(fmt.Errorf("take the work tree: %w", left), held.Unlock())
	}
	return held, err
}

func pass(path string, share bool) (*flock.Flock, error) {
	if !share {
		alone, err := locked(path, (*flock.Flock).TryLock, 1)
		if errors.Is(err, errBusy) {
			return nil, ErrTreeHeld
		}
		if err == nil {
			err = alone.Unlock()
		}
		if err != nil {
			return nil, fmt.Errorf("take the work tree: %w", err)
		}
	}
	held, err := locked(path, (*flock.Flock).TryRLock, 1)
	if err != nil {
		return nil, fmt.Errorf("take the work tree: %w", err)
	}
	return held, nil
}

var errBusy = errors.New("its lock is held by another process")

// locked takes a lock in one of the ways of package flock.
func locked(path string, take func(*flock.Flock) (bool, error), tries int) (*flock.Flock, error) {
	if err := refuseForeign(path); err != nil {
		return nil, err
	}
	f := flock.New(path, flock.SetFlag(os.O_RDWR|os.O_CREATE|openFlags), flock.SetPermissions(0o600))
	for try := 1; ; try++ {
		got, err := take(f)
		switch {
		case err != nil:
			return nil, err
		case got:
			return f, nil
		case try >= tries:
			return nil, errors.Join(fmt.Errorf("%s: %w", path, errBusy), f.Close())
		}
		time.Sleep(lockPause)
	}
}

// treeFile is called as an entry is.
func treeFile(tree string) string {
	return strings.TrimSuffix(fileName(tree, "tree"), "tree.json") + "tree.lock"
}
