package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ignored keeps everything except the team's settings out of git, also this file itself: a first
// loop leaves nothing that git status shows.
const ignored = "*\n!settings.json\n"

// Ignore makes git ignore a folder of ralph's except for the team's settings. An existing
// .gitignore is left unchanged, and the folder is not created.
func Ignore(folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	return IgnoreIn(root)
}

// IgnoreIn is Ignore of an open folder.
func IgnoreIn(folder *os.Root) error { return makeFile(folder, ".gitignore", ignored) }

// git recognizes a repository by these files (gitrepository-layout(5)). No version of git knows
// this format, so a git inside the folder neither commits nor cleans.
const (
	fakeHead   = "ref: refs/heads/none\n"
	fakeConfig = "# Not a repository: ralph keeps this so that 'git clean -fdx' leaves the loop alone.\n[core]\n\trepositoryformatversion = 999\n"
)

// HideFromClean makes a loop's folder look like a nested repository, which 'git clean' with a
// single -f and 'git stash --all' skip. The folder must exist. Existing files are left unchanged.
func HideFromClean(folder string) error {
	if err := hide(folder); err != nil {
		return fmt.Errorf("hide the folder from git clean: %w", err)
	}
	return nil
}

func hide(folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range []string{".git", ".git/objects", ".git/refs"} {
		if err := root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return errors.Join(makeFile(root, ".git/config", fakeConfig), makeFile(root, ".git/HEAD", fakeHead))
}

// makeFile creates a file, unless the name is taken.
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
