package nats

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/ralph-loop/ralph/pool/store"
)

// A Store is a bucket.
type Store struct {
	address string
	bucket  string
	conn    *nats.Conn
	js      jetstream.JetStream
	stream  jetstream.Stream
	link    *link
	reader  bool
}

var _ store.Store = (*Store)(nil)

// Options are what an address does not say.
type Options struct {
	Token       string // of the server, or USER:PASSWORD
	Fingerprint string // of the server's certificate; empty: one that the system trusts, or no TLS
	Reader      bool   // writes are refused here, and not only by the server
}

// Open takes nats://HOST:PORT/BUCKET; without a bucket it is [DefaultBucket].
func Open(ctx context.Context, address *url.URL, o Options) (*Store, error) {
	s := &Store{address: address.Host, bucket: Bucket(address), link: newLink(), reader: o.Reader}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var err error
	if s.conn, err = dial(ctx, address, o.Token, o.Fingerprint, s.link); err != nil {
		return nil, err
	}
	if s.js, err = jetstream.New(s.conn, jetstream.WithDefaultTimeout(patience)); err == nil {
		err = s.read(ctx, func(ctx context.Context) error {
			s.stream, err = Exists(ctx, s.js, s.bucket)
			return err
		})
	}
	if err != nil {
		s.conn.Close()
		return nil, fmt.Errorf("open the pool at %s: %w", address.Host, err)
	}
	return s, nil
}

// Bucket is the one of an address.
func Bucket(address *url.URL) string {
	if name := strings.Trim(address.Path, "/"); name != "" {
		return name
	}
	return DefaultBucket
}

// Close closes the connection.
func (s *Store) Close() error {
	s.conn.Close()
	return nil
}

// call does something with a connection, and ends when the connection or the context does.
func (s *Store) call(ctx context.Context, do func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	now, err := s.connected(ctx)
	if err != nil {
		return err
	}
	call, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(now, func() { cancel(errLost) })()
	err = do(call)
	switch {
	case err == nil || ctx.Err() != nil:
		return err
	case errors.Is(context.Cause(call), errLost), errors.Is(err, nats.ErrReconnectBufExceeded), errors.Is(err, nats.ErrDisconnected):
		return errLost
	case errors.Is(err, context.DeadlineExceeded) && errors.Is(s.conn.LastError(), nats.ErrPermissionViolation):
		return fmt.Errorf("the server at %s does not allow it: %w", s.address, s.conn.LastError())
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the server at %s has not answered for %s: %w", s.address, patience, err)
	}
	return err
}

// connected waits for a connection, but not for long.
func (s *Store) connected(ctx context.Context) (now context.Context, err error) {
	wait, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("the server at %s cannot be reached", s.address))
	defer cancel()
	return s.link.wait(wait)
}

// read repeats a call whose connection was lost, while the context lasts.
func (s *Store) read(ctx context.Context, do func(context.Context) error) error {
	for {
		if err := s.call(ctx, do); !errors.Is(err, errLost) {
			return err
		}
	}
}

// PutIfAbsent writes a key that does not exist.
func (s *Store) PutIfAbsent(ctx context.Context, key string, value []byte) (store.Revision, error) {
	revision, err := s.write(ctx, key, 0, value, store.ErrExists)
	if err != nil {
		return "", fmt.Errorf("put %s: %w", key, err)
	}
	return revision, nil
}

// CompareAndSwap replaces the value of a key.
func (s *Store) CompareAndSwap(ctx context.Context, key string, revision store.Revision, value []byte) (store.Revision, error) {
	var last uint64
	if revision != "" {
		var err error
		if last, err = strconv.ParseUint(string(revision), 10, 64); err != nil || last == 0 {
			return "", fmt.Errorf("swap %s: %q is no revision of a bucket", key, revision)
		}
	}
	next, err := s.write(ctx, key, last, value, store.ErrChanged)
	if err != nil {
		return "", fmt.Errorf("swap %s: %w", key, err)
	}
	return next, nil
}

// write publishes a value if the last message of its key has this number, 0 for none.
func (s *Store) write(ctx context.Context, key string, last uint64, value []byte, refused error) (store.Revision, error) {
	if err := errors.Join(store.CheckKey(key), store.CheckValue(value)); err != nil {
		return "", err
	}
	if s.reader {
		return "", errors.New("this host has joined as a reader, which may not write: join with the line of a host")
	}
	for {
		var revision store.Revision
		err := s.call(ctx, func(ctx context.Context) error {
			ack, err := s.js.PublishMsg(ctx, &nats.Msg{Subject: written(s.bucket) + exchange.Replace(key), Data: value},
				jetstream.WithExpectLastSequencePerSubject(last), jetstream.WithExpectStream(stream(s.bucket)))
			if err == nil {
				revision = number(ack.Sequence)
			}
			return err
		})
		if !isRefusal(err) {
			return revision, err
		}
		if s.replicas() == 1 {
			return "", refused
		}
		// A cluster refuses also because of a write that is on its way to the replicas, which a read
		// does not see yet, and which may never get there.
		now, err := s.Get(ctx, key)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return "", err
		}
		if now.Revision != expected(last) {
			return "", refused
		}
	}
}

// isRefusal tells whether the last message of the key had another number.
func isRefusal(err error) bool {
	answer := (*jetstream.APIError)(nil)
	return errors.As(err, &answer) && (answer.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
		answer.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

func (s *Store) replicas() int { return max(1, s.stream.CachedInfo().Config.Replicas) }

func expected(last uint64) store.Revision {
	if last == 0 {
		return ""
	}
	return number(last)
}

func number(sequence uint64) store.Revision { return store.Revision(strconv.FormatUint(sequence, 10)) }

// Get reads a key.
func (s *Store) Get(ctx context.Context, key string) (store.Entry, error) {
	if err := store.CheckKey(key); err != nil {
		return store.Entry{}, err
	}
	var message *jetstream.RawStreamMsg
	err := s.read(ctx, func(ctx context.Context) (err error) {
		message, err = s.stream.GetLastMsgForSubject(ctx, written(s.bucket)+exchange.Replace(key))
		return err
	})
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.Entry{}, fmt.Errorf("get %s: %w", key, err)
	}
	return store.Entry{Value: message.Data, Revision: number(message.Sequence)}, nil
}

// List yields keys in order. It has all keys of the prefix's last part in memory.
func (s *Store) List(ctx context.Context, prefix, after string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		var keys []string
		err := s.read(ctx, func(ctx context.Context) error {
			info, err := s.stream.Info(ctx, jetstream.WithSubjectFilter(below(written(s.bucket), prefix)))
			if err != nil {
				return err
			}
			keys = keys[:0]
			for subject := range info.State.Subjects {
				key := exchange.Replace(strings.TrimPrefix(subject, written(s.bucket)))
				if strings.HasPrefix(key, prefix) && key > after && store.CheckKey(key) == nil {
					keys = append(keys, key)
				}
			}
			return nil
		})
		if err != nil {
			yield("", fmt.Errorf("list %s: %w", prefix, err))
			return
		}
		slices.Sort(keys)
		for _, key := range keys {
			if err := ctx.Err(); err != nil {
				yield("", fmt.Errorf("list %s: %w", prefix, err))
				return
			}
			if !yield(key, nil) {
				return
			}
		}
	}
}

// below returns the subjects whose keys have the complete parts of a prefix.
func below(subjects, prefix string) string {
	return subjects + exchange.Replace(prefix[:strings.LastIndexByte(prefix, '/')+1]) + ">"
}

// A Usage is what the server says of the bucket.
type Usage struct {
	Bytes, Keys uint64
	Replicas    int
	Server      string        // its version
	Answered    time.Duration // how long it took to ask
}

// Usage asks the server.
func (s *Store) Usage(ctx context.Context) (u Usage, err error) {
	err = s.read(ctx, func(ctx context.Context) error {
		began := time.Now()
		info, err := s.stream.Info(ctx)
		if err != nil {
			return err
		}
		u = Usage{info.State.Bytes, info.State.Msgs, max(1, info.Config.Replicas), s.conn.ConnectedServerVersion(), time.Since(began)}
		return nil
	})
	if err != nil {
		return u, fmt.Errorf("ask the server at %s: %w", s.address, err)
	}
	return u, nil
}
