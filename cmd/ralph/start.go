package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/runner"
	tasks "github.com/ralph-loop/ralph/internal/task"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

type startVerb struct {
	Name string `arg:"" optional:"" help:"The loop's name; without one the git branch's, or the folder's where that is main or master; with --resume the one that ran here last."`
	loopOptions
	placed
	Task          string `placeholder:"FILE" help:"Begin with this file as the loop's task.md."`
	Detach        bool   `short:"d" help:"Return once the loop is running."`
	Resume        bool   `help:"Go on with a loop that has ended or whose runner died."`
	AcceptChanges bool   `help:"With --resume: settings and what the guardrails consist of are right as they are now, whoever changed them."`
	Outlive       bool   `help:"For an agent: let the loop live on when the iteration ends that starts it, where agent.outlive allows it."`
	Fresh         bool   `help:"Archive the loop of that name and begin anew."`
	JSON          bool   `help:"With --detach: say as JSON what was started."`

	dir   string   // the loop's folder
	found []string // what stood there before a new loop began
	heard bool     // stdin was read to its end

	shown attachOptions // how it is attached to
}

// Run starts the detached runner and, unless told otherwise, attaches to it.
func (v *startVerb) Run(e *env) error {
	if v.Resume && v.Fresh {
		return refuse("give one of them", "--resume and --fresh are both given")
	}
	if v.AcceptChanges && !v.Resume {
		return refuse("a new loop takes settings and guardrails as they are", "--accept-changes is for a loop that is resumed")
	}
	if v.AcceptChanges && e.variable(loopDirVariable) != "" {
		return refuse("do it in a terminal of your own", "what an agent changed is not for an agent to accept")
	}
	if err := v.choose(e); err != nil {
		return err
	}
	if err := v.outlives(e); err != nil {
		return err
	}
	runner, err := beginRunner(v.apart(e), v.Name)
	if err != nil {
		return err
	}
	job, err := v.prepare(e)
	if err != nil {
		runner.dismiss()
		return err
	}
	started, err := runner.hand(e, job)
	if refused, ok := errors.AsType[*failure](err); ok && v.clear(e, started) && started.Ended != nil {
		refused.hint = clearedHint(started.Ended)
	}
	if err != nil {
		return err
	}
	if v.Detach {
		return announce(e, v.Name, v.dir, started, v.JSON)
	}
	v.shown.started = true
	return attach(e, v.Name, v.dir, v.shown)
}

// choose settles which loop is meant: one to resume is found as by every other verb, and a new one is this project's.
func (v *startVerb) choose(e *env) (err error) {
	if v.Resume || qualified(v.Name) {
		s, err := e.find(v.Name)
		if refused, ok := errors.AsType[*failure](err); ok && !v.Resume {
			refused.hint = "to begin a loop in another project, say --project DIR"
		}
		if err != nil {
			return err
		}
		v.Name, v.dir, e.project = s.Name, s.Dir, filepath.Dir(filepath.Dir(s.Dir))
		return nil
	}
	if v.Name == "" {
		v.Name = e.defaultName()
	}
	v.dir, err = e.loopDir(v.Name)
	return err
}

// admits refuses what cannot be begun whatever the settings are: for the loop's sake first, then for its prompt's. It changes
// nothing, so that what is refused later has changed nothing either.
func (v *startVerb) admits(e *env) (standing, error) {
	if err := e.ownFolders(v.dir); err != nil {
		return standing{}, err
	}
	before, err := e.lookAt(v.Name, v.dir)
	if err != nil {
		return before, err
	}
	if before.live.Alive {
		return before, held(v.Name, before.live)
	}
	began := !v.Resume || !before.unbegun
	if !began {
		v.Resume = false // there is nothing to go on with, and nothing that could be lost
	}
	if v.Resume && !before.exists {
		return before, refuse(fmt.Sprintf("'ralph start %s' begins it; 'ralph list --all' shows what there is", v.Name), "there is no loop %q to go on with", v.Name)
	}
	if before.damage != nil && !v.Fresh {
		return before, before.damage
	}
	if before.exists && !v.Resume && !v.Fresh {
		name := v.Name
		if err := v.settle(e, before); err != nil {
			return before, err
		}
		if v.Name != name {
			return v.admits(e)
		}
	}
	switch {
	case !before.exists || v.Fresh:
		err = v.checkPrompt(e, v.dir, before.exists || !began && !exists(filepath.Join(v.dir, taskName)))
	case v.Prompt != "" || v.PromptFile != "" || v.Task != "":
		err = refuse("leave the prompt out, or say it with 'ralph follow-up' once it runs", "a resumed loop keeps its prompt")
	}
	return before, err
}

// prepare reads the settings and makes the loop's folder ready.
func (v *startVerb) prepare(e *env) (job, error) {
	before, err := v.admits(e)
	if err != nil {
		return job{}, err
	}
	v.workDir = e.workDir()
	if v.Resume {
		v.workDir = e.workDirOf(before)
		// Not as state.json has it: that is a file like others, and its agent could write there.
		if before.state, err = projector.Rebuild(v.dir); err != nil {
			return job{}, err
		}
		if err := v.knows(e, v.dir, before); err != nil {
			return job{}, err
		}
		if err := v.accepts(e, v.dir, before); err != nil {
			return job{}, err
		}
		if err := v.remember(e, v.dir); err != nil {
			return job{}, err
		}
	}
	loaded, err := v.load(e)
	if err != nil {
		return job{}, err
	}
	return v.job(e, loaded)
}

// job makes the loop's folder ready for a runner.
func (v *startVerb) job(e *env, loaded config.Loaded) (job, error) {
	settings := loaded.Settings
	j := job{Project: e.root(), WorkDir: v.workDir, Home: e.home, Version: buildVersion(), Given: given(loaded)}
	if err := enoughFiles(); err != nil {
		return j, err
	}
	before, err := v.admits(e) // again: reading the settings may have taken a person's answer
	if err != nil {
		return j, err
	}
	j.Name, j.Dir = v.Name, v.dir
	if err := e.neighbours(v.Name, v.dir, settings.Share); err != nil {
		return j, err
	}
	if before.exists && v.Fresh {
		to, err := e.archive(v.Name, v.dir, before)
		if err != nil {
			return j, err
		}
		tell(e.stderr, "archived the loop before to %s", e.short(to))
		before.exists = false
	}
	j.Resume, j.AcceptChanges = before.exists, v.AcceptChanges
	if err := v.tellEdited(e, v.dir, before); err != nil {
		return j, err
	}
	if !before.exists {
		if v.found, err = namesIn(v.dir); err != nil {
			return j, fmt.Errorf("look at the loop's folder: %w", err)
		}
		if before.unbegun { // all but a person's words is what is left of a runner
			v.found = slices.DeleteFunc(v.found, func(name string) bool { return name != taskName && name != tasks.ReflectFile })
		}
	}
	if err := e.prepare(v.dir); err != nil {
		return j, err
	}
	if !before.exists {
		task, err := v.source(e, v.dir, v.Task)
		if err != nil {
			return j, err
		}
		j.Prompt, j.PromptFile = task.text, task.file
	}
	frozen, err := config.Freeze(settings, v.flags())
	j.Settings = string(frozen)
	return j, err
}

// neighbours refuses a work tree in which another loop is at work, unless that is asked for: what one changes is progress to
// the other, and one commits what the other has half done. A runner that is about to leave is waited for. It is the
// runner that decides: here it is asked before anything is changed. Where the other loop turns out to be this very one, which somebody
// else has started meanwhile, that is what is said.
func (e *env) neighbours(name, dir string, share bool) error {
	if share {
		return nil
	}
	for leaving := (farewell{e: e}); ; {
		err := runner.CheckTree(e.home, e.root())
		other, ok := errors.AsType[*runner.SharedTreeError](err)
		if !ok {
			return err
		}
		if !other.Leaving || !leaving.wait(other.Loop) {
			if live, err := registry.Probe(dir); err == nil && live.Alive {
				return held(name, live)
			}
			return crowded(other)
		}
	}
}

// crowded is the refusal to work where another loop does.
func crowded(err *runner.SharedTreeError) error {
	return &failure{err: err, code: event.ExitUsage, hint: err.Hint()}
}

// hearPrompt reads a prompt that is to come from stdin, and refuses one without a word.
func (v *startVerb) hearPrompt(e *env) error {
	if v.Prompt == "-" && !v.heard {
		v.heard = true
		text, err := io.ReadAll(io.LimitReader(e.stdin, runner.MaxPrompt+1))
		if err != nil {
			return fmt.Errorf("read the prompt from stdin: %w", err)
		}
		if len(text) > runner.MaxPrompt {
			return refuse("make it shorter, or name files in it", "the prompt on stdin has more than %d bytes", runner.MaxPrompt)
		}
		v.Prompt = string(text)
	}
	if strings.TrimSpace(v.Prompt) == "" {
		return refuse("say in it what is to be done", "the prompt is empty")
	}
	return nil
}

// checkPrompt refuses a prompt that cannot be one, without reading it: a pipe would be waited
// for, and a device may have no end. needed says that one has to be given: the loop's own task.md is about to be put aside with
// the rest, or there was to be one.
func (v *startVerb) checkPrompt(e *env, dir string, needed bool) error {
	if v.Task != "" {
		if err := checkFile(e, v.Task); err != nil {
			return err
		}
	}
	switch {
	case v.Prompt != "" && v.PromptFile != "":
		_, err := v.source(e, dir, "") // says that there are two
		return err
	case v.Prompt != "":
		return v.hearPrompt(e)
	case v.PromptFile != "":
		return checkFile(e, v.PromptFile)
	case v.Task != "":
		return nil
	case needed: // what stands there is archived, or was to go on
		return refuse("give it with -p TEXT, -f FILE or --task FILE", "there is no task")
	}
	own := filepath.Join(dir, taskName)
	if err := checkPlain(own); err != nil {
		return err
	}
	if !exists(own) { // it will be made
		if err := e.prepare(dir); err != nil {
			return err
		}
	}
	_, err := e.ownTask(dir)
	return err
}

// checkFile refuses a file that was named and cannot be a prompt or a task.
func checkFile(e *env, name string) error {
	name = e.abs(name)
	if err := checkPlain(name); err != nil {
		return err
	}
	_, err := readable(e, name)
	return err
}

func checkPlain(path string) error {
	if err := runner.CheckPrompt(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return refuse("write the file, or name another", "read the prompt: %w", err)
	}
	return nil
}

// taken is the refusal to begin where a loop stands already.
func taken(err *runner.ExistsError) error {
	return &failure{err: err, code: event.ExitUsage, hint: err.Hint()}
}

func held(name string, live registry.Liveness) error {
	return &failure{
		err:  &registry.HeldError{Loop: name, PID: live.PID, Host: live.Host, Since: live.Since},
		code: 2, hint: fmt.Sprintf("'ralph attach %s' shows it, 'ralph stop %s' ends it", name, name),
	}
}
