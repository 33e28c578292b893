package blaming

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/effect/provenance"
	"github.com/ralph-loop/ralph/internal/effect/repo"
)

// patchOf returns what was changed from one commit to another in a file.
func (o *origins) patchOf(ctx context.Context, from, to, path string) (patch, bool, error) {
	changed, err := o.changed(ctx, from, to)
	if err != nil {
		return patch{}, false, err
	}
	if at := slices.IndexFunc(changed, func(p patch) bool { return p.path == path }); at >= 0 {
		return changed[at], true, nil
	}
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

// mostChanges is how many bytes of changes are kept for another question.
const mostChanges = 1 << 20

// changed returns what was changed from one commit to another in all files. Of changes that are too
// large to be read none are known.
func (o *origins) changed(ctx context.Context, from, to string) ([]patch, error) {
	key := from + to
	if all, done := o.changes[key]; done {
		return all, nil
	}
	out, err := o.git.Read(ctx, slices.Concat(diffTree, []string{from, to})...)
	if err != nil && !errors.Is(err, repo.ErrTooMuch) {
		return nil, err
	}
	if err != nil {
		out = nil
	}
	all := parsePatches(string(out))
	if len(out) < mostChanges {
		o.changes[key] = all
	}
	return all, nil
}

// readAhead reads at once the commits that are blamed for lines, and what they changed.
func (o *origins) readAhead(ctx context.Context, blames map[int]blamed) error {
	names := map[string]bool{}
	for _, b := range blames {
		if _, made := o.sources[b.commit]; !made {
			names[b.commit] = true
		}
	}
	if err := o.read(ctx, slices.Collect(maps.Keys(names))); err != nil {
		return err
	}
	var asked []*commit
	var parents []string
	for sha := range names {
		if c := o.commits[sha]; c != nil && c.at >= o.since && len(c.parents) == 1 && !o.shallow[sha] {
			asked, parents = append(asked, c), append(parents, c.parents[0])
		}
	}
	if err := o.read(ctx, slices.Clone(parents)); err != nil || len(asked) == 0 {
		return err
	}
	var trees bytes.Buffer
	for at, c := range asked {
		before, err := o.about(ctx, parents[at])
		if err != nil {
			return err
		}
		fmt.Fprintln(&trees, before.tree, c.tree)
	}
	out, err := o.git.Feed(ctx, trees.Bytes(), slices.Concat(diffTree, []string{"--stdin"})...)
	if err != nil { // too much for once
		return nil
	}
	for at, c := range asked {
		o.changes[parents[at]+c.sha] = []patch{}
	}
	for _, p := range parsePatches(string(out)) {
		key := parents[p.pair] + asked[p.pair].sha
		o.changes[key] = append(o.changes[key], p)
	}
	return nil
}

var diffTree = []string{
	"diff-tree", "-r", "-p", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv", "--unified=3", "--diff-algorithm=myers",
}

// loopPatch is a change that a loop made.
type loopPatch struct {
	patch
	to     string         // the commit that has the lines
	counts map[string]int // how often it adds each text
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
	for _, p := range h.doubtful {
		add(p[0], p[1])
	}
	return all
}

// findDoubtful finds the commits of people that may have what an iteration left whose end is not
// kept: their copies are as doubtful.
func (h *history) findDoubtful(ctx context.Context) error {
	for _, root := range slices.Sorted(maps.Keys(h.chains)) {
		chain := h.chains[root]
		certain := func(at int) bool { s := chain.after(at); return s.by == nil && !s.unknown }
		if !filepath.IsAbs(root) || !slices.ContainsFunc(chain.places(), func(at int) bool { return !certain(at) }) {
			continue
		}
		var wanted []string
		for sha, did := range h.reflogOf(ctx, root) {
			if repo.Writes(did) && h.made[sha] == nil {
				wanted = append(wanted, sha)
			}
		}
		if err := h.read(ctx, slices.Clone(wanted)); err != nil {
			return err
		}
		slices.Sort(wanted)
		for _, sha := range wanted {
			if c := h.commits[sha]; c != nil {
				if at := h.stepBefore(ctx, chain, c); at >= 0 && !certain(at) {
					h.doubtful = append(h.doubtful, [2]string{chain.steps[at].tree.Commit, sha})
				}
			}
		}
	}
	return nil
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
		all = append(all, loopPatch{one, compared[one.pair], countTexts(one.texts)})
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
		found, ok, err = o.ofState(ctx, p.to, p.path, p.added[at], left, p.added...)
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

// ofRun traces a line by the lines around it, as git does for lines that were moved. A line that a
// loop wrote too, and that may be here by chance, is unknown.
func (o *origins) ofRun(ctx context.Context, c *commit, b blamed, left int) (found origin, ok bool, err error) {
	mine := o.lines(ctx, c.sha, b.path)
	if b.line < 1 || b.line > len(mine) {
		return found, false, nil
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
			suspect = suspect || p.counts[mine[b.line-1]] > 0
			runs, err := o.runsWith(ctx, c, b.path, p)
			if err != nil {
				return found, false, err
			}
			m := runs[b.line-1]
			if m.said < leastLetters || m.shared || len(m.places) > 1 {
				continue
			}
			if _, added := slices.BinarySearch(p.added, m.places[0]+1); !added {
				continue // another change of a loop added it, or none
			}
			if copied, err := o.isCopy(ctx, c, b.path, runs, b.line-1); copied || err != nil {
				suspect = true
				if err != nil {
					return found, false, err
				}
				continue
			}
			answer, ok, err := o.ofState(ctx, p.to, path, m.places[0]+1, left, p.added...)
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
		if answers[0].by != nil {
			answers[0].how = "lines"
		}
		return answers[0], true, nil
	case len(answers) > 1:
		return origin{unknown: true, how: "a loop wrote such lines more than once"}, true, nil
	case suspect:
		return origin{unknown: true, how: "a loop wrote such a line too"}, true, nil
	}
	return found, false, nil
}

// runsWith returns the runs that the lines of a file in a commit have in common with the file as a
// loop left it. The letters of those lines count that the commit added.
func (o *origins) runsWith(ctx context.Context, c *commit, path string, p loopPatch) (map[int]match, error) {
	key := c.sha + p.to + path + "\x00" + p.path
	if runs, done := o.runs[key]; done {
		return runs, nil
	}
	blames, err := o.blame(ctx, c.sha, path, o.addedBy(ctx, c, path)...)
	if err != nil {
		return nil, err
	}
	runs := longestRuns(number(o.lines(ctx, c.sha, path)), number(o.lines(ctx, p.to, p.path)), func(at int) bool { return blames[at+1].commit == c.sha })
	maps.DeleteFunc(runs, func(_ int, m match) bool { return m.said < leastLetters })
	o.runs[key] = runs
	return runs, nil
}

// leastCopied is how many letters a line needs to be looked for in all files.
const leastCopied = 10

// isCopy reports whether the lines of a run that a commit added are in another file before it. Then
// they may be a copy of those, and not the work that a loop left here.
func (o *origins) isCopy(ctx context.Context, c *commit, path string, runs map[int]match, at int) (bool, error) {
	blames, err := o.blame(ctx, c.sha, path, o.addedBy(ctx, c, path)...)
	if err != nil || len(c.parents) == 0 {
		return false, err
	}
	lines := o.lines(ctx, c.sha, path)
	there := o.elsewhere[c.sha+path]
	if there == nil {
		var patterns bytes.Buffer
		for n, b := range blames {
			if b.commit == c.sha && letters(lines[n-1]) >= leastCopied {
				fmt.Fprintln(&patterns, lines[n-1])
			}
		}
		there = map[string]bool{}
		out, err := o.git.Feed(ctx, patterns.Bytes(), "grep", "-h", "--no-color", "--fixed-strings", "--no-textconv", "-f", "-", c.parents[0])
		if err != nil && repo.ExitCode(err) != 1 { // 1: there are none
			return false, err
		}
		for line := range strings.Lines(string(out)) {
			there[strings.TrimSuffix(line, "\n")] = true
		}
		o.elsewhere[c.sha+path] = there
	}
	inRun := func(k int) bool { m := runs[k]; return len(m.places) == 1 && m.places[0]-k == runs[at].places[0]-at }
	from, to := at, at
	for inRun(from - 1) {
		from--
	}
	for inRun(to + 1) {
		to++
	}
	copied := false
	for k := from; k <= to; k++ {
		if blames[k+1].commit == c.sha && letters(lines[k]) >= leastCopied {
			if !there[lines[k]] {
				return false, nil
			}
			copied = true
		}
	}
	return copied, nil
}

// addedBy returns the numbers of the lines that a commit may have added to a file; none if it may
// be all of them.
func (o *origins) addedBy(ctx context.Context, c *commit, path string) []int {
	if len(c.parents) == 0 {
		return nil
	}
	p, _, err := o.patchOf(ctx, c.parents[0], c.sha, path)
	if err != nil {
		return nil
	}
	return p.added
}

// absorbed reports whether the history of a commit has what a loop wrote without this commit, so
// that git itself knows which lines are from there.
func (o *origins) absorbed(ctx context.Context, c *commit, p loopPatch) bool {
	key := c.sha + p.to + p.path + p.id
	done, known := o.absorbs[key]
	if !known {
		done = o.hasAllOf(ctx, c, p)
		o.absorbs[key] = done
	}
	return done
}

// hasAllOf is absorbed without memory.
func (o *origins) hasAllOf(ctx context.Context, c *commit, p loopPatch) bool {
	if _, committed := o.made[p.to]; committed && o.isOlder(ctx, p.to, c.sha) {
		return true
	}
	for _, parent := range c.parents {
		there := o.countsOf(ctx, parent, p.path)
		missing := false
		for text, n := range p.counts {
			missing = missing || there[text] < n
		}
		if !missing {
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

// countsOf returns how often a file in a commit has each line.
func (h *history) countsOf(ctx context.Context, rev, path string) map[string]int {
	key := rev + ":" + path
	if h.counts[key] == nil {
		h.counts[key] = countTexts(h.lines(ctx, rev, path))
	}
	return h.counts[key]
}

func countTexts(lines []string) map[string]int {
	counts := map[string]int{}
	for _, line := range lines {
		counts[line]++
	}
	return counts
}

// isClean reports whether nothing was uncommitted when a tree was kept.
func (h *history) isClean(t provenance.Tree) bool {
	head, kept := h.commits[h.headOf(t)], h.commits[t.Commit]
	return t.Head || head != nil && kept != nil && head.tree == kept.tree
}

func (o origin) same(other origin) bool { return o.by == other.by && o.unknown == other.unknown }
