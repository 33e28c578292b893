// The program ralph-pool lets hosts share loops. People call it as 'ralph pool'.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

// commands has a line for each command, in the order of the help; each is a file of its own.
type commands struct {
	Mirror mirrorCommand `cmd:"" help:"Copy the journals of this host's loops into the pool, and bring commands from there."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var c commands
	k := kong.Parse(&c, kong.Name("ralph pool"), kong.Description("Loops of several hosts, on a store that all of them reach."),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.UsageOnError())
	k.FatalIfErrorf(k.Run())
}
