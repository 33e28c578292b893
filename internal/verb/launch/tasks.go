package launch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/story"
	"github.com/ralph-loop/ralph/internal/effect/executor"
	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/effect/task"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/journal/event"
)

// stories are those of ralph/tasks.json, for a loop that works on them.
type stories struct {
	data    []byte // of the file
	list    *story.List
	counted int  // iterations that a resumed loop has used
	agents  bool // an agent of a resumed loop may have changed the file: it will be judged
}

// maximumOfStories is how many iterations a loop over stories may have unless a setting says it:
// reviews need some too.
const maximumOfStories = 15

const hintTasks = "'ralph init --tasks' lays out ralph/, 'ralph plan' fills it in"

// WorksOnStories reports whether a new loop works on the stories of ralph/tasks.json: because
// --tasks says so, or because the file is there and nothing else is to be done.
func (o *Options) WorksOnStories(e *cli.Env) bool {
	return o.Tasks || o.Prompt == "" && o.PromptFile == "" && plan.Exists(e.Root())
}

// readStories reads the stories of a new loop, and refuses flags that do not go together.
func (p *Plan) readStories(e *cli.Env) error {
	before := p.before
	switch {
	case before.Exists && !p.Fresh:
		if p.Tasks && !before.State.Rules.Stories {
			return cli.Refuse("leave --tasks out, or begin a loop of another name", "loop %s does not work on the stories of ralph/tasks.json", p.Name)
		}
		return nil
	case p.Tasks && (p.Prompt != "" || p.PromptFile != "" || p.Task != ""):
		return cli.Refuse("leave one of them out; ralph/prompt.md is for what every iteration has to know", "--tasks and another task are both given")
	case !p.WorksOnStories(e) || p.Task != "" || !p.Tasks && !before.Exists && hasOwnTask(p.Dir):
		if p.SkipReview || p.ReviewCap != nil {
			return cli.Refuse("add --tasks; "+hintTasks, "--skip-review and --review-cap are for a loop over the stories of ralph/tasks.json")
		}
		return nil
	}
	data, err := plan.ReadTasks(e.Root())
	if errors.Is(err, fs.ErrNotExist) {
		return cli.Refuse(hintTasks, "there is no ralph/tasks.json in %s", e.Root())
	}
	if err != nil {
		return cli.Refuse("put a file in its place", "%w", err)
	}
	p.stories, err = parseStories(data)
	return err
}

// hasOwnTask reports whether a person wrote a task into the folder of a new loop.
func hasOwnTask(dir string) bool {
	if !cli.Exists(filepath.Join(dir, task.TaskFile)) {
		return false
	}
	blank, err := task.IsBlank(dir)
	return err != nil || !blank
}

// problemsMost is how many mistakes in a tasks.json an error shows.
const problemsMost = 3

// parseStories checks the form of a tasks.json, and shows what is wrong first.
func parseStories(data []byte) (*stories, error) {
	list, problems := story.Parse(data)
	if len(problems) == 0 {
		return &stories{data: data, list: list}, nil
	}
	var lines []string
	for _, p := range problems {
		lines = append(lines, "\n"+p.Text)
	}
	if rest := len(lines) - problemsMost; rest > 0 {
		lines = append(lines[:problemsMost], fmt.Sprintf("\nand %d more: 'ralph plan --check' shows all", rest))
	}
	return nil, cli.Refuse("correct it, or let your agent do it with 'ralph plan'; then start again",
		"ralph/tasks.json cannot be used:%s", strings.Join(lines, ""))
}

// resumeStories reads the stories of a loop that works on them. What an agent left is judged by the
// runner, so until then the file counts as it was before that agent.
func (p *Plan) resumeStories(e *cli.Env) error {
	state := &p.before.State
	if !state.Rules.Stories {
		return nil
	}
	data, err := plan.ReadTasks(p.tree(e))
	agents := state.Stories.AgentRan && !p.AcceptChanges
	if agents {
		if data, err = []byte(state.Stories.File.Text), nil; state.Stories.File.SHA256 != "" {
			data, err = runner.ReadBlob(p.Dir, state.Stories.File.SHA256)
		}
	}
	if err != nil {
		return cli.Refuse("put it back, then resume the loop", "%w", err)
	}
	if p.stories, err = parseStories(data); err == nil {
		p.stories.counted, p.stories.agents = state.Budget.Counted, agents
	}
	return err
}

// addStories adds to the settings what a loop over stories needs: its verifyCommands are
// guardrails, once a person trusts them.
func (p *Plan) addStories(e *cli.Env, loaded *config.Loaded) error {
	s := p.stories
	if s == nil {
		return nil
	}
	settings := &loaded.Settings
	if settings.Context == config.ContextSame && !settings.Review.Skip {
		return cli.Refuse("leave context at fresh, or add --skip-review if the stories need no review",
			"a review of a story needs a fresh context, and context is same")
	}
	if _, err := executor.CheckTasks(s.data, storyRules(*settings)); err != nil && !s.agents {
		return cli.Refuse("correct it, then start again", "%w", err)
	}
	if _, given := loaded.Origins["maximumIterations"]; !given {
		settings.MaximumIterations = maximumOfStories
	}
	if len(s.list.VerifyCommands) > 0 {
		if err := p.confirmTrust(e, e.ReviewCommands(s.list.VerifyCommands), "the verifyCommands of ralph/tasks.json"); err != nil {
			return err
		}
	}
	settings.Guardrails = WithVerify(settings.Guardrails, s.list.VerifyCommands)
	return nil
}

// WithVerify returns guardrails, and the verifyCommands of a plan that are not among them.
func WithVerify(guards []config.Guardrail, commands []string) []config.Guardrail {
	guards = slices.Clone(guards)
	for _, command := range commands {
		if !slices.ContainsFunc(guards, func(g config.Guardrail) bool { return g.Command == command }) {
			guards = append(guards, config.Guardrail{Command: command, FailAction: config.FailAppend})
		}
	}
	return guards
}

func storyRules(s config.Settings) story.Rules {
	return policy.StoryRules(event.Rules{Review: s.Review.ReviewRules})
}

// tell says how many iterations the stories need, and warns if there may be fewer.
func (s *stories) tell(e *cli.Env, settings config.Settings) {
	if s == nil {
		return
	}
	least, likely := s.list.Estimate(storyRules(settings))
	open := len(s.list.Stories)
	for i := range s.list.Stories {
		if s.list.Stories[i].Done(storyRules(settings)) {
			open--
		}
	}
	if open == 0 {
		cli.Tell(e.Stderr, "all %d stories of ralph/tasks.json are done", len(s.list.Stories))
		return
	}
	cli.Tell(e.Stderr, "%s: about %s, at least %d", plural(open, "story is open", "stories are open"), units.Quantity(likely, "iteration"), least)
	if left := settings.MaximumIterations - s.counted; left < least {
		cli.Tell(e.Stderr, "warning: maximumIterations leaves %d of them", max(left, 0))
		cli.Tell(e.Stderr, "hint: -m %d is enough for the likely number", s.counted+likely)
	}
}

// branch returns the branch of the plan for a worktree; empty if it names none, or one that a work
// tree has checked out.
func (s *stories) branch(e *cli.Env) string {
	if s == nil || s.list.BranchName == "" || repo.IsCheckedOut(context.Background(), e.Root(), s.list.BranchName, e.Environ...) {
		return ""
	}
	return s.list.BranchName
}

// tellBranch says that a loop works on another branch than the plan names.
func (s *stories) tellBranch(e *cli.Env, tree string) {
	if s == nil || s.list.BranchName == "" {
		return
	}
	here := repo.Branch(context.Background(), tree)
	if here == "" || here == s.list.BranchName {
		return
	}
	cli.Tell(e.Stderr, "the plan is for the branch %s, and the loop works on %s", cli.Clean(s.list.BranchName), here)
	if tree == e.Root() {
		cli.Tell(e.Stderr, "hint: --worktree works on the plan's branch; so does 'git switch' before the start")
	}
}

// ignoreMarker lets git ignore the marker of a loop over stories, so that no agent commits it.
// Outside of a repository it does nothing.
func (s *stories) ignoreMarker(e *cli.Env, project string) error {
	if s == nil {
		return nil
	}
	tree, err := repo.WorkTree(project)
	if err != nil || !cli.Exists(filepath.Join(tree, ".git")) {
		return err
	}
	root, err := filepath.EvalSymlinks(project)
	if err != nil {
		return fmt.Errorf("find the project: %w", err)
	}
	added, err := plan.Ignore(root, tree)
	if err != nil {
		return cli.Refuse("add a line "+plan.Active+" to .gitignore", "%w", err)
	}
	if added {
		cli.Tell(e.Stderr, "%s is added to .gitignore", plan.Active)
	}
	return nil
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
