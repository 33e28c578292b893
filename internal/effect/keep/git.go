package keep

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/effect/repo"
)

// A git is that of package repo, with the questions of this package.
type git struct{ repo.Git }

func gitIn(dir string, env []string) git { return git{repo.In(dir, env...)} }

func (g git) in(dir string) git { return git{g.In(dir)} }

// locate returns the git of the work tree around dir. Objects are those that were kept, whatever
// refs replace them.
func locate(ctx context.Context, dir string, env []string) (git, repo.Location, error) {
	g := gitIn(dir, env)
	g.Limit = keepTime
	g.Env = append(slices.Clip(g.Env), "GIT_NO_REPLACE_OBJECTS=1")
	at, err := g.Locate(ctx)
	return g, at, err
}

// makeRef makes a ref that must not exist.
func (g git) makeRef(ctx context.Context, ref, commit string) error {
	_, err := g.Read(ctx, "update-ref", "--no-deref", ref, commit, strings.Repeat("0", len(commit)))
	return err
}

// maxRefs is how many names are tried for a ref.
const maxRefs = 100

// makeFreeRef makes a ref, with a number added if its name is taken, and returns its name.
func (g git) makeFreeRef(ctx context.Context, name, commit string) (string, error) {
	for n := 1; ; n++ {
		ref := name
		if n > 1 {
			ref = fmt.Sprintf("%s-%d", name, n)
		}
		err := g.makeRef(ctx, ref, commit)
		if err == nil {
			return ref, nil
		}
		if _, free := g.Read(ctx, "rev-parse", "--verify", "--quiet", ref); free != nil || n == maxRefs {
			return "", err
		}
	}
}

// finishRefs gives refs that begin with prefix their last names, to which a number is added if they
// are taken, and returns these. A ref whose last name is its own stays.
func (g git) finishRefs(ctx context.Context, prefix string, last func(ref string) string) (finished []string, err error) {
	out, err := g.Line(ctx, "for-each-ref", "--format=%(refname) %(objectname)", prefix)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		ref, commit, _ := strings.Cut(strings.TrimSpace(line), " ")
		if last(ref) == ref {
			continue
		}
		name, err := g.makeFreeRef(ctx, last(ref), commit)
		if err == nil {
			err = g.removeRef(ctx, ref, commit)
		}
		if err != nil {
			return finished, fmt.Errorf("rename the ref %s: %w", ref, err)
		}
		finished = append(finished, name)
	}
	return finished, nil
}

// removeRef removes a ref that names a commit.
func (g git) removeRef(ctx context.Context, ref, commit string) error {
	_, err := g.Read(ctx, "update-ref", "--no-deref", "-d", ref, commit)
	return err
}
