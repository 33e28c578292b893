package worker

import "context"

// Round does what there is to do now.
func (w *Worker) Round(ctx context.Context) error { return w.round(ctx, true) }

// Wait waits for the loops that are looked after.
func (w *Worker) Wait() { w.group.Wait() }

// Refused says why specifications wait.
func (w *Worker) Refused() map[string]string { return w.refused }
