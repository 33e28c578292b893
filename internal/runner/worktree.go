package runner

import (
	"errors"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/effect/workspace"
	"github.com/ralph-loop/ralph/registry"
)

// SharedTreeError reports that another loop works in the work tree, and that sharing is not
// allowed.
type SharedTreeError struct {
	Tree  string
	Loop  string // the other loop's name; "" if it is unknown
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
		if !s.Live.Alive {
			continue
		}
		e.Loop, e.PID, e.Since = s.Name, s.Live.PID, s.Live.Since
		if e.Leaving = s.Head.Status.Ended() || leaving(s.Dir); !e.Leaving {
			break
		}
	}
	return e
}

// leaving reads the journal, because state.json may be older than the last command.
func leaving(dir string) bool {
	state, err := loopstate.Open(dir)
	return err == nil && state.Leaving()
}
