package repo

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// What git keeps in files, an agent or who made a repository can make into anything. git opens them without asking what they are:
// it would wait at a pipe for ever, and read a file of any size into memory.

const (
	modulesFile = ".gitmodules"

	maxPointer = 64 << 10 // bytes of a file that holds one path or one name
	maxConfig  = 16 << 20
	maxIndex   = 1 << 30
)

// gitFiles are the files that each look has git read, with the most bytes they may have.
var gitFiles = map[string]int64{
	"HEAD": maxPointer, "commondir": maxPointer, "gitdir": maxPointer, "shallow": maxConfig,
	"config": maxConfig, "config.worktree": maxConfig, "info/exclude": maxConfig, "info/attributes": maxConfig,
	"info/sparse-checkout": maxConfig, "info/grafts": maxConfig, "objects/info/alternates": maxPointer,
	"index": maxIndex, "packed-refs": maxIndex,
}

// treeFiles are those of a working tree.
var treeFiles = map[string]int64{modulesFile: maxConfig, ".gitattributes": maxConfig, ".gitignore": maxConfig}

// checkFiles refuses the working tree around dir where git would wait for one of its files, or choke on it: an *Error that names
// the file. What is wrong in any other way git says itself.
func checkFiles(dir string) error {
	at, err := withoutLinks(dir)
	if err != nil {
		return nil
	}
	root := top(at)
	for name, most := range treeFiles {
		if err := checkFile(filepath.Join(root, name), most); err != nil {
			return err
		}
	}
	gitDir, err := gitFolder(root)
	if err != nil || gitDir == "" {
		return err
	}
	if err := checkFolder(gitDir); err != nil {
		return err
	}
	// A linked worktree shares the rest with the repository that it is of (gitrepository-layout(5)).
	if common, err := readBounded(filepath.Join(gitDir, "commondir"), maxPointer); err == nil {
		shared := within(gitDir, string(common))
		if err := checkFolder(shared); err != nil {
			return err
		}
		return checkBranch(gitDir, shared)
	}
	return checkBranch(gitDir, gitDir)
}

// checkBranch looks at the file of the branch that HEAD names.
func checkBranch(gitDir, shared string) error {
	head, _ := readBounded(filepath.Join(gitDir, "HEAD"), maxPointer)
	ref, ok := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: ")
	if ref = filepath.FromSlash(ref); !ok || !filepath.IsLocal(ref) {
		return nil
	}
	return checkFile(filepath.Join(shared, ref), maxPointer)
}

// gitFolder is where git keeps what belongs to a working tree; empty where nothing says so.
func gitFolder(root string) (string, error) {
	dotGit := filepath.Join(root, ".git")
	if err := checkFile(dotGit, maxPointer); err != nil {
		return "", err
	}
	if info, err := os.Stat(dotGit); err != nil || info.IsDir() {
		return dotGit, nil
	}
	text, err := readBounded(dotGit, maxPointer)
	path, ok := strings.CutPrefix(string(text), "gitdir:")
	if err != nil || !ok {
		return "", nil
	}
	return within(root, path), nil
}

// within resolves the path that a file of git's holds.
func within(dir, line string) string {
	path := filepath.FromSlash(strings.TrimSpace(line))
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return path
}

func checkFolder(gitDir string) error {
	for name, most := range gitFiles {
		if err := checkFile(filepath.Join(gitDir, filepath.FromSlash(name)), most); err != nil {
			return err
		}
	}
	return nil
}

// checkFile looks without opening. Links are followed, as git follows them.
func checkFile(path string, most int64) error {
	info, err := os.Stat(path)
	switch {
	case err != nil, info.IsDir():
		return nil
	case !info.Mode().IsRegular():
		err = ErrOddFile
	case info.Size() > most:
		err = fmt.Errorf("%d bytes: %w", info.Size(), ErrTooMuch)
	default:
		return nil
	}
	return &Error{Doing: "look at " + path, Err: err, hint: "remove or mend " + path}
}

// readBounded reads a regular file of at most so many bytes, and waits for nothing.
func readBounded(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: path, Err: ErrOddFile}
	}
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = &fs.PathError{Op: "read", Path: path, Err: ErrTooMuch}
	}
	return text, err
}
