package process

import (
	"context"
	"fmt"
	"syscall"
	"time"
)

// Terminate ends the agent and everything it started: TERM to its group and to every known
// descendant outside of it, up to grace for all of them to exit, then KILL. It returns when they
// are verified gone. When ctx ends, the rest of the grace is skipped, not the ending. It may be
// called again, and at the same time as Kill. The error says that the agent is still there some six
// seconds after KILL, which takes a process that is stuck inside the kernel.
func (p *Process) Terminate(ctx context.Context, grace time.Duration) error {
	p.requestExit()
	patience, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	select {
	case <-p.done:
		return nil
	case <-patience.Done():
	}
	p.Kill()
	// The agent, then its strays, then the drain of its output: each may take its time once.
	limit := time.NewTimer(2*killTime + drainTime)
	defer limit.Stop()
	select {
	case <-p.done:
		return nil
	case <-limit.C:
		return fmt.Errorf("%s, pid %d, outlived KILL", p.cmd.Args[0], p.pid)
	}
}

// requestExit sends TERM to the tree. It reaches launchers that ignore a signal of their own but
// not that of their group (gemini), and tools in sessions of their own (claude, pi, codex). What
// still outlives the agent gets another TERM from tree.terminate.
func (p *Process) requestExit() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return
	}
	p.asked = true
	// tree.terminate meets the same error and reports it.
	found, _ := p.tree.scan()
	_ = signalGroup(p.cmd.Process, syscall.SIGTERM)
	wakeGroup(p.cmd.Process)
	for _, m := range found.alive {
		if m.pgid != p.pid {
			m.terminate()
		}
	}
	p.tree.track(found.alive)
}

// Kill sends KILL to the agent's group and to every descendant, and returns without waiting for
// Done.
func (p *Process) Kill() {
	p.stopWaiting()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return
	}
	p.asked = true
	found, _ := p.tree.scan() // as in requestExit
	_ = signalGroup(p.cmd.Process, syscall.SIGKILL)
	p.tree.signal(found.alive, syscall.SIGKILL)
}
