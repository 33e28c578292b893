package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/agent/process"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

type killVerb struct {
	placed
	Name string        `arg:"" optional:"" help:"The loop; without it the one that runs here."`
	Wait time.Duration `default:"5s" help:"How long its runner may take to end by itself; then it is killed."`
	JSON bool          `help:"Say as JSON what became of it."`
}

const (
	// killWaitMost bounds --wait, so that a loop is ended within ten seconds.
	killWaitMost = 6 * time.Second
	// termWait is how long a runner has after TERM.
	termWait = time.Second
	// leftGrace is how long what an agent left running has between TERM and KILL.
	leftGrace = 500 * time.Millisecond
)

// Run ends a loop within ten seconds, whatever state its runner is in: asked by its inbox, then with TERM, it ends its agent and
// itself; else it is killed, with all that it has started. What is said and the exit code are about the loop's end, which
// the kernel tells, and not about the wish.
func (v *killVerb) Run(e *env) error {
	s, err := e.find(v.Name)
	if err != nil {
		return err
	}
	if !s.Live.Alive {
		if errors.Is(journal.CheckIdle(s.Dir), journal.ErrBusy) {
			return v.unlocked(e, s)
		}
		return endLeft(e, s, v.JSON)
	}
	asked := kill{Loop: s.Name, Kind: string(inbox.Kill)}
	at, err := asked.ask(s)
	if err != nil {
		tell(e.stderr, "the runner of loop %s cannot be asked: %v", s.Name, err)
	} else if awaitFree(s.Dir, min(v.Wait, killWaitMost)) {
		asked.by(s, at)
		return asked.tell(e, v.JSON)
	}
	tell(e.stderr, "the runner of loop %s does not end; killing it", s.Name)
	if err := asked.force(s, at); err != nil {
		return err
	}
	return asked.tell(e, v.JSON)
}

// unlocked ends a loop whose run.lock was removed: its runner still writes the journal and reads the inbox.
func (v *killVerb) unlocked(e *env, s registry.Status) error {
	asked := kill{Loop: s.Name, Kind: string(inbox.Kill)}
	at, err := asked.ask(s)
	if err != nil {
		return busy(fmt.Errorf("ask the runner: %w", err), s.Name)
	}
	for begun := time.Now(); time.Since(begun) < killWaitMost; time.Sleep(10 * time.Millisecond) { // a lock has no event for its end
		if err := journal.CheckIdle(s.Dir); !errors.Is(err, journal.ErrBusy) {
			asked.by(s, at)
			return asked.tell(e, v.JSON)
		}
	}
	return busy(journal.ErrBusy, s.Name)
}

// kill is what became of a loop that was to end.
type kill struct {
	Loop      string `json:"loop"`
	ID        string `json:"id,omitempty"` // of the command
	Kind      string `json:"kind"`
	Fate      string `json:"fate,omitempty"` // of the command: delivered, where the runner took it; withdrawn, where none did
	Ended     bool   `json:"ended"`          // nobody runs the loop any more
	How       string `json:"how"`            // asked: the runner did it; killed: it had to be killed itself; left: there was no runner
	PID       int    `json:"pid,omitempty"`
	Processes int    `json:"processes"` // that were ended beside the runner
	Iteration int    `json:"iteration,omitempty"`
}

// How a loop was ended.
const (
	killAsked  = "asked"
	killForced = "killed"
	killLeft   = "left"
)

// fateWithdrawn is of a command that nobody took before it was taken back.
const fateWithdrawn = "withdrawn"

// ask puts the wish into the inbox, and returns where the journal stood before.
func (k *kill) ask(s registry.Status) (journal.Position, error) {
	// A journal that cannot be read says nothing of what becomes of the wish, and is no reason not to have it.
	_, at, _ := journal.Last(s.Dir, 1)
	id, err := inbox.Drop(s.Dir, inbox.Command{Kind: inbox.Kill, From: sender()})
	if k.ID = id; id != "" {
		err = nil // it stands there; that it may be lost in a power failure does not matter
	}
	return at, err
}

// by notes what the journal says of an end that came by itself.
func (k *kill) by(s registry.Status, at journal.Position) {
	k.Ended, k.How = true, killAsked
	f := fate{ID: k.ID}
	if err := f.rest(s.Dir, at.Seq+1); err == nil {
		k.Iteration, k.Fate = f.Iteration, f.Fate
	}
	// A runner that ended for another reason did not take it.
	if back, _ := inbox.Withdraw(s.Dir, k.ID); back {
		k.Fate = fateWithdrawn
	}
}

// awaitFree reports whether nobody holds the loop's lock before the patience is over.
func awaitFree(dir string, patience time.Duration) bool {
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) { // a lock has no event for its end
		if live, err := registry.Probe(dir); err == nil && !live.Alive {
			return true
		}
		if time.Since(begun) >= patience {
			return false
		}
	}
}

// force ends a runner that does not end when it is asked, and all that it has started. Whom to end is the kernel's word, asked again
// at each step: what stands in run.lock anybody may have written who can write there.
func (k *kill) force(s registry.Status, at journal.Position) error {
	k.How = killForced
	if err := k.signal(s, syscall.SIGTERM); err != nil {
		return err
	}
	if !awaitFree(s.Dir, termWait) {
		holder, err := registry.Holder(s.Dir)
		if err != nil && !errors.Is(err, registry.ErrNoHolder) {
			return fmt.Errorf("kill the runner of loop %s: %w", s.Name, err)
		}
		if err == nil {
			if settings, _, err := runner.Frozen(s.Dir); err == nil {
				runner.LetOutlive(s.ID, settings)
			}
			strays, err := process.EndTree(context.Background(), holder.PID, holder.Start, leftGrace, marks(s)...)
			k.PID, k.Processes = holder.PID, len(strays)
			if err != nil {
				return fmt.Errorf("kill the runner of loop %s: %w", s.Name, err)
			}
		}
	}
	if k.Ended = awaitFree(s.Dir, termWait); !k.Ended {
		return k.unfound(s)
	}
	return k.takeBack(s, at)
}

// takeBack removes the wish that the runner did not fulfil: it would end the next one.
func (k *kill) takeBack(s registry.Status, at journal.Position) error {
	if k.ID == "" {
		return nil
	}
	f := fate{ID: k.ID}
	err := holding(s.Dir, func() error {
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
		return f.rest(s.Dir, at.Seq+1)
	})
	if k.Fate = f.Fate; err == nil && k.Fate == "" {
		k.Fate = fateWithdrawn
	}
	if err != nil {
		return fmt.Errorf("the runner of loop %s is killed; take back the command that it did not take: %w", s.Name, err)
	}
	return nil
}

// signal sends a signal to who holds the lock.
func (k *kill) signal(s registry.Status, sig syscall.Signal) error {
	holder, err := registry.Holder(s.Dir)
	switch {
	case errors.Is(err, registry.ErrNoHolder) && awaitFree(s.Dir, 0):
		return nil
	case errors.Is(err, registry.ErrNoHolder):
		return k.unfound(s)
	case err != nil:
		return fmt.Errorf("end the runner of loop %s: %w", s.Name, err)
	}
	// Pinned before it is asked for again: the pid cannot pass to another process in between.
	p, err := os.FindProcess(holder.PID)
	if err != nil {
		return fmt.Errorf("end the runner of loop %s: %w", s.Name, err)
	}
	defer p.Release()
	if again, err := registry.Holder(s.Dir); err != nil || again != holder {
		return nil
	}
	k.PID = holder.PID
	_ = p.Signal(sig) // what does not reach it is followed by KILL, which says why
	return nil
}

// unfound says that the runner lives where it cannot be ended from here.
func (k *kill) unfound(s registry.Status) error {
	who := ""
	if s.Live.Host != "" {
		who = fmt.Sprintf("; its lock names pid %d on %s", s.Live.PID, s.Live.Host)
	}
	return &failure{
		err:  fmt.Errorf("loop %s goes on: %w%s", s.Name, registry.ErrNoHolder, who),
		hint: "kill it where it runs, as the user who started it", code: event.ExitFailed,
	}
}

func (k *kill) tell(e *env, asJSON bool) error {
	if asJSON {
		return printJSON(e.stdout, k, "")
	}
	switch {
	case k.How == killLeft:
		fmt.Fprintf(e.stdout, "loop %s had no runner; %s of its agent ended\n", k.Loop, processes(k.Processes))
	case k.How == killForced && k.PID != 0:
		fmt.Fprintf(e.stdout, "killed the runner of loop %s (pid %d) and %s that it had started; 'ralph start %s --resume' goes on with it\n", k.Loop, k.PID, processes(k.Processes), k.Loop)
	case k.Fate == "delivered":
		fmt.Fprintf(e.stdout, "kill taken by loop %s in iteration %d; it has ended\n", k.Loop, k.Iteration)
	default:
		fmt.Fprintf(e.stdout, "loop %s has ended\n", k.Loop)
	}
	return nil
}

func processes(n int) string {
	if n == 1 {
		return "1 process"
	}
	return fmt.Sprintf("%d processes", n)
}

// marks are what the loop's processes carry; none where its id is not known.
func marks(s registry.Status) []string {
	id := s.ID
	if id == "" {
		if state, err := openState(s); err == nil {
			id = state.Life.ID
		}
	}
	if id == "" {
		return nil
	}
	return runner.Marks(id)
}

// leftBy returns what runs of a loop that has no runner: what it started and what ignored its end.
func leftBy(s registry.Status) ([]process.Stray, error) {
	all, err := process.Marked()
	if err != nil {
		return nil, err
	}
	return leftOf(all, s), nil
}

func leftOf(all map[string][]process.Stray, s registry.Status) []process.Stray {
	if s.Live.Alive || len(all) == 0 {
		return nil
	}
	var left []process.Stray
	for _, mark := range marks(s) {
		left = append(left, all[mark]...)
	}
	return left
}

// endLeft ends what is left of a loop without a runner.
func endLeft(e *env, s registry.Status, asJSON bool) error {
	left, err := leftBy(s)
	if err != nil {
		return err
	}
	if len(left) == 0 {
		return notRunning(e, s)
	}
	k := kill{Loop: s.Name, Kind: string(inbox.Kill), Ended: true, How: killLeft}
	// Held meanwhile, so that the marks are not those of a runner that begins.
	err = holding(s.Dir, func() error {
		for _, mark := range marks(s) {
			strays, err := process.Sweep(context.Background(), mark, leftGrace)
			k.Processes += len(strays)
			if err != nil {
				return fmt.Errorf("end what the agent of loop %s left: %w", s.Name, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return k.tell(e, asJSON)
}

// straysShown bounds what is said of processes that are left.
const straysShown = 8

// spellStrays names processes for a person. Their command lines may hold secrets, as ps shows them: no more than their beginnings
// is said.
func spellStrays(left []process.Stray) string {
	var names []string
	for _, s := range left[:min(len(left), straysShown)] {
		names = append(names, fmt.Sprintf("pid %d (%s)", s.PID, render.Cut(render.Clean(s.Command), 40)))
	}
	if more := len(left) - straysShown; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}
