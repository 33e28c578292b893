package launch

import (
	"errors"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
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

// A start says in one line what holds the agent back.
func TestHeldBackSaysWhat(t *testing.T) {
	for name, row := range map[string]struct {
		agent config.Agent
		mode  string
		want  string
	}{
		"a rehearsal":             {config.Agent{Command: "ralph rehearse x"}, "none", ""},
		"nothing":                 {config.Agent{Command: "./agent.sh"}, "none", "nothing holds the agent back: 'ralph start --sandbox' does"},
		"a sandbox":               {config.Agent{Command: "./agent.sh"}, "bwrap", "the agent is held back by sandbox bwrap"},
		"a sandbox if there is":   {config.Agent{Command: "./agent.sh"}, "auto", "the agent is held back by the strongest sandbox that holds here"},
		"permissions":             {config.Agent{Command: "claude", Permissions: "ask"}, "none", "the agent is held back by its own permissions (agents.NAME.permissions)"},
		"permissions and sandbox": {config.Agent{Command: "codex", Permissions: "workspace"}, "bwrap", "the agent is held back by sandbox bwrap and its own permissions (agents.NAME.permissions)"},
		"none that are enforced":  {config.Agent{Command: "pi", Permissions: "ask"}, "none", "nothing holds the agent back: 'ralph start --sandbox' does"},
	} {
		s := config.Defaults()
		s.Agent, s.Agents, s.Sandbox.Mode = config.AgentNames{"a"}, map[string]config.Agent{"a": row.agent}, row.mode
		if got := heldBack(s, t.TempDir(), t.TempDir()); got != row.want { // a test's program is not ralph: it gives no hooks
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}
