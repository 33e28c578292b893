// Package connect opens the store of a pool from what a host learned when it joined.
package connect

import (
	"context"
	"fmt"
	"net/url"

	"github.com/ralph-loop/ralph/pool/store"
)

// A Pool is what a host knows of its pool: pool.json in ralph's home, of mode 0600.
type Pool struct {
	// URL is nats://HOST:PORT, s3://BUCKET/PREFIX?endpoint=… or dir:///FOLDER.
	URL string `json:"url"`
	// Token and Fingerprint are those of a join line: the secret, and the SHA-256 of the server's
	// certificate, in hexadecimal.
	Token       string `json:"token,omitempty"`
	Fingerprint string `json:"fingerprint,omitempty"`
	// Host is the name of this host in the pool.
	Host string `json:"host"`
}

// An Opener opens one kind of store.
type Opener func(ctx context.Context, address *url.URL, pool Pool) (store.Store, error)

// openers has a row for each kind of store, by the scheme of its URL.
var openers = map[string]Opener{}

// Open opens the store, and refuses one that ignores conditions.
func Open(ctx context.Context, pool Pool) (store.Store, error) {
	address, err := url.Parse(pool.URL)
	if err != nil {
		return nil, fmt.Errorf("open the store of the pool: %w", err)
	}
	open, known := openers[address.Scheme]
	if !known {
		return nil, fmt.Errorf("open the store of the pool: %q is none of nats, s3 and dir", address.Scheme)
	}
	return open(ctx, address, pool)
}
