package process

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"
)

// Report is what became of a Terminate.
type Report struct {
	// Gone: the agent has ended and Exit is its exit. False only when KILL did not end it within some six seconds either,
	// which takes a process stuck inside the kernel; Done is then still open.
	Gone bool
	Exit Exit
	// Killed: the agent, or something it had started, was still there after the grace and was sent KILL.
	Killed bool
	// Survivors are the strays that nothing could end.
	Survivors []Stray
}

// Interrupt sends INT to the agent's process group. Some agents then leave their running tools behind (pi 1.5,
// opencode 1.18); these are found when the agent ends.
func (p *Process) Interrupt() error { return p.Signal(syscall.SIGINT) }

// Signal sends sig to the agent's process group. After the end it returns an error that satisfies errors.Is with os.ErrProcessDone.
func (p *Process) Signal(sig syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return fmt.Errorf("signal agent: %w", os.ErrProcessDone)
	}
	if err := signalGroup(p.cmd.Process, sig); err != nil {
		return fmt.Errorf("signal agent: %w", err)
	}
	return nil
}

// Terminate ends the agent and everything it started: TERM to its group and to every descendant known outside it, up to grace for
// all of them to leave, then KILL, and it returns when they are verified gone. A ctx that ends takes the rest of the grace with
// it, but not the ending. It may be called again, and at the same time as Kill; after the end it only reports.
func (p *Process) Terminate(ctx context.Context, grace time.Duration) Report {
	p.ask()
	patience := time.NewTimer(grace)
	defer patience.Stop()
	select {
	case <-p.done:
		return p.report()
	case <-ctx.Done():
	case <-patience.C:
	}
	p.Kill()
	// The agent, then its strays, then the drain of its output: each may take its time once.
	limit := time.NewTimer(2*killTime + drainTime)
	defer limit.Stop()
	select {
	case <-p.done:
	case <-limit.C:
	}
	return p.report()
}

// ask sends TERM to the whole tree. Launchers that ignore a signal of their own but not their group's (gemini) and tools that run in
// sessions of their own (claude, pi, codex) are all reached. Whoever outlives the agent nevertheless gets another TERM from family.end.
func (p *Process) ask() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return
	}
	// What cannot be listed cannot be asked; family.end meets the same error and reports it.
	found, _ := p.family.find()
	_ = signalGroup(p.cmd.Process, syscall.SIGTERM)
	wakeGroup(p.cmd.Process)
	for _, m := range found.outside(p.pid) {
		m.terminate()
	}
	p.family.remember(found.alive)
}

// Kill sends KILL to the agent's group and to every descendant, and returns without waiting: Done tells the end.
func (p *Process) Kill() {
	p.giveUp()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return
	}
	p.killed = true
	found, _ := p.family.find() // as in ask
	_ = signalGroup(p.cmd.Process, syscall.SIGKILL)
	p.family.send(found.alive, syscall.SIGKILL)
}

func (p *Process) report() Report {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := Report{Killed: p.killed}
	select {
	case <-p.done:
		r.Gone, r.Exit = true, p.exit
	default:
	}
	for _, stray := range p.family.strays() {
		r.Killed = r.Killed || stray.Ended == Killed
		if stray.Ended == Survived {
			r.Survivors = append(r.Survivors, stray)
		}
	}
	return r
}
