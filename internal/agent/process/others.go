package process

import (
	"context"
	"fmt"
	"os"
	"time"
)

// Spare takes what runs now of all that the agent has started for the agent itself: launchers have the program as a child, and some
// agents keep servers. EndOthers leaves it alone from now on, until the next Spare says anew what belongs to the agent. What the end of
// the agent ends does not change. After an error nothing is known to be the agent's, and EndOthers fails.
func (p *Process) Spare() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return fmt.Errorf("find the agent's own processes: %w", os.ErrProcessDone)
	}
	found, err := p.family.find()
	p.unknown = err
	if err != nil {
		return fmt.Errorf("find the agent's own processes: %w", err)
	}
	p.own = make([]identity, 0, len(found.alive))
	for _, m := range found.alive {
		p.own = append(p.own, m.identity)
	}
	return nil
}

// EndOthers ends everything that the agent has started and that is still there, and leaves the agent itself alone, with what Spare has
// found: between two turns of one process nothing of the first may go on. TERM, up to grace for all of them to leave, KILL, and it returns
// when they are verified gone. What it ended is not listed again among the strays of the agent's exit.
func (p *Process) EndOthers(ctx context.Context, grace time.Duration) ([]Stray, error) {
	p.mu.Lock()
	reaped, own, unknown := p.reaped, p.own, p.unknown
	p.mu.Unlock()
	switch {
	case reaped:
		return nil, fmt.Errorf("end the agent's processes: %w", os.ErrProcessDone)
	case unknown != nil:
		return nil, fmt.Errorf("end the agent's processes: its own are not known: %w", unknown)
	}
	others := newFamily(p.family.root, p.family.mark)
	others.spare(own)
	others.linger(ctx, p.spec.Linger)
	err := others.end(ctx, grace)
	return others.strays(), err
}
