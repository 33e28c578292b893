package launch

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/journal/event"
)

// A starter whose runner never reports exits with a hint.
func TestStartGivesUpWaiting(t *testing.T) {
	silent, toStarter, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	defer toStarter.Close()
	_, err = awaitReady(&cli.Env{Stderr: io.Discard, Cwd: "/p"}, runner.Config{Name: "one", Dir: "/p/.ralph/one"}, silent, time.Millisecond)
	f, ok := errors.AsType[*cli.Failure](err)
	if !ok || f.Code != event.ExitFailed || f.Error() != "loop one has not begun after 1ms; its runner goes on trying" ||
		!strings.Contains(f.NextStep, "'ralph kill one' ends it; its own output is in .ralph/one/runner.log") {
		t.Errorf("%v %+v", err, f)
	}
}

// TestWorkDirIsWithinProject resumes loops whose journals name a folder of their project.
func TestWorkDirIsWithinProject(t *testing.T) {
	e := &cli.Env{Cwd: filepath.Join(t.TempDir(), "project")}
	if err := errors.Join(os.MkdirAll(filepath.Join(e.Cwd, "part"), 0o700), os.Symlink("..", filepath.Join(e.Cwd, "out"))); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"part": "part", "gone": "", "out": "", "..": "", "out/project": ""} {
		before := loopState{State: loopstate.State{Lifecycle: policy.Lifecycle{Dir: "/src/.ralph/demo", Project: filepath.Join("/src", name)}}}
		if got := WorkDirOf(e.Root(), before); got != filepath.Join(e.Cwd, want) {
			t.Errorf("%s: the agent works in %s; want %q in the project", name, got, want)
		}
	}
}
