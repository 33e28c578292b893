// Package connect opens the store of a pool from what a host learned when it joined.
package connect

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"

	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/pool/store/dir"
	"github.com/ralph-loop/ralph/pool/store/nats"
	"github.com/ralph-loop/ralph/pool/store/s3"
)

// A Pool is what a host knows of its pool: pool.json in ralph's home, of mode 0600.
type Pool struct {
	// URL is nats://HOST:PORT, s3://BUCKET/PREFIX?endpoint=… or dir:///FOLDER.
	URL string `json:"url"`
	// Token and Fingerprint are those of a join line: the secret, and the SHA-256 of the server's
	// certificate, in hexadecimal.
	Token       string `json:"token,omitempty"`
	Fingerprint string `json:"fingerprint,omitempty"`
	// Reader says that the token is one that may look and not write.
	Reader bool `json:"reader,omitempty"`
	// Host is the name of this host in the pool.
	Host string `json:"host"`
}

// An Opener opens one kind of store.
type Opener func(ctx context.Context, address *url.URL, pool Pool) (store.Store, error)

// openers has a row for each kind of store, by the scheme of its URL.
var openers = map[string]Opener{
	"dir":  openDir,
	"nats": openNATS,
	"tls":  openNATS,
	"s3":   openS3,
}

func openNATS(ctx context.Context, address *url.URL, p Pool) (store.Store, error) {
	return nats.Open(ctx, address, nats.Options{Token: p.Token, Fingerprint: p.Fingerprint, Reader: p.Reader})
}

func openS3(_ context.Context, address *url.URL, _ Pool) (store.Store, error) {
	return s3.Open(address)
}

func openDir(_ context.Context, address *url.URL, _ Pool) (store.Store, error) {
	if address.Host != "" || !filepath.IsAbs(address.Path) {
		return nil, fmt.Errorf("open the store of the pool: %s is not of the form dir:///FOLDER", address)
	}
	return dir.Open(address.Path)
}

// Open opens the store, and refuses one that ignores conditions. A reader cannot try that.
func Open(ctx context.Context, pool Pool) (store.Store, error) {
	address, err := url.Parse(pool.URL)
	if err != nil {
		return nil, fmt.Errorf("open the store of the pool: %w", err)
	}
	open, known := openers[address.Scheme]
	if !known {
		return nil, fmt.Errorf("open the store of the pool: %q is none of nats, s3 and dir", address.Scheme)
	}
	s, err := open(ctx, address, pool)
	if err != nil {
		return nil, err
	}
	if pool.Reader {
		return s, nil
	}
	if err := store.Probe(ctx, s); err != nil {
		return nil, errors.Join(fmt.Errorf("open the store of the pool at %s: %w", address.Redacted(), err), s.Close())
	}
	return s, nil
}
