package preflight

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/runner"
)

// InProject reports whether a program is found in this project, which may be untrusted.
func InProject(e *cli.Env, program string) bool {
	path, err := exec.LookPath(program)
	if err != nil {
		return errors.Is(err, exec.ErrDot)
	}
	return !filepath.IsAbs(path) || cli.Within(e.Root(), path) || cli.Within(e.Root(), cli.WithoutLinks(path))
}

// pathOutside returns PATH without the project's folders, for a program that doctor runs in an
// untrusted project: a script for "env node" must not run the project's node. It is empty if the
// project is trusted.
func pathOutside(e *cli.Env) []string {
	if !e.Untrusted {
		return nil
	}
	var outside []string
	for _, folder := range filepath.SplitList(e.Variable("PATH")) {
		real, err := filepath.EvalSymlinks(folder)
		if err == nil && filepath.IsAbs(folder) && !cli.Within(e.Root(), folder) && !cli.Within(e.Root(), real) {
			outside = append(outside, folder)
		}
	}
	return []string{"PATH=" + strings.Join(outside, string(filepath.ListSeparator))}
}

// Patience is how long a program may take to print its version. Agents on Node take up to
// two seconds each on a busy machine, and all run at once.
const Patience = 10 * time.Second

// Asks returns a function that runs an agent's program to find out what it can do.
func Asks(e *cli.Env) runner.Ask {
	return func(argv []string) (output string, code int, ok bool) {
		ctx, cancel := context.WithTimeout(context.Background(), Patience)
		defer cancel()
		out, err := Printed(ctx, e, argv)
		if exited, failed := errors.AsType[*process.ExitError](err); failed {
			return string(out), exited.Code, exited.Signal == ""
		}
		return string(out), 0, err == nil
	}
}

// Printed runs a program that should print something and exit, and returns the beginning of its
// output. The error of a program with another exit code than 0 is a *process.ExitError.
func Printed(ctx context.Context, e *cli.Env, argv []string) ([]byte, error) {
	if e.Untrusted && InProject(e, argv[0]) {
		return nil, errors.New("not asked for its version: it is in this project")
	}
	out := process.Head{Max: 64 << 10}
	exit, err := process.Run(ctx, process.Command{
		Argv: argv, Env: process.Environment(e.Environ, nil, pathOutside(e)), Stdout: &out, Stderr: &out, Session: true,
		Dir: os.TempDir(), // not the project
	})
	if ctx.Err() != nil {
		return nil, errors.New("does not answer")
	}
	if err == nil {
		err = exit.Failure()
	}
	if err != nil {
		err = fmt.Errorf("does not start: %w", err)
	}
	return out.Bytes(), err
}
