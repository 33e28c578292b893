package registration

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/filelock"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/registry"
)

// TreeLock says that a loop works in a work tree. It belongs to the process, as Lock does.
type TreeLock struct {
	alone  *os.File // locked by the one loop that does not share
	shared *os.File // locked by all that share
}

// ErrTreeHeld says that another loop works in the work tree.
var ErrTreeHeld = errors.New("another loop is at work in this work tree")

// HomeError says that nothing can be written in ralph's home.
type HomeError struct{ err error }

func (e *HomeError) Error() string { return "use ralph's home: " + e.err.Error() }
func (e *HomeError) Unwrap() error { return e.err }

// Usage says that a person has to change something.
func (*HomeError) Usage() {}

// Hint returns the next step.
func (*HomeError) Hint() string {
	return "the registry of loops is there: make it writable, or set RALPH_HOME to a folder that is"
}

// AcquireTree locks a work tree for a loop. tree is a folder's absolute path, without links. If
// another loop of that home works in it, the error is ErrTreeHeld after some 50 ms, unless share is
// set. A loop that shares also excludes later loops that do not. Of several loops that start at
// once and do not share, one gets the lock. The lock ends with Release or with the process; its
// files have no content.
func AcquireTree(home, tree string, share bool) (*TreeLock, error) {
	l := &TreeLock{}
	var err error
	if l.alone, err = openTree(home, tree, "alone"); err != nil {
		return nil, err
	}
	if l.shared, err = openTree(home, tree, "shared"); err != nil {
		return nil, errors.Join(err, l.alone.Close())
	}
	got, err := retry(func() (bool, error) { return l.take(share) })
	if err != nil {
		err = fmt.Errorf("take the work tree: %w", err)
	} else if !got {
		err = ErrTreeHeld
	}
	if err != nil {
		return nil, errors.Join(err, l.Release())
	}
	return l, nil
}

func openTree(home, tree, kind string) (*os.File, error) {
	path := filepath.Join(home, "trees", strings.TrimSuffix(registry.FileName(tree, kind), ".json")+".lock")
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err != nil {
		return nil, &HomeError{err}
	}
	f, err := safefile.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrPermission) {
		return nil, &HomeError{err}
	}
	if err != nil {
		return nil, fmt.Errorf("take the work tree: %w", err)
	}
	return f, nil
}

// take locks one of the two files for as long as the loop runs. A loop that does not share locks
// the first, and checks that no other loop has the second.
func (l *TreeLock) take(share bool) (bool, error) {
	if share {
		return filelock.TryShared(l.shared)
	}
	if got, err := filelock.TryExclusive(l.alone); !got || err != nil {
		return false, err
	}
	free, err := filelock.TryExclusive(l.shared)
	if !free || err != nil {
		return false, err
	}
	return true, filelock.Release(l.shared)
}

// TreeHeld reports whether a loop of that home works in the work tree.
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

// Release releases the work tree. Call it once.
func (l *TreeLock) Release() error {
	if err := errors.Join(filelock.Release(l.alone), filelock.Release(l.shared), l.alone.Close(), l.shared.Close()); err != nil {
		return fmt.Errorf("release the work tree: %w", err)
	}
	return nil
}
