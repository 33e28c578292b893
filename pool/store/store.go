package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
)

// MaxValue bounds a value, in bytes. It fits into a message of a NATS server with its own settings.
// Package parts stores longer ones.
const MaxValue = 768 << 10

// A Revision names one write of a key. Only its equality means something; it is empty for a key
// that does not exist.
type Revision string

// An Entry is what a key holds.
type Entry struct {
	Value    []byte
	Revision Revision
}

// Errors of a store that say for certain what happened. After any other error of a write
// it is unknown: the value may be there, or get there later. Read the key to find out. A request
// that the network delivers twice may be refused because of itself: where a write decides
// something, compare the value of the key with your own.
var (
	ErrExists   = errors.New("the key exists")              // PutIfAbsent: nothing was written
	ErrNotFound = errors.New("there is no such key")        // Get
	ErrChanged  = errors.New("the key has been written to") // CompareAndSwap: nothing was written
)

// A Store is what a pool asks of an engine: five calls. All of them are linearizable: a call that
// begins after another has returned sees its effect, from any host. What a write has acknowledged
// is durable. All methods may be called from any number of goroutines and processes.
type Store interface {
	// PutIfAbsent writes a key that does not exist, else it is ErrExists.
	PutIfAbsent(ctx context.Context, key string, value []byte) (Revision, error)
	// Get reads a key, else it is ErrNotFound.
	Get(ctx context.Context, key string) (Entry, error)
	// List yields the keys that begin with prefix and are greater than after, in the order of their
	// bytes. A key that is written meanwhile may be missing. An error ends it.
	List(ctx context.Context, prefix, after string) iter.Seq2[string, error]
	// CompareAndSwap replaces the value of a key if its revision is the one given, else it is
	// ErrChanged. An empty revision means a key that does not exist.
	CompareAndSwap(ctx context.Context, key string, revision Revision, value []byte) (Revision, error)
	// Watch yields keys that begin with prefix and were written after it began, until ctx ends. It
	// may yield a key more than once, and several writes as one, but never misses the last. An
	// engine without push polls. The empty key says only that something may have been written. It
	// is the first, as soon as the watch has begun: a read after it misses nothing. An error ends
	// the watch.
	Watch(ctx context.Context, prefix string) iter.Seq2[string, error]
	// Close ends connections. What was acknowledged stays.
	Close() error
}

// CheckKey refuses what is not a key on every engine: 1 to 512 bytes of letters, digits and
// "-_./=", without an empty part between slashes, no part longer than 200 bytes, and a dot only
// between two other characters of a part. Where a key is a path, one that is also the beginning of
// another, such as a and a/b, is an error of the engine: the package keys has none.
func CheckKey(key string) error {
	if len(key) == 0 || len(key) > 512 {
		return fmt.Errorf("the key %.40q has %d bytes; 1 to 512 are allowed", key, len(key))
	}
	before, part := byte('/'), 0
	for i := range len(key) {
		c := key[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '=':
		case (c == '.' || c == '/') && before != '/' && before != '.':
		default:
			return fmt.Errorf("the key %q has a character that is not allowed there: %q", key, c)
		}
		before = c
		if part++; c == '/' {
			part = 0
		}
		if part > 200 {
			return fmt.Errorf("the key %.40q… has a part of more than 200 bytes", key)
		}
	}
	if before == '/' || before == '.' {
		return fmt.Errorf("the key %q ends with %q", key, before)
	}
	return nil
}

// CheckValue refuses a value that is too long for some engine.
func CheckValue(value []byte) error {
	if len(value) > MaxValue {
		return fmt.Errorf("the value has %d bytes; %d are allowed", len(value), MaxValue)
	}
	return nil
}
