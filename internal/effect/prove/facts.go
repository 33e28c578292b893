package prove

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/prove/gaming"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/ground/fileclass"
	"github.com/ralph-loop/ralph/journal/event"
)

// factTime bounds the reading of the files, also after the time of the proof is over.
const factTime = time.Minute

// facts returns what looks like gaming in the files.
func (r *run) facts() []event.GamingFact {
	if r.states.claimed == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.outer), factTime)
	defer cancel()
	same, err := r.states.sameTests(ctx, r.tree.Git())
	if err != nil {
		same = map[string]string{} // what differs says most
	}
	in := gaming.Input{Start: same, Claimed: maps.Clone(same), Guardrails: r.states.commands, Dir: r.states.dir, Tests: r.tests, Mutants: r.tried}
	for _, f := range r.states.files {
		if f.hasStartText {
			in.Start[f.path] = f.startText
		}
		if f.hasText {
			in.Claimed[f.path] = f.textNow
		}
	}
	return gaming.Find(in)
}

// sameTests returns the tests that do not differ, and what configures and starts them.
func (s *states) sameTests(ctx context.Context, git repo.Git) (map[string]string, error) {
	out, err := git.Read(ctx, "ls-tree", "-r", "-z", "--full-tree", s.claimed)
	if err != nil {
		return nil, err
	}
	differs := map[string]bool{}
	for _, f := range s.files {
		differs[f.path] = true
	}
	named := map[string]string{} // the content by path
	var ids []string
	for record := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		// "100644 blob id", a tab, the path
		head, name, _ := strings.Cut(record, "\t")
		words := strings.Fields(head)
		if len(words) != 3 || !isRegular(words[0]) || differs[name] || len(ids) == maxFiles {
			continue
		}
		if fileclass.Classify(name, nil).IsForTests() || s.mentions(name) {
			named[name] = words[2]
			ids = append(ids, words[2])
		}
	}
	texts, err := blobs(ctx, git, ids)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for name, id := range named {
		if text, ok := texts[id]; ok {
			found[name] = text
		}
	}
	return found, nil
}

// mentions reports whether a command of a guardrail has the name of a file in it.
func (s *states) mentions(name string) bool {
	return slices.ContainsFunc(s.commands, func(c string) bool { return strings.Contains(c, path.Base(name)) })
}
