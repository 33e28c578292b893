package proving

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/effect/prove"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/effect/workspace"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/internal/verb/launch"
	"github.com/ralph-loop/ralph/journal/event"
)

// Prove tries the guardrails.
type Prove struct {
	Name     string
	From     string // a commit: what differs from it is proved, without a loop
	Time     time.Duration
	Mutants  int // -1 for the setting
	Seed     int64
	ExitWeak int // the exit code of a weak done, and of one by the agent's word; 0 is like any other
	Trust    bool
	JSON     bool
}

// Result is what --json prints.
type Result struct {
	event.Strength
	Name    string        `json:"name,omitempty"` // of the loop
	HeldOut event.Counted `json:"heldOut"`
	Mutants event.Mutants `json:"mutants"`
}

// subject is what is proved.
type subject struct {
	prove.Config
	name  string // of the loop; "" without one
	about string // the two states, for a person
}

// Run proves, and prints what that came to.
func (p Prove) Run(e *cli.Env) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s, err := p.subject(ctx, e)
	if err != nil {
		return err
	}
	s.Home, s.Seed = e.Home, p.Seed
	if s.Claimed, err = keep.FilesNow(ctx, s.Dir, e.Environ...); err != nil {
		return p.refusal(err)
	}
	if p.Time > 0 {
		s.Rules.Time = config.Duration(p.Time)
	}
	if p.Mutants >= 0 {
		s.Rules.Mutants = p.Mutants
	}
	cli.Tell(e.Stderr, "%s", s.about)
	strength, err := p.prove(ctx, e, s)
	if err != nil {
		return p.refusal(err)
	}
	if ctx.Err() != nil {
		return cli.Failed("the same command continues it", "prove: interrupted")
	}
	if err := p.print(e, s, strength); err != nil {
		return err
	}
	if weak := strength.Grade == event.GradeWeak || strength.Grade == event.GradeNone; weak && p.ExitWeak != 0 {
		return cli.Exit(p.ExitWeak)
	}
	return nil
}

// refusal adds the next step.
func (p Prove) refusal(err error) error {
	if repo.Absent(err) {
		return cli.Refuse("the states that are compared are in git: begin with 'git init' and a commit", "prove: %w", err)
	}
	return err
}

// prove makes the trials and records each.
func (p Prove) prove(ctx context.Context, e *cli.Env, s subject) (strength event.Strength, err error) {
	if len(s.Guardrails) == 0 {
		cli.Tell(e.Stderr, "there is no guardrail: nothing can be tried")
	}
	r, err := openRecord(e, s)
	if err != nil {
		return strength, err
	}
	shown := progress{e: e, most: s.Rules.Mutants}
	s.Done = r.done
	for _, t := range r.done {
		shown.count(t)
		s.Rules.Time += config.Duration(units.Milliseconds(t.Took)) // the time is that of this process
	}
	if len(r.done) > 0 {
		cli.Tell(e.Stderr, "continued: %d of at most %d mutants done before", shown.mutants, s.Rules.Mutants)
	}
	s.Started = shown.started
	s.Tried = func(t event.ProofTried) error {
		shown.count(t)
		return r.add(t)
	}
	strength, err = prove.Run(ctx, s.Config)
	shown.clear()
	return strength, errors.Join(err, r.close(err == nil && !strength.Cut))
}

// subject finds what is proved.
func (p Prove) subject(ctx context.Context, e *cli.Env) (subject, error) {
	switch {
	case p.From != "" && p.Name != "":
		return subject{}, cli.Refuse("leave one of them out", "--from proves the settings' guardrails, and %s is a loop", p.Name)
	case p.From != "":
		return p.difference(ctx, e)
	}
	return p.loop(ctx, e)
}

// difference is what differs from a commit, with the guardrails of the settings.
func (p Prove) difference(ctx context.Context, e *cli.Env) (s subject, err error) {
	loaded, err := e.Settings(nil, e.Root())
	if err != nil {
		return s, err
	}
	if err := launch.CheckTrust(e, loaded, p.Trust); err != nil {
		return s, err
	}
	start, err := repo.In(e.Root(), e.Environ...).Line(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", p.From+"^{commit}")
	switch {
	case repo.Absent(err):
		return s, p.refusal(err)
	case err != nil:
		return s, cli.Refuse("name a commit, such as HEAD~10 or main", "%q is no commit here", p.From)
	}
	s.about = fmt.Sprintf("the work tree now, against %s (%.10s)", cli.Clean(p.From), start)
	s.ID = digest(e.Root())
	s.Dir, s.Start, s.Env = e.Root(), start, e.Environ
	guards, _ := launch.Guardrails(e, "", "", 0, loaded.Settings)
	s.Redact = guards.Redact
	s.settings(loaded.Settings)
	return s, nil
}

// loop is the work of a loop: its work tree now, against that before its first iteration.
func (p Prove) loop(ctx context.Context, e *cli.Env) (s subject, err error) {
	found, err := e.Find(p.Name)
	if err != nil {
		return s, err
	}
	inspected, err := launch.InspectLoop(found.Dir)
	if err == nil {
		err = inspected.Damage
	}
	if err != nil {
		return s, fmt.Errorf("loop %s: %w", found.Name, err)
	}
	settings, err := launch.LoopSettings(e, found.Dir)
	if err != nil {
		return s, err
	}
	w, err := workspace.Read(found.Dir)
	if err != nil {
		return s, err
	}
	ports := 0
	if w != nil {
		ports = w.PortBase
	}
	guards, _ := launch.Guardrails(e, found.Name, found.Dir, ports, settings)
	life := inspected.State.Lifecycle
	s.name, s.ID = found.Name, cmp.Or(life.ID, digest(found.Dir))
	s.Dir, s.Env, s.Redact = launch.WorkDirOf(found.Project, inspected), guards.Env, guards.Redact
	s.Box, err = runner.GuardrailBox(ctx, runner.Config{
		Home: e.Home, ID: s.ID, Name: found.Name, Dir: found.Dir, Project: found.Project, Tree: treeOf(w), PortBase: ports, WorkDir: s.Dir,
		Settings: settings, Env: e.Environ,
	})
	if err != nil {
		return s, err
	}
	before := "before iteration 1"
	if s.Start, err = firstSnapshot(ctx, s.Dir, s.ID, e.Environ); err != nil {
		return s, p.refusal(err)
	}
	if s.Start == "" { // no work tree is kept: what was committed
		if s.Start = headBefore(s.Dir, &inspected.State.Changes); s.Start == "" {
			return s, cli.Refuse("name the state to compare with: 'ralph prove --from REV'",
				"loop %s: it is not known how the files were before it", found.Name)
		}
		before = "as it was committed before iteration 1"
	}
	state := "as the loop left it, or a person since"
	if found.Live.Alive {
		state = "while the loop works"
	}
	s.about = fmt.Sprintf("loop %s: the work tree now (%s), against that %s", found.Name, state, before)
	s.settings(settings)
	if life.Ended != nil && life.Ended.Strength != nil {
		was := life.Ended.Strength
		s.Known = event.Strength{Visible: was.Visible, HeldOut: was.HeldOut, ByConvention: was.ByConvention, Reviewers: was.Reviewers}
		for _, g := range was.Guardrails {
			if g.Verdict == event.ProvedAtStart {
				s.Known.Guardrails = append(s.Known.Guardrails, g)
			}
		}
	}
	return s, nil
}

// treeOf is the project's folder in the worktree of a loop; "" without one.
func treeOf(w *workspace.Worktree) string {
	if w == nil {
		return ""
	}
	return w.Project()
}

// settings takes from settings what a proof depends on.
func (s *subject) settings(from config.Settings) {
	from.Guardrails = slices.DeleteFunc(slices.Clone(from.Guardrails), func(g config.Guardrail) bool { return g.HeldOut })
	s.Guardrails, s.Rules, s.Worktree = runner.Guards(from), from.Prove, from.Worktree
}

// firstSnapshot returns the work tree before the first iteration of a loop; "" if none is kept.
func firstSnapshot(ctx context.Context, dir, id string, env []string) (string, error) {
	all, err := keep.Iterations(ctx, dir, id, env...)
	if err != nil || len(all) == 0 {
		return "", err
	}
	return all[0].Commit, nil
}
