package repo

import (
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/internal/testkit/testgit"
)

func TestMain(m *testing.M) { testgit.Main(m) }

var (
	must        = testfile.Must
	leaveToLong = testgit.LeaveToLong
	formats     = testgit.Formats
)

// A tree is a working tree of a test's own.
type tree struct{ testgit.Tree }

func unborn(t *testing.T, flags ...string) tree {
	t.Helper()
	return tree{testgit.Unborn(t, flags...)}
}

func born(t *testing.T, flags ...string) tree {
	t.Helper()
	return tree{testgit.Born(t, flags...)}
}

func treeIn(t *testing.T, dir string) tree { return tree{testgit.Tree{T: t, Dir: dir}} }

func (w tree) at(name string) tree { return tree{w.At(name)} }

func resolved(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(path)
	must(t, err)
	return path
}

func (w tree) see() Snapshot {
	w.T.Helper()
	s, err := TakeSnapshot(w.T.Context(), w.Dir)
	must(w.T, err)
	return s
}

// run commits and waits only shortly for a lock.
func (w tree) run(c Config) (Result, error) {
	c.Dir, c.lockWait = w.Dir, lockPause
	if c.Command == "" {
		c.Command = "git"
	}
	if c.Tasks == nil {
		c.Tasks = []string{"commit"}
	}
	return Run(w.T.Context(), c)
}
