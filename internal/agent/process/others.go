package process

import (
	"context"
	"fmt"
	"os"
	"time"
)

// EndOthers ends everything that the agent has started and that is still there, and leaves the agent itself alone: between two
// turns of one process nothing of the first may go on. TERM, up to grace for all of them to leave, KILL, and it returns when they are
// verified gone. What it ended is not listed again among the strays of the agent's exit.
func (p *Process) EndOthers(ctx context.Context, grace time.Duration) ([]Stray, error) {
	p.mu.Lock()
	reaped := p.reaped
	p.mu.Unlock()
	if reaped {
		return nil, fmt.Errorf("end the agent's processes: %w", os.ErrProcessDone)
	}
	others := newFamily(p.family.root, p.family.mark)
	others.sparing = true
	others.linger(ctx, p.spec.Linger)
	err := others.end(ctx, grace)
	return others.strays(), err
}
