package prove

import (
	"context"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/effect/scratch"
)

// prepare brings into the throw-away tree what git ignores and a fresh tree lacks: what the
// settings name for a worktree, and folders of dependencies. It reports whether it brought
// anything.
func (r *run) prepare(ctx context.Context) (bool, error) {
	if err := r.reset(ctx, r.states.claimed); err != nil {
		return false, err
	}
	err := r.tree.Prepare(ctx, scratch.Preparation{From: r.Dir, Copy: r.Worktree.Copy, Moved: r.moved, Env: r.Env})
	if err == nil && r.Worktree.Setup != "" { // what fails without it says so in its control
		_, err = r.shell(ctx, r.Worktree.Setup)
	}
	if err != nil {
		return false, err
	}
	out, err := r.tree.Git().Read(ctx, "ls-files", "-z", "--others", "--directory")
	if err != nil {
		return false, err
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if name != "" && path.Base(name) != "__pycache__" { // compiled from files that mutants change
			r.keep = append(r.keep, "/"+escaped(name))
		}
	}
	return len(r.keep) > 0, nil
}

// escaped writes a path as a pattern of a .gitignore.
func escaped(name string) string {
	return regexp.MustCompile(`[\\*?\[\]! #]`).ReplaceAllString(name, `\$0`)
}

// movedTo returns a function that replaces the path of a work tree in a text, such as a command or
// a variable of the environment, by that of the throw-away one. A home folder is not replaced.
func movedTo(root, tree string, env []string) func(string) string {
	if env == nil {
		env = os.Environ()
	}
	if root == "/" || slices.Contains(env, "HOME="+root) {
		return func(text string) string { return text }
	}
	ends := regexp.MustCompile(regexp.QuoteMeta(root) + `([^\w.-]|$)`)
	return func(text string) string {
		if !strings.Contains(text, root) {
			return text
		}
		return ends.ReplaceAllString(text, strings.ReplaceAll(tree, "$", "$$")+"${1}")
	}
}
