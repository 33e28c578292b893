package keep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/ralph-loop/ralph/internal/effect/repo"
)

// ErrInTheWay reports that a merge would replace what is nowhere else.
var ErrInTheWay = errors.New("files that are not committed here would be replaced")

// Merge moves the branch and the files around dir to the result of a merge. Uncommitted changes and
// ignored files stay; if one of them is in the way of a file of the merge, nothing is changed and
// the error, an [ErrInTheWay], names it. The person's filters run, such as Git LFS, and no hook. A
// branch that has moved since the plan is an error.
func Merge(ctx context.Context, dir string, m repo.Merge, env ...string) error {
	ctx, cancel := repo.Bounded(ctx, repo.WorktreeTime)
	defer cancel()
	g := gitIn(dir, env)
	g.Limit = repo.WorktreeTime
	now, err := g.Head(ctx)
	if err == nil && now != m.Before {
		err = fmt.Errorf("the branch %s has moved meanwhile", m.Into)
	}
	var names []string
	if err == nil {
		names, err = g.inTheWay(ctx, m)
	}
	if err == nil && len(names) == 0 {
		g.Env = append(g.Env, "GIT_REFLOG_ACTION=ralph merge")
		_, err = g.Read(ctx, "merge", "--ff-only", "--no-overwrite-ignore", "--quiet", "--no-stat", m.Result)
	}
	if names = append(names, overwritten(err)...); len(names) > 0 {
		err = fmt.Errorf("%w: %s", ErrInTheWay, strings.Join(names, ", "))
	}
	if err != nil {
		err = fmt.Errorf("merge: %w", err)
	}
	return err
}

// inTheWay returns what is on the disk where the merge adds files, and what git would remove:
// pipes, sockets and devices in a folder there, which git does not see, and files in a sparse work
// tree, where git overwrites ignored ones in spite of --no-overwrite-ignore (2.39.5).
func (g git) inTheWay(ctx context.Context, m repo.Merge) (names []string, err error) {
	sparse, err := g.Line(ctx, "config", "--type=bool", "--default=false", "--get", "core.sparseCheckout")
	if err != nil {
		return nil, err
	}
	at, err := g.Locate(ctx)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(at.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	added, err := g.Read(ctx, "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=A", m.Before, m.Result)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for file := range strings.SplitSeq(strings.TrimSuffix(string(added), "\x00"), "\x00") {
		names = append(names, unseenIn(root, file)...)
		name := firstFile(root, file)
		if name == "" || sparse != "true" || seen[name] {
			continue
		}
		seen[name] = true
		others, err := g.Read(ctx, "ls-files", "--others", "-z", "--", ":(top,literal)"+name)
		if err != nil {
			return nil, err
		}
		if len(others) > 0 {
			names = append(names, name)
		}
	}
	return names, nil
}

// unseenIn returns the pipes, sockets and devices at a name and below it.
func unseenIn(root *os.Root, name string) (unseen []string) {
	_ = fs.WalkDir(root.FS(), name, func(at string, entry fs.DirEntry, err error) error {
		if err == nil && kindOf(entry.Type()) != "" {
			unseen = append(unseen, at)
		}
		return nil // what cannot be read git cannot remove
	})
	return unseen
}

// firstFile returns what is at name, or in the place of a folder above it; empty if nothing is.
func firstFile(root *os.Root, name string) string {
	for i := 0; i <= len(name); i++ {
		if i < len(name) && name[i] != '/' {
			continue
		}
		info, err := root.Lstat(name[:i])
		if err != nil {
			return "" // nothing is there, or git will say why it cannot be read
		}
		if i == len(name) || !info.IsDir() {
			return name[:i]
		}
	}
	return ""
}

// overwritten returns the files with uncommitted changes for which git refused a merge.
func overwritten(err error) (names []string) {
	refused, ok := errors.AsType[*repo.Error](err)
	if !ok {
		return nil
	}
	for line := range strings.Lines(refused.Output) {
		if name, ok := strings.CutPrefix(line, "\t"); ok { // git names each on a line of its own
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names
}
