package ending

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/send"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/internal/verb/launch"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/registry"
)

const (
	// maxKillWait bounds --wait, so that a loop is ended within ten seconds.
	maxKillWait = 6 * time.Second
	// termWait is how long a runner has after TERM.
	termWait = time.Second
	// leftGrace is how long processes that an agent left have between TERM and KILL.
	leftGrace = 500 * time.Millisecond
)

// EndLoop ends a loop within ten seconds, whatever its runner does. It asks the runner to end its
// agent and itself, through the inbox and then with TERM. A runner that does not end is killed with
// all that it has started. The output and the exit code are about the loop's end, which the kernel
// reports, not about the command.
func EndLoop(e *cli.Env, s registry.Status, wait time.Duration, asJSON bool) error {
	if !s.Live.Alive && idle(s.Dir) {
		return StopLeft(e, s, true, asJSON)
	}
	k := endReport{Loop: s.Name, Kind: string(inbox.Kill)}
	if err := k.end(e, s, inbox.Command{Kind: inbox.Kill}, wait); err != nil {
		return err
	}
	return k.print(e, asJSON)
}

// idle reports whether no process writes the journal of a loop. A runner whose run.lock was removed
// does.
func idle(dir string) bool { return !errors.Is(journal.CheckIdle(dir), journal.ErrBusy) }

// end ends a runner: by a command, then with TERM, then with all that it has started.
func (k *endReport) end(e *cli.Env, s registry.Status, c inbox.Command, wait time.Duration) error {
	ended := func() bool { return isFree(s.Dir) }
	unlocked := !s.Live.Alive
	if unlocked {
		wait, ended = maxKillWait, func() bool { return idle(s.Dir) }
	}
	at, err := k.ask(s, c)
	switch {
	case err == nil && await(ended, min(wait, maxKillWait)):
		k.noteEnd(s, at)
		return nil
	case unlocked && err == nil:
		return launch.BusyError(journal.ErrBusy, s.Name)
	case unlocked:
		return launch.BusyError(fmt.Errorf("ask the runner: %w", err), s.Name)
	case err != nil:
		cli.Tell(e.Stderr, "the runner of loop %s cannot be asked: %v", s.Name, err)
	}
	cli.Tell(e.Stderr, "the runner of loop %s does not end; killing it", s.Name)
	return k.force(e.Home, s, at)
}

// isFree reports whether no runner holds the loop's lock.
func isFree(dir string) bool {
	live, err := registry.Probe(dir)
	return err == nil && !live.Alive
}

// await reports whether a condition holds before the patience is over.
func await(condition func() bool, patience time.Duration) bool {
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) { // a lock has no event for its end
		if condition() {
			return true
		}
		if time.Since(begun) >= patience {
			return false
		}
	}
}

// endReport describes how a loop was ended.
type endReport struct {
	Loop string `json:"loop"`
	ID   string `json:"id,omitempty"` // of the command
	Kind string `json:"kind"`
	// of the command: delivered if the runner took it, else withdrawn
	Outcome client.Outcome `json:"outcome,omitempty"`
	Ended   bool           `json:"ended"` // no process runs the loop any more
	// asked: the runner ended the loop; killed: the runner was killed; left: there was no runner
	How       string `json:"how"`
	PID       int    `json:"pid,omitempty"`
	Processes int    `json:"processes"` // that were ended besides the runner
	Iteration int    `json:"iteration,omitempty"`
}

// How a loop was ended.
const (
	killAsked  = "asked"
	killForced = "killed"
	killLeft   = "left"
)

// ask puts the command into the inbox, and returns the end of the journal before.
func (k *endReport) ask(s registry.Status, c inbox.Command) (journal.Position, error) {
	// An unreadable journal hides the outcome, but is no reason not to send the command.
	_, at, _ := journal.Last(s.Dir, 1)
	id, err := client.Drop(s.Name, s.Dir, c)
	k.ID = id
	return at, err
}

// noteEnd notes what the journal says about an end without force.
func (k *endReport) noteEnd(s registry.Status, at journal.Position) {
	k.Ended, k.How = true, killAsked
	f := client.Receipt{ID: k.ID}
	if err := f.ApplyRest(s.Dir, at.Seq); err == nil {
		k.Iteration, k.Outcome = f.Iteration, f.Outcome
	}
	// A runner that ended for another reason did not take it.
	if withdrawn, _ := inbox.Withdraw(s.Dir, k.ID); withdrawn {
		k.Outcome = client.Withdrawn
	}
}

// force ends a runner that does not end when it is asked, and all that it has started. At each step
// it asks the kernel which process that is: the content of run.lock may be forged.
func (k *endReport) force(home string, s registry.Status, at journal.Position) error {
	k.How = killForced
	free := func() bool { return isFree(s.Dir) }
	err := k.terminate(s)
	if err == nil && !await(free, termWait) {
		err = k.kill(home, s)
	}
	if err != nil && !errors.Is(err, registration.ErrNoHolder) {
		return fmt.Errorf("kill the runner of loop %s: %w", s.Name, err)
	}
	if k.Ended = err == nil && await(free, termWait); !k.Ended {
		return errUnreachable(s)
	}
	return k.withdraw(s, at)
}

// terminate sends TERM to the process that holds the lock.
func (k *endReport) terminate(s registry.Status) error {
	holder, err := registration.Holder(s.Dir)
	if errors.Is(err, registration.ErrNoHolder) && isFree(s.Dir) {
		return nil
	}
	if err != nil {
		return err
	}
	// Pin the process before Holder is called again: its pid cannot be reused in between.
	p, err := os.FindProcess(holder.PID)
	if err != nil {
		return err
	}
	defer p.Release()
	if again, err := registration.Holder(s.Dir); err == nil && again == holder {
		k.PID = holder.PID
		_ = p.Signal(syscall.SIGTERM) // if it fails, KILL follows, whose error is returned
	}
	return nil
}

// kill kills the process that holds the lock, if it is found, and all that it has started.
func (k *endReport) kill(home string, s registry.Status) error {
	holder, err := registration.Holder(s.Dir)
	if errors.Is(err, registration.ErrNoHolder) {
		return nil
	}
	if err != nil {
		return err
	}
	if settings, _, err := runner.Frozen(s.Dir); err == nil {
		runner.LetOutlive(home, s.ID, settings)
	}
	strays, err := process.EndTree(context.Background(), holder.PID, holder.Start, leftGrace, send.Marks(s)...)
	k.PID, k.Processes = holder.PID, len(strays)
	return err
}

// withdraw removes a command that the runner did not take: it would end the next runner.
func (k *endReport) withdraw(s registry.Status, at journal.Position) error {
	if k.ID == "" {
		return nil
	}
	f := client.Receipt{ID: k.ID}
	err := launch.WithLock(s.Dir, func() error {
		if _, err := inbox.Withdraw(s.Dir, k.ID); err != nil {
			return err
		}
		box, err := inbox.Open(s.Dir)
		if err != nil {
			return err
		}
		if err := box.Done(k.ID); err != nil {
			return err
		}
		return f.ApplyRest(s.Dir, at.Seq)
	})
	if k.Outcome = f.Outcome; err == nil && k.Outcome == "" {
		k.Outcome = client.Withdrawn
	}
	if err != nil {
		return fmt.Errorf("the runner of loop %s is killed; take back the command that it did not take: %w", s.Name, err)
	}
	return nil
}

// errUnreachable is the error of a live runner that cannot be ended from here.
func errUnreachable(s registry.Status) error {
	named := ""
	if s.Live.Host != "" {
		named = fmt.Sprintf("; its lock names pid %d on %s", s.Live.PID, s.Live.Host)
	}
	return cli.Failed("kill it where it runs, as the user who started it", "loop %s goes on: %w%s", s.Name, registration.ErrNoHolder, named)
}

func (k *endReport) print(e *cli.Env, asJSON bool) error {
	if asJSON {
		return cli.PrintJSON(e.Stdout, k, "")
	}
	switch {
	case k.How == killLeft:
		fmt.Fprintf(e.Stdout, "loop %s had no runner; %s of its agent ended\n", k.Loop, processes(k.Processes))
	case k.How == killForced && k.PID != 0:
		fmt.Fprintf(e.Stdout, "killed the runner of loop %s (pid %d) and %s that it had started; 'ralph start %s --resume' resumes it\n",
			k.Loop, k.PID, processes(k.Processes), k.Loop)
	case k.Outcome == client.Delivered:
		fmt.Fprintf(e.Stdout, "kill taken by loop %s in iteration %d; it has ended\n", k.Loop, k.Iteration)
	default:
		fmt.Fprintf(e.Stdout, "loop %s has ended\n", k.Loop)
	}
	return nil
}
