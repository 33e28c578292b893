package keep

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/repo"
)

// The work tree is kept before each iteration of a loop, under refs/ralph/<id>/iteration-<n>: what
// [WorkTree] says of the files holds here too. Only Restore changes files, and nothing changes the
// index, the stash, HEAD or a branch.

// iterationTime bounds one [BeforeIteration]: an agent waits for it.
const iterationTime = time.Minute

func iterationRef(id string, n int) string {
	return LoopRefs(id) + "iteration-" + strconv.Itoa(n)
}

// BeforeIteration keeps the work tree around dir as it is before iteration n of the loop with that
// id, and returns the commit. Of earlier ones the loop's first stays, and the newest: most of them
// with this one, at least 1.
func BeforeIteration(ctx context.Context, dir, id string, n, most int, env ...string) (commit string, err error) {
	ctx, cancel := repo.Bounded(ctx, iterationTime)
	defer cancel()
	commit, err = keepIteration(ctx, dir, iterationRef(id, n), env)
	if err == nil && n > most+1 { // before that, no more are kept than may be
		err = forgetIterations(ctx, dir, id, most, env)
	}
	if err != nil {
		err = fmt.Errorf("keep the work tree: %w", err)
	}
	return commit, err
}

// AfterIteration keeps the work tree around dir as it is after iteration n, under a ref of its
// own that goes with the one of [BeforeIteration], and returns the commit.
func AfterIteration(ctx context.Context, dir, id string, n int, env ...string) (commit string, err error) {
	ctx, cancel := repo.Bounded(ctx, iterationTime)
	defer cancel()
	if commit, err = keepIteration(ctx, dir, iterationRef(id, n)+endOf, env); err != nil {
		err = fmt.Errorf("keep the work tree: %w", err)
	}
	return commit, err
}

// End returns the commit that [AfterIteration] made. If it is not kept, that is an error.
func End(ctx context.Context, dir, id string, n int, env ...string) (string, error) {
	return CommitOf(ctx, dir, id, iterationRef(id, n)+endOf, env...)
}

// endOf ends the ref of a work tree after an iteration.
const endOf = "-end"

func keepIteration(ctx context.Context, dir, ref string, env []string) (string, error) {
	k, commit, err := commitNow(ctx, dir, "The work tree before an iteration.", env)
	if err != nil {
		return "", err
	}
	defer k.close()
	// A ref of that name is of a beginning that was cut off.
	_, err = k.Read(ctx, "update-ref", "--no-deref", ref, commit)
	return commit, err
}

func forgetIterations(ctx context.Context, dir, id string, most int, env []string) error {
	all, err := Iterations(ctx, dir, id, env...)
	if err != nil || len(all) <= most+1 {
		return err
	}
	g := gitIn(dir, env)
	for _, old := range all[1 : len(all)-most] {
		if err := g.removeRef(ctx, iterationRef(id, old.N), old.Commit); err != nil {
			return err
		}
		if _, err := g.Read(ctx, "update-ref", "--no-deref", "-d", iterationRef(id, old.N)+endOf); err != nil {
			return err
		}
	}
	return nil
}

// An Iteration is the work tree before an iteration.
type Iteration struct {
	N      int
	Commit string
}

// Iterations returns what is kept of the loop with that id, in order.
func Iterations(ctx context.Context, dir, id string, env ...string) ([]Iteration, error) {
	ctx, cancel := repo.Bounded(ctx, repo.ReadTime)
	defer cancel()
	prefix := LoopRefs(id) + "iteration-"
	out, err := gitIn(dir, env).Line(ctx, "for-each-ref", "--format=%(objectname) %(refname)", prefix+"*")
	if err != nil {
		return nil, fmt.Errorf("find kept work trees: %w", err)
	}
	var found []Iteration
	for line := range strings.Lines(out) {
		commit, ref, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.Atoi(strings.TrimPrefix(ref, prefix)); err == nil {
			found = append(found, Iteration{n, commit})
		}
	}
	slices.SortFunc(found, func(a, b Iteration) int { return a.N - b.N })
	return found, nil
}

// CopyIterations lets another loop have what is kept of a loop, up to an iteration.
func CopyIterations(ctx context.Context, dir, from, to string, last int, env ...string) error {
	all, err := Iterations(ctx, dir, from, env...)
	if err != nil {
		return err
	}
	g := gitIn(dir, env)
	for _, kept := range all {
		if kept.N > last {
			continue
		}
		if _, err := g.Read(ctx, "update-ref", "--no-deref", iterationRef(to, kept.N), kept.Commit); err != nil {
			return fmt.Errorf("copy kept work trees: %w", err)
		}
	}
	return nil
}

// FirstParent returns the first parent of a kept work tree, which is HEAD as it was. Without one
// the error is [repo.ErrNoCommits].
func FirstParent(ctx context.Context, dir, commit string, env ...string) (string, error) {
	parents, err := gitIn(dir, env).Line(ctx, "rev-list", "--max-count=1", "--parents", commit)
	if err != nil {
		return "", fmt.Errorf("find the commit of a kept work tree: %w", err)
	}
	words := strings.Fields(parents)
	if len(words) < 3 { // itself, HEAD and the index
		return "", repo.ErrNoCommits
	}
	return words[1], nil
}

// Refs returns the refs of the loop with that id that keep files which a person may not have
// otherwise: from before a rollback, or of a review. A repository that is gone has none.
func Refs(ctx context.Context, dir, id string, env ...string) ([]string, error) {
	g := gitIn(dir, env)
	if _, err := g.Locate(ctx); repo.Absent(err) {
		return nil, nil
	}
	out, err := g.Line(ctx, "for-each-ref", "--format=%(refname)", LoopRefs(id))
	if err != nil {
		return nil, fmt.Errorf("find the refs of loop %s: %w", id, err)
	}
	return slices.DeleteFunc(strings.Fields(out), func(ref string) bool { return strings.HasPrefix(ref, LoopRefs(id)+"iteration-") }), nil
}

// ForgetLoop removes all refs of the loop with that id. A repository that is gone has none.
func ForgetLoop(ctx context.Context, dir, id string, env ...string) error {
	ctx, cancel := repo.Bounded(ctx, repo.ReadTime)
	defer cancel()
	g := gitIn(dir, env)
	if _, err := g.Locate(ctx); repo.Absent(err) {
		return nil
	}
	out, err := g.Line(ctx, "for-each-ref", "--format=delete %(refname)", LoopRefs(id), MovedRef(id))
	if err == nil && out != "" {
		_, err = g.Feed(ctx, []byte(out+"\n"), "update-ref", "--no-deref", "--stdin")
	}
	if err != nil {
		err = fmt.Errorf("remove the refs of loop %s: %w", id, err)
	}
	return err
}

// FilesNow returns a tree of git with the files of the work tree around dir as they are.
func FilesNow(ctx context.Context, dir string, env ...string) (string, error) {
	ctx, cancel := repo.Bounded(ctx, keepTime)
	defer cancel()
	k, err := read(ctx, dir, env, nil)
	if err != nil {
		return "", fmt.Errorf("read the work tree: %w", err)
	}
	defer k.close()
	return k.tree, nil
}

// CommitOf returns the commit of a full ref of the loop with that id.
func CommitOf(ctx context.Context, dir, id, ref string, env ...string) (string, error) {
	ctx, cancel := repo.Bounded(ctx, repo.ReadTime)
	defer cancel()
	if !strings.HasPrefix(ref, LoopRefs(id)) {
		return "", fmt.Errorf("%w: %.80q", repo.ErrUnknownCommit, ref)
	}
	return gitIn(dir, env).Line(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
}
