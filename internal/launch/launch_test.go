package launch

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/cli"
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
