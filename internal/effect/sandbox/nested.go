package sandbox

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/ground/units"
)

// A git in a folder takes its settings and hooks from the repository that it finds there or in the
// folders around, and asks those of its index and of its work tree for their state. So what would
// run there is set aside if an agent wrote it.

const maxSettings = 1 << 20 // bytes of one file

// inert are settings of a repository that run no program and lead to no other settings. A star is
// the name of a remote, a branch or a submodule.
var inert = []string{
	"core.repositoryformatversion", "core.filemode", "core.bare", "core.logallrefupdates", "core.symlinks",
	"core.ignorecase", "core.precomposeunicode", "core.worktree",
	"core.autocrlf", "core.eol", "core.untrackedcache", "core.splitindex", "core.sparsecheckout", "core.sparsecheckoutcone", "core.quotepath", "index.sparse",
	"extensions.objectformat", "extensions.refstorage", "extensions.worktreeconfig", "extensions.partialclone", "extensions.preciousobjects",
	"user.name", "user.email", "init.defaultbranch", "pull.rebase", "push.default", "commit.gpgsign", "tag.gpgsign", "gc.auto",
	"remote.*.url", "remote.*.pushurl", "remote.*.fetch", "remote.*.push", "remote.*.tagopt", "remote.*.prune",
	"remote.*.promisor", "remote.*.partialclonefilter",
	"branch.*.remote", "branch.*.merge", "branch.*.rebase", "branch.*.vscode-merge-base", "submodule.active", "submodule.*.url", "submodule.*.active",
}

// isInert reports whether a setting is one of those.
func isInert(name string) bool {
	first, last := strings.IndexByte(name, '.'), strings.LastIndexByte(name, '.')
	if first >= 0 && first < last {
		name = name[:first] + ".*" + name[last:]
	}
	return slices.Contains(inert, name)
}

// A digest is that of a file; zero of one that cannot be read.
type digest [sha256.Size]byte

// runnable returns files of repositories that git would run, or that name a program that it would
// run. It looks in all that an agent may change.
func (b *Box) runnable() map[string]digest {
	found := map[string]digest{}
	if b.Mode == None {
		return found
	}
	reach := b.reach()
	for _, dir := range b.repositories(reach) {
		if outer := dir == b.Git.Own || dir == b.Git.Common; outer && (b.Mode != DockerSandbox || !within(b.Tree, dir)) {
			continue
		}
		for _, path := range b.running(reach, dir) {
			found[path] = digestOf(path)
		}
	}
	if b.Git.Common != "" {
		for _, path := range b.Git.strategies() {
			found[path] = digestOf(path)
		}
	}
	return found
}

// gitFolder returns the folder of git's of a work tree; "" without one.
func gitFolder(tree string) string {
	path := filepath.Join(tree, ".git")
	if text, err := safefile.ReadLinked(path, maxSettings); err == nil { // git reads no longer one
		to, ok := strings.CutPrefix(string(text), "gitdir: ")
		if !ok {
			return ""
		}
		path = namedPath(tree, to)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	return real
}

// namedPath returns the path that a file of git's names, as git reads it: with the spaces around
// it, and up to a NUL.
func namedPath(dir, text string) string {
	text, _, _ = strings.Cut(strings.TrimRight(text, "\r\n"), "\x00")
	if filepath.IsAbs(text) {
		return text
	}
	return filepath.Join(dir, text)
}

// running returns the files of a folder of git's that run something, as far as an agent may change
// them: its settings and its hooks.
func (b *Box) running(reach reach, dir string) (paths []string) {
	dirs, leads := []string{dir}, filepath.Join(dir, "commondir")
	if text, err := safefile.ReadLinked(leads, maxSettings); err == nil {
		if common, err := filepath.EvalSymlinks(namedPath(dir, string(text))); err == nil && common != b.Git.Common {
			dirs = append(dirs, common)
		}
	} else if !errors.Is(err, fs.ErrNotExist) { // git may read it
		paths = append(paths, leads)
	}
	for _, dir := range dirs {
		for _, name := range []string{"config", "config.worktree"} {
			if path := filepath.Join(dir, name); reach.changes(path) && !b.isInert(path) {
				paths = append(paths, path)
			}
		}
		hooks, _ := os.ReadDir(filepath.Join(dir, "hooks"))
		for _, hook := range hooks {
			if !strings.HasSuffix(hook.Name(), ".sample") {
				paths = append(paths, filepath.Join(dir, "hooks", hook.Name()))
			}
		}
	}
	return slices.DeleteFunc(paths, func(path string) bool { return !reach.changes(path) })
}

// isInert reports whether a file of settings is missing or runs nothing. Git is asked once for each
// content: most repositories have the settings of a new one.
func (b *Box) isInert(path string) bool {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return true
	}
	content := digestOf(path)
	if inert, known := b.judged[content]; known {
		return inert
	}
	names, err := repo.SettingNames(context.Background(), path) // which has a limit of its own
	inert := err == nil && !slices.ContainsFunc(names, func(name string) bool { return !isInert(name) })
	if b.judged == nil {
		b.judged = map[digest]bool{}
	}
	if content != (digest{}) {
		b.judged[content] = inert
	}
	return inert
}

func digestOf(path string) (d digest) {
	if text, err := safefile.ReadLinked(path, maxSettings); err == nil {
		d = sha256.Sum256(text)
	}
	return d
}

// putBackNested sets aside what would run in repositories of the tree and was not there before the
// agent began.
func (b *Box) putBackNested() error {
	var errs []error
	for path, is := range b.runnable() {
		if was := b.ran[path]; was == is && was != (digest{}) {
			continue
		}
		to, err := keep.MoveFound(b.Aside, path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		b.note("moved %s, which git would run, to %s", path, to)
		if path == filepath.Join(b.Git.Own, "config") && b.config != nil { // without it git knows no remotes
			errs = append(errs, safefile.Replace(safefile.Dir(b.Git.Own), "config", b.config, 0o644))
		}
	}
	return errors.Join(errs...)
}

// ownStrategies are the ways to merge that are a part of git.
var ownStrategies = []string{"ort", "recursive", "resolve", "octopus", "ours", "subtree"}

// optionStrategy finds the strategy in the options of a cherry-pick or revert.
var optionStrategy = units.Pattern(`(?im)^\s*(?:\[[^\]\n]*\]\s*)?strategy\s*=(.*)$`)

// strategies returns the files of an unfinished rebase, cherry-pick or revert that name another way
// to merge: git runs the program git-merge-NAME for it, and NAME can lead into the work tree.
func (r Repository) strategies() (paths []string) {
	rebase, pick := filepath.Join(r.Own, "rebase-merge", "strategy"), filepath.Join(r.Own, "sequencer", "opts")
	for _, path := range []string{rebase, pick} {
		text, err := safefile.Read(path, maxPin)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		names := []string{string(text)}
		if path == pick {
			names = nil
			for _, option := range optionStrategy().FindAllSubmatch(text, -1) {
				names = append(names, string(option[1]))
			}
		}
		other := func(name string) bool { return !slices.Contains(ownStrategies, strings.TrimSpace(name)) }
		if err != nil || slices.ContainsFunc(names, other) {
			paths = append(paths, path)
		}
	}
	return paths
}

// todo is what an unfinished rebase does next.
func (r Repository) todo() string { return filepath.Join(r.Own, "rebase-merge", "git-rebase-todo") }

const maxTodo = 4 << 20 // bytes

// programsOf returns the lines of a rebase that run a program.
func programsOf(todo []byte) (lines []string) {
	for line := range strings.Lines(string(todo)) {
		if word := strings.TrimLeft(line, " \t"); strings.HasPrefix(word, "x") || strings.HasPrefix(word, "exec") {
			lines = append(lines, strings.TrimRight(line, "\n"))
		}
	}
	return lines
}

// putBackRebase takes the lines that run a program out of an unfinished rebase, except those that
// were there before the agent began.
func (b *Box) putBackRebase() error {
	if b.Git.Common == "" {
		return nil
	}
	path := b.Git.todo()
	text, err := safefile.Read(path, maxTodo)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var plain []string
	removed := err != nil // a link, or too much of it
	for line := range strings.Lines(string(text)) {
		if run := programsOf([]byte(line)); len(run) > 0 && !slices.Contains(b.todo, run[0]) {
			removed = true
		} else {
			plain = append(plain, line)
		}
	}
	if !removed {
		return nil
	}
	to, err := keep.MoveFound(b.Aside, path)
	if err != nil {
		return err
	}
	b.note("took lines that run a program out of the unfinished rebase in %s, and moved it to %s", path, to)
	return safefile.Replace(safefile.Dir(filepath.Dir(path)), filepath.Base(path), []byte(strings.Join(plain, "")), 0o644)
}
