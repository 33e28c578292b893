package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/internal/effect/workspace"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// A loop whose agent never ran, for example because its name was mistyped, is not worth keeping:
// its starter removes its files. If it could not, the loop's name counts as free.

// agentRan reports whether a loop's agent ran, or may have run: its start was decided, and the
// runner recorded no more. worked says that it used a tool, or that an iteration counts.
func agentRan(dir string) (ran, perhaps, worked bool, err error) {
	first := true
	for e, err := range journal.Read(dir, journal.ReadOptions{}) {
		var payload event.Payload
		if err == nil {
			payload, err = event.Decode(e)
		}
		if err != nil || first && e.Seq > 1 { // the events before are gone
			return true, true, true, err
		}
		switch p := payload.(type) {
		case event.AgentStarted:
			ran, perhaps = true, true
		case event.ToolCalled:
			worked = true
		case event.IterationEnded:
			worked = worked || ran && !p.Refunded
		case event.Decided:
			perhaps = perhaps || p.Do == event.DoStart
		case event.EffectFailed:
			perhaps = perhaps && (ran || p.Do != event.DoStart)
		}
		if worked {
			return true, true, true, nil
		}
		first = false
	}
	return ran, perhaps, false, nil
}

// chooseForEnded decides what happens to an ended loop that has the name of the new one. It returns
// an error, or sets one of the flags as if it had been given.
func (p *Plan) chooseForEnded(e *cli.Env) error {
	before := p.before
	_, perhaps, worked, err := agentRan(p.Dir)
	if err != nil {
		return err
	}
	completed := before.State.Status() == event.StatusCompleted
	prompted := p.Prompt != "" || p.PromptFile != "" || p.Task != ""
	switch exists := runner.Exists(p.Name, &before.State); {
	case !perhaps && !completed:
		p.Fresh = true
	case !worked && before.State.Status() == event.StatusFailed: // such as a login that was missing
		cli.Tell(e.Stderr, "loop %s did no work before it failed: it begins again", p.Name)
		p.Fresh, p.Resume = prompted, !prompted // its own task goes with it
	case e.StdinIsTerminal() && cli.OnTerminal(e.Stderr) && !p.JSON:
		return p.ask(e, exists, prompted)
	case completed && prompted:
		p.Fresh = true
	default:
		return cli.RefuseHinted(exists)
	}
	return nil
}

// ask asks a person what happens to an ended loop.
func (p *Plan) ask(e *cli.Env, exists *runner.ExistsError, prompted bool) error {
	asker := cli.NewAsker(e.Stdin, e.Stderr)
	defer asker.Close()
	cli.Tell(e.Stderr, "%v", exists)
	label := "(r)esume it, or enter to leave: "
	if prompted {
		label = "(r)esume it with its own prompt, archive it and begin (f)resh, another (n)ame, or enter to leave: "
	}
	for {
		answer, err := asker.Line(label)
		if err != nil {
			return gone(e)
		}
		switch answer = strings.ToLower(answer); {
		case answer == "":
			return cli.RefuseHinted(exists)
		case answer == "r" || answer == "resume":
			p.Resume, p.Prompt, p.PromptFile, p.Task = true, "", "", ""
			return nil
		case prompted && (answer == "f" || answer == "fresh"):
			p.Fresh = true
			return nil
		case prompted && (answer == "n" || answer == "name"):
			return p.askName(e, asker)
		}
	}
}

func gone(e *cli.Env) error {
	fmt.Fprintln(e.Stderr)
	return cli.Exit(event.ExitInterrupted)
}

// askName asks a person for another name of the new loop.
func (p *Plan) askName(e *cli.Env, asker *cli.Asker) error {
	for {
		name, err := asker.Line("Name: ")
		if err != nil {
			return gone(e)
		}
		dir, err := e.LoopDir(name)
		if err == nil {
			p.Name, p.Dir = name, dir
			return nil
		}
		asker.Say("%v", err)
	}
}

// undo removes a new loop that failed before its agent ran, or that its runner did not begin,
// but not what was in its folder before. It keeps a loop that failed because of a fault in ralph,
// for the report, and one that a person or a limit stopped meanwhile. cleared says that the loop is
// gone.
func (r *ready) undo(e *cli.Env, said readiness) (cleared bool) {
	if r.Resume || said.Ended == nil && said.Error == "" ||
		said.Ended != nil && (said.Ended.Reason == event.ReasonFault || said.Ended.Status != event.StatusFailed) {
		return false
	}
	if _, err := inspectAfterExit(e, r.Name, r.Dir); err != nil { // waits until its runner has exited
		return false
	}
	var aside string
	err := WithLock(r.Dir, func() (err error) {
		if err := r.checkNeverRan(said); err != nil {
			return err
		}
		if err := registry.Remove(e.Home, e.Root(), r.Name); err != nil {
			return err
		}
		kept := r.kept
		if r.worktree != nil {
			if err := r.worktree.Undo(context.Background(), e.Root(), r.Dir, e.Environ...); err != nil {
				return err
			}
		} else if cli.Exists(filepath.Join(r.Dir, workspace.Folder)) { // this start did not make it
			kept = append(slices.Clone(kept), workspace.Folder, workspace.Record)
		}
		if len(kept) > 0 {
			return removeExcept(r.Dir, kept)
		}
		aside, err = moveAside(e, r.Name, r.Dir)
		return err
	})
	if aside != "" {
		_ = os.RemoveAll(aside)            // if it fails, the loop is archived instead
		_ = os.Remove(filepath.Dir(aside)) // fails if there are others
	}
	return err == nil || errors.Is(err, registration.ErrNoFolder) // another process has removed it
}

// checkNeverRan returns an error unless the loop is the one that this starter began, and its agent
// never ran.
func (r *ready) checkNeverRan(said readiness) error {
	if !cli.Exists(filepath.Join(r.Dir, "journal")) {
		if said.Ended != nil { // it was removed, and its contents are unknown
			return ChangedMeanwhile(r.Name)
		}
		return nil
	}
	state, err := loopstate.Open(r.Dir)
	if err != nil {
		return err
	}
	ran, perhaps, _, err := agentRan(r.Dir)
	// A runner that reports that it could not begin has not carried out what it had decided.
	if err == nil && (state.Begun() && state.Lifecycle.PID != said.PID || ran || perhaps && said.Error == "") {
		err = ChangedMeanwhile(r.Name)
	}
	return err
}

// removeExcept removes a loop's files except some. The journal goes first: without it there is no
// loop, even if other files stay.
func removeExcept(dir string, keep []string) error {
	names, err := namesIn(dir)
	err = errors.Join(err, os.RemoveAll(filepath.Join(dir, "journal")))
	for _, name := range names {
		if !slices.Contains(keep, name) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, name)))
		}
	}
	return err
}

// namesIn lists a folder without the loop's lock, which is never removed alone.
func namesIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	var names []string
	for _, entry := range entries {
		if entry.Name() != "run.lock" {
			names = append(names, entry.Name())
		}
	}
	return names, err
}

// clearedHint is the next step after a loop was removed.
func clearedHint(ended *event.LoopEnded) string {
	return cmp.Or(ended.Hint, "put that right and start it again: its agent never ran, and its files were removed")
}
