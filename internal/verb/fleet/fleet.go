package fleet

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/effect/sandbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/verb/launch"
)

// Fleet says how a fleet is started.
type Fleet struct {
	Agent
	Name    string
	Trust   bool              // the settings of the project count this once
	Anyway  bool              // no guardrail is tried first
	Command string            // of the agents of the tasks; "" for that of the settings
	Set     map[string]string // settings; those of ownKeys are the fleet's, all others the loops'
}

// ownKeys are the settings that bound the fleet as a whole.
var ownKeys = map[string]bool{"limits.cost": true, "limits.duration": true, "limits.tokens": true}

// own are the settings of the loop whose agent is ralph itself: it waits for others, for as long as
// they take.
var own = map[string]string{
	"limits.iteration": "none", "limits.idle": "none", "limits.tool": "none", "completion.minToolCalls": "0", "breaker.noProgress": "0",
	"nesting.depth": "1", "scm.tasks": "[]", "restart.delay": "1s",
}

// Start returns how the fleet's loop is started, after a look at its tasks.
func (f Fleet) Start(e *cli.Env) (launch.Start, Tasks, error) {
	folder := f.Folder
	if folder != "" {
		folder = e.Abs(folder)
	}
	tasks, err := ReadTasks(e.Root(), folder)
	if err != nil {
		return launch.Start{}, tasks, cli.Refuse("give a folder of task files with --from DIR, or write ralph/tasks.json: 'ralph plan' does that with your agent", "%w", err)
	}
	if folder == "" {
		// The fleet works in a worktree of the last commit. If git fails here, its start says why.
		if changed, err := repo.Uncommitted(context.Background(), e.Root(), plan.Path(e.Root(), plan.Tasks), e.Environ...); err == nil && changed {
			return launch.Start{}, tasks, cli.Refuse("commit it with 'git add ralph' and 'git commit', then start the fleet again",
				"ralph/tasks.json is not committed as it is, and a fleet works on the last commit")
		}
	}
	if f.Parallel < 1 {
		return launch.Start{}, tasks, cli.Refuse("say how many work at once, such as -n 4", "-n %d is no number of loops", f.Parallel)
	}
	if len(tasks.Verify) > 0 {
		if err := launch.CheckCommands(e, tasks.Verify, f.Trust); err != nil {
			return launch.Start{}, tasks, err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return launch.Start{}, tasks, err
	}
	argv := []string{self, "fleet-agent", "--parallel", strconv.Itoa(f.Parallel), "--conflicts", f.Conflicts}
	if folder != "" {
		argv = append(argv, "--from", folder)
	}
	argv = append(argv, "--verify", e.ReviewCommands(tasks.Verify).Fingerprint())
	set := map[string]string{"nesting.loops": strconv.Itoa(2*len(tasks.List) + config.Defaults().Nesting.Loops)}
	for key, value := range own {
		set[key] = value
	}
	var guards map[string]string
	if text, given := f.Set["guardrails"]; given {
		guards = map[string]string{"guardrails": text}
	}
	loaded, err := e.Settings(guards, e.WorkDir())
	if err != nil {
		return launch.Start{}, tasks, err
	}
	trial := loaded.Settings.Guardrails
	if guards == nil {
		trial = launch.WithVerify(trial, tasks.Verify)
	}
	if loaded.Settings.Sandbox.Mode != string(sandbox.None) {
		set["sandbox.mode"] = string(sandbox.None) // of ralph itself; the loops have that of the settings
	}
	argv = append(argv, "--")
	if f.Command != "" {
		argv = append(argv, "--agent", cli.RootedAgents(f.Command, e.Cwd))
	}
	for key, value := range f.Set {
		if ownKeys[key] {
			set[key] = value
		} else {
			argv = append(argv, "--set", key+"="+value)
		}
	}
	worktree := ""
	return launch.Start{Name: f.Name, Options: launch.Options{
		Prompt: "Work through " + f.what(folder, tasks), Agent: cli.AsTyped(argv), Protocol: config.ProtocolText,
		Worktree: &worktree, Set: set, Trust: f.Trust, Anyway: f.Anyway,
	}, Trial: trial}, tasks, nil
}

func (f Fleet) what(folder string, tasks Tasks) string {
	from := "ralph/tasks.json"
	if folder != "" {
		from = filepath.Base(folder) + "/"
	}
	return strconv.Itoa(len(tasks.List)) + " tasks of " + strings.TrimSpace(from) + " with " + strconv.Itoa(f.Parallel) + " loops at once."
}
