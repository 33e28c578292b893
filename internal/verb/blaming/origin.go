package blaming

import (
	"bytes"
	"cmp"
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
	note    *provenance.Note // set if only a note says so
	trace   *Trace           // set if a record of Agent Trace says it
	commit  *commit          // of a person, or the one that has the line now; nil if it is not committed
	how     string
	unknown bool
}

// depth is how many copies of copies are followed.
const depth = 40

// origins traces lines.
type origins struct {
	*history
	paths []string // that the file had, as far as git blame found them
}

// of returns who wrote a line of a commit.
func (o *origins) of(ctx context.Context, b blamed, left int) (origin, error) {
	if s, ok := o.sources[b.commit]; ok {
		return o.unlessMoved(ctx, origin{by: s.by, how: s.how, unknown: s.unknown}, b, o.parents[b.commit])
	}
	c, err := o.about(ctx, b.commit)
	if err != nil {
		return origin{}, err
	}
	if left == 0 {
		return origin{commit: c, unknown: true, how: "through too many copies"}, nil
	}
	if m, ok := o.made[b.commit]; ok {
		return o.ofMade(ctx, c, m, b, left)
	}
	for _, trace := range []func(context.Context, *commit, blamed, int) (origin, bool, error){o.ofRevert, o.ofPatch, o.ofWorkTree, o.ofRewritten, o.ofTrace, o.ofRun} {
		found, ok, err := trace(ctx, c, b, left-1)
		if !ok && err == nil {
			continue
		}
		if found.commit == nil || !o.isOlder(ctx, found.commit.sha, c.sha) {
			found.commit = c // the other one is of a history that was rewritten
		}
		return found, err
	}
	return o.unlessMoved(ctx, origin{commit: c}, b, c.parents)
}

// unlessMoved is an answer, unless the line may be an older one of another file.
func (o *origins) unlessMoved(ctx context.Context, found origin, b blamed, parents []string) (origin, error) {
	moved, err := o.moved(ctx, b.commit, parents, b)
	if moved {
		return origin{commit: found.commit, unknown: true, how: "before, perhaps: a file with such a line was removed when this one was made"}, err
	}
	return found, err
}

// ofMade traces a line of a commit that an iteration made: it may have been in the work tree before.
func (o *origins) ofMade(ctx context.Context, c *commit, m made, b blamed, left int) (origin, error) {
	here := origin{by: m.by, note: m.note, commit: c, how: "commit"}
	chain := o.chainOf(m.by)
	at, known := chain.before[m.by]
	if !known {
		if m.note != nil { // which is all that the note says
			return o.unlessMoved(ctx, here, b, c.parents)
		}
		here.by, here.unknown, here.how = nil, true, fmt.Sprintf("up to iteration %d of %s, and the work tree before it is not kept", m.by.N, m.by.Loop.Name)
		return here, nil
	}
	step := chain.steps[at]
	if step.tree.Head && o.isOlder(ctx, step.tree.Commit, c.sha) {
		return o.unlessMoved(ctx, here, b, c.parents) // nothing was uncommitted
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
	return o.unlessMoved(ctx, here, b, append(slices.Clone(c.parents), before))
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
	key := "through " + c.sha + from
	joint := o.virtual[key][0]
	if joint == "" {
		sha, err := o.join(ctx, c.tree, source{unknown: true}, append(slices.Clone(c.parents), from)...)
		if err != nil {
			return origin{}, false, err
		}
		joint, o.virtual[key] = sha, map[int]string{0: sha}
	}
	lines, err := o.blame(ctx, joint, b.path)
	if err != nil || b.line < 1 || b.line > len(lines) {
		return origin{}, false, err
	}
	next := lines[b.line-1]
	if next.commit == joint {
		return origin{}, false, nil
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
	return o.ofLine(ctx, was, b.path, other.removed[at], left)
}

// ofLine returns who wrote a line of a file in a commit.
func (o *origins) ofLine(ctx context.Context, rev, path string, line, left int) (origin, bool, error) {
	lines, err := o.blame(ctx, rev, path)
	if err != nil || line < 1 || line > len(lines) {
		return origin{}, false, err
	}
	found, err := o.of(ctx, lines[line-1], left)
	return found, err == nil, err
}

// patchOf returns what was changed from one commit to another in a file.
func (o *origins) patchOf(ctx context.Context, from, to, path string) (patch, bool, error) {
	key := from + to + path
	all, done := o.changes[key]
	if !done {
		out, err := o.git.Read(ctx, slices.Concat(diffTree, []string{from, to, "--", ":(literal)" + path})...)
		if err != nil {
			return patch{}, false, err
		}
		all = parsePatches(string(out))
		o.changes[key] = all
	}
	if len(all) != 1 {
		return patch{}, false, nil
	}
	return all[0], true, nil
}

var diffTree = []string{"diff-tree", "-r", "-p", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv", "--unified=3", "--diff-algorithm=myers"}

// loopPatch is a change that a loop made.
type loopPatch struct {
	patch
	to string // the commit that has the lines
}

// mostPairs is how many changes of loops are compared with others.
const mostPairs = 5000

// pairs are the changes that loops made, each between two commits: from one work tree to the next,
// by each commit, and from the first work tree to each, as a squash makes them.
func (h *history) pairs() (all [][2]string) {
	known := map[[2]string]bool{}
	add := func(from, to string) {
		p := [2]string{from, to}
		if from != "" && to != "" && from != to && !known[p] && len(all) < mostPairs {
			known[p] = true
			all = append(all, p)
		}
	}
	for _, l := range h.loops {
		first := ""
		for _, i := range l.Iterations {
			for _, t := range []provenance.Tree{i.Before, i.After} {
				if first == "" && t.Commit != "" {
					first = h.headOf(t)
				}
				add(first, t.Commit)
			}
			add(i.Before.Commit, i.After.Commit)
			for _, c := range i.Commits {
				if parents := h.commits[c.SHA].parents; len(parents) > 0 {
					first = cmp.Or(first, parents[0])
					add(parents[0], c.SHA)
				}
				add(first, c.SHA)
			}
		}
	}
	return all
}

// loopPatches returns the changes that loops made to a file, and reads the file as they left it.
func (o *origins) loopPatches(ctx context.Context, path string) ([]loopPatch, error) {
	if all, ok := o.patches[path]; ok {
		return all, nil
	}
	all := []loopPatch{}
	var compared []string
	var trees bytes.Buffer
	for _, p := range o.pairs() {
		from, to := o.commits[p[0]], o.commits[p[1]]
		if from != nil && to != nil && from.tree != to.tree {
			compared = append(compared, p[1])
			fmt.Fprintln(&trees, from.tree, to.tree)
		}
	}
	out, err := o.git.Feed(ctx, trees.Bytes(), slices.Concat(diffTree, []string{"--stdin", "--", ":(literal)" + path})...)
	if err != nil {
		return nil, err
	}
	var names bytes.Buffer
	for _, one := range parsePatches(string(out)) {
		all = append(all, loopPatch{one, compared[one.pair]})
		fmt.Fprintln(&names, compared[one.pair]+":"+path)
	}
	o.patches[path] = all
	at := 0
	return all, o.git.Objects(ctx, names.Bytes(), mostFile, func(content []byte) {
		o.files[all[at].to+":"+path] = split(content)
		at++
	})
}

// ofPatch traces a line of a commit that makes the same change as a loop: a copy by rebase,
// cherry-pick or squash.
func (o *origins) ofPatch(ctx context.Context, c *commit, b blamed, left int) (found origin, ok bool, err error) {
	if len(c.parents) != 1 {
		return found, false, nil
	}
	mine, changed, err := o.patchOf(ctx, c.parents[0], c.sha, b.path)
	if err != nil || !changed {
		return found, false, err
	}
	at := slices.Index(mine.added, b.line)
	all, err := o.loopPatches(ctx, b.path)
	if err != nil || at < 0 {
		return found, false, err
	}
	for _, p := range all {
		if p.id != mine.id || p.to == c.sha || !o.copies(ctx, c, p.to) {
			continue
		}
		found, ok, err = o.ofState(ctx, p.to, p.path, p.added[at], left)
		if ok && found.by != nil {
			found.how = "patch"
		}
		if ok || err != nil {
			return found, ok, err
		}
	}
	return found, false, nil
}

// copies reports whether a commit may be a copy of what a loop had: it came later.
func (o *origins) copies(ctx context.Context, c *commit, of string) bool {
	was := o.commits[of]
	return was != nil && c.at >= was.at && !o.isOlder(ctx, c.sha, of)
}

// ofState returns who wrote a line of a commit, or of a work tree that is kept.
func (o *origins) ofState(ctx context.Context, sha, path string, line, left int) (origin, bool, error) {
	for _, chain := range o.chains {
		for at, s := range chain.steps {
			if s.tree.Commit == sha && !s.tree.Head {
				rev, err := o.stepCommit(ctx, chain, at)
				if err != nil {
					return origin{}, false, err
				}
				return o.ofLine(ctx, rev, path, line, left)
			}
		}
	}
	return o.ofLine(ctx, sha, path, line, left)
}

// ofWorkTree traces a line of a commit that was made where a loop had left the line uncommitted.
func (o *origins) ofWorkTree(ctx context.Context, c *commit, b blamed, left int) (found origin, ok bool, err error) {
	for _, root := range slices.Sorted(maps.Keys(o.chains)) {
		chain := o.chains[root]
		if !o.madeIn(ctx, root, c.sha) {
			continue
		}
		at := -1
		for k, s := range chain.steps {
			if s.at.Unix() <= c.at && !o.isOlder(ctx, c.sha, o.headOf(s.tree)) {
				at = k
			}
		}
		if at < 0 {
			return found, false, nil
		}
		before, err := o.stepCommit(ctx, chain, at)
		if err != nil {
			return found, false, err
		}
		return o.through(ctx, c, before, b, left)
	}
	return found, false, nil
}

// madeIn reports whether the reflog of a work tree says that a commit was made there.
func (o *origins) madeIn(ctx context.Context, root, sha string) bool {
	if o.reflogs[root] == nil {
		o.reflogs[root] = map[string]string{}
		if filepath.IsAbs(root) {
			maps.Copy(o.reflogs[root], o.git.In(root).Reflog(ctx))
		}
	}
	did, known := o.reflogs[root][sha]
	return known && repo.Writes(did)
}

// ofRewritten traces a line of a commit that was a loop's before it was changed, as by a rebase with
// a conflict: it has the same author and the same time.
func (o *origins) ofRewritten(ctx context.Context, c *commit, b blamed, left int) (found origin, ok bool, err error) {
	for _, sha := range slices.Sorted(maps.Keys(o.made)) {
		was := o.commits[sha]
		if was == nil || was.written != c.written || was.email != c.email || was.name != c.name || o.isOlder(ctx, sha, c.sha) || o.isOlder(ctx, c.sha, sha) {
			continue
		}
		if found, ok, err = o.through(ctx, c, sha, b, left); ok || err != nil {
			return found, ok, err
		}
	}
	return found, false, nil
}

// ofRun traces a line by the lines around it, as git does for lines that were moved. A line that a
// loop wrote too, and that may be here by chance, is unknown.
func (o *origins) ofRun(ctx context.Context, c *commit, b blamed, left int) (found origin, ok bool, err error) {
	mine := o.lines(ctx, c.sha, b.path)
	if b.line < 1 || b.line > len(mine) {
		return found, false, nil
	}
	added := map[int]bool{}
	blames, err := o.blame(ctx, c.sha, b.path)
	if err != nil {
		return found, false, err
	}
	for at, line := range blames {
		added[at] = line.commit == c.sha
	}
	states := map[string]bool{}
	suspect := false
	paths := slices.Compact(append([]string{b.path}, o.paths...))
	var answers []origin
	for _, path := range paths {
		all, err := o.loopPatches(ctx, path)
		if err != nil {
			return found, false, err
		}
		for _, p := range all {
			if states[p.to+path] || !o.copies(ctx, c, p.to) || o.absorbed(ctx, c, p) {
				continue
			}
			states[p.to+path] = true
			suspect = suspect || slices.Contains(p.texts, mine[b.line-1])
			theirs := o.lines(ctx, p.to, path)
			run, said, several := longestRun(mine, theirs, b.line-1, func(at int) bool { return added[at] })
			if said < leastLetters || several {
				continue
			}
			answer, ok, err := o.ofState(ctx, p.to, path, run.b+b.line-run.a, left)
			if err != nil {
				return found, false, err
			}
			if ok && (answer.by != nil || answer.unknown) && !slices.ContainsFunc(answers, answer.same) {
				answers = append(answers, answer)
			}
		}
	}
	switch {
	case len(answers) == 1:
		answers[0].how = "lines"
		return answers[0], true, nil
	case len(answers) > 1:
		return origin{unknown: true, how: "a loop wrote such lines more than once"}, true, nil
	case suspect:
		return origin{unknown: true, how: "a loop wrote such a line too"}, true, nil
	}
	return found, false, nil
}

// absorbed reports whether the history of a commit has what a loop wrote without this commit, so that
// git itself knows which lines are from there.
func (o *origins) absorbed(ctx context.Context, c *commit, p loopPatch) bool {
	if _, committed := o.made[p.to]; committed && o.isOlder(ctx, p.to, c.sha) {
		return true
	}
	for _, parent := range c.parents {
		texts := map[string]int{}
		for _, line := range o.lines(ctx, parent, p.path) {
			texts[line]++
		}
		if !slices.ContainsFunc(p.texts, func(text string) bool { texts[text]--; return texts[text] < 0 }) {
			return true
		}
	}
	// Nothing was uncommitted at a later step, and its commit is in the history.
	for _, chain := range o.chains {
		at := slices.IndexFunc(chain.steps, func(s step) bool { return s.tree.Commit == p.to })
		if at >= 0 && slices.ContainsFunc(chain.steps[at:], func(s step) bool { return o.isClean(s.tree) && o.isOlder(ctx, o.headOf(s.tree), c.sha) }) {
			return true
		}
	}
	return false
}

// isClean reports whether nothing was uncommitted when a tree was kept.
func (h *history) isClean(t provenance.Tree) bool {
	head, kept := h.commits[h.headOf(t)], h.commits[t.Commit]
	return t.Head || head != nil && kept != nil && head.tree == kept.tree
}

func (a origin) same(b origin) bool { return a.by == b.by && a.unknown == b.unknown }

// worktree returns a commit with a file as it is in the work tree now.
func (h *history) worktree(ctx context.Context, path string, content []byte) (string, error) {
	chain := h.chains[h.root]
	from, last, base := source{how: "not committed"}, "", ""
	if chain != nil && len(chain.steps) > 0 {
		from = chain.now
		at := len(chain.steps) - 1
		sha, err := h.stepCommit(ctx, chain, at)
		if err != nil {
			return "", err
		}
		last = sha
		if head := h.headOf(chain.steps[at].tree); head != "" && !h.isOlder(ctx, head, h.head) {
			// Another branch is checked out, or this one was rewritten: what is not committed may be
			// from the loop or not.
			last, from = "", source{unknown: true, how: "not committed, and another branch was checked out since the loop"}
		}
	}
	if base = h.head; base == "" {
		base = last
	}
	blob, err := h.git.Feed(ctx, content, "hash-object", "-w", "--stdin", "--no-filters")
	if err != nil {
		return "", err
	}
	tree, err := h.treeWith(ctx, base, path, string(bytes.TrimSpace(blob)))
	if err != nil {
		return "", err
	}
	return h.join(ctx, tree, from, h.head, last)
}

// treeWith returns the tree of a commit with another content of a file.
func (h *history) treeWith(ctx context.Context, commit, path, blob string) (string, error) {
	g := h.git
	g.Env = append(slices.Clip(g.Env), "GIT_INDEX_FILE="+filepath.Join(h.objects, "index"))
	if commit != "" {
		if _, err := g.Read(ctx, "read-tree", commit); err != nil {
			return "", err
		}
	}
	if _, err := g.Feed(ctx, []byte("100644 "+blob+"\t"+path+"\x00"), "update-index", "-z", "--add", "--index-info"); err != nil {
		return "", err
	}
	return g.Line(ctx, "write-tree")
}
