package process

import (
	"context"
	"fmt"
	"os"
	"time"
)

// SetBaseline makes every process that the agent has started and that runs now a part of the agent:
// launchers have the program as a child, and some agents keep servers. EndOthers leaves it alone
// until the next SetBaseline. The end of the agent ends it too. After an error there is no
// baseline, and EndOthers fails.
func (p *Process) SetBaseline() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return fmt.Errorf("find the agent's own processes: %w", os.ErrProcessDone)
	}
	found, err := p.tree.scan()
	p.baselineErr = err
	if err != nil {
		return fmt.Errorf("find the agent's own processes: %w", err)
	}
	p.baseline = make([]identity, 0, len(found.alive))
	for _, m := range found.alive {
		p.baseline = append(p.baseline, m.identity)
	}
	return nil
}

// EndOthers ends everything that the agent has started and that still runs, without the agent
// itself and the baseline: between two turns of one process nothing of the first may continue. They
// get TERM, up to grace to exit, then KILL. EndOthers returns when they are verified gone. What it
// ended is not listed again among the strays of the agent's exit.
func (p *Process) EndOthers(ctx context.Context, grace time.Duration) ([]Stray, error) {
	p.mu.Lock()
	reaped, own, err := p.reaped, p.baseline, p.baselineErr
	p.mu.Unlock()
	switch {
	case reaped:
		return nil, fmt.Errorf("end the agent's processes: %w", os.ErrProcessDone)
	case err != nil:
		return nil, fmt.Errorf("end the agent's processes: its own are not known: %w", err)
	}
	others := newTree(p.tree.root, p.tree.mark)
	others.baseline = map[identity]bool{p.tree.root: true}
	for _, id := range own {
		others.baseline[id] = true
	}
	others.awaitExits(ctx, p.spec.Linger)
	err = others.terminate(ctx, grace)
	return others.strays(), err
}
