// The program ralph-pool lets hosts share loops. People call it as 'ralph pool'.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/ralph-loop/ralph/pool/worker"
	"github.com/ralph-loop/ralph/render"
)

// commands has a line for each command, in the order of the help; each is a file of its own.
type commands struct {
	Serve    serveCommand    `cmd:"" help:"Run the pool's server, or prepare one that runs, and print what to enter on each host."`
	Join     joinCommand     `cmd:"" help:"Join this host to a pool."`
	Status   statusCommand   `cmd:"" help:"Show the pool's store, its hosts and its queue."`
	Mirror   mirrorCommand   `cmd:"" help:"Copy the journals of this host's loops into the pool, and bring commands from there."`
	Take     takeCommand     `cmd:"" help:"Take over a loop whose host is dead, and resume it here."`
	Check    checkCommand    `cmd:"" help:"Read and verify all that the pool stores, and repair it from the journals of this host."`
	Submit   submitCommand   `cmd:"" help:"Put loops into the queue."`
	Every    everyCommand    `cmd:"" help:"Show or remove what is submitted again and again."`
	Worker   workerCommand   `cmd:"" help:"Claim loops from the queue, and run them on this host."`
	List     listCommand     `cmd:"" help:"Show the loops of all hosts, and the queue."`
	Stop     stopCommand     `cmd:"" help:"Stop a loop on any host after its iteration, or a fleet, or withdraw what waits."`
	Steer    steerCommand    `cmd:"" help:"Tell the agent of a loop on any host something."`
	FollowUp followUpCommand `cmd:"" help:"Give the agent of a loop on any host a text with its next prompt."`
	Answer   answerCommand   `cmd:"" help:"Answer the question of a loop on any host."`
	Pause    pauseCommand    `cmd:"" help:"Pause a loop on any host after its iteration."`
	Resume   resumeCommand   `cmd:"" help:"Let a paused loop on any host go on."`
	Drain    drainCommand    `cmd:"" help:"Let a host claim no more loops."`
	Trust    trustCommand    `cmd:"" help:"Run what was signed with a key on this host."`
	Key      keyCommand      `cmd:"" help:"Print your key, which others trust."`
	Account  accountCommand  `cmd:"" help:"Show the budget of an account over all hosts, or set it."`

	Manifest manifestCommand `cmd:"" help:"Print what Kubernetes needs to run workers, or one loop."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var c commands
	k := kong.Parse(&c, kong.Name("ralph pool"), kong.Description("Loops of several hosts, on a store that all of them reach."),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.ShortUsageOnError())
	k.FatalIfErrorf(refuseAgent(k.Command()))
	if err := k.Run(); err != nil {
		k.FatalIfErrorf(printable{err})
	}
}

// printable is an error that may have words of another host or of the store.
type printable struct{ error }

func (e printable) Error() string { return string(render.CleanText(e.error.Error())) }

// ExitCode is 1, or what a worker for one loop ends with: that of a program which failed, such as
// git, says nothing about this one.
func (e printable) ExitCode() int {
	if ended, ok := errors.AsType[*worker.Ended](e.error); ok {
		return ended.ExitCode()
	}
	return 1
}

// refuseAgent refuses what 'ralph pool' leaves to a person, for an agent that runs this program
// itself: what it submits would count in no limit of its loop, and run with the person's trust.
func refuseAgent(command string) error {
	command, _, _ = strings.Cut(command, " ")
	loop := os.Getenv("RALPH_LOOP")
	if loop == "" || command == "list" || command == "status" {
		return nil
	}
	return fmt.Errorf("'ralph pool %s' is up to a person, and an agent of loop %.64q calls it: 'ralph ask' asks for it", command, loop)
}
