package effect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/guardrail"
	"github.com/ralph-loop/ralph/internal/repo"
	"github.com/ralph-loop/ralph/internal/task"
	"github.com/ralph-loop/ralph/journal/event"
)

// onlyLook is Decided.Only of a check that runs no guardrails.
const onlyLook = "look"

// Guard is a guardrail, and whether the files it consists of are put back before it runs.
type Guard struct {
	guardrail.Guardrail
	Protect bool
}

// seals are the files that the guardrails consisted of when the iteration began. They are held until a check
// has looked: what an agent changed before a limit cut it off is its doing in the next iteration too.
type seals struct {
	watched, protected *guardrail.Seal
	held               bool
}

// seal remembers the guardrails' files. What cannot be read is told when it is looked at
// again, as a change.
func (h *Hands) seal() error {
	var watched, protected []guardrail.Guardrail
	for _, g := range h.cfg.Guardrails {
		if g.Protect {
			protected = append(protected, g.Guardrail)
		} else {
			watched = append(watched, g.Guardrail)
		}
	}
	var err error
	h.seals = seals{held: true}
	if len(watched) > 0 {
		if h.seals.watched, err = guardrail.NewSeal(h.cfg.Project, watched); err != nil {
			return err
		}
	}
	if len(protected) > 0 {
		h.seals.protected, err = guardrail.NewSeal(h.cfg.Project, protected)
	}
	return err
}

// check looks at what the agent left, and runs the guardrails.
func (h *Hands) check(ctx context.Context, d event.Decided, cause uint64) {
	if err := h.unseal(d.Iteration, cause); err != nil {
		h.fail(d, cause, err)
		return
	}
	if h.cfg.Mail != nil {
		h.cfg.Mail(ctx) // an agent that asks for a person in its last words is not to be started once more
	}
	h.see(ctx, "end", d.Iteration, cause)
	marks, err := h.look(d.Iteration, cause)
	if err != nil {
		h.fail(d, cause, err)
		return
	}
	checked := event.IterationChecked{}
	if len(h.cfg.Guardrails) > 0 && (d.Only != onlyLook || marks.Done) {
		checked, err = h.guard(ctx, d.Iteration, cause)
		if err != nil {
			h.fail(d, cause, fmt.Errorf("run the guardrails: %w", err))
			return
		}
	}
	h.deliver(checked, d.Iteration, cause)
}

// unseal tells which files of the guardrails were changed, and puts back those that are protected.
func (h *Hands) unseal(iteration int, cause uint64) error {
	// What a guardrail is merely given as an argument may be the very work: a list of what is done.
	defining := func(changes []guardrail.Change) []guardrail.Change {
		return slices.DeleteFunc(changes, func(c guardrail.Change) bool { return c.Role == guardrail.Argument })
	}
	tell := func(changes []guardrail.Change, restored bool) {
		for _, c := range changes {
			h.deliver(event.GuardrailEdited{Path: c.Path, How: string(c.Kind), Restored: restored}, iteration, cause)
		}
	}
	if s := h.seals.watched; s != nil {
		changes, err := s.Changed()
		if err != nil {
			return fmt.Errorf("look at the guardrails' files: %w", err)
		}
		tell(defining(changes), false)
	}
	if s := h.seals.protected; s != nil {
		changes, err := s.Changed()
		if err != nil {
			return fmt.Errorf("look at the guardrails' files: %w", err)
		}
		changes = defining(changes)
		if err := s.Restore(changes); err != nil {
			return fmt.Errorf("put the guardrails' files back: %w", err)
		}
		tell(changes, true)
	}
	h.seals.held = false
	return nil
}

// see tells where the repositories stand. A project without any, or without git, is no
// error; nor is a repository that cannot be read, for what is not seen shows no progress.
func (h *Hands) see(ctx context.Context, when string, iteration int, cause uint64) {
	roots, err := repo.Repos(ctx, h.cfg.Project)
	if err != nil {
		return
	}
	for _, root := range roots {
		sight, err := repo.See(ctx, root)
		if err != nil {
			continue
		}
		seen := event.RepoSeen{
			Root: root, When: when, Head: sight.Head, Dirty: sight.Dirty, Fingerprint: sight.Fingerprint,
			Files: sight.Files, Insertions: sight.Insertions, Deletions: sight.Deletions,
		}
		if name, err := filepath.Rel(h.cfg.Project, root); err == nil && filepath.IsLocal(name) {
			seen.Root = filepath.ToSlash(name)
		}
		if when == "begin" {
			h.heads[root] = sight.Head
		} else if old, known := h.heads[root]; known && old != sight.Head {
			if made, err := repo.Since(ctx, root, old); err == nil {
				seen.Commits = made.Count
			}
		}
		h.deliver(seen, iteration, cause)
	}
}

// look tells what the loop's folder says of the work.
func (h *Hands) look(iteration int, cause uint64) (task.Marks, error) {
	marks, err := task.Look(h.cfg.Dir)
	if err != nil {
		return marks, &promptError{err}
	}
	seen := event.FolderSeen{
		Done: marks.Done, Wait: marks.Wait, Text: marks.DoneText,
		Boxes: marks.Boxes.Total, Ticked: marks.Boxes.Ticked, Open: marks.Boxes.Open, SHA256: marks.TaskSHA256,
	}
	if !marks.Done {
		seen.Text = marks.WaitText
	}
	h.deliver(seen, iteration, cause)
	return marks, nil
}

// guard runs the guardrails. One that was cut off by a cancelled ctx gave no verdict, and that
// is no error.
func (h *Hands) guard(ctx context.Context, iteration int, cause uint64) (event.IterationChecked, error) {
	guards := make([]guardrail.Guardrail, len(h.cfg.Guardrails))
	for i, g := range h.cfg.Guardrails {
		guards[i] = g.Guardrail
	}
	var checked event.IterationChecked
	var failures error
	_, err := guardrail.Run(ctx, guardrail.Config{
		Dir: h.cfg.Project, LoopDir: h.cfg.Dir, Iteration: iteration, Env: h.cfg.Env,
		TruncateChars: h.cfg.TruncateChars, Guardrails: guards,
		Started: func(_ int, g guardrail.Guardrail) {
			h.deliver(event.GuardrailStarted{Name: g.Command}, iteration, cause)
		},
		Ended: func(_ int, r guardrail.Result) {
			ended, err := h.verdict(r)
			if err != nil {
				failures = errors.Join(failures, err)
				return
			}
			if errors.Is(r.Err, guardrail.ErrInterrupted) {
				return
			}
			checked.Guardrails++
			if !ended.OK {
				checked.Failed++
			}
			h.deliver(ended, iteration, cause)
		},
	})
	if ctx.Err() != nil {
		return checked, nil
	}
	return checked, errors.Join(err, failures)
}

// verdict is a result as the journal has it.
func (h *Hands) verdict(r guardrail.Result) (event.GuardrailEnded, error) {
	ended := event.GuardrailEnded{
		Name: r.Guardrail.Command, OK: r.OK, Code: r.Code, TimedOut: r.TimedOut, Took: r.Took.Milliseconds(), Log: r.Log,
	}
	if r.OK || r.Err != nil {
		return ended, nil
	}
	message, err := h.cfg.Blob([]byte(r.Message))
	if err != nil {
		return ended, fmt.Errorf("store what a guardrail printed: %w", err)
	}
	ended.Action, ended.Message = r.Guardrail.FailAction, &message
	return ended, nil
}

// first looks around before an iteration begins. done says that a file DONE is there, so that
// none is needed.
func (h *Hands) first(ctx context.Context, p promptPlan, cause uint64) (done bool, err error) {
	if p.aside {
		if err := task.TakeDone(h.cfg.Dir); err != nil {
			return false, &promptError{err}
		}
	}
	if p.rules.NoProgress > 0 || p.rules.MinToolCalls > 0 {
		h.see(ctx, "begin", p.do.Iteration, cause)
	}
	_, err = os.Lstat(filepath.Join(h.cfg.Dir, task.DoneFile))
	if err == nil || p.rules.Checklist || p.rules.NoProgress > 0 || p.rules.MinToolCalls > 0 {
		marks, err := h.look(p.do.Iteration, cause)
		if err != nil {
			return false, err
		}
		if marks.Done && p.rules.DoneFile {
			return true, nil
		}
	}
	if err := task.TakeWait(h.cfg.Dir); err != nil {
		return false, &promptError{err}
	}
	if h.seals.held {
		return false, nil
	}
	if err := h.seal(); err != nil {
		return false, fmt.Errorf("look at the guardrails' files: %w", err)
	}
	return false, nil
}

// cancellable returns a context that check.cancel ends, also before the effect's turn has come.
func (h *Hands) cancellable() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cancel = cancel
	if h.closed.Load() {
		cancel()
	}
	return ctx, cancel
}

// run puts an effect that can be cancelled behind those that were asked for before it.
func (h *Hands) run(do func(context.Context)) {
	ctx, cancel := h.cancellable()
	h.jobs <- func() {
		defer cancel()
		do(ctx)
	}
}

func (h *Hands) cancelCheck() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cancel != nil {
		h.cancel()
	}
}
