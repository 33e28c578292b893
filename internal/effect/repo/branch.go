package repo

import (
	"context"
	"slices"
	"strconv"
	"strings"
)

// Remotes returns the addresses of the remotes of the repository around dir, without repetitions:
// first the one that the current branch is pushed to, then origin, then the others. It is empty if
// there is none. Time and environment are as in [TakeSnapshot].
func Remotes(ctx context.Context, dir string, env ...string) []string {
	ctx, cancel := Bounded(ctx, ReadTime)
	defer cancel()
	g := In(dir, env...)
	out, err := g.Read(ctx, "remote", "--verbose")
	if err != nil {
		return nil
	}
	branch, _ := g.Line(ctx, "symbolic-ref", "--short", "--quiet", "HEAD")
	preferred, _ := g.pushRemote(ctx, branch)
	var first, second, others []string
	for l := range strings.Lines(string(out)) {
		name, rest, _ := strings.Cut(strings.TrimSuffix(l, "\n"), "\t")
		address := rest[:max(0, strings.LastIndex(rest, " ("))] // before (fetch) or (push)
		switch {
		case address == "":
		case name == preferred:
			first = append(first, address)
		case name == origin:
			second = append(second, address)
		default:
			others = append(others, address)
		}
	}
	var all []string
	for _, address := range slices.Concat(first, second, others) {
		if !slices.Contains(all, address) {
			all = append(all, address)
		}
	}
	return all
}

// Subjects returns the first lines of the messages of the commits that HEAD has and the remote's
// default branch has not, oldest first: at most so many, the latest ones. If that branch is not
// known, it returns that of the last commit. The texts are those of the repository, cleaned. Time
// and environment are as in [TakeSnapshot].
func Subjects(ctx context.Context, dir string, most int, env ...string) ([]string, error) {
	ctx, cancel := Bounded(ctx, ReadTime)
	defer cancel()
	g := In(dir, env...)
	args := []string{"log", "--format=%s", "--no-merges", "--max-count=" + strconv.Itoa(most)}
	if base := g.defaultBranch(ctx); base != "" {
		args = append(args, base+"..HEAD", "--")
	} else {
		args = append(args, "--max-count=1", "HEAD", "--")
	}
	out, err := g.Read(ctx, args...)
	if err != nil {
		return nil, err
	}
	var subjects []string
	for l := range strings.Lines(string(out)) {
		if l = tidy(l); l != "" {
			subjects = append(subjects, l)
		}
	}
	slices.Reverse(subjects)
	return subjects, nil
}

// OnDefaultBranch reports whether the branch that is checked out is the one that others begin
// from: the default branch of the remote as far as git knows it, else main or master. Time and
// environment are as in [TakeSnapshot].
func OnDefaultBranch(ctx context.Context, dir string, env ...string) bool {
	ctx, cancel := Bounded(ctx, ReadTime)
	defer cancel()
	g := In(dir, env...)
	branch, err := g.Line(ctx, "symbolic-ref", "--short", "--quiet", "HEAD")
	if err != nil {
		return false
	}
	if remote, err := g.pushRemote(ctx, branch); err == nil {
		if head, err := g.Line(ctx, "symbolic-ref", "--quiet", "refs/remotes/"+remote+"/HEAD"); err == nil {
			return head == "refs/remotes/"+remote+"/"+branch
		}
	}
	return branch == "main" || branch == "master"
}

// defaultBranch returns the remote-tracking branch of the branch that others begin from.
func (g Git) defaultBranch(ctx context.Context) string {
	branch, _ := g.Line(ctx, "symbolic-ref", "--short", "--quiet", "HEAD")
	remote, err := g.pushRemote(ctx, branch)
	if err != nil {
		return ""
	}
	for _, name := range []string{"HEAD", "main", "master"} {
		ref := "refs/remotes/" + remote + "/" + name
		if _, err := g.Read(ctx, "rev-parse", "--verify", "--quiet", ref+"^{commit}"); err == nil {
			return ref
		}
	}
	return ""
}
