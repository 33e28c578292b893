package launch

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal/event"
)

// treeWithUnknownHolder makes a project whose work tree is locked by a loop without an entry.
func treeWithUnknownHolder(t *testing.T) (e *cli.Env, printed *bytes.Buffer, holder *registration.TreeLock) {
	t.Helper()
	home := t.TempDir()
	tree, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	holder, err = registration.AcquireTree(home, tree, false)
	if err != nil {
		t.Fatal(err)
	}
	printed = &bytes.Buffer{}
	return &cli.Env{Stderr: printed, Home: home, Cwd: tree, Now: time.Now}, printed, holder
}

// These tests run on a fake clock: their seconds are exact and take no time.

func TestStartWaitsForUnknownHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, printed, holder := treeWithUnknownHolder(t)
		begun := time.Now()
		err := checkWorkTree(e, "mine", filepath.Join(e.Cwd, ".ralph", "mine"), e.Root(), false)
		refused, ok := errors.AsType[*cli.Failure](err)
		if !ok || refused.Code != event.ExitUsage || !strings.Contains(err.Error(), "another loop is at work in "+e.Cwd) || !strings.Contains(refused.NextStep, "--allow-shared-worktree") {
			t.Errorf("%v", err)
		}
		if took := time.Since(begun); took < unknownHolderTime || took >= 2*unknownHolderTime {
			t.Errorf("waited for %s", took)
		}
		if printed.Len() > 0 {
			t.Errorf("printed: %s", printed)
		}
		if err := holder.Release(); err != nil {
			t.Error(err)
		}
	})
}

func TestStartFollowsUnknownHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, printed, holder := treeWithUnknownHolder(t)
		released := make(chan error, 1)
		begun := time.Now()
		time.AfterFunc(unknownHolderTime/2, func() { released <- holder.Release() })
		if err := checkWorkTree(e, "mine", filepath.Join(e.Cwd, ".ralph", "mine"), e.Root(), false); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took < unknownHolderTime/2 || took >= unknownHolderTime {
			t.Errorf("waited for %s", took)
		}
		if err := <-released; err != nil || printed.Len() > 0 {
			t.Errorf("error %v; printed: %s", err, printed)
		}
	})
}

func TestExitWaitKnowsLoopsName(t *testing.T) {
	for name, row := range map[string]struct {
		unknown time.Duration // for which its name is not known
		lost    time.Duration // when it is unknown again
		most    time.Duration
		prints  string
	}{
		"the name is known":           {0, exitTime, exitTime, "ralph: loop one is ending …\n"},
		"the name is found meanwhile": {unknownHolderTime / 2, exitTime, exitTime, "ralph: loop one is ending …\n"},
		"the name is never found":     {exitTime, exitTime, unknownHolderTime, ""},
		"the name is lost at the end": {0, exitTime / 2, exitTime/2 + unknownHolderTime, "ralph: loop one is ending …\n"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var printed bytes.Buffer
				leaving := exitWait{e: &cli.Env{Stderr: &printed}}
				begun := time.Now()
				for going := true; going; {
					loop := "one"
					if past := time.Since(begun); past < row.unknown || past >= row.lost {
						loop = ""
					}
					going = leaving.wait(loop)
				}
				// A pause begins before the time is over.
				if took := time.Since(begun); took < row.most || took > row.most+100*time.Millisecond {
					t.Errorf("waited for %s, want %s", took, row.most)
				}
				if printed.String() != row.prints {
					t.Errorf("printed: %q", printed.String())
				}
			})
		})
	}
}

func TestSharedTreeNeedsNoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, _, holder := treeWithUnknownHolder(t)
		begun := time.Now()
		if err := checkWorkTree(e, "mine", filepath.Join(e.Cwd, ".ralph", "mine"), e.Root(), true); err != nil || time.Since(begun) != 0 {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
		if err := holder.Release(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Join(e.Cwd, ".ralph")); err == nil {
			t.Error("the check made a folder")
		}
	})
}
