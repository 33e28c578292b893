package repo

import (
	"context"
	"errors"
	"slices"
	"strings"
)

var (
	// ErrNoBranch: HEAD names no branch.
	ErrNoBranch = errors.New("no branch is checked out")
	// ErrNoRemote: the repository has no remote, or several without a preferred one.
	ErrNoRemote = errors.New("it is not known where to push")
)

// push pushes the branch and reports whether there was anything to push. Where git knows its
// destination, it decides. Otherwise, as for a new branch, the branch goes to the branch of the
// same name of the remote, which becomes its upstream branch if it has none. No push is forced.
func (r *runner) push(ctx context.Context) (bool, error) {
	if r.git.isLevel(ctx) {
		return false, nil
	}
	args, err := r.git.pushArguments(ctx)
	if err != nil {
		return false, r.fail([]string{"push"}, err, pushHint(err, ""))
	}
	err = r.run(ctx, "", args...)
	if failed, ok := errors.AsType[*Error](err); ok {
		failed.hint = pushHint(failed.Err, failed.Output)
	}
	return true, err
}

func (g Git) pushArguments(ctx context.Context) ([]string, error) {
	branch, err := g.Line(ctx, "symbolic-ref", "--short", "--quiet", "HEAD")
	if err != nil || branch == "" {
		return nil, ErrNoBranch
	}
	if _, err := g.Read(ctx, "rev-parse", "--verify", "--quiet", "@{push}"); err == nil {
		return []string{"push"}, nil
	}
	remote, err := g.pushRemote(ctx, branch)
	if err != nil {
		return nil, err
	}
	if g.setting(ctx, "branch."+branch+".merge") != "" {
		return []string{"push", remote, "HEAD"}, nil
	}
	return []string{"push", "--set-upstream", remote, "HEAD"}, nil
}

// pushRemote returns the remote that a branch is pushed to (gitrevisions(7), @{push}): the one
// that is set, else the only one, else origin.
func (g Git) pushRemote(ctx context.Context, branch string) (string, error) {
	for _, key := range []string{"branch." + branch + ".pushRemote", "remote.pushDefault", "branch." + branch + ".remote"} {
		if remote := g.setting(ctx, key); remote != "" && remote != "." && remote[0] != '-' {
			return remote, nil
		}
	}
	out, err := g.Read(ctx, "remote")
	names := strings.Fields(string(out))
	switch {
	case err != nil:
		return "", err
	case len(names) == 1 && names[0][0] != '-':
		return names[0], nil
	case slices.Contains(names, origin):
		return origin, nil
	}
	return "", ErrNoRemote
}

const origin = "origin"

// setting returns a setting of git's; empty if it is not set.
func (g Git) setting(ctx context.Context, key string) string {
	value, err := g.Line(ctx, "config", "--get", key)
	if err != nil {
		return ""
	}
	return value
}

// pushSymptoms are words of git and of servers, and the next step.
var pushSymptoms = []struct {
	words []string
	hint  string
}{
	{[]string{"non-fast-forward", "fetch first", "stale info"},
		"other commits are there: 'git pull --rebase'; the branch is pushed after the next iteration, and never forced"},
	{[]string{"protected branch", "GH006", "not allowed to push"}, "the server refuses this branch: work on a branch of its own, 'git switch -c NAME'"},
	{[]string{"hook declined"}, "a hook of the server refuses it, and the lines with 'remote:' say why; correct that, and the branch is pushed after the next iteration"},
	{[]string{"remote rejected"}, "the server refuses this branch: work on a branch of its own, 'git switch -c NAME'"},
	{[]string{"Authentication failed", "could not read Username", "Permission denied", "Invalid username", "error: 403"},
		"log in, such as with 'gh auth setup-git' or an SSH agent; the branch is pushed after the next iteration"},
	{[]string{"Could not resolve host", "unable to access", "Connection", "timed out", "Could not read from remote"},
		"the branch is pushed after the next iteration"},
}

func pushHint(err error, output string) string {
	switch {
	case errors.Is(err, ErrNoBranch):
		return "check out a branch: 'git switch -c NAME'"
	case errors.Is(err, ErrNoRemote):
		return "add a remote with 'git remote add origin ADDRESS', set remote.pushDefault where there are several, or take push out of scm.tasks"
	}
	for _, s := range pushSymptoms {
		if slices.ContainsFunc(s.words, func(words string) bool { return strings.Contains(output, words) }) {
			return s.hint
		}
	}
	return ""
}
