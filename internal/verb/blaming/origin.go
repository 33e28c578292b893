package blaming

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/effect/provenance"
	"github.com/ralph-loop/ralph/internal/effect/repo"
)

// An origin is what is known of who wrote a line.
type origin struct {
	by      *provenance.Iteration
	trace   *Trace  // set if a record of Agent Trace says it
	commit  *commit // of a person, or the one that has the line now; nil if it is not committed
	how     string
	unknown bool
}

// depth is how many copies of copies are followed.
const depth = 40

// origins traces lines.
type origins struct {
	*history
	paths []string // that the file had, as far as git blame found them
	calls map[*provenance.Iteration][]call
}

// of returns who wrote a line of a commit.
func (o *origins) of(ctx context.Context, b blamed, left int) (origin, error) {
	if s, ok := o.sources[b.commit]; ok {
		if lines := o.lines(ctx, b.commit, b.path); s.maybe != nil && b.line <= len(lines) && o.wrote(s.maybe, b.path, lines[b.line-1]) {
			return origin{by: s.maybe, how: "tool"}, nil
		}
		parents := o.parents[b.commit]
		if n := len(parents); n > 0 { // the last one is the step before
			if found, ok, err := o.ofMove(ctx, b.commit, b, left, parents[n-1]); ok || err != nil {
				return found, err
			}
		}
		return o.unlessMoved(ctx, origin{by: s.by, how: s.how, unknown: s.unknown}, b, parents, left)
	}
	c, err := o.about(ctx, b.commit)
	if err != nil {
		return origin{}, err
	}
	if left == 0 {
		return origin{commit: c, unknown: true, how: "through too many copies"}, nil
	}
	if o.shallow[b.commit] {
		if found, ok, err := o.ofTrace(ctx, c, b, 0); ok || err != nil {
			return found, err
		}
		return origin{commit: c, unknown: true, how: "there or before: this clone is shallow, and 'git fetch --unshallow' brings the rest"}, nil
	}
	if by, ok := o.made[b.commit]; ok {
		return o.ofMade(ctx, c, by, b, left)
	}
	if c.at < o.since && !o.disputed[c.sha] {
		if found, ok, err := o.ofTrace(ctx, c, b, 0); ok || err != nil {
			return found, err
		}
		return origin{commit: c}, nil
	}
	type way = func(context.Context, *commit, blamed, int) (origin, bool, error)
	for _, trace := range []way{o.ofRevert, o.ofPatch, o.ofWorkTree, o.ofRewritten, o.ofTrace, o.ofMoveIn, o.ofRun} {
		found, ok, err := trace(ctx, c, b, left-1)
		if !ok && err == nil {
			continue
		}
		if found.commit == nil || !o.isOlder(ctx, found.commit.sha, c.sha) {
			found.commit = c // the other one is of a history that was rewritten
		}
		return found, err
	}
	if o.disputed[c.sha] {
		return origin{commit: c, unknown: true, how: "by one of several iterations that its notes name"}, nil
	}
	return o.unlessMoved(ctx, origin{commit: c}, b, c.parents, left)
}

// unlessMoved is an answer, unless the line may be an older one of another file, with another
// author.
func (o *origins) unlessMoved(ctx context.Context, found origin, b blamed, parents []string, left int) (origin, error) {
	older, err := o.removedWith(ctx, b.commit, parents, b)
	if err != nil || left == 0 {
		return found, err
	}
	for _, line := range older {
		was, known, err := o.ofLine(ctx, line.commit, line.path, line.line, left-1)
		if err != nil || !known {
			return found, err
		}
		if !was.same(found) {
			return origin{commit: found.commit, unknown: true, how: "before, perhaps: a file with such a line was removed when this one was made"}, nil
		}
	}
	return found, nil
}

// ofMade traces a line of a commit that an iteration made: it may have been in the work tree
// before.
func (o *origins) ofMade(ctx context.Context, c *commit, by *provenance.Iteration, b blamed, left int) (origin, error) {
	here := origin{by: by, commit: c, how: "commit"}
	chain := o.chainOf(by)
	at, known := chain.before[by]
	if !known {
		if found, ok, err := o.ofMove(ctx, c.sha, b, left, c.parents...); ok || err != nil {
			return found, err
		}
		if o.noted[by.Loop] { // which is all that the note says
			return o.unlessMoved(ctx, here, b, c.parents, left)
		}
		here.by, here.unknown, here.how = nil, true, fmt.Sprintf("up to iteration %d of %s, and the work tree before it is not kept", by.N, by.Loop.Name)
		return here, nil
	}
	step := chain.steps[at]
	if step.tree.Head && o.isOlder(ctx, step.tree.Commit, c.sha) {
		// Nothing was uncommitted. Of the same iteration an earlier commit may have removed the
		// line.
		if found, ok, err := o.ofMove(ctx, c.sha, b, left, append(slices.Clone(c.parents), step.tree.Commit)...); ok || err != nil {
			return found, err
		}
		return o.unlessMoved(ctx, here, b, c.parents, left)
	}
	before, err := o.stepCommit(ctx, chain, at)
	if err != nil {
		return origin{}, err
	}
	found, ok, err := o.through(ctx, c, before, b, left)
	if err != nil || ok {
		found.commit = c
		return found, err
	}
	if found, ok, err := o.ofMove(ctx, c.sha, b, left, c.parents...); ok || err != nil {
		return found, err
	}
	return o.unlessMoved(ctx, here, b, append(slices.Clone(c.parents), before), left)
}

func (h *history) chainOf(i *provenance.Iteration) *chain {
	if c := h.chains[i.Loop.Root]; c != nil {
		return c
	}
	return h.chains["loop "+i.Loop.ID]
}

// through traces a line that a commit added to another commit, of which that was made: not found if
// it is not there either, or if git says that the commit added it to what was committed before.
func (o *origins) through(ctx context.Context, c *commit, from string, b blamed, left int) (origin, bool, error) {
	mine, theirs := o.lines(ctx, c.sha, b.path), o.countsOf(ctx, from, b.path)
	if len(theirs) > 0 && b.line <= len(mine) && theirs[mine[b.line-1]] == 0 {
		return o.ofMoveSince(ctx, c, from, b, left)
	}
	key := "through " + c.sha + from
	joint := o.virtual[key][0]
	if joint == "" {
		sha, err := o.join(ctx, c.tree, source{unknown: true}, append(slices.Clone(c.parents), from)...)
		if err != nil {
			return origin{}, false, err
		}
		joint, o.virtual[key] = sha, map[int]string{0: sha}
		o.bounds[sha] = c.parents
	}
	lines, err := o.blame(ctx, joint, b.path, append(o.addedBy(ctx, c, b.path), b.line)...)
	next, known := lines[b.line]
	if err != nil || !known {
		return origin{}, false, err
	}
	if next.commit == joint {
		return o.ofMoveSince(ctx, c, from, b, left)
	}
	if _, step := o.sources[next.commit]; !step && o.isOlder(ctx, next.commit, c.sha) {
		return origin{}, false, nil // it is as another line that is older
	}
	found, err := o.of(ctx, next, left)
	return found, err == nil, err
}

// ofRevert traces a line of a commit that puts back what another one removed.
func (o *origins) ofRevert(ctx context.Context, c *commit, b blamed, left int) (found origin, ok bool, err error) {
	_, text, reverts := strings.Cut(c.body, "This reverts commit ")
	sha, _, ends := strings.Cut(text, ".")
	if sha, _, _ = strings.Cut(sha, ","); !reverts || !ends || !isName(sha) || len(c.parents) != 1 {
		return found, false, nil
	}
	if err := o.read(ctx, []string{sha}); err != nil || o.commits[sha] == nil || len(o.commits[sha].parents) != 1 {
		return found, false, err
	}
	mine, changed, err := o.patchOf(ctx, c.parents[0], c.sha, b.path)
	if err != nil || !changed {
		return found, false, err
	}
	was := o.commits[sha].parents[0]
	other, changed, err := o.patchOf(ctx, was, sha, b.path)
	if err != nil || !changed || other.reverse != mine.id {
		return found, false, err
	}
	at := slices.Index(mine.added, b.line)
	if at < 0 || at >= len(other.removed) {
		return found, false, nil
	}
	return o.ofLine(ctx, was, b.path, other.removed[at], left, other.removed...)
}

// ofLine returns who wrote a line of a file in a commit. The lines near it may be wanted next.
func (o *origins) ofLine(ctx context.Context, rev, path string, line, left int, near ...int) (origin, bool, error) {
	lines, err := o.blame(ctx, rev, path, append(slices.Clone(near), line)...)
	b, known := lines[line]
	if err != nil || !known {
		return origin{}, false, err
	}
	found, err := o.of(ctx, b, left)
	return found, err == nil, err
}

// ofState returns who wrote a line of a commit, or of a work tree that is kept.
func (o *origins) ofState(ctx context.Context, sha, path string, line, left int, near ...int) (origin, bool, error) {
	for _, chain := range o.chains {
		for at, s := range chain.steps {
			if s.tree.Commit == sha && !s.tree.Head {
				rev, err := o.stepCommit(ctx, chain, at)
				if err != nil {
					return origin{}, false, err
				}
				return o.ofLine(ctx, rev, path, line, left, near...)
			}
		}
	}
	return o.ofLine(ctx, sha, path, line, left, near...)
}

// ofWorkTree traces a line of a commit that was made where a loop had left the line uncommitted, or
// where one may have.
func (o *origins) ofWorkTree(ctx context.Context, c *commit, b blamed, left int) (found origin, ok bool, err error) {
	for _, root := range slices.Sorted(maps.Keys(o.chains)) {
		chain := o.chains[root]
		here, known := o.madeIn(ctx, root, c.sha)
		at := o.stepBefore(ctx, chain, c)
		switch {
		case at < 0, known && !here:
			continue
		case !known: // it may have been made here, on what was checked out then
			s := chain.after(at)
			if len(c.parents) == 1 && c.parents[0] == o.headOf(chain.steps[at].tree) && (s.by != nil || s.unknown) {
				if found, ok, err := o.ofMoveIn(ctx, c, b, left); ok || err != nil {
					return found, ok, err
				}
				return origin{commit: c, unknown: true, how: s.when()}, true, nil
			}
			continue
		}
		before, err := o.stepCommit(ctx, chain, at)
		if err != nil {
			return found, false, err
		}
		if found, ok, err := o.through(ctx, c, before, b, left); ok || err != nil {
			return found, ok, err
		}
		s := chain.after(at)
		lines := o.lines(ctx, c.sha, b.path)
		switch {
		case s.by == nil && !s.unknown: // people alone, who may have brought it from elsewhere
			return found, false, nil
		case s.maybe != nil && b.line <= len(lines) && o.wrote(s.maybe, b.path, lines[b.line-1]):
			return origin{by: s.maybe, commit: c, how: "tool"}, true, nil
		}
		if found, ok, err := o.ofMoveIn(ctx, c, b, left); ok || err != nil {
			return found, ok, err
		}
		return origin{commit: c, unknown: true, how: s.when()}, true, nil
	}
	return found, false, nil
}

// madeIn reports whether the reflog of a work tree says that a commit was made there. It is not
// known if there is no reflog.
func (o *origins) madeIn(ctx context.Context, root, sha string) (made, known bool) {
	log := o.reflogOf(ctx, root)
	did, named := log[sha]
	return named && repo.Writes(did), len(log) > 0
}

// reflogOf returns the reflog of a work tree; empty if there is none.
func (h *history) reflogOf(ctx context.Context, root string) map[string]string {
	if h.reflogs[root] == nil {
		h.reflogs[root] = map[string]string{}
		if filepath.IsAbs(root) {
			maps.Copy(h.reflogs[root], h.git.In(root).Reflog(ctx))
		}
	}
	return h.reflogs[root]
}

// stepBefore returns the last step of a chain before a commit; -1 if there is none.
func (h *history) stepBefore(ctx context.Context, chain *chain, c *commit) int {
	at := -1
	for k, s := range chain.steps {
		if s.at.Unix() <= c.at && !h.isOlder(ctx, c.sha, h.headOf(s.tree)) {
			at = k
		}
	}
	return at
}

// ofRewritten traces a line of a commit that was a loop's before it was changed, as by a rebase
// with a conflict: it has the same author and the same time.
func (o *origins) ofRewritten(ctx context.Context, c *commit, b blamed, left int) (found origin, ok bool, err error) {
	for _, sha := range slices.Sorted(maps.Keys(o.made)) {
		was := o.commits[sha]
		if was == nil || was.written != c.written || was.email != c.email || was.name != c.name {
			continue
		}
		if o.isOlder(ctx, sha, c.sha) || o.isOlder(ctx, c.sha, sha) {
			continue
		}
		if found, ok, err = o.through(ctx, c, sha, b, left); ok || err != nil {
			return found, ok, err
		}
	}
	return found, false, nil
}
