package runner

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/effect/workspace"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// SharedTreeError reports that another loop works in the work tree, and that sharing is not
// allowed.
type SharedTreeError struct {
	Tree  string
	Loop  string // the other loop's name; "" if it is unknown
	Dir   string // its folder; "" as Loop
	PID   int    // of its runner; 0 as Loop
	Since time.Time
	// Leaving says that the other loop has ended or is being stopped, and its runner still exits.
	Leaving bool
}

func (e *SharedTreeError) Error() string {
	if e.Loop == "" {
		return fmt.Sprintf("another loop is at work in %s", e.Tree)
	}
	return fmt.Sprintf("loop %s is at work in %s, by pid %d since %s", e.Loop, e.Tree, e.PID, e.Since.Format(time.RFC3339))
}

// Hint returns the next step.
func (e *SharedTreeError) Hint() string {
	return "each would take the other's changes for its own: work in another git worktree, wait for its end, or ask for it with --allow-shared-worktree"
}

// CheckTree returns a *SharedTreeError if another loop is at work in the project's work tree.
func CheckTree(home, project string) error {
	tree, err := repo.WorkTree(project)
	if err != nil {
		return err
	}
	held, err := registration.TreeHeld(home, tree)
	if err != nil || !held {
		return err
	}
	return sharedTree(home, tree)
}

// AcquireTree locks the work tree of a project. The error is a *SharedTreeError if a loop holds it.
func AcquireTree(home, project string, share bool) (*registration.TreeLock, error) {
	tree, err := repo.WorkTree(project)
	if err != nil {
		return nil, err
	}
	lock, err := registration.AcquireTree(home, tree, share)
	if errors.Is(err, registration.ErrTreeHeld) {
		err = sharedTree(home, tree)
	}
	return lock, err
}

// sharedTree finds the loop that holds the work tree. If no live loop is listed, the holder has
// just started or just exited; the caller retries, as it does for one that is leaving.
func sharedTree(home, tree string) error {
	e := &SharedTreeError{Tree: tree, Leaving: true}
	loops, err := registry.Survey(home, func(entry registry.Entry) bool {
		at, err := workspace.Tree(entry.Dir, entry.Project)
		if err == nil {
			at, err = repo.WorkTree(at)
		}
		return err == nil && at == tree
	})
	if err != nil {
		return errors.Join(e, err)
	}
	for _, s := range loops {
		if !s.Live.Alive || s.Live.PID == os.Getpid() {
			continue
		}
		// The journal, because state.json may be older than the last command.
		state, err := loopstate.Open(s.Dir)
		waits := err == nil && ComesAfter(state.When) // it may just have taken the work tree
		if waits && e.Loop != "" {
			continue
		}
		e.Loop, e.Dir, e.PID, e.Since = s.Name, s.Dir, s.Live.PID, s.Live.Since
		if e.Leaving = s.Head.Status.Ended() || err == nil && state.Leaving(); !e.Leaving && !waits {
			break
		}
	}
	return e
}

// ComesAfter reports whether a loop waits for another one before it begins.
func ComesAfter(when *event.When) bool { return when != nil && when.After != "" }

// workTree is the lock on the work tree of a loop. A loop that comes after another one takes it
// when its turn has come: the other one may work in the same files, and so may others meanwhile.
type workTree struct {
	mu   sync.Mutex
	lock *registration.TreeLock
}

// take takes the work tree, unless the loop has it. The error is a *SharedTreeError if a loop holds
// it.
func (w *workTree) take(home, project string, share bool) (err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lock == nil {
		w.lock, err = AcquireTree(home, project, share)
	}
	return err
}
