package nats

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// DefaultBucket is the bucket of a pool whose address names none.
const DefaultBucket = "ralph"

// stream is the name of a bucket's stream, the one that programs for NATS show as a key-value store.
func stream(bucket string) string { return "KV_" + bucket }

// written are the subjects that writes go to.
func written(bucket string) string { return "$KV." + bucket + "." }

// stored are the subjects on which the server tells of writes.
func stored(bucket string) string { return "ralph-pool." + bucket + "." }

// exchange puts dots in the place of slashes, and slashes in the place of dots. Twice is the key.
var exchange = strings.NewReplacer("/", ".", ".", "/")

// A Permission is what a client may publish to and subscribe to.
type Permission struct{ Publish, Subscribe []string }

// Permissions are those of a host, and of a reader, which may not write. Neither may change,
// purge or delete the bucket, make consumers, which could publish for them, or answer for the server.
func Permissions(bucket string, reader bool) Permission {
	p := Permission{
		Publish:   []string{"$JS.API.STREAM.INFO." + stream(bucket), "$JS.API.STREAM.MSG.GET." + stream(bucket)},
		Subscribe: []string{"_INBOX.>", stored(bucket) + ">"},
	}
	if !reader {
		p.Publish = append(p.Publish, written(bucket)+">")
	}
	return p
}

// Make makes a bucket that does not exist, with so many replicas.
func Make(ctx context.Context, js jetstream.JetStream, bucket string, replicas int) error {
	_, err := js.CreateStream(ctx, jetstream.StreamConfig{
		Name:              stream(bucket),
		Description:       "A pool of ralph",
		Subjects:          []string{written(bucket) + ">"},
		MaxMsgsPerSubject: 1,
		Discard:           jetstream.DiscardNew,
		Storage:           jetstream.FileStorage,
		Replicas:          replicas,
		DenyDelete:        true,
		DenyPurge:         true,
		AllowDirect:       false,
		RePublish:         &jetstream.RePublish{Source: written(bucket) + ">", Destination: stored(bucket) + ">", HeadersOnly: true},
	})
	if err != nil {
		return fmt.Errorf("make the bucket %s: %w", bucket, err)
	}
	return nil
}

// Exists tells whether a bucket exists, and refuses one that a pool cannot use.
func Exists(ctx context.Context, js jetstream.JetStream, bucket string) (jetstream.Stream, error) {
	s, err := js.Stream(ctx, stream(bucket))
	if err != nil {
		return nil, fmt.Errorf("look up the bucket %s: %w", bucket, err)
	}
	if err := usable(s.CachedInfo().Config, bucket); err != nil {
		return nil, fmt.Errorf("the bucket %s cannot keep a pool, because %w; name another one in the address: nats://HOST:PORT/BUCKET", bucket, err)
	}
	return s, nil
}

func usable(c jetstream.StreamConfig, bucket string) error {
	switch {
	case c.AllowDirect:
		return errors.New("its replicas answer reads")
	case c.MaxMsgsPerSubject != 1 || c.MaxAge != 0 || c.Discard != jetstream.DiscardNew || c.Storage != jetstream.FileStorage:
		return errors.New("it does not keep each key, and its last value only, in files")
	case c.RePublish == nil || c.RePublish.Destination != stored(bucket)+">":
		return errors.New("it does not tell of writes")
	}
	return nil
}

// Adopt makes the bucket of an address on servers that exist, with three replicas where there are
// so many servers, or finds it there.
func Adopt(ctx context.Context, address *url.URL, o Options) (replicas int, err error) {
	conn, err := dial(ctx, address, o.Token, o.Fingerprint, newLink())
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(patience))
	if err != nil {
		return 0, err
	}
	s, err := Exists(ctx, js, Bucket(address))
	if err == nil {
		return max(1, s.CachedInfo().Config.Replicas), nil
	}
	if !errors.Is(err, jetstream.ErrStreamNotFound) {
		return 0, err
	}
	err = Make(ctx, js, Bucket(address), 3)
	if answer := (*jetstream.APIError)(nil); errors.As(err, &answer) && slices.Contains(tooFew, answer.ErrorCode) {
		return 1, Make(ctx, js, Bucket(address), 1)
	}
	return 3, err
}

// tooFew are the codes with which a server says that there are fewer servers than replicas: no
// suitable peers for placement, and no cluster.
var tooFew = []jetstream.ErrorCode{10005, 10074}
