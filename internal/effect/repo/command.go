package repo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/process"
)

// grace is the time between TERM, on which git removes its lock files, and KILL.
const grace = 3 * time.Second

// redirecting are the variables that make git use another repository or change the meaning of a
// pathspec. git sets the former for its hooks (git rev-parse --local-env-vars), and a hook may have
// started ralph.
var redirecting = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_NAMESPACE", "GIT_IMPLICIT_WORK_TREE",
	"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE",
	"GIT_INTERNAL_SUPER_PREFIX",
	"GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS",
}

// gpgTerminal names the terminal at which gpg's agent asks for a passphrase. That daemon opens it
// by name, although git has a session without a terminal, and would read the input of a person who
// is attached to a loop.
const gpgTerminal = "GPG_TTY"

// environment returns base, or this process's environment if it is nil, without the variables that
// mislead git or name a terminal.
func environment(base []string) []string {
	if base == nil {
		base = os.Environ()
	}
	return slices.DeleteFunc(slices.Clone(base), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		if runtime.GOOS == "windows" {
			name = strings.ToUpper(name)
		}
		return name == gpgTerminal || slices.Contains(redirecting, name)
	})
}

func readError(doing, said string, err error) error {
	e := &Error{Doing: doing, Output: said, Err: err}
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("%w: %w", ErrNoGit, err)
	case strings.Contains(said, "xcrun: error"): // the placeholder at /usr/bin/git of a Mac without developer tools
		return fmt.Errorf("%w: %s", ErrNoGit, lastLine(said))
	case strings.Contains(said, "not a git repository"), strings.Contains(said, "must be run in a work tree"):
		return ErrNoRepository
	case strings.Contains(said, "dubious ownership"):
		e.Output, e.hint = "the repository belongs to another user", "git config --global --add safe.directory <the repository>"
	}
	return e
}

// ExitCode returns -1 for a command that did not exit by itself.
func ExitCode(err error) int {
	if exit, ok := errors.AsType[*process.ExitError](err); ok {
		return exit.Code
	}
	return -1
}

// run runs a command without a terminal, in a session of its own. When ctx ends first the error is
// the context's cause.
func run(ctx context.Context, c process.Command) error {
	c.Session = true
	exit, err := process.Run(ctx, c)
	if err == nil {
		err = exit.Failure()
	}
	return err
}
