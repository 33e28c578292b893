package repo

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// An agent, or the author of a repository, can replace git's own files by anything. git opens them
// without a check: it would wait at a pipe forever, and read a file of any size into memory.

const (
	modulesFile = ".gitmodules"

	maxPointer = 64 << 10 // bytes of a file that holds one path or one name
	maxConfig  = 16 << 20
	maxIndex   = 1 << 30
)

// gitFiles are the files that git reads for each snapshot, with their largest sizes in bytes.
var gitFiles = map[string]int64{
	"HEAD": maxPointer, "commondir": maxPointer, "gitdir": maxPointer, "shallow": maxConfig,
	"config": maxConfig, "config.worktree": maxConfig, "info/exclude": maxConfig, "info/attributes": maxConfig,
	"info/sparse-checkout": maxConfig, "info/grafts": maxConfig, "objects/info/alternates": maxPointer,
	"index": maxIndex, "packed-refs": maxIndex,
}

// treeFiles are those of a working tree.
var treeFiles = map[string]int64{modulesFile: maxConfig, ".gitattributes": maxConfig, ".gitignore": maxConfig}

// checkFiles returns an *Error that names the file if git would wait for, or fail on, one of its
// files in the working tree around dir. git itself reports all other errors.
func checkFiles(dir string) error {
	at, err := resolve(dir)
	if err != nil {
		return nil
	}
	root := top(at)
	if err := checkFolder(root, treeFiles); err != nil {
		return err
	}
	gitDir, err := gitFolder(root)
	if err != nil || gitDir == "" {
		return err
	}
	if err := checkFolder(gitDir, gitFiles); err != nil {
		return err
	}
	shared := SharedDir(gitDir)
	if shared != gitDir {
		if err := checkFolder(shared, gitFiles); err != nil {
			return err
		}
	}
	return checkBranch(gitDir, shared)
}

// SharedDir returns the folder of the files that a linked worktree shares with its repository
// (gitrepository-layout(5), "commondir"): that of git's files itself if it is no such worktree.
func SharedDir(gitDir string) string {
	common, err := safefile.ReadLinked(filepath.Join(gitDir, "commondir"), maxPointer)
	if err != nil {
		return gitDir
	}
	return ResolvePath(gitDir, string(common))
}

// checkBranch checks the file of the branch that HEAD names.
func checkBranch(gitDir, shared string) error {
	head, _ := safefile.ReadLinked(filepath.Join(gitDir, "HEAD"), maxPointer)
	ref, ok := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: ")
	if ref = filepath.FromSlash(ref); !ok || !filepath.IsLocal(ref) {
		return nil
	}
	return checkFile(filepath.Join(shared, ref), maxPointer)
}

// gitFolder returns the folder with git's files of a working tree; empty if there is none.
func gitFolder(root string) (string, error) {
	dotGit := filepath.Join(root, ".git")
	if err := checkFile(dotGit, maxPointer); err != nil {
		return "", err
	}
	if info, err := os.Stat(dotGit); err != nil || info.IsDir() {
		return dotGit, nil
	}
	text, err := safefile.ReadLinked(dotGit, maxPointer)
	path, ok := strings.CutPrefix(string(text), "gitdir:")
	if err != nil || !ok {
		return "", nil
	}
	return ResolvePath(root, path), nil
}

// ResolvePath returns a path in a line of git, which is absolute or begins at dir.
func ResolvePath(dir, line string) string {
	path := filepath.FromSlash(strings.TrimSpace(line))
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return path
}

func checkFolder(dir string, files map[string]int64) error {
	for name, most := range files {
		if err := checkFile(filepath.Join(dir, filepath.FromSlash(name)), most); err != nil {
			return err
		}
	}
	return nil
}

// checkFile checks a file without opening it. Links are followed, as git follows them.
func checkFile(path string, most int64) error {
	wrong, ok := errors.AsType[*safefile.Error](safefile.CheckLinked(path, most))
	if !ok || wrong.Problem == safefile.IsFolder {
		return nil
	}
	return &Error{Doing: "check git's files", Err: wrong, hint: "remove or repair " + path}
}
