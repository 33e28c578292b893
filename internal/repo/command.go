package repo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

// grace is how long a command that was told to end has for it, and how long a process that it left behind may hold its output
// open: the connection that ssh keeps for later (ControlPersist) does.
const grace = 3 * time.Second

// misleading are the variables that move git to another repository or change what a pathspec means. git sets the former for its
// hooks (git rev-parse --local-env-vars), and ralph may have been started in one.
var misleading = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_NAMESPACE", "GIT_IMPLICIT_WORK_TREE",
	"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE",
	"GIT_INTERNAL_SUPER_PREFIX",
	"GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS",
}

// asksAt names the terminal at which gpg's agent asks for a passphrase: a daemon opens it by its name, so that a session of its own does not keep
// git from it, and the person who looks at a loop there would have what is typed taken away.
const asksAt = "GPG_TTY"

// environment returns base, or this process's own where it is nil, without what misleads git and what asks at a terminal.
func environment(base []string) []string {
	if base == nil {
		base = os.Environ()
	}
	return slices.DeleteFunc(slices.Clone(base), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		if runtime.GOOS == "windows" {
			name = strings.ToUpper(name)
		}
		return name == asksAt || slices.Contains(misleading, name)
	})
}

// A command is one process without a terminal, in a session of its own.
type command struct {
	argv  []string
	dir   string
	env   []string
	stdin string // empty: /dev/null
	out   io.Writer
	errs  io.Writer

	patience time.Duration // grace, where zero
	alone    bool          // nothing of its session may outlive it
}

// run returns when the process has ended. When ctx ends first, the session gets TERM, on which git removes its lock files, and
// after the grace KILL; the error is then the context's cause.
func (c command) run(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = c.dir, c.env, c.out, c.errs, cmp.Or(c.patience, grace)
	if c.stdin != "" {
		cmd.Stdin = strings.NewReader(c.stdin)
	}
	ownSession(cmd)
	err := cmd.Run()
	canceled := ctx.Err() != nil && err != nil
	// Not where all has gone by itself: its number may be another one's by now.
	if canceled || c.alone && errors.Is(err, exec.ErrWaitDelay) {
		endSession(cmd)
	}
	if canceled {
		return context.Cause(ctx)
	}
	if errors.Is(err, exec.ErrWaitDelay) { // it ended well, and somebody else holds its output
		return nil
	}
	return err
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

// exitCode is -1 for a command that did not run to its end.
func exitCode(err error) int {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	return -1
}
