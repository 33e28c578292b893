package prove

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/prove/mutant"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/journal/event"
)

const (
	// After the control a command may take slower times as long, and patience more. One that takes
	// longer gets again times that, unless it is known how long it takes on a changed program: much
	// may have to be built that was there for the control. An endless loop counts as a failure.
	slower   = 4
	patience = 3 * time.Second
	again    = 2
	// maxOutput is how much of each end of an output is searched for errors of a compiler, in
	// bytes.
	maxOutput = 32 << 10
	grace     = 500 * time.Millisecond
)

// outcome is how a command ended.
type outcome struct {
	control
	output   string
	timedOut bool
}

var errTimedOut = errors.New("timed out")

// command runs the command of a guardrail in the throw-away tree. The error says why there is no
// verdict. It ends after a limit, unless that is 0.
func (r *run) command(ctx context.Context, i int, limit time.Duration) (outcome, error) {
	g := r.Guardrails[i]
	if g.Timeout > 0 && (limit == 0 || g.Timeout < limit) {
		limit = g.Timeout
	}
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errTimedOut)
		defer cancel()
	}
	return r.shell(ctx, g.Command)
}

// environment is that of the commands, and their mark: an endless loop must not outlive a proof
// that is killed.
func (r *run) environment() (env []string, mark string) {
	// A hook of git may have started ralph: it names the person's repository.
	env, mark = append(repo.In(r.tree.Root, r.Env...).Env, r.tree.Ceiling()), cmp.Or(r.Mark, r.tree.Mark)
	for i, entry := range env {
		env[i] = r.moved(entry)
	}
	return env, mark
}

func (r *run) shell(ctx context.Context, line string) (outcome, error) {
	head, tail := process.Head{Max: maxOutput}, process.Tail{Max: maxOutput}
	out := io.MultiWriter(&head, &tail)
	env, mark := r.environment()
	exit, err := process.Run(ctx, process.Command{
		Shell: r.moved(line), Dir: r.tree.Project, Env: env, Mark: mark, Wrap: r.wrap, Stdout: out, Stderr: out, Grace: grace,
	})
	timedOut := errors.Is(err, errTimedOut)
	if timedOut {
		exit.Code, err = -1, nil
	}
	text := string(head.Bytes())
	if head.Over {
		text += "\n" + tail.String()
	}
	o := outcome{control{ok: err == nil && exit.Code == 0 && exit.Signal == "", took: exit.Took}, text, timedOut}
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("run %.200q: %w", line, err)
	}
	return o, err
}

// trial runs guardrails in their order on a state that made makes, until enough is known; nil runs
// them all. A trial that an earlier process has made is not made again.
func (r *run) trial(
	ctx context.Context, t event.ProofTried, made func() error, order []int, enough func(event.ProofTried) bool, mutants ...int,
) (event.ProofTried, error) {
	if done, ok := r.earlier(t); ok {
		return done, nil
	}
	if ctx.Err() != nil {
		return t, context.Cause(ctx)
	}
	if r.Started != nil {
		r.Started(t, slices.Max(append(mutants, 0)))
	}
	if err := made(); err != nil {
		return t, err
	}
	var took time.Duration
	for _, i := range order {
		if enough != nil && enough(t) {
			break
		}
		o, spent, err := r.patient(ctx, i, made)
		took += spent
		if err != nil {
			return t, err
		}
		if o.ok {
			t.Passed = append(t.Passed, i)
			continue
		}
		t.Failed = append(t.Failed, i)
		switch {
		case t.Mutant != nil:
			t.Invalid = doesNotBuild(t.Mutant.File, r.Guardrails[i].Command, o)
		case t.On != event.TrialControl:
			t.Invalid = t.Invalid || r.states.doesNotBuild(r.Guardrails[i].Command, o)
		}
	}
	slices.Sort(t.Passed)
	slices.Sort(t.Failed)
	t.Took = took.Milliseconds()
	return t, r.report(t)
}

// patient runs a guardrail on a changed program, for as long as that can take.
func (r *run) patient(ctx context.Context, i int, made func() error) (o outcome, took time.Duration, err error) {
	c := &r.controls[i]
	limit := slower*max(c.took, c.changed) + cmp.Or(r.Patience, patience)
	o, err = r.command(ctx, i, limit)
	took = o.took
	if err == nil && o.timedOut && c.changed == 0 && (r.Guardrails[i].Timeout == 0 || r.Guardrails[i].Timeout > limit) {
		if err = made(); err == nil {
			o, err = r.command(ctx, i, again*limit)
			took += o.took
		}
	}
	if !o.timedOut && (o.ok || 2*o.took >= c.took) { // it was not one that failed at once
		c.changed = max(c.changed, o.took)
	}
	return o, took, err
}

func (r *run) report(t event.ProofTried) error {
	r.strength.Took += t.Took
	if r.Tried == nil {
		return nil
	}
	return r.Tried(t)
}

// earlier returns a trial of an earlier process. What it did differently is made again.
func (r *run) earlier(t event.ProofTried) (event.ProofTried, bool) {
	if len(r.Done) == 0 {
		return t, false
	}
	done := r.Done[0]
	same := done.On == t.On && (done.Mutant == nil) == (t.Mutant == nil) && (t.Mutant == nil || *done.Mutant == *t.Mutant)
	beyond := func(i int) bool { return i < 0 || i >= len(r.Guardrails) }
	if !same || slices.ContainsFunc(slices.Concat(done.Passed, done.Failed), beyond) {
		r.Done = nil
		return t, false
	}
	r.Done = r.Done[1:]
	return done, true
}

func all(n int) (list []int) {
	for i := range n {
		list = append(list, i)
	}
	return list
}

// green returns the guardrails that passed on the claimed state.
func (r *run) green() (list []int) {
	for i, c := range r.controls {
		if c.ok {
			list = append(list, i)
		}
	}
	return list
}

// quickest returns them in the order in which a mutant meets them: those that no mutant has failed
// yet, then the others, each the quickest first.
func (r *run) quickest() []int {
	order := r.green()
	slices.SortStableFunc(order, func(a, b int) int {
		proved := func(i int) int { return map[bool]int{true: 1}[r.proofs[i].Verdict == event.Proved] }
		return cmp.Or(cmp.Compare(proved(a), proved(b)), cmp.Compare(r.controls[a].took, r.controls[b].took))
	})
	return order
}

func (r *run) reset(ctx context.Context, tree string) error {
	if err := r.tree.Reset(ctx, tree, r.keep...); err != nil {
		return fmt.Errorf("write the files of a trial: %w", err)
	}
	return nil
}

// apply writes a mutant into the tree, and commits it: a guardrail may look for changes that are
// not committed. Nothing but a regular file is written to.
func (r *run) apply(ctx context.Context, m event.Mutant) error {
	if err := r.write(m); err != nil {
		return err
	}
	_, err := r.tree.Git().Read(ctx, "commit", "--quiet", "--all", "--no-verify", "--no-gpg-sign", "--message=A mutant.")
	return err
}

func (r *run) write(m event.Mutant) error {
	root, err := os.OpenRoot(r.tree.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	name := filepath.FromSlash(m.File)
	text, err := safefile.ReadIn(root, name, maxText)
	if err != nil {
		return fmt.Errorf("read %s: %w", m.File, err)
	}
	changed, ok := mutant.Apply(string(text), m)
	if !ok {
		return fmt.Errorf("%s:%d is not what the mutant changes", m.File, m.Line)
	}
	to, err := safefile.OpenFileIn(root, name, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return fmt.Errorf("write %s: %w", m.File, err)
	}
	_, err = io.Copy(to, strings.NewReader(changed))
	return errors.Join(err, to.Close())
}
