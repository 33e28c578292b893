package keep

import (
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
