package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Command is a program that Run runs to its end. Either Argv or Shell is required.
type Command struct {
	Argv []string // as in Spec
	// Shell is a command line for sh -c, on Windows for cmd /c.
	Shell string
	// Dir is the working directory, by default the caller's. PWD is set to it.
	Dir string
	// Env is the complete environment; nil means the caller's.
	Env []string
	// Wrap, if not nil, returns the command that runs in the place of Argv, such as in a sandbox,
	// and its environment. What runs so may be hostile: without a Mark it has that of Env, and all
	// its descendants are ended, also those that leave its group.
	Wrap Wrap
	// Mark has the effect of Spec.Mark, and makes all descendants the command's. Without a mark
	// only those in its process group are.
	Mark string
	// Stdin is what the program reads; if it is empty, the null device.
	Stdin []byte
	// Stdout and Stderr receive what the program prints. They are called by two goroutines, unless
	// they are the same writer: then both streams go through one pipe, in the order in which the
	// program wrote them. After an error of a writer the program meets a broken pipe. Nil discards.
	Stdout, Stderr io.Writer
	// Session starts the program in a session of its own, without a terminal. Otherwise it gets a
	// process group of its own in the caller's session.
	Session bool
	// LeaveStrays lets descendants live that outlive the program, unless the context has ended.
	// Otherwise they are ended.
	LeaveStrays bool
	// Grace is the time between TERM and KILL; 0 means 2 s.
	Grace time.Duration
}

// A Wrap returns the command that runs another one, and its environment.
type Wrap func(argv, env []string) (wrapped, environment []string, err error)

// Run runs a command, ends what it leaves running and returns how it exited. When ctx ends first,
// the command and its descendants get TERM, after the grace KILL, and the error is the cause of the
// context. Any other error says, as Start's does, that the command could not be started. A
// descendant that holds the output open delays Run by a quarter of a second.
func Run(ctx context.Context, c Command) (Exit, error) {
	if ctx.Err() != nil {
		return Exit{Code: -1}, context.Cause(ctx)
	}
	if c.Wrap != nil {
		c.Mark = cmp.Or(c.Mark, markIn(c.Env))
	}
	spec := Spec{Argv: c.Argv, Dir: c.Dir, Env: c.Env, Mark: c.Mark, strayGrace: c.Grace}
	if c.Shell != "" {
		spec.Argv = shellArgv(c.Shell)
	}
	if len(spec.Argv) == 0 || spec.Argv[0] == "" {
		return Exit{Code: -1}, errors.New("no program given")
	}
	if c.Wrap != nil {
		var err error
		if spec.Argv, spec.Env, err = c.Wrap(spec.Argv, c.Env); err != nil {
			return Exit{Code: -1}, err
		}
	}
	p, err := startTree(spec, &c)
	if err != nil {
		return Exit{Code: -1}, err
	}
	select {
	case <-p.done:
		return p.exit, nil
	case <-ctx.Done():
	}
	if err := p.Terminate(context.Background(), p.spec.strayGrace); err != nil {
		return Exit{Code: -1, Took: time.Since(p.started), Err: err}, context.Cause(ctx)
	}
	return p.exit, context.Cause(ctx)
}

// markIn returns the mark in an environment; "" if it has none.
func markIn(env []string) (mark string) {
	for _, entry := range env {
		if value, found := strings.CutPrefix(entry, MarkVariable+"="); found {
			mark = value
		}
	}
	return mark
}

// Failure returns nil for the exit status 0, else an *ExitError.
func (e Exit) Failure() error {
	if e.Signal == "" && e.Code == 0 {
		return nil
	}
	return &ExitError{e}
}

// ExitError is an exit with another status than 0.
type ExitError struct{ Exit }

func (e *ExitError) Error() string {
	if e.Signal != "" {
		return "ended by " + e.Signal
	}
	return fmt.Sprintf("exit status %d", e.Code)
}
