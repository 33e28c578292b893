package takeover

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/oklog/ulid/v2"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/pool/chunk"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/live"
	"github.com/ralph-loop/ralph/pool/store"
)

// Find returns the ID of the loop with a name, or the ID itself. Of several loops of a name it is
// the one that has not ended.
func Find(ctx context.Context, s store.Store, name string) (loop string, err error) {
	if _, err := ulid.ParseStrict(name); err == nil {
		return name, nil
	}
	loops, err := live.Loops(ctx, s, "")
	if err != nil {
		return "", err
	}
	var views []string
	for _, loop := range loops {
		views = append(views, keys.View(loop))
	}
	entries, err := store.GetAll(ctx, s, views)
	if err != nil {
		return "", err
	}
	var going, ended []string
	for i, loop := range loops {
		found, over, err := nameOf(ctx, s, loop, entries[i].Value)
		switch {
		case err != nil:
			return "", err
		case found != name:
		case over:
			ended = append(ended, loop)
		default:
			going = append(going, loop)
		}
	}
	if len(going) == 0 {
		going = ended
	}
	switch len(going) {
	case 0:
		return "", fmt.Errorf("the pool has no loop %q: 'ralph pool check' names all", name)
	case 1:
		return going[0], nil
	}
	return "", fmt.Errorf("the pool has %d loops %q: name one by its ID: %s", len(going), name, strings.Join(going, ", "))
}

// nameOf returns the name of a loop, as its view or else its first chunk has it, and whether the
// view says that it has ended.
func nameOf(ctx context.Context, s store.Store, loop string, view []byte) (name string, ended bool, err error) {
	var v live.View
	if json.Unmarshal(view, &v) == nil && v.View != nil && v.View.Name != "" {
		return v.View.Name, v.View.Ended != nil, nil
	}
	entry, err := s.Get(ctx, keys.Chunk(loop, 0))
	if errors.Is(err, store.ErrNotFound) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("read chunk 0 of loop %s: %w", loop, err)
	}
	_, lines, err := chunk.Decode(entry.Value)
	if err != nil {
		return "", false, nil // it has another way to be found: its ID
	}
	for line := range bytes.Lines(lines) {
		var e struct {
			Type event.Type        `json:"type"`
			Data event.LoopStarted `json:"data"`
			Name string            `json:"name"` // of a specification
		}
		if json.Unmarshal(line, &e) == nil && (e.Type == event.TypeLoopStarted || e.Name != "") {
			return e.Name + e.Data.Name, false, nil
		}
	}
	return "", false, nil
}
