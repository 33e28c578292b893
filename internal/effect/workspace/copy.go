package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// Include is the file of a project that names ignored files which a worktree needs, in the form of
// a .gitignore.
const Include = ".worktreeinclude"

const maxInclude = 1 << 20 // bytes

// Copied says which files [Worktree.Copy] copied.
type Copied struct {
	Files []string // from the root of the repository, with slashes
	// Withheld are those that a pattern fits and that look like a secret: only their own name
	// brings them along.
	Withheld []string
}

// Copy copies files of the person's work tree that git does not track: those that the patterns fit,
// and those of .worktreeinclude. A file that is there already stays as it is.
func (w *Worktree) Copy(ctx context.Context, project string, patterns []string, env ...string) (Copied, error) {
	var done Copied
	root, err := repo.WorkTree(project)
	if err != nil {
		return done, err
	}
	text, err := safefile.Read(filepath.Join(root, Include), maxInclude)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return done, fmt.Errorf("read %s: %w", Include, err)
	}
	patterns = append(lines(string(text)), patterns...)
	if len(patterns) == 0 {
		return done, nil
	}
	names, err := repo.Untracked(ctx, root, patterns, env...)
	if err != nil {
		return done, err
	}
	from, err := os.OpenRoot(root)
	if err != nil {
		return done, err
	}
	defer from.Close()
	to, err := os.OpenRoot(w.Path)
	if err != nil {
		return done, err
	}
	defer to.Close()
	for _, name := range names {
		if looksSecret(name) && !slices.ContainsFunc(patterns, func(p string) bool { return namesFile(p, name) }) {
			done.Withheld = append(done.Withheld, name)
			continue
		}
		copied, err := CopyFile(from, to, filepath.FromSlash(name))
		if err != nil {
			return done, fmt.Errorf("copy %s to the worktree: %w", name, err)
		}
		if copied {
			done.Files = append(done.Files, name)
		}
	}
	return done, nil
}

// lines are those of a .gitignore that are patterns.
func lines(text string) (patterns []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			patterns = append(patterns, line)
		}
	}
	return patterns
}

// secretNames are the names of files that usually hold a secret, as path.Match has them, in lower
// case.
var secretNames = []string{
	".env", ".env.*", "*.env", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "id_rsa*", "id_ed25519*", "id_ecdsa*",
	"credentials*", "*credentials.json", "secret*", "*.secret", "*secrets.*", ".npmrc", ".netrc", ".pypirc", ".pgpass", ".htpasswd", "*.tfvars", "*.tfstate",
	"service-account*.json", "auth.json", "token*",
}

func looksSecret(name string) bool {
	base := strings.ToLower(path.Base(name))
	return slices.ContainsFunc(secretNames, func(pattern string) bool {
		fits, err := path.Match(pattern, base)
		return fits && err == nil
	})
}

// namesFile reports whether a pattern is the name of a file or its path, without wildcards.
func namesFile(pattern, name string) bool {
	pattern = strings.TrimPrefix(pattern, "/")
	return pattern == name || pattern == path.Base(name)
}

// CopyFile copies a regular file or a link, unless something is there.
func CopyFile(from, to *os.Root, name string) (bool, error) {
	info, err := from.Lstat(name)
	if err != nil {
		return false, err
	}
	if _, err := to.Lstat(name); err == nil {
		return false, nil
	}
	if err := to.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return false, err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := from.Readlink(name)
		if err == nil {
			err = to.Symlink(target, name)
		}
		return err == nil, err
	case !info.Mode().IsRegular():
		return false, nil
	}
	return true, CopyAs(from, name, to, name, info.Mode().Perm())
}

// CopyAs copies a regular file to a name that is free.
func CopyAs(from *os.Root, name string, to *os.Root, as string, mode fs.FileMode) error {
	in, err := safefile.OpenIn(from, name)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := to.OpenFile(as, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
