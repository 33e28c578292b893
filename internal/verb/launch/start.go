package launch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/client"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/effect/plan"
	tasks "github.com/ralph-loop/ralph/internal/effect/task"
	"github.com/ralph-loop/ralph/internal/effect/workspace"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/registry"
)

// Start holds the options by which a detached loop is started or resumed.
type Start struct {
	Name string `arg:"" optional:"" complete:"loop" help:"The loop's name; without one the git branch's, or the folder's where that is main or master; with --resume the one that ran here last."`
	Options
	cli.Placed
	Task          string `placeholder:"FILE" help:"Begin with this file as the loop's task.md."`
	Detach        bool   `often:"" short:"d" help:"Return once the loop is running."`
	Resume        bool   `often:"" help:"Continue a loop that has ended or whose runner died."`
	AcceptChanges bool   `help:"With --resume: accept the settings and the guardrails' files as they are now, even if an agent changed them."`
	At            string `placeholder:"TIME" help:"Begin not before this time: 01:00, 2h or 2026-11-28T01:00."`
	After         string `placeholder:"LOOP" complete:"loop" help:"Begin when that loop has ended."`
	When          string `placeholder:"CONDITION" help:"Begin when more is left of the agent's quota than this: 'quota>30%'; of Claude Code with a subscription, and Codex."`
	Outlive       bool   `help:"For an agent: let the loop continue when the iteration that starts it ends, where agents.NAME.outlive allows it."`
	Fresh         bool   `help:"Archive the loop of that name and begin again."`
	JSON          bool   `help:"With --detach: print as JSON what was started."`

	Dir   string `kong:"-"` // the loop's folder
	ID    string `kong:"-"` // the ULID of a new loop; without it the runner makes one
	Apart bool   `kong:"-"` // the starter is a server: its client may end it with all its descendants
	// Trial are the guardrails to try, if not the loop's own: those of a fleet's loops.
	Trial     []config.Guardrail `kong:"-"`
	kept      []string           // files that were there before a new loop began
	stdinRead bool
	settings  config.Settings // as they were read
}

// Begin starts the detached runner and returns once the loop runs.
func (v *Start) Begin(e *cli.Env) (readiness, error) {
	switch {
	case v.Resume && v.Fresh:
		return readiness{}, cli.Refuse("give one of them", "--resume and --fresh are both given")
	case v.AcceptChanges && !v.Resume:
		return readiness{}, cli.Refuse("leave it out: a new loop takes settings and guardrails as they are", "--accept-changes is for a loop that is resumed")
	}
	if err := v.choose(e); err != nil {
		return readiness{}, err
	}
	when, err := v.conditions(e)
	if err != nil {
		return readiness{}, err
	}
	if err := v.checkOutlive(e); err != nil {
		return readiness{}, err
	}
	cfg, err := v.prepare(e)
	if err != nil {
		return readiness{}, err
	}
	cfg.When = when
	if err := checkQuotaKnown(cfg.When, v.settings); err != nil {
		return readiness{}, err
	}
	started, err := startRunner(v.runnerEnv(e), cfg, v.Apart)
	if refused, ok := errors.AsType[*cli.Failure](err); ok && v.cleanUp(e, started) && started.Ended != nil {
		refused.NextStep = clearedHint(started.Ended)
	}
	return started, err
}

// choose finds the loop: one to resume as every other verb finds it; a new one belongs to this
// project.
func (v *Start) choose(e *cli.Env) (err error) {
	if v.Resume || client.IsQualified(v.Name) {
		s, err := e.Find(v.Name)
		if refused, ok := errors.AsType[*cli.Failure](err); ok && !v.Resume {
			refused.NextStep = "to begin a loop in another project, say --project DIR"
		}
		if err != nil {
			return err
		}
		v.Name, v.Dir, e.Project = s.Name, s.Dir, filepath.Dir(filepath.Dir(s.Dir))
		return nil
	}
	if v.Name == "" {
		v.Name = e.DefaultName()
	}
	if strings.ContainsAny(v.Name, " \n") {
		return cli.Refuse(cli.Task("start", v.Name), "%q is no name of a loop", v.Name)
	}
	v.Dir, err = e.LoopDir(v.Name)
	return err
}

// check refuses a start that no settings allow: first because of the loop, then because of its
// prompt. It changes nothing.
func (v *Start) check(e *cli.Env) (loopState, error) {
	if err := OwnFolders(e, v.Dir); err != nil {
		return loopState{}, err
	}
	before, err := inspectAfterExit(e, v.Name, v.Dir)
	if err != nil {
		return before, err
	}
	if before.Live.Alive {
		return before, heldError(v.Name, before.Live)
	}
	unbegun := v.Resume && before.unbegun
	if unbegun {
		v.Resume = false // there is nothing to resume or to lose
	}
	if v.Resume && !before.Exists {
		return before, cli.Refuse(fmt.Sprintf("'ralph start %s' begins it; 'ralph list --all' shows what there is", v.Name), "there is no loop %q to resume", v.Name)
	}
	if before.Damage != nil && !v.Fresh {
		return before, before.Damage
	}
	if v.Resume {
		if err := checkFence(v.Name, v.Dir); err != nil {
			return before, err
		}
		if err := checkCopies(e, v.Name, v.Dir, before.State.Lifecycle.ID); err != nil {
			return before, err
		}
	}
	if before.Exists && !v.Resume && !v.Fresh {
		name := v.Name
		if err := v.chooseForEnded(e, before); err != nil {
			return before, err
		}
		if v.Name != name {
			return v.check(e)
		}
	}
	if err := v.checkTasks(e, before); err != nil {
		return before, err
	}
	switch {
	case v.stories != nil:
	case !before.Exists || v.Fresh:
		err = v.checkPrompt(e, before.Exists || unbegun && !cli.Exists(filepath.Join(v.Dir, tasks.TaskFile)))
	case v.Prompt != "" || v.PromptFile != "" || v.Task != "":
		err = cli.Refuse("leave the prompt out, or say it with 'ralph follow-up' once it runs", "a resumed loop keeps its prompt")
	}
	return before, err
}

// prepare checks the start, reads the settings and makes the loop's folder ready for a runner.
func (v *Start) prepare(e *cli.Env) (runner.Config, error) {
	before, err := v.check(e)
	if err != nil {
		return runner.Config{}, err
	}
	v.workDir = e.WorkDir()
	if v.Resume {
		v.workDir = WorkDirOf(e.Root(), before)
		if err := v.findWorktree(e); err != nil {
			return runner.Config{}, err
		}
		// Not from state.json, which the agent could write.
		if before.State, err = loopstate.Rebuild(v.Dir); err != nil {
			return runner.Config{}, err
		}
		if err := v.confirmForeign(e, before); err != nil {
			return runner.Config{}, err
		}
		if err := v.checkChanges(e, before); err != nil {
			return runner.Config{}, err
		}
		if err := v.remember(e, v.Dir); err != nil {
			return runner.Config{}, err
		}
		if err := v.resumeStories(e, before); err != nil {
			return runner.Config{}, err
		}
	}
	loaded, err := v.load(e)
	if err != nil {
		return runner.Config{}, err
	}
	v.settings = loaded.Settings
	return v.makeReady(e, loaded)
}

// makeReady makes the loop's folder ready for a runner.
func (v *Start) makeReady(e *cli.Env, loaded config.Loaded) (runner.Config, error) {
	cfg := runner.Config{ID: v.ID, Project: e.Root(), WorkDir: v.workDir, Home: e.Home, Version: cli.BuildVersion(), Given: givenSettings(loaded)}
	if err := enoughFiles(); err != nil {
		return cfg, err
	}
	before, err := v.check(e) // again: while the settings were read, a person may have been asked
	if err != nil {
		return cfg, err
	}
	cfg.Name, cfg.Dir = v.Name, v.Dir
	if v.Worktree == nil || v.worktree != nil {
		if err := checkWorkTree(e, v.Name, v.Dir, v.tree(e), loaded.Settings.AllowSharedWorktree || v.After != ""); err != nil {
			return cfg, err
		}
	}
	if v.Worktree == nil {
		if err := v.tryGuardrails(e, loaded.Settings); err != nil {
			return cfg, err
		}
	}
	if before.Exists && v.Fresh {
		to, err := archive(e, v.Name, v.Dir, before)
		if err != nil {
			return cfg, err
		}
		cli.Tell(e.Stderr, "archived the loop before to %s", e.Short(to))
		before.Exists = false
	}
	cfg.Resume, cfg.AcceptChanges = before.Exists, v.AcceptChanges
	if before.Exists {
		err = v.warnEdited(e, before)
	} else if v.kept, err = namesIn(v.Dir); err != nil {
		err = fmt.Errorf("list the loop's folder: %w", err)
	}
	if err != nil {
		return cfg, err
	}
	v.kept = slices.DeleteFunc(v.kept, func(name string) bool { return name == workspace.Folder || name == workspace.Record })
	if before.unbegun { // except for what a person wrote, a runner left these files
		v.kept = slices.DeleteFunc(v.kept, func(name string) bool { return name != tasks.TaskFile && name != tasks.ReflectFile })
	}
	if err := MakeFolders(e, v.Dir); err != nil {
		return cfg, err
	}
	if !before.Exists && v.Worktree != nil {
		if err := v.makeWorktree(e, loaded.Settings); err != nil {
			return cfg, err
		}
		if err := v.tryGuardrails(e, loaded.Settings); err != nil {
			v.cleanUp(e, readiness{PID: os.Getpid(), Error: err.Error()})
			return cfg, err
		}
		cfg.WorkDir = v.workDirIn(e)
	}
	if v.worktree != nil {
		cfg.Tree, cfg.PortBase = v.worktree.Project(), v.worktree.PortBase
	}
	if !before.Exists {
		if cfg.Prompt, cfg.PromptFile, err = v.source(e); err != nil {
			return cfg, err
		}
	}
	cfg.Stories = v.stories != nil
	if err := v.stories.ignoreMarker(e, v.tree(e)); err != nil {
		return cfg, err
	}
	v.stories.tell(e, loaded.Settings)
	if !before.Exists {
		v.stories.tellBranch(e, v.tree(e))
	}
	cfg.Frozen, err = config.Freeze(loaded.Settings, v.flags())
	return cfg, err
}

// checkWorkTree refuses a work tree in which another loop works, unless sharing is allowed: each
// loop would count the other's changes as progress and commit its unfinished work. It waits for a
// runner that is about to exit. The runner checks again; this check comes before anything is
// changed. If another process has started this loop meanwhile, the error says that.
func checkWorkTree(e *cli.Env, name, dir, tree string, share bool) error {
	if share {
		return nil
	}
	for leaving := (exitWait{e: e}); ; {
		err := runner.CheckTree(e.Home, tree)
		other, ok := errors.AsType[*runner.SharedTreeError](err)
		if !ok {
			return err
		}
		if !other.Leaving || !leaving.wait(other.Loop) {
			if live, err := registry.Probe(dir); err == nil && live.Alive {
				return heldError(name, live)
			}
			return cli.RefuseHinted(other)
		}
	}
}

// checkPrompt refuses a prompt or a task that cannot be one, without waiting for a pipe or reading
// a device. needed says that one must be given, because the loop's own task.md is about to be
// archived or is missing.
func (v *Start) checkPrompt(e *cli.Env, needed bool) error {
	if v.Task != "" {
		if _, err := readable(e, v.Task); err != nil {
			return err
		}
	}
	switch {
	case v.Prompt != "" && v.PromptFile != "":
		return cli.Refuse("give one of them", "--prompt and --prompt-file are both given")
	case v.Prompt != "":
		return v.readPrompt(e)
	case v.PromptFile != "":
		_, err := readable(e, v.PromptFile)
		return err
	case v.Task != "":
		return nil
	case needed:
		return cli.Refuse("give it with -p TEXT, -f FILE or --task FILE", "there is no task")
	}
	if err := safefile.CheckLinked(filepath.Join(v.Dir, tasks.TaskFile), runner.MaxPrompt); err != nil && !errors.Is(err, os.ErrNotExist) {
		return unreadablePrompt(err)
	}
	_, err := ownTask(e, v.Dir)
	return err
}

// readPrompt reads a prompt that comes from stdin, and refuses an empty one.
func (v *Start) readPrompt(e *cli.Env) error {
	if v.Prompt == "-" && !v.stdinRead {
		v.stdinRead = true
		text, err := io.ReadAll(io.LimitReader(e.Stdin, runner.MaxPrompt+1))
		if err != nil {
			return fmt.Errorf("read the prompt from stdin: %w", err)
		}
		if len(text) > runner.MaxPrompt {
			return cli.Refuse("make it shorter, or name files in it", "the prompt on stdin has more than %d bytes", runner.MaxPrompt)
		}
		v.Prompt = string(text)
	}
	if strings.TrimSpace(v.Prompt) == "" {
		return cli.Refuse("say in it what is to be done", "the prompt is empty")
	}
	return nil
}

// source returns the prompt of a new loop: -p, -f, or the loop's own task.md, which is a copy of
// the task file if one is given.
func (v *Start) source(e *cli.Env) (text, file string, err error) {
	if v.Task != "" {
		if file, err = readable(e, v.Task); err == nil {
			err = copyTask(file, filepath.Join(v.Dir, tasks.TaskFile))
		}
		if err != nil {
			return "", "", err
		}
	}
	switch {
	case v.stories != nil:
		return "", plan.Path(v.tree(e), plan.Tasks), nil
	case v.Prompt != "":
		return v.Prompt, "", nil
	case v.PromptFile != "":
		file, err = readable(e, v.PromptFile)
	default:
		file, err = ownTask(e, v.Dir)
	}
	return "", file, err
}

// ownTask returns the path of the loop's own task.md. If it is missing, ownTask makes it from the
// template and returns an error: a person has to fill it in, since an agent would be paid for
// reading an empty one.
func ownTask(e *cli.Env, loopDir string) (string, error) {
	own := filepath.Join(loopDir, tasks.TaskFile)
	hint := fmt.Sprintf("write in it what is to be done, then 'ralph start %s'; or give the task with -p TEXT, -f FILE or --task FILE", filepath.Base(loopDir))
	if err := MakeFolders(e, loopDir); err != nil {
		return "", err
	}
	made, err := tasks.Create(loopDir, tasks.Template(""))
	blank := false
	if err == nil && !made {
		blank, err = tasks.IsBlank(loopDir)
	}
	switch {
	case err != nil:
		return "", cli.Refuse("put a text file in its place", "%w", err)
	case made:
		return "", cli.Refuse(hint, "there is no task yet: %s is made from the template", e.Short(own))
	case blank:
		return "", cli.Refuse(hint, "there is no task yet: %s is the template as it was made", e.Short(own))
	}
	return own, nil
}

// readable returns the absolute path of a prompt or task file that can be read and is not empty.
func readable(e *cli.Env, name string) (string, error) {
	path := e.Abs(name)
	text, err := safefile.ReadLinked(path, runner.MaxPrompt)
	if err != nil {
		return "", unreadablePrompt(err)
	}
	if strings.TrimSpace(string(text)) == "" {
		return "", cli.Refuse("say in it what is to be done", "read the prompt: %s is empty", name)
	}
	return path, nil
}

func unreadablePrompt(err error) error {
	return cli.Refuse("write the file, or name another", "read the prompt: %w", err)
}

// copyTask copies a task into the loop's folder and never replaces another.
func copyTask(from, to string) error {
	text, err := safefile.ReadLinked(from, runner.MaxPrompt)
	if err != nil {
		return fmt.Errorf("read the task: %w", err)
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return cli.Refuse("leave --task out to keep it, or use --fresh", "the loop has a %s already", tasks.TaskFile)
	}
	if err != nil {
		return fmt.Errorf("write the task: %w", err)
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
