package repo

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ownFolder is ralph's. Its changes, in every iteration, are no progress.
const ownFolder = ".ralph"

// withoutOwn are the pathspecs for everything except ralph's folders, from the root of a working
// tree.
var withoutOwn = []string{".", ":(exclude,glob)**/" + ownFolder, ":(exclude,glob)**/" + ownFolder + "/**"}

func IsOwn(path string) bool {
	return slices.Contains(strings.Split(path, "/"), ownFolder)
}

// OwnEntries returns what git's index has of ralph's folders, in the form that git update-index -z
// --index-info reads. The paths are from the root.
func (g Git) OwnEntries(ctx context.Context) ([]byte, error) {
	return g.Read(ctx, "ls-files", "--stage", "-z", "--full-name", "--", ":(top,glob)**/"+ownFolder+"/**")
}

// A Location is a working tree and the folder of git's files for it alone: its index, its HEAD, the
// operation in progress.
type Location struct{ Root, GitDir string }

// Locate finds the working tree around the folder.
func (g Git) Locate(ctx context.Context) (Location, error) {
	if !hasDotGit(g.Dir) {
		return Location{}, ErrNoRepository
	}
	if err := checkFiles(g.Dir); err != nil {
		return Location{}, err
	}
	// The word between the paths separates them: they may contain newlines.
	out, err := g.Read(ctx, "rev-parse", "--show-toplevel", "--is-inside-work-tree", "--absolute-git-dir")
	if err != nil {
		return Location{}, err
	}
	root, gitDir, ok := strings.Cut(strings.TrimSuffix(string(out), "\n"), "\ntrue\n")
	if !ok {
		return Location{}, ErrNoRepository
	}
	return Location{filepath.FromSlash(root), filepath.FromSlash(gitDir)}, nil
}

// hasDotGit reports whether the folder or one around it has an entry .git, without which there is
// no working tree. That takes microseconds; git takes milliseconds, at the start of each loop
// outside version control. For a folder that cannot be resolved, git returns the error.
func hasDotGit(dir string) bool {
	at, err := resolve(dir)
	return err != nil || top(at) != ""
}

// WorkTree returns the working tree that a folder belongs to: the nearest folder around it with an
// entry .git, without links in its path; outside version control the folder itself. It does not
// call git.
func WorkTree(dir string) (string, error) {
	at, err := resolve(dir)
	if err != nil {
		return "", fmt.Errorf("find the work tree of %s: %w", dir, err)
	}
	return cmp.Or(top(at), at), nil
}

// Inside returns the place of a folder in its repository, with slashes; "." for the root.
func Inside(dir string) (string, error) {
	root, err := WorkTree(dir)
	if err != nil {
		return "", err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", err
	}
	inside, err := filepath.Rel(root, dir)
	return filepath.ToSlash(inside), err
}

func resolve(dir string) (string, error) {
	at, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(at)
}

// top returns the nearest folder with an entry .git; empty if there is none.
func top(at string) string {
	for {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		above := filepath.Dir(at)
		if above == at {
			return ""
		}
		at = above
	}
}

// operations are the files by which git itself recognizes an operation in progress, each with the
// operation's name and the command that aborts it.
var operations = []struct{ file, name, abort string }{
	{"MERGE_HEAD", "merge", "git merge --abort"},
	{"rebase-merge", "rebase", "git rebase --abort"},
	{"rebase-apply/applying", "am", "git am --abort"},
	{"rebase-apply", "rebase", "git rebase --abort"},
	{"CHERRY_PICK_HEAD", "cherry-pick", "git cherry-pick --abort"},
	{"REVERT_HEAD", "revert", "git revert --abort"},
}

// CheckFinished returns an *Error with [ErrUnfinished] in an operation that waits to be finished.
func (p Location) CheckFinished() error {
	if op, abort := p.operation(); op != "" {
		return &Error{Doing: "git " + op, Err: fmt.Errorf("it is %w", ErrUnfinished), hint: "finish it, or call it off with '" + abort + "'"}
	}
	return nil
}

// operation returns the operation in progress; empty if there is none.
func (p Location) operation() (name, abort string) {
	for _, op := range operations {
		if _, err := os.Lstat(filepath.Join(p.GitDir, filepath.FromSlash(op.file))); err == nil {
			return op.name, op.abort
		}
	}
	return "", ""
}

// A status is the output of git status without ralph's folders.
type status struct {
	head    string // empty if nothing is committed yet
	branch  string // HEAD if it is detached
	entries []entry
}

// An entry is a path that differs from HEAD, in the index or on disk.
type entry struct {
	kind     byte   // '1' tracked, 'u' unmerged, '?' untracked
	path     string // from the root, with slashes; one that ends in a slash is another repository
	headMode string // empty if HEAD has no such path
	headID   string
	module   bool // HEAD or the index has it as a submodule
	gone     bool // no such file is on the disk, or a link is on the way to it
}

// status lists all untracked files one by one. It has no pathspec, because with one git does not
// use its cache of untracked files. Renames are not detected: git would have to compare contents.
// Uncommitted changes in submodules are left out: git would look there with that submodule's own
// settings.
func (g Git) status(ctx context.Context) (status, error) {
	out, err := g.Read(ctx, "status", "--porcelain=v2", "-z", "--branch", "--untracked-files=all", "--no-renames",
		"--no-ahead-behind", "--ignore-submodules=dirty")
	if err != nil {
		return status{}, err
	}
	return parseStatus(out)
}

// parseStatus reads the format of git-status(1), "Porcelain Format Version 2", with -z. Object
// names may have any length.
func parseStatus(out []byte) (status, error) {
	var s status
	for record := range bytes.SplitSeq(out, []byte{0}) {
		if len(record) == 0 {
			continue
		}
		if head, ok := bytes.CutPrefix(record, []byte("# branch.oid ")); ok && string(head) != "(initial)" {
			s.head = string(head)
		}
		if name, ok := bytes.CutPrefix(record, []byte("# branch.head ")); ok {
			s.branch = strings.Replace(string(name), "(detached)", "HEAD", 1)
		}
		if record[0] == '#' || record[0] == '!' {
			continue
		}
		e, ok := parseEntry(string(record))
		if !ok {
			return status{}, fmt.Errorf("read git status: unknown record %.80q", record)
		}
		if !IsOwn(e.path) {
			s.entries = append(s.entries, e)
		}
	}
	return s, nil
}

func parseEntry(record string) (entry, bool) {
	e := entry{kind: record[0]}
	// 1 XY sub mH mI mW hH hI path
	// u XY sub m1 m2 m3 mW h1 h2 h3 path
	// ? path
	fields := map[byte]int{'1': 9, 'u': 11, '?': 2}[e.kind]
	parts := strings.SplitN(record, " ", fields)
	if fields == 0 || len(parts) != fields || len(parts[0]) != 1 {
		return entry{}, false
	}
	e.path = parts[fields-1]
	switch e.kind {
	case '1':
		e.headMode, e.headID = parts[3], parts[6]
		e.gone = parts[1] == "D." || strings.HasSuffix(parts[1], "D")
	case 'u': // our side, which is in HEAD
		e.headMode, e.headID = parts[4], parts[8]
	}
	if e.kind != '?' {
		e.module = strings.HasPrefix(parts[2], "S")
	}
	if strings.Trim(e.headID, "0") == "" {
		e.headMode, e.headID = "", ""
	}
	return e, e.path != "" && e.path != "/"
}
