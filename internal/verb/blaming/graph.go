package blaming

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// isOlder reports whether a commit is another one or an ancestor of it.
func (h *history) isOlder(ctx context.Context, sha, of string) bool {
	if sha == of {
		return true
	}
	if h.graph == nil {
		h.graph = h.readGraph(ctx)
	}
	if older, known := h.graph.isOlder(sha, of); known {
		return older
	}
	key := sha + of
	if _, ok := h.older[key]; !ok {
		_, err := h.git.Read(ctx, "merge-base", "--is-ancestor", sha, of)
		h.older[key] = err == nil
	}
	return h.older[key]
}

// mostCommits is how many commits a graph has at most; a longer history is asked for each answer.
const mostCommits = 200_000

// readGraph reads the history of HEAD and of all commits and work trees of loops.
func (h *history) readGraph(ctx context.Context) *graph {
	var tips strings.Builder
	for _, sha := range append(slices.Collect(maps.Keys(h.commits)), h.head) {
		if sha != "" {
			tips.WriteString(sha + "\n")
		}
	}
	g := &graph{places: map[string]int{}, ancestors: map[int][]uint64{}}
	out, err := h.git.Feed(ctx, []byte(tips.String()), "rev-list", "--parents", "--max-count="+strconv.Itoa(mostCommits+1), "--stdin")
	if err != nil || bytes.Count(out, []byte{'\n'}) > mostCommits {
		return g
	}
	for line := range strings.Lines(string(out)) {
		shas := strings.Fields(line)
		at := g.place(shas[0])
		for _, parent := range shas[1:] {
			place := g.place(parent)
			g.parents[at] = append(g.parents[at], place)
		}
	}
	return g
}

// A graph answers which commit is an ancestor of which.
type graph struct {
	places    map[string]int
	parents   [][]int
	ancestors map[int][]uint64 // a bit for each place
}

func (g *graph) place(sha string) int {
	at, ok := g.places[sha]
	if !ok {
		at = len(g.parents)
		g.places[sha] = at
		g.parents = append(g.parents, nil)
	}
	return at
}

func (g *graph) isOlder(sha, of string) (older, known bool) {
	a, ok := g.places[sha]
	b, also := g.places[of]
	if !ok || !also {
		return false, false
	}
	set := g.ancestors[b]
	if set == nil {
		set = make([]uint64, len(g.parents)/64+1)
		for next := []int{b}; len(next) > 0; {
			at := next[len(next)-1]
			next = next[:len(next)-1]
			for _, p := range g.parents[at] {
				if set[p/64]&(1<<(p%64)) == 0 {
					set[p/64] |= 1 << (p % 64)
					next = append(next, p)
				}
			}
		}
		g.ancestors[b] = set
	}
	return set[a/64]&(1<<(a%64)) != 0, true
}
