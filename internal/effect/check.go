package effect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/internal/guardrail"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/repo"
	"github.com/ralph-loop/ralph/internal/task"
	"github.com/ralph-loop/ralph/internal/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// onlyLook is Decided.Only of a check that runs no guardrails.
const onlyLook = "look"

// check looks at what the agent left, and runs the guardrails.
func (h *Hands) check(ctx context.Context, d event.Decided, sealed policy.Seal, cause uint64) {
	if err := h.unseal(d.Iteration, sealed, cause); err != nil {
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
		if h.sealed != nil {
			if err := h.compare(d.Iteration, cause, true); err != nil {
				h.fail(d, cause, err)
				return
			}
		}
	}
	h.deliver(checked, d.Iteration, cause)
}

// seeTime is how long a look at all repositories together may take.
const seeTime = 2 * time.Minute

// see tells where the repositories stand, and which of them could not be looked at. A project without any, or without git, is no
// error. Who cancels ctx wants no look.
func (h *Hands) see(ctx context.Context, when string, iteration int, cause uint64) {
	limited, cancel := context.WithTimeoutCause(ctx, seeTime, fmt.Errorf("not done after %s: %w", units.Plain(seeTime), context.DeadlineExceeded))
	defer cancel()
	unseen := func(root string, err error) {
		if ctx.Err() == nil && !repo.Absent(err) {
			h.deliver(event.RepoUnseen{Root: h.within(root), When: when, Error: err.Error()}, iteration, cause)
		}
	}
	roots, err := repo.Repos(limited, h.cfg.Project, h.cfg.Env...)
	if err != nil {
		unseen(h.cfg.Project, err)
		return
	}
	for _, root := range roots {
		sight, err := repo.See(limited, root, h.cfg.Env...)
		if err != nil {
			unseen(root, err)
			continue
		}
		seen := event.RepoSeen{
			Root: h.within(root), When: when, Head: sight.Head, Dirty: sight.Dirty, Fingerprint: sight.Fingerprint,
			Files: sight.Files, Insertions: sight.Insertions, Deletions: sight.Deletions,
		}
		if when == "begin" {
			h.heads[root] = sight.Head
		} else if old, known := h.heads[root]; known && old != sight.Head {
			if made, err := repo.Since(limited, root, old, h.cfg.Env...); err == nil {
				seen.Commits = made.Count
			}
		}
		h.deliver(seen, iteration, cause)
	}
}

// within is a folder as the journal calls it: relative to the project where it lies in it.
func (h *Hands) within(root string) string {
	if name, err := filepath.Rel(h.cfg.Project, root); err == nil && filepath.IsLocal(name) {
		return filepath.ToSlash(name)
	}
	return root
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
	var checked event.IterationChecked
	var failures error
	_, err := guardrail.Run(ctx, guardrail.Config{
		Dir: h.cfg.Project, LoopDir: h.cfg.Dir, Iteration: iteration, Env: h.cfg.Env,
		TruncateChars: h.cfg.TruncateChars, Guardrails: h.cfg.Guardrails, Redact: h.redactor(),
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

// redactor begins a text of which no secret is to be kept.
func (h *Hands) redactor() func() guardrail.Redactor {
	if h.cfg.Secrets == nil {
		return nil
	}
	return func() guardrail.Redactor { return h.cfg.Secrets.Stream() }
}

// verdict is a result as the journal has it.
func (h *Hands) verdict(r guardrail.Result) (event.GuardrailEnded, error) {
	ended := event.GuardrailEnded{
		Name: r.Guardrail.Command, OK: r.OK, Code: r.Code, TimedOut: r.TimedOut, Took: r.Took.Milliseconds(), Log: r.Log,
	}
	if r.Warning != nil {
		ended.Warning = r.Warning.Error()
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
	return false, h.seal(p, cause)
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
