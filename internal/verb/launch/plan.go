package launch

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/effect/workspace"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/internal/verb/preflight"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// A Plan is what a start would do. To make one and to check it changes nothing of the project and
// the loop, but a person may be asked, and what they answer is kept.
type Plan struct {
	// The options, as they are completed by what is in the loop's folder and by a person. With
	// Resume a loop continues; with Fresh the one before is archived; without both there is none.
	Start
	before loopState // what is in the loop's folder

	text, file string            // the prompt of a new loop that does not work on stories
	copied     string            // the file that becomes its task.md
	given      map[string]string // the flags of a resumed loop
	loaded     config.Loaded
	when       *event.When
	stories    *stories // of a loop over stories
	workDir    string   // the agent's, or the one that a worktree will have
	// worktree is that of the loop, once it is made; nil for a loop that works in the project.
	worktree *workspace.Worktree
	once     []string // fingerprints of what counts this once
	machine  bool     // --sandbox without a mode is docker-sandbox
}

// plan decides what a start would do. What is wrong with the loop comes first, then what is wrong
// with its prompt, then with its settings.
func (v *Start) plan(e *cli.Env) (*Plan, error) {
	p := &Plan{Start: *v}
	p.Set = map[string]string{}
	maps.Copy(p.Set, v.Set)
	err := p.choose(e)
	if err == nil {
		p.workDir = e.WorkDir()
		p.when, err = p.conditions(e)
	}
	if err == nil {
		err = p.inspect(e)
	}
	if err == nil && p.Resume {
		err = p.resumed(e)
	}
	if err == nil {
		p.loaded, err = p.load(e)
	}
	return p, err
}

// choose finds the loop: one to resume as every other verb finds it; a new one belongs to this
// project.
func (p *Plan) choose(e *cli.Env) (err error) {
	if p.Resume || client.IsQualified(p.Name) {
		s, err := e.Find(p.Name)
		if refused, ok := errors.AsType[*cli.Failure](err); ok && !p.Resume {
			refused.NextStep = "to begin a loop in another project, say --project DIR"
		}
		if err != nil {
			return err
		}
		p.Name, p.Dir, e.Project = s.Name, s.Dir, filepath.Dir(filepath.Dir(s.Dir))
		return nil
	}
	if p.Name == "" {
		p.Name = DefaultName(e)
	}
	if strings.ContainsAny(p.Name, " \n") {
		return cli.Refuse(cli.Task("start", p.Name), "%q is no name of a loop", p.Name)
	}
	p.Dir, err = e.LoopDir(p.Name)
	return err
}

// inspect reads the loop's folder, and decides whether a loop begins there, begins in place of
// another one or is resumed, and with which prompt.
func (p *Plan) inspect(e *cli.Env) (err error) {
	if err := OwnFolders(e, p.Dir); err != nil {
		return err
	}
	if p.before, err = inspectAfterExit(e, p.Name, p.Dir); err != nil {
		return err
	}
	before := p.before
	unbegun := p.Resume && before.unbegun // there is nothing to resume or to lose
	switch {
	case before.Live.Alive:
		return heldError(p.Name, before.Live)
	case unbegun:
		p.Resume = false
	case p.Resume && !before.Exists:
		return cli.Refuse(fmt.Sprintf("'ralph start %s' begins it; 'ralph list --all' shows what there is", p.Name), "there is no loop %q to resume", p.Name)
	case before.Damage != nil && !p.Fresh:
		return before.Damage
	case before.Exists && !p.Resume && !p.Fresh:
		name := p.Name
		if err := p.chooseForEnded(e); err != nil {
			return err
		}
		if p.Name != name {
			return p.inspect(e)
		}
	}
	if p.Resume {
		if err := checkFence(p.Name, p.Dir); err != nil {
			return err
		}
		if err := checkCopies(e, p.Name, p.Dir, before.State.Lifecycle.ID); err != nil {
			return err
		}
	}
	if err := p.readStories(e); err != nil {
		return err
	}
	switch {
	case p.stories != nil:
		return nil
	case !p.Resume:
		return p.readPrompt(e, before.Exists || unbegun && !hasTask(p.Dir))
	case p.Prompt != "" || p.PromptFile != "" || p.Task != "":
		return cli.Refuse("leave the prompt out, or say it with 'ralph follow-up' once it runs", "a resumed loop keeps its prompt")
	}
	return nil
}

// resumed finds what a resumed loop continues with: its worktree, the settings that a person gave
// it, its stories.
func (p *Plan) resumed(e *cli.Env) (err error) {
	p.workDir = WorkDirOf(e.Root(), p.before)
	if err := p.findWorktree(e); err != nil {
		return err
	}
	// Not from state.json, which the agent could write.
	if p.before.State, err = loopstate.Rebuild(p.Dir); err != nil {
		return err
	}
	if err := p.confirmForeign(e); err != nil {
		return err
	}
	if err := p.checkChanges(e); err != nil {
		return err
	}
	if err := p.remember(e); err != nil {
		return err
	}
	return p.resumeStories(e)
}

// check returns what the start is refused for, or what a person should know of it.
func (p *Plan) check(e *cli.Env) []preflight.Finding {
	settings := p.loaded.Settings
	var found []preflight.Finding
	if p.detached {
		found = p.outlives(e)
	}
	found = append(found, preflight.Loop{
		Settings: settings, WorkDir: p.workDir, Branch: p.branch(e),
		Worktree: p.Worktree != nil || p.worktree != nil, Stories: p.stories != nil, Ask: preflight.Asks(e),
	}.Examine(e)...)
	for _, a := range settings.AllAgents() { // no program is asked: it may take seconds
		missing := preflight.NoLogin(e, a, nil)
		login := preflight.New("login", preflight.Warns, a.Program()+": "+missing, "")
		if missing != "" && !slices.Contains(found, login) {
			found = append(found, login)
		}
	}
	found = append(found, preflight.HeldOut(e.Home, e.Root(), settings, p.before.State.Rules.HeldOut)...)
	found = append(found, preflight.Required(e.Home, e.Root(), settings)...)
	found = append(found, preflight.Refused("quota", checkQuotaKnown(p.when, settings))...)
	when := p.when
	if p.Resume {
		when = p.before.State.When
	}
	if share := settings.AllowSharedWorktree || runner.ComesAfter(when); p.Worktree == nil || p.worktree != nil {
		found = append(found, preflight.Refused("work tree", checkWorkTree(e, p.Name, p.Dir, p.tree(e), share))...)
	}
	return found
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
		if live, err := registry.Probe(dir); err == nil && live.Alive {
			return heldError(name, live)
		}
		// A runner of the loop itself that does not live exits, or has just begun.
		if !other.Leaving && other.Loop != name || !leaving.wait(other.Loop) {
			return cli.RefuseHinted(other)
		}
	}
}
