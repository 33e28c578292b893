package runner

import (
	"cmp"
	"context"

	"github.com/ralph-loop/ralph/internal/effect/sandbox"
	"github.com/ralph-loop/ralph/internal/effect/scratch"
	"github.com/ralph-loop/ralph/internal/ground/process"
)

// A BoxOpener opens the sandbox of guardrails that run in a throw-away tree; it returns no Wrap
// where they need none.
type BoxOpener func(context.Context, *scratch.Tree) (process.Wrap, func() error, error)

// GuardrailBox returns what opens the sandbox in which the runner of a loop tries guardrails, for a
// verb that runs them: what the agent wrote could read the held-out ones from outside. It is nil
// where there are none, or the loop has no sandbox. Of cfg it needs what says where the loop is.
func GuardrailBox(ctx context.Context, cfg Config) (BoxOpener, error) {
	cfg.Tree = cmp.Or(cfg.Tree, cfg.Project)
	cfg.WorkDir = cmp.Or(cfg.WorkDir, cfg.Tree)
	r := &runner{Config: cfg, id: cfg.ID + "-by-hand"} // a container of the loop's own goes on
	r.decideKeys()
	mode := sandbox.Mode(cfg.Settings.Sandbox.Mode)
	if err := r.readHeldOut(); err != nil || len(r.heldOut) == 0 || mode == "" || mode == sandbox.None {
		return nil, err
	}
	if mode == sandbox.Auto {
		if mode, _ = Strongest(ctx, cfg.Home, cfg.Tree != cfg.Project); mode == sandbox.None {
			return nil, nil
		}
	}
	r.sandbox = &sandbox.Box{Policy: sandbox.Policy{Mode: mode}} // heldOutBox opens one of this mode
	return r.guardrailBox, nil
}
