package blaming

import (
	"context"
	"slices"
	"strings"
)

// ofMove traces a line that a change moved, within its file or from another one: the change from
// one commit to another removed the same lines elsewhere, with letters enough to be no chance. Who
// wrote them there wrote this one. Where the original stays it is a copy, and the work of who
// copied: so the line in this file is.
func (o *origins) ofMove(ctx context.Context, to string, b blamed, left int, parents ...string) (found origin, ok bool, err error) {
	for _, from := range parents {
		all, err := o.movedFrom(ctx, from, to)
		if err != nil || left <= 0 {
			return found, false, err
		}
		_, step := o.sources[to]
		_, loops := o.made[to]
		line := all[blamed{to, b.path, b.line}]
		for n, source := range line.from {
			was, known, err := o.ofLine(ctx, from, source.path, source.line, left-1, sourcesIn(all, source.path)...)
			switch {
			case err != nil:
				return found, false, err
			case !known:
				return found, false, nil
			case line.copied && (step || loops || was.by != nil || was.unknown):
				return origin{unknown: true, how: "before or when it was moved: the same lines were moved and copied at once"}, true, nil
			case n > 0 && !was.same(found):
				return origin{unknown: true, how: "in one of several places from which it was moved"}, true, nil
			}
			found, ok = was, true
		}
		if ok {
			return found, true, nil
		}
	}
	return found, false, nil
}

// ofMoveIn traces a line that a commit moved.
func (o *origins) ofMoveIn(ctx context.Context, c *commit, b blamed, left int) (origin, bool, error) {
	return o.ofMove(ctx, c.sha, b, left, c.parents...)
}

// ofMoveSince traces a line that a commit moved from a work tree on which it was made.
func (o *origins) ofMoveSince(ctx context.Context, c *commit, from string, b blamed, left int) (origin, bool, error) {
	if gone, err := o.isGone(ctx, c, from, b); gone || err != nil {
		return origin{}, false, err
	}
	return o.ofMove(ctx, c.sha, b, left, from)
}

// moved is from where a line was moved: one of these lines. copied says that the change added them
// more often than it removed them.
type moved struct {
	from   []blamed
	copied bool
}

// movedFrom returns from where a change moved lines, by the lines.
func (o *origins) movedFrom(ctx context.Context, from, to string) (map[blamed]moved, error) {
	key := from + to
	if all, done := o.moves[key]; done {
		return all, nil
	}
	changed, err := o.changed(ctx, from, to)
	if err != nil {
		return nil, err
	}
	var added, removed []numbered
	for _, p := range changed {
		for at, n := range p.added {
			added = append(added, numbered{p.path, n, p.texts[at]})
		}
		for at, n := range p.removed {
			removed = append(removed, numbered{p.was, n, p.gone[at]})
		}
	}
	all := map[blamed]moved{}
	for at, m := range longestRuns(added, removed, func(int) bool { return true }) {
		if m.said < leastLetters {
			continue
		}
		line := moved{copied: m.shared}
		for _, place := range m.places {
			line.from = append(line.from, blamed{from, removed[place].path, removed[place].line})
		}
		all[blamed{to, added[at].path, added[at].line}] = line
	}
	o.moves[key] = all
	return all, nil
}

// isGone reports whether lines that a commit may have moved from a work tree were elsewhere in its
// parents already, so that it copied them.
func (o *origins) isGone(ctx context.Context, c *commit, from string, b blamed) (bool, error) {
	mine, err := o.movedFrom(ctx, from, c.sha)
	if err != nil || len(mine[blamed{c.sha, b.path, b.line}].from) == 0 {
		return false, err
	}
	for _, parent := range c.parents {
		earlier, err := o.movedFrom(ctx, from, parent)
		if err != nil {
			return false, err
		}
		for _, m := range earlier {
			if slices.ContainsFunc(m.from, func(s blamed) bool { return slices.Contains(mine[blamed{c.sha, b.path, b.line}].from, s) }) {
				return true, nil
			}
		}
	}
	return false, nil
}

// sourcesIn returns the lines of a file from which lines were moved.
func sourcesIn(moves map[blamed]moved, path string) (numbers []int) {
	for _, m := range moves {
		for _, line := range m.from {
			if line.path == path {
				numbers = append(numbers, line.line)
			}
		}
	}
	return numbers
}

// mostMoved is how many lines with the same text are looked at.
const mostMoved = 8

// removedWith returns the lines that a line of a new file may be from: of files that the same
// change removed. With too few lines in common, git does not see that one is the other.
func (h *history) removedWith(ctx context.Context, sha string, parents []string, b blamed) (all []blamed, err error) {
	key := sha + ":" + b.path
	texts, done := h.removed[key]
	if !done {
		texts = map[string][]blamed{}
		h.removed[key] = texts
		for _, p := range parents {
			if h.lines(ctx, p, b.path) != nil {
				return nil, nil
			}
		}
		for _, p := range parents {
			out, err := h.git.Line(ctx, "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=D", p, sha)
			if err != nil {
				return nil, err
			}
			for name := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
				for at, line := range h.lines(ctx, p, name) {
					texts[line] = append(texts[line], blamed{p, name, at + 1})
				}
			}
		}
	}
	lines := h.lines(ctx, sha, b.path)
	if b.line < 1 || b.line > len(lines) {
		return nil, nil
	}
	all = texts[lines[b.line-1]]
	return all[:min(len(all), mostMoved)], nil
}
