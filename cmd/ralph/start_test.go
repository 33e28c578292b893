package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// beside is a project in whose work tree somebody is at work whom nobody can name: there is a lock, and no entry.
func beside(t *testing.T) (e *env, said *bytes.Buffer, stranger *registry.TreeLock) {
	t.Helper()
	home := t.TempDir()
	tree, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	stranger, err = registry.AcquireTree(home, tree, false)
	if err != nil {
		t.Fatal(err)
	}
	said = &bytes.Buffer{}
	return &env{stderr: said, home: home, cwd: tree, now: time.Now}, said, stranger
}

// The clock of these tests goes on only while everybody waits: their seconds are exact, and take no time.

func TestWhoCannotBeNamedIsWaitedForASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, said, stranger := beside(t)
		begun := time.Now()
		err := e.neighbours("mine", filepath.Join(e.cwd, ".ralph", "mine"), false)
		refused, ok := errors.AsType[*failure](err)
		if !ok || refused.code != event.ExitUsage || !strings.Contains(err.Error(), "another loop is at work in "+e.cwd) || !strings.Contains(refused.hint, "--share") {
			t.Errorf("%v", err)
		}
		if took := time.Since(begun); took < strangerTime || took >= 2*strangerTime {
			t.Errorf("it was waited for %s", took)
		}
		if said.Len() > 0 {
			t.Errorf("nobody can be named, and this is said: %s", said)
		}
		if err := stranger.Release(); err != nil {
			t.Error(err)
		}
	})
}

func TestWhoCannotBeNamedAndGoesInThatSecondIsInNobodysWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, said, stranger := beside(t)
		released := make(chan error, 1)
		begun := time.Now()
		time.AfterFunc(strangerTime/2, func() { released <- stranger.Release() })
		if err := e.neighbours("mine", filepath.Join(e.cwd, ".ralph", "mine"), false); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took < strangerTime/2 || took >= strangerTime {
			t.Errorf("it was waited for %s", took)
		}
		if err := <-released; err != nil || said.Len() > 0 {
			t.Errorf("%v, and this is said: %s", err, said)
		}
	})
}

func TestALoopThatEndsIsWaitedForByItsName(t *testing.T) {
	for name, row := range map[string]struct {
		strange time.Duration // for which its name is not known
		most    time.Duration
		says    string
	}{
		"its name is known":                             {0, leaveTime, "ralph: loop one is ending …\n"},
		"it is found when it has been waited for":       {strangerTime / 2, leaveTime, "ralph: loop one is ending …\n"},
		"it is found by nobody, and waited for no more": {leaveTime, strangerTime, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var said bytes.Buffer
				leaving := farewell{e: &env{stderr: &said}}
				begun := time.Now()
				for going := true; going; {
					loop := "one"
					if time.Since(begun) < row.strange {
						loop = ""
					}
					going = leaving.wait(loop)
				}
				// A pause begins before the time is over.
				if took := time.Since(begun); took < row.most || took > row.most+50*time.Millisecond {
					t.Errorf("it is waited for %s, not for %s", took, row.most)
				}
				if said.String() != row.says {
					t.Errorf("said: %q", said.String())
				}
			})
		})
	}
}

// Who asks to share the work tree waits for nobody.
func TestWhoSharesDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, _, stranger := beside(t)
		begun := time.Now()
		if err := e.neighbours("mine", filepath.Join(e.cwd, ".ralph", "mine"), true); err != nil || time.Since(begun) != 0 {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
		if err := stranger.Release(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Join(e.cwd, ".ralph")); err == nil {
			t.Error("a question made a folder")
		}
	})
}
