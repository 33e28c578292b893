package worker

import (
	"context"
	"time"
)

// BoundGit lets a call of git take at most so long.
func BoundGit(d time.Duration) (before time.Duration) {
	before, gitTime = gitTime, d
	return before
}

// Round does what there is to do now.
func (w *Worker) Round(ctx context.Context) error { return w.round(ctx, true) }

// Wait waits for the loops that are looked after.
func (w *Worker) Wait() { w.group.Wait() }

// Refused says why specifications wait.
func (w *Worker) Refused() map[string]string { return w.refused }
