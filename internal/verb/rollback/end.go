package rollback

import (
	"context"

	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/effect/provenance"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/registry"
)

// Work is what changed in files since the first iteration of a loop.
type Work struct {
	Patch []byte // up to now, as git diff with the options prints it
	// Own are the files that the loop had changed at its end; nil if it runs, and if that is not
	// known.
	Own   map[string]bool
	Since []string // the files that changed since its end; nil where Own is
}

// WorkOf returns what changed in files since the first iteration of a loop.
func WorkOf(ctx context.Context, e *cli.Env, s registry.Status, options []string) (w Work, err error) {
	t, err := open(ctx, e, s)
	if err != nil {
		return w, err
	}
	now, err := keep.FilesNow(ctx, t.dir, t.env...)
	if err != nil {
		return w, err
	}
	start := t.all[0].Commit
	if end := t.end(ctx); end != "" {
		own, err := t.changed(ctx, start, end, nil)
		if err != nil {
			return w, err
		}
		since, err := t.changed(ctx, end, now, nil)
		if err != nil {
			return w, err
		}
		w.Own = map[string]bool{}
		for _, file := range own {
			w.Own[file.Path] = true
		}
		for _, file := range since {
			w.Since = append(w.Since, file.Path)
		}
	}
	w.Patch, err = repo.Diff(ctx, t.dir, start, now, options, nil, t.env...)
	return w, err
}

// end returns the commit that keeps the work tree as it was after the last iteration. It is empty
// if the loop runs, if its agent may have worked since, and if that is not kept.
func (t trees) end(ctx context.Context) string {
	if t.Live.Alive || t.state.Changes.AgentRan {
		return ""
	}
	last, err := provenance.Current(t.Dir)
	if err != nil { // its last segment has no iteration
		all, err := provenance.Read(t.Dir)
		if err != nil || len(all.Iterations) == 0 {
			return ""
		}
		last = all.Iterations[len(all.Iterations)-1]
	}
	kept, err := keep.End(ctx, t.dir, t.id, last.N, t.env...)
	if err != nil || kept != last.After.Commit { // an old loop has only the commit of a clean work tree
		return ""
	}
	return kept
}
