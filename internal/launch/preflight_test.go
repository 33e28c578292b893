package launch

import (
	"errors"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/cli"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/journal/event"
)

// A loop that could not make or follow its pull request does not begin.
func TestMissingForgeIsRefused(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	e := &cli.Env{Cwd: t.TempDir()}
	if err := checkForge(e, config.SCM{Command: "git", Tasks: []string{"commit", "push"}}, e.Root()); err != nil {
		t.Errorf("without a pull request: %v", err)
	}
	for name, scm := range map[string]config.SCM{
		"pr":       {Command: "git", Tasks: []string{"commit", "push", config.TaskPullRequest}},
		"followPR": {FollowPR: true},
	} {
		err := checkForge(e, scm, e.Root())
		failed, ok := errors.AsType[*cli.Failure](err)
		if !ok || failed.Code != event.ExitUsage || !strings.Contains(err.Error(), "neither gh nor glab is installed") || !strings.Contains(failed.Hint(), "install gh or glab") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
