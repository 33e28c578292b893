package mirror

import (
	"context"
	"sync"
)

// Round does what is due now.
func (m *Mirror) Round(ctx context.Context) {
	var background sync.WaitGroup
	m.dispatch(ctx, &background)
	background.Wait()
}

// Hear reads whether the host was woken.
func (m *Mirror) Hear(ctx context.Context) { m.hear(ctx) }
