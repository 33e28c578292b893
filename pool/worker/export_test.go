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

// Rest waits before a loop is resumed; first is the shortest pause.
func (w *Worker) Rest(ctx context.Context, id string, first time.Duration) error {
	defer func(before time.Duration) { restTime = before }(restTime)
	restTime = first
	return w.rest(ctx, id)
}

// Wait waits for the loops that are looked after.
func (w *Worker) Wait() { w.group.Wait() }

// Refused says why specifications wait.
func (w *Worker) Refused() map[string]string { return w.refused }

// LastBranch returns the remote's branch of a loop, of the last epoch up to this one.
func LastBranch(ctx context.Context, clone, loop string, epoch uint64) (string, error) {
	return lastBranch(ctx, clone, loop, epoch)
}
