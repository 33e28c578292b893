// Package project says which repository, branch and folder a pool would work in for the work tree
// that a person is in, and refuses one whose work other hosts would not see.
package project

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A Project is what a specification says of where its loop works.
type Project struct {
	Repository string
	Branch     string
	Inside     string // with slashes
}

// Find returns the project of a folder. Files in without may differ from what is committed: they go
// into the prompt.
func Find(ctx context.Context, dir string, without []string) (Project, error) {
	var p Project
	root, err := git(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return p, fmt.Errorf("%s is in no git repository: name one with --repository: %w", dir, err)
	}
	if p.Inside, err = git(ctx, dir, "rev-parse", "--show-prefix"); err != nil {
		return p, err
	}
	p.Inside = strings.TrimSuffix(p.Inside, "/")
	if p.Branch, err = git(ctx, dir, "symbolic-ref", "--short", "--quiet", "HEAD"); err != nil {
		return p, errors.New("no branch is checked out here: check one out, or name --repository and --branch")
	}
	remote := "origin"
	if name, err := git(ctx, dir, "config", "branch."+p.Branch+".remote"); err == nil && name != "" && name != "." {
		remote = name
	}
	if p.Repository, err = git(ctx, dir, "remote", "get-url", "--", remote); err != nil {
		return p, fmt.Errorf("the repository has no remote %s, from which other hosts could clone it: 'git remote add', or name one with --repository", remote)
	}
	if err := committed(ctx, root, without); err != nil {
		return p, err
	}
	return p, pushed(ctx, dir, remote, p.Branch)
}

// committed refuses files that no commit has.
func committed(ctx context.Context, root string, without []string) error {
	out, err := git(ctx, root, "status", "--porcelain", "-z", "--untracked-files=all", "--no-renames", "--", ".", ":(exclude,top)**/.ralph/**", ":(exclude,top).ralph/**")
	if err != nil {
		return err
	}
	var missing []string
	for line := range strings.SplitSeq(out, "\x00") {
		if len(line) > 3 && !slices.Contains(without, filepath.Join(root, line[3:])) {
			missing = append(missing, line[3:])
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("%s not committed, and other hosts would not have that: commit and push, or put it away with 'git stash -u'", few(missing))
}

func few(names []string) string {
	rest := ""
	if len(names) > 3 {
		rest, names = fmt.Sprintf(" and %d more files", len(names)-3), names[:3]
	}
	var quoted []string
	for _, name := range names {
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	verb := " are"
	if len(names) == 1 {
		verb = " is"
	}
	return strings.Join(quoted, ", ") + rest + verb
}

// pushed refuses commits that the remote does not have.
func pushed(ctx context.Context, dir, remote, branch string) error {
	out, err := git(ctx, dir, "ls-remote", "--", remote, "refs/heads/"+branch)
	if err != nil {
		return fmt.Errorf("ask %s for its branch %s: %w", remote, branch, err)
	}
	hash, _, _ := strings.Cut(out, "\t")
	if hash == "" {
		return fmt.Errorf("%s has no branch %s: 'git push -u %s %s'", remote, branch, remote, branch)
	}
	if _, err := git(ctx, dir, "merge-base", "--is-ancestor", "HEAD", hash); err == nil {
		return nil
	}
	// Somebody may have pushed what is not here yet.
	count, err := git(ctx, dir, "rev-list", "--count", "HEAD", "--not", "--remotes="+remote)
	if err != nil {
		return err
	}
	if _, err := git(ctx, dir, "cat-file", "-e", hash); err != nil && count == "0" {
		return nil
	}
	if count == "0" {
		return fmt.Errorf("branch %s has other commits at %s, and lacks those here: 'git pull' and 'git push', or check out what is there", branch, remote)
	}
	return fmt.Errorf("%s does not have all commits of branch %s (not pushed: %s): 'git push %s %s'", remote, branch, count, remote, branch)
}

func git(ctx context.Context, dir string, args ...string) (string, error) {
	var out, problem bytes.Buffer
	command := exec.CommandContext(ctx, "git", args...)
	command.Dir, command.Stdout, command.Stderr = dir, &out, &problem
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %.500s", args[0], err, strings.TrimSpace(problem.String()))
	}
	return strings.TrimRight(out.String(), "\n"), nil
}
