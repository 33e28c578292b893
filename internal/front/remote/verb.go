package remote

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/ralph-loop/ralph/internal/front/attach"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal/event"
)

// Run runs a command line of ralph there, with the terminal if there is one. Its exit code is that
// of ralph there.
func (h *Host) Run(args []string) error {
	ctx, stop := Interruptible()
	defer stop()
	return h.run(ctx, args, h.env.StdinIsTerminal() && h.env.IsTerminal(), h.env.Stdout)
}

// Print is Run for a command line that writes a file: what it prints to stdout there is written
// here.
func (h *Host) Print(args []string, to io.Writer) error {
	ctx, stop := Interruptible()
	defer stop()
	return h.run(ctx, args, false, to)
}

func (h *Host) run(ctx context.Context, args []string, tty bool, stdout io.Writer) error {
	c := call{args: args, tty: tty, stdout: stdout, stderr: h.env.Stderr}
	if tty || slices.Contains(args, "-") { // else ssh would read what the shell has for the next command
		c.stdin = h.env.Stdin
	}
	code, err := h.do(ctx, c)
	switch {
	case errors.Is(err, attach.ErrSignal):
		return cli.Exit(event.ExitInterrupted)
	case err != nil:
		return err
	case code == event.ExitUsage:
		if differs := h.differs(ctx); differs != "" {
			cli.Tell(h.env.Stderr, "%s", differs)
		}
	}
	if code != 0 {
		return cli.Exit(code)
	}
	return nil
}

// Interruptible returns a context that ends with a signal: the cause is attach.ErrSignal.
func Interruptible() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-ctx.Done():
		case <-signals:
			cancel(attach.ErrSignal)
		}
	}()
	return ctx, func() { signal.Stop(signals); cancel(nil) }
}
