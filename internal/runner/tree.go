package runner

import (
	"errors"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/repo"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

// SharedTreeError says that another loop is at work in the work tree, and that nobody asked to share it.
type SharedTreeError struct {
	Tree  string
	Loop  string // the other loop's name; "" where it is not known
	PID   int    // of its runner; 0 as Loop
	Since time.Time
	// Leaving says that the other one has ended or was told to end at once, and its runner has yet to go.
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
	return "each would take the other's changes for its own: work in another git worktree, wait for its end, or ask for it with --share"
}

// CheckTree returns a *SharedTreeError where another loop is at work in the project's work tree.
func CheckTree(home, project string) error {
	tree, err := repo.WorkTree(project)
	if err != nil {
		return err
	}
	held, err := registry.TreeHeld(home, tree)
	if err != nil || !held {
		return err
	}
	return sharedTree(home, tree)
}

// enter takes the work tree, or says who has it.
func enter(home, project string, share bool) (*registry.TreeLock, error) {
	tree, err := repo.WorkTree(project)
	if err != nil {
		return nil, err
	}
	lock, err := registry.AcquireTree(home, tree, share)
	if errors.Is(err, registry.ErrTreeHeld) {
		err = sharedTree(home, tree)
	}
	return lock, err
}

// sharedTree finds out who is at work there. Where nobody is found, one has just begun and has no entry yet, or one has just gone: the
// next question tells, as it does of one that leaves.
func sharedTree(home, tree string) error {
	e := &SharedTreeError{Tree: tree, Leaving: true}
	loops, err := registry.Survey(home, func(entry registry.Entry) bool {
		at, err := repo.WorkTree(entry.Project)
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
		if e.Leaving = s.Head.Ended() || leaving(s.Dir); !e.Leaving {
			break
		}
	}
	return e
}

// leaving asks the journal: state.json may be older than a command whose receipt is there.
func leaving(dir string) bool {
	state, err := projector.Open(dir)
	return err == nil && state.Leaving()
}
