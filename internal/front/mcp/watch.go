package mcp

import (
	"context"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal"
)

// watches are the resources that the client wants to know changes of.
type watches struct {
	mu   sync.Mutex // guards what follows
	ctx  context.Context
	open map[string]*watch
}

// A watch follows the journal of one loop for one resource.
type watch struct {
	wanted int // subscriptions
	end    context.CancelFunc
}

const (
	mostWatches = 32
	// updateEvery is the shortest time between two notifications of one resource.
	updateEvery = time.Second
)

func (w *watches) begin(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ctx, w.open = ctx, map[string]*watch{}
}

// subscribe begins to notify the client of changes of a resource.
func (s *Server) subscribe(_ context.Context, req *sdk.SubscribeRequest) error {
	uri := req.Params.URI
	id, _, ok := parseURI(uri)
	if !ok {
		return sdk.ResourceNotFoundError(uri)
	}
	l, err := byID(s.view(), id)
	if err != nil {
		return sdk.ResourceNotFoundError(uri)
	}
	w := &s.watches
	w.mu.Lock()
	defer w.mu.Unlock()
	if known := w.open[uri]; known != nil {
		known.wanted++
		return nil
	}
	if len(w.open) >= mostWatches {
		return problem(cli.Refuse("unsubscribe from another one", "%d resources are subscribed to, which is the most", mostWatches))
	}
	_, from, err := journal.Last(l.Dir, 1)
	if err != nil {
		return problem(err)
	}
	ctx, end := context.WithCancel(w.ctx)
	w.open[uri] = &watch{wanted: 1, end: end}
	go s.follow(ctx, l.Dir, from, uri)
	return nil
}

func (s *Server) unsubscribe(_ context.Context, req *sdk.UnsubscribeRequest) error {
	w := &s.watches
	w.mu.Lock()
	defer w.mu.Unlock()
	known := w.open[req.Params.URI]
	if known == nil {
		return nil
	}
	if known.wanted--; known.wanted == 0 {
		known.end()
		delete(w.open, req.Params.URI)
	}
	return nil
}

// follow notifies the client after the journal of a loop has grown beyond a position, until ctx
// ends. One notification is for all events since the one before.
func (s *Server) follow(ctx context.Context, dir string, from journal.Position, uri string) {
	changed := make(chan struct{}, 1)
	changed <- struct{}{} // the loop may have gone on before the client was registered
	go func() {
		for _, err := range journal.Follow(ctx, dir, journal.FollowOptions{From: from}) {
			if err != nil {
				return // a damaged journal is reported when the resource is read
			}
			select {
			case changed <- struct{}{}:
			default:
			}
		}
	}()
	pause := time.NewTimer(updateEvery)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
		_ = s.sdk.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri}) // the client may be gone
		pause.Reset(updateEvery)
	}
}
