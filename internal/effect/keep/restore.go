package keep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/effect/repo"
)

// Restored is what [Restore] did.
type Restored struct {
	Files []string `json:"files"` // the paths that differed, sorted; an empty folder ends in a slash
	// Left are files that differed and are left as they are.
	Left []SkippedFile `json:"left,omitempty"`
	// Gone is what is not brought back, by its kind: bits of a mode, pipes and sockets.
	Gone []SkippedFile `json:"gone,omitempty"`
	Ref  string        `json:"kept,omitempty"` // it keeps the files as they were found; empty if none differed
	// CutOff keeps them as an earlier Restore found them that did not end; empty if there was none.
	CutOff string `json:"cutOff,omitempty"`
}

// Restore makes the files of the work tree around dir those of commit, one of [Iterations]. HEAD,
// the index and files that were ignored then stay. Before it changes the first file, it keeps all
// files under a new ref, so that Restore with that ref brings them back. If it is killed, the same
// call again does the rest, and names the ref of the first one. A [SkippedError] is about single
// files, after all others were restored. With dry it only finds the files, and CutOff is the ref of
// an earlier one that has not ended.
func Restore(ctx context.Context, dir, id, commit string, dry bool, env ...string) (Restored, error) {
	return boundedRestore(ctx, dir, id, commit, dry, nil, env)
}

// RestoreFile is Restore of one file: all others may differ.
func RestoreFile(ctx context.Context, dir, id, commit, path string, env ...string) (Restored, error) {
	return boundedRestore(ctx, dir, id, commit, false, func(other string) bool { return other != path }, env)
}

func boundedRestore(ctx context.Context, dir, id, commit string, dry bool, allowed func(string) bool, env []string) (Restored, error) {
	ctx, cancel := repo.Bounded(ctx, keepTime)
	defer cancel()
	result, err := restore(ctx, dir, id, commit, dry, allowed, env)
	if _, ok := errors.AsType[*SkippedError](err); err != nil && !ok {
		err = fmt.Errorf("restore the work tree: %w", err)
	}
	return result, err
}

func restore(ctx context.Context, dir, id, commit string, dry bool, allowed func(string) bool, env []string) (result Restored, err error) {
	result.Files = []string{}
	base, err := openBase(ctx, dir, commit, env)
	if err != nil {
		return result, err
	}
	r := &reversal{base: base, Undo: Undo{Ref: LoopRefs(id) + unfinishedRestore, Allowed: allowed}}
	if r.keeper, err = read(ctx, dir, env, &base.moment); err != nil {
		return result, err
	}
	defer func() { r.close() }()
	if result.Gone, err = r.compareFiles(ctx); err != nil {
		return result, err
	}
	if dry {
		result.Files, result.Left = r.result.Files, r.skipped
		if _, err = r.Read(ctx, "rev-parse", "--verify", "--quiet", r.Ref); err == nil {
			result.CutOff = r.Ref
		} else if repo.ExitCode(err) == 1 {
			err = nil
		}
		return result, err
	}
	if result.CutOff, err = r.finishRestore(ctx, id); err != nil {
		return result, err
	}
	if len(r.onDisk)+len(r.folders) > 0 {
		err = r.putFilesBack(ctx)
		if r.result.Ref != "" {
			ref, finished := r.finishRestore(context.WithoutCancel(ctx), id)
			result.Ref, err = ref, errors.Join(err, finished)
		}
	}
	isLeft := func(name string) bool {
		return slices.ContainsFunc(r.skipped, func(f SkippedFile) bool { return f.Path == strings.TrimSuffix(name, "/") })
	}
	result.Files, result.Left = slices.DeleteFunc(r.result.Files, isLeft), r.skipped
	if err == nil {
		err = r.skippedError()
	}
	return result, err
}

// unfinishedRestore ends the name of the ref of what a Restore found, as long as it runs.
const unfinishedRestore = "rolling-back"

// finishRestore gives the ref of a Restore that has ended, or was cut off, its last name, and
// returns that; empty if there is none.
func (g git) finishRestore(ctx context.Context, id string) (string, error) {
	refs, err := g.finishRefs(ctx, LoopRefs(id)+unfinishedRestore, func(string) string { return LoopRefs(id) + "before-rollback" })
	return strings.Join(refs, ""), err
}

// compareFiles finds the files that differ, and returns what is not brought back.
func (r *reversal) compareFiles(ctx context.Context) (gone []SkippedFile, err error) {
	if r.onDisk, err = r.changes(ctx, r.base.tree, r.tree); err != nil {
		return nil, err
	}
	r.compareUnkept()
	gone = r.compareOdd()
	r.result.Files = []string{}
	for _, c := range r.onDisk {
		r.result.Files = append(r.result.Files, c.path)
	}
	for _, name := range r.folders {
		r.result.Files = append(r.result.Files, name+"/")
	}
	slices.Sort(r.result.Files)
	return gone, nil
}

// openBase opens what was kept as a commit.
func openBase(ctx context.Context, dir, commit string, env []string) (*Base, error) {
	g, at, err := locate(ctx, dir, env)
	if err != nil {
		return nil, err
	}
	text, err := g.Read(ctx, "cat-file", "commit", commit)
	if err != nil {
		return nil, err
	}
	b := &Base{dir: dir, env: env, commit: commit}
	if b.moment, err = parseNotes(string(text), at); err != nil {
		return nil, fmt.Errorf("commit %.12s: %w", commit, err)
	}
	if b.tree, err = g.Line(ctx, "rev-parse", "--verify", commit+"^{tree}"); err != nil {
		return nil, err
	}
	names, err := g.Read(ctx, "ls-tree", "-r", "-z", "--name-only", "--full-tree", b.tree)
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(string(names), "\x00") {
		if name != "" {
			b.files[name] = file{}
		}
	}
	return b, nil
}
