package repo

import (
	"bytes"
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
	if ctx.Err() != nil && err != nil {
		endSession(cmd)
		return context.Cause(ctx)
	}
	if errors.Is(err, exec.ErrWaitDelay) { // it ended well, and somebody else holds its output
		return nil
	}
	return err
}

// A git is the user's git in one folder.
type git struct {
	words []string // what every command begins with
	env   []string
	dir   string
}

// here is the git that is asked for facts.
func here(dir string) git {
	return git{words: []string{"git"}, env: environment(nil), dir: dir}
}

func (g git) in(dir string) git {
	g.dir = dir
	return g
}

// read returns what a git command prints. It takes no lock that another git would miss, and is spoken to in English, because some
// answers can be told apart by their words only.
func (g git) read(ctx context.Context, args ...string) ([]byte, error) {
	return g.ask(ctx, "", args...)
}

func (g git) ask(ctx context.Context, stdin string, args ...string) ([]byte, error) {
	var out bytes.Buffer
	errs := tail{}
	err := command{
		argv: slices.Concat(g.words, args), dir: g.dir, stdin: stdin, out: &out, errs: &errs,
		env: append(slices.Clip(g.env), "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C"),
	}.run(ctx)
	if err != nil {
		return nil, readError(strings.Join(append(slices.Clone(g.words), args[0]), " "), errs.String(), err)
	}
	return out.Bytes(), nil
}

// line is read for answers of one line.
func (g git) line(ctx context.Context, args ...string) (string, error) {
	out, err := g.read(ctx, args...)
	return strings.TrimSuffix(string(out), "\n"), err
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
