package log

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/pool/chunk"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/store"
)

// Newest returns the header of the last chunk of a loop's log: who has the loop now. The chain is
// not verified; a key far beyond it is none of the log. A loop without a log is ErrNone.
func Newest(ctx context.Context, s store.Store, loop string) (chunk.Header, error) {
	h, _, err := newest(ctx, s, loop)
	return h, err
}

func newest(ctx context.Context, s store.Store, loop string) (h chunk.Header, lines []byte, err error) {
	next := uint64(0)
	for key, err := range s.List(ctx, keys.Log(loop), "") {
		if err != nil {
			return h, nil, fmt.Errorf("list the chunks of loop %s: %w", loop, err)
		}
		if n, ok := keys.ChunkNumber(key); ok && key == keys.Chunk(loop, n) && n >= next && n-next <= chunk.MaxGap {
			next = n
		}
	}
	// What is written while it is listed may be missing in the list.
	for found := false; ; next++ {
		late, text, err := read(ctx, s, loop, next)
		switch {
		case errors.Is(err, store.ErrNotFound) && found:
			return h, lines, nil
		case errors.Is(err, store.ErrNotFound):
			return h, nil, ErrNone
		case err != nil:
			return h, nil, err
		}
		h, lines, found = late, text, true
	}
}

func read(ctx context.Context, s store.Store, loop string, n uint64) (h chunk.Header, lines []byte, err error) {
	entry, err := s.Get(ctx, keys.Chunk(loop, n))
	if err == nil {
		h, lines, err = chunk.Decode(entry.Value)
	}
	if err == nil && h.Number != n { // who reads back from it would not end
		err = fmt.Errorf("it has number %d", h.Number)
	}
	if err != nil {
		err = fmt.Errorf("read chunk %d of loop %s: %w", n, loop, err)
	}
	return h, lines, err
}

// Status returns with which status a loop has ended, as its log has it; empty if it goes on, also
// if another host has taken it over since.
func Status(ctx context.Context, s store.Store, loop string) (event.Status, error) {
	h, lines, err := newest(ctx, s, loop)
	if errors.Is(err, ErrNone) {
		return "", nil
	}
	for err == nil {
		for _, line := range slices.Backward(bytes.Split(lines, []byte("\n"))) {
			var e struct {
				Type event.Type `json:"type"`
				Data struct {
					Status event.Status `json:"status"`
				} `json:"data"`
			}
			if json.Unmarshal(line, &e) != nil {
				continue
			}
			switch e.Type {
			case event.TypeLoopEnded:
				return e.Data.Status, nil
			case event.TypeLoopStarted, event.TypeLoopResumed, event.TypeLoopMoved, event.TypeIterationStarted:
				return "", nil
			}
		}
		if h.Last == 0 || h.Number == 0 { // a claim
			return "", nil
		}
		h, lines, err = read(ctx, s, loop, h.Number-1)
	}
	return "", err
}
