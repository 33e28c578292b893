package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ignored keeps everything but the team's settings out of git.
const ignored = "*\n!.gitignore\n!settings.json\n"

// Ignore has git see nothing of a folder of ralph's but the team's settings. A .gitignore that is there is left as it is, and the
// folder is not made.
func Ignore(folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	return makeFile(root, ".gitignore", ignored)
}

// Of a repository, git looks for these to tell that it is one (gitrepository-layout(5)). No version of git works with one of this format, so
// that nobody commits to it by mistake or cleans it from within.
const (
	shieldHead   = "ref: refs/heads/none\n"
	shieldConfig = "# Not a repository: ralph keeps this so that 'git clean -fdx' leaves the loop alone.\n[core]\n\trepositoryformatversion = 999\n"
)

// Shield has git take a loop's folder for a repository of somebody else's, which 'git clean' with a single -f and 'git stash --all' skip. The
// folder must be there. What is there of the shield is left as it is.
func Shield(folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return fmt.Errorf("shield the folder from git clean: %w", err)
	}
	defer root.Close()
	for _, name := range []string{".git", ".git/objects", ".git/refs"} {
		if err := root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("shield the folder from git clean: %w", err)
		}
	}
	if err := errors.Join(makeFile(root, ".git/config", shieldConfig), makeFile(root, ".git/HEAD", shieldHead)); err != nil {
		return fmt.Errorf("shield the folder from git clean: %w", err)
	}
	return nil
}

// makeFile makes a file, unless something has its name.
func makeFile(root *os.Root, name, text string) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
