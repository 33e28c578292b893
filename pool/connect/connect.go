// Package connect opens the store of a pool from what a host learned when it joined.
package connect

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

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

func openS3(_ context.Context, address *url.URL, p Pool) (store.Store, error) {
	s, err := s3.Open(address)
	return p.limit(s), err
}

func openDir(_ context.Context, address *url.URL, p Pool) (store.Store, error) {
	if address.Host != "" || !filepath.IsAbs(address.Path) {
		return nil, fmt.Errorf("open the store of the pool: %s is not of the form dir:///FOLDER", address)
	}
	s, err := dir.Open(address.Path)
	return p.limit(s), err
}

// limit keeps a reader from writing by mistake. Only a NATS server, and the rights of a bucket or a
// folder, keep one from it that wants to.
func (p Pool) limit(s store.Store) store.Store {
	if p.Reader {
		return reading{s}
	}
	return s
}

// reading is a store without writes.
type reading struct{ store.Store }

var errReader = errors.New("this host has joined as a reader, which may look and not steer: ask for the join line of hosts")

func (reading) PutIfAbsent(context.Context, string, []byte) (store.Revision, error) {
	return "", errReader
}

func (reading) CompareAndSwap(context.Context, string, store.Revision, []byte) (store.Revision, error) {
	return "", errReader
}

// parse reads the address of a store. One with a secret is refused: it is stored and shown.
func parse(text string) (*url.URL, error) {
	address, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("the address of the pool's store is none") // the text may have a secret
	}
	if address.User == nil && (address.Scheme != "s3" || !strings.Contains(address.Path, "@")) {
		return address, nil
	}
	instead := "put the token of a NATS server into the parameter token of the join line"
	if address.Scheme == "s3" {
		instead = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment, or write them into ~/.aws/credentials"
	}
	return nil, fmt.Errorf("the address of the pool's store has a secret before the @, and addresses are stored and shown: leave it out, and %s", instead)
}

// Open opens the store, and refuses one that ignores conditions. A reader cannot try that.
func Open(ctx context.Context, pool Pool) (store.Store, error) {
	address, err := parse(pool.URL)
	if err != nil {
		return nil, err
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
		return nil, errors.Join(fmt.Errorf("open the store of the pool at %s: %w", address, err), s.Close())
	}
	return s, nil
}
