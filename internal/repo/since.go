package repo

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

const maxSubjects = 20

// Commits is what HEAD has that an earlier HEAD did not.
type Commits struct {
	Head  string // now; empty when nothing is committed on this branch
	Count int
	// Subjects are the commits' first lines, the newest first; at most 20, each of at most 200 characters.
	Subjects []string
	// Rewritten: the earlier HEAD is no ancestor of this one. It was amended, rebased or reset, or the branch is another.
	Rewritten bool
	// Stat is the difference between the two commits, whichever way led from one to the other. A moved file counts once.
	Stat
}

// Since tells what was committed since HEAD was oldHead, which is empty for a repository that had no commit. A name that is no
// commit here, or has been collected as garbage, is ErrUnknownCommit. Time and environment are as in [See].
func Since(ctx context.Context, dir, oldHead string, env ...string) (Commits, error) {
	ctx, cancel := bounded(ctx, lookTime)
	defer cancel()
	c, err := here(dir, env...).since(ctx, oldHead)
	if err != nil {
		return Commits{}, fmt.Errorf("look for new commits: %w", err)
	}
	return c, nil
}

func (g git) since(ctx context.Context, oldHead string) (Commits, error) {
	at, err := g.locate(ctx)
	if err != nil {
		return Commits{}, err
	}
	g = g.in(at.root)
	if err := g.knows(ctx, oldHead); err != nil {
		return Commits{}, err
	}
	var c Commits
	if c.Head, err = g.head(ctx); err != nil || c.Head == oldHead {
		return c, err
	}
	if c.Head == "" {
		c.Rewritten = true
		return c, nil
	}
	if oldHead != "" {
		_, err := g.read(ctx, "merge-base", "--is-ancestor", oldHead, c.Head)
		if c.Rewritten = exitCode(err) == 1; err != nil && !c.Rewritten {
			return Commits{}, err
		}
	}
	if c.Stat, err = g.between(ctx, oldHead, c.Head); err != nil {
		return Commits{}, err
	}
	return c, g.list(ctx, &c, oldHead)
}

func (g git) list(ctx context.Context, c *Commits, oldHead string) error {
	span := []string{c.Head}
	if oldHead != "" {
		span = append(span, "^"+oldHead)
	}
	count, err := g.line(ctx, append([]string{"rev-list", "--count"}, span...)...)
	if err != nil {
		return err
	}
	if c.Count, err = strconv.Atoi(count); err != nil {
		return fmt.Errorf("read git's count of commits: %w", err)
	}
	args := []string{"log", "-z", "--format=%s", "--encoding=UTF-8", "--no-show-signature", "--no-patch", fmt.Sprintf("--max-count=%d", maxSubjects)}
	out, err := g.read(ctx, append(append(args, span...), "--")...)
	if err != nil {
		return err
	}
	if c.Count > 0 {
		for subject := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			c.Subjects = append(c.Subjects, cut(tidy(subject), maxShown))
		}
	}
	return nil
}

// Branch is the name of the branch that HEAD names, in the working tree around dir; empty where there is none.
func Branch(ctx context.Context, dir string) string {
	ctx, cancel := bounded(ctx, branchTime)
	defer cancel()
	if !marked(dir) || checkFiles(dir) != nil {
		return ""
	}
	name, err := here(dir).line(ctx, "symbolic-ref", "--short", "--quiet", "HEAD")
	if err != nil {
		return ""
	}
	return name
}

// branchTime is short because a person waits, and a loop is called otherwise without it.
const branchTime = 3 * time.Second

// head is the commit that HEAD names, and empty when there is none.
func (g git) head(ctx context.Context) (string, error) {
	head, err := g.line(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if exitCode(err) == 1 {
		return "", nil
	}
	return head, err
}

// knows checks a commit's name that comes from elsewhere; only a full one cannot be taken for an option or a branch.
func (g git) knows(ctx context.Context, commit string) error {
	if commit == "" {
		return nil
	}
	if raw, err := hex.DecodeString(commit); err != nil || len(raw) != 20 && len(raw) != 32 {
		return fmt.Errorf("%w: %.80q is not a full commit name", ErrUnknownCommit, commit)
	}
	_, err := g.read(ctx, "cat-file", "-e", commit+"^{commit}")
	if exitCode(err) > 0 {
		return errors.Join(fmt.Errorf("%w: %s", ErrUnknownCommit, commit), err)
	}
	return err
}
