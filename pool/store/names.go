package store

import (
	"context"
	"fmt"
	"strings"
)

// passed is how many keys of one name are read over, until a new list begins after them. An engine
// that answers a list as a whole is asked once, and one with pages is asked for a few too many.
const passed = 10_000

// Names returns what keys have between a prefix and the next slash, in the order of the keys. after
// is greater than all keys of a name.
func Names(ctx context.Context, s Store, prefix string, after func(name string) string) (all []string, err error) {
	for from, more := "", true; more; {
		name, same := "", 0
		more = false
		for key, err := range s.List(ctx, prefix, from) {
			if err != nil {
				return nil, fmt.Errorf("list %s: %w", prefix, err)
			}
			this, _, _ := strings.Cut(strings.TrimPrefix(key, prefix), "/")
			if this != name {
				all, name, same = append(all, this), this, 0
			} else if same++; same == passed {
				from, more = after(name), true
				break
			}
		}
	}
	return all, nil
}
