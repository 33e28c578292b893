//go:build linux

package network

import (
	"context"
	"encoding/json"
	"os"

	"github.com/ralph-loop/ralph/pool/chunk"
	"github.com/ralph-loop/ralph/pool/connect"
	"github.com/ralph-loop/ralph/pool/keys"
)

// observing is the variable that makes the test binary print the chunks of the store: for ever, as
// soon as they are there, or once.
const observing = "NETWORK_TEST_OBSERVE"

// A seen is a chunk that was read.
type seen struct {
	Key, Hash string
	Header    chunk.Header
	Lines     string
}

// observe runs on the machine of the store, where the network is good.
func observe(ctx context.Context, forEver bool) error {
	pool, err := connect.Load(os.Getenv("RALPH_HOME"))
	if err != nil {
		return err
	}
	s, err := connect.Open(ctx, pool)
	if err != nil {
		return err
	}
	defer s.Close()
	known, out := map[string]bool{}, json.NewEncoder(os.Stdout)
	look := func() error {
		for key, err := range s.List(ctx, keys.Loops, "") {
			if err != nil {
				return err
			}
			if _, isChunk := keys.ChunkNumber(key); !isChunk || known[key] {
				continue
			}
			entry, err := s.Get(ctx, key)
			if err != nil {
				return err
			}
			header, lines, err := chunk.Decode(entry.Value)
			if err != nil {
				return err
			}
			known[key] = true
			if err := out.Encode(seen{key, chunk.Hash(entry.Value), header, string(lines)}); err != nil {
				return err
			}
		}
		return nil
	}
	if !forEver {
		return look()
	}
	for _, err := range s.Watch(ctx, keys.Loops) {
		if err == nil {
			err = look()
		}
		if err != nil {
			return err
		}
	}
	return nil
}
