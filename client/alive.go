package client

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/registry"
)

// ErrNoRunner is the cause of a context of [Alive] that ended because there is no runner.
var ErrNoRunner = errors.New("no runner holds the loop's lock")

// Alive returns a context that ends with the cause ErrNoRunner when no runner holds the loop's
// lock, or with ctx. It checks the lock when the runner's process has exited and, while no events
// come, from time to time. heard is set when an event comes.
func Alive(ctx context.Context, dir string, heard *atomic.Bool) context.Context {
	alive, end := context.WithCancelCause(ctx)
	runner, _ := registry.Probe(dir)
	exited, every := runnerExit(ctx, runner), RunnerCheck
	if exited != nil {
		every *= rareCheck
	}
	go func() {
		ticks := time.NewTicker(every)
		defer ticks.Stop()
		for {
			select {
			case <-ctx.Done():
				end(context.Cause(ctx))
				return
			case <-exited:
				exited = nil // another runner may hold the lock now
				ticks.Reset(RunnerCheck)
			case <-ticks.C:
				if heard.Swap(false) {
					continue
				}
			}
			if live, err := registry.Probe(dir); err == nil && !live.Alive {
				end(ErrNoRunner)
				return
			}
		}
	}()
	return alive
}

// RunnerCheck is the time between two checks of a silent loop's lock. Tests shorten it.
var RunnerCheck = 2 * time.Second

// rareCheck is the factor by which that time is longer if the kernel reports the exit of the
// runner's process.
const rareCheck = 15

// runnerExit returns a channel that is closed when the runner's process has exited. It is nil if
// that cannot be watched: on systems other than Linux, for the runner of another host, or if the
// process is gone.
func runnerExit(ctx context.Context, runner registry.Liveness) <-chan struct{} {
	host, _ := os.Hostname()
	if !runner.Alive || runner.PID <= 0 || runner.Host != host {
		return nil
	}
	return process.AwaitExit(ctx, runner.PID, runner.StartTicks)
}

// exitPatience is how long a runner may take to exit after the end of its loop. It may send
// notifications after it has written its last file. Tests shorten it.
var exitPatience = 3 * time.Second

// AwaitExit waits until the runner of a loop that has ended has written its last file, for three
// seconds at most: a script may copy or remove the folder next.
func AwaitExit(loopDir string) {
	if live, err := registry.Probe(loopDir); err != nil || !live.Alive {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), exitPatience)
	defer cancel()
	<-Alive(ctx, loopDir, new(atomic.Bool)).Done()
}
