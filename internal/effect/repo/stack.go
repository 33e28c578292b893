package repo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/process"
)

// A Commit is one of a branch.
type Commit struct{ SHA, Subject string }

// Chain returns the commits that HEAD has since another one, oldest first; a merge is one of them,
// with all that it brings. If since is empty, or HEAD does not come from it, it is where HEAD left
// the remote's default branch; without one there is no chain. Texts, time and environment are as of
// [Subjects].
func Chain(ctx context.Context, dir, since string, env ...string) (from string, chain []Commit, err error) {
	ctx, cancel := Bounded(ctx, ReadTime)
	defer cancel()
	g := In(dir, env...)
	if since != "" {
		_, err := g.Read(ctx, "merge-base", "--is-ancestor", since, "HEAD")
		if ExitCode(err) > 0 {
			since = ""
		} else if err != nil {
			return "", nil, err
		}
	}
	if since == "" {
		base := g.defaultBranch(ctx)
		if base == "" {
			return "", nil, nil
		}
		if since, err = g.Line(ctx, "merge-base", base, "HEAD"); err != nil {
			return "", nil, fmt.Errorf("find where the branch begins: %w", err)
		}
	}
	out, err := g.Read(ctx, "log", "--first-parent", "--reverse", "--format=%H %s", since+"..HEAD", "--")
	if err != nil {
		return "", nil, err
	}
	for l := range strings.Lines(string(out)) {
		sha, subject, _ := strings.Cut(strings.TrimSuffix(l, "\n"), " ")
		chain = append(chain, Commit{sha, tidy(subject)})
	}
	return since, chain, nil
}

// ErrForeignBranch: a branch of the remote has commits that ralph did not push.
var ErrForeignBranch = errors.New("the remote has such a branch, and it is not this loop's")

// A Part is a branch that is to be on the remote.
type Part struct {
	Branch, SHA string
	// Pushed are the commits that the branch may be at, because ralph pushed them.
	Pushed []string
}

// PushParts pushes commits to branches of the remote that the current branch is pushed to. A branch
// that is there is moved only from a commit of Pushed, and only if it is still there when the
// remote moves it; a new one only if there is none.
func PushParts(ctx context.Context, c Config, parts []Part) error {
	r := runner{Config: c, git: Git{argv: []string{"git"}, Env: environment(c.Env), Dir: c.Dir}}
	if words := commandWords(c.Command); len(words) > 0 {
		r.git.argv = words
	}
	if r.Timeout == 0 {
		r.Timeout = defaultTimeout
	}
	current, _ := r.git.Line(ctx, "symbolic-ref", "--short", "--quiet", "HEAD")
	remote, err := r.git.pushRemote(ctx, current)
	if err != nil {
		return r.fail([]string{"push"}, err, pushHint(err, ""))
	}
	there, err := r.remoteBranches(ctx, remote, parts)
	if err != nil {
		return err
	}
	args := []string{"push"}
	var refs []string
	for _, p := range parts {
		at := there[p.Branch]
		switch {
		case at == p.SHA:
			continue
		case at != "" && !slices.Contains(p.Pushed, at):
			return r.fail([]string{"push"}, fmt.Errorf("%w: %s", ErrForeignBranch, p.Branch), "bring its commits into the branch of the loop, or rename one of the two")
		}
		args = append(args, "--force-with-lease=refs/heads/"+p.Branch+":"+at)
		refs = append(refs, p.SHA+":refs/heads/"+p.Branch)
	}
	if len(refs) == 0 {
		return nil
	}
	err = r.run(ctx, "", slices.Concat(args, []string{remote}, refs)...)
	if failed, ok := errors.AsType[*Error](err); ok {
		failed.hint = pushHint(failed.Err, failed.Output)
	}
	return err
}

// remoteBranches returns the commits of those branches that the remote has, where it is pushed to.
func (r *runner) remoteBranches(ctx context.Context, remote string, parts []Part) (map[string]string, error) {
	address, err := r.git.Line(ctx, "remote", "get-url", "--push", remote)
	if err != nil {
		return nil, err
	}
	args := []string{"ls-remote", "--", address}
	for _, p := range parts {
		args = append(args, "refs/heads/"+p.Branch)
	}
	out := process.Head{Max: maxOutput, Fail: true}
	if err := r.runTo(ctx, "", &out, args...); err != nil {
		return nil, err
	}
	there := map[string]string{}
	for l := range strings.Lines(string(out.Bytes())) {
		sha, ref, _ := strings.Cut(strings.TrimSuffix(l, "\n"), "\t")
		there[strings.TrimPrefix(ref, "refs/heads/")] = sha
	}
	return there, nil
}
