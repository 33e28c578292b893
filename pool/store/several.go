package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// atOnce is how many values are read at the same time.
const atOnce = 16

// GetAll reads keys, several at the same time. The entry of a key that does not exist is empty.
func GetAll(ctx context.Context, s Store, keys []string) ([]Entry, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	entries := make([]Entry, len(keys))
	var mu sync.Mutex
	var problem error
	var readers sync.WaitGroup
	next := make(chan int)
	for range min(atOnce, len(keys)) {
		readers.Go(func() {
			for i := range next {
				entry, err := s.Get(ctx, keys[i])
				if errors.Is(err, ErrNotFound) {
					continue
				}
				if err != nil {
					cancel()
					mu.Lock()
					if problem == nil {
						problem = fmt.Errorf("read %s: %w", keys[i], err)
					}
					mu.Unlock()
					continue
				}
				entries[i] = entry
			}
		})
	}
	for i := range keys {
		next <- i
	}
	close(next)
	readers.Wait()
	return entries, problem
}
