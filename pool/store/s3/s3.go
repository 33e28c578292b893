package s3

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/ralph-loop/ralph/pool/store"
)

// maxReads is how often an object is read whose ETag does not fit.
const maxReads = 100

// idBytes is the length of an object's first line: crypto/rand.Text.
const idBytes = 26

// A Store is a prefix of a bucket.
type Store struct {
	client    minio.Core
	transport *http.Transport
	bucket    string
	prefix    string // empty, or with a slash at its end
	poll      time.Duration
	// otherETags is true once the server has answered a write with another ETag than the MD5.
	otherETags atomic.Bool
}

var _ store.Store = (*Store)(nil)

// Open takes s3://BUCKET/PREFIX?endpoint=HOST:PORT&region=REGION&insecure=true&poll=5s. Without
// an endpoint it is Amazon's. Credentials are those of the environment (AWS_ACCESS_KEY_ID,
// MINIO_ROOT_USER …), of ~/.aws/credentials, or of the machine's role.
func Open(address *url.URL) (*Store, error) {
	shown := "s3://" + address.Host + address.Path // without parameters, one of which may be a secret
	s := &Store{bucket: address.Host, poll: 5 * time.Second}
	if s.prefix = strings.Trim(address.Path, "/"); s.prefix != "" {
		if err := store.CheckKey(s.prefix); err != nil {
			return nil, fmt.Errorf("the prefix in %s: %w", shown, err)
		}
		s.prefix += "/"
	}
	endpoint, options := "s3.amazonaws.com", minio.Options{Secure: true, MaxRetries: 1}
	for name, values := range address.Query() {
		value, err := values[len(values)-1], error(nil)
		switch name {
		case "endpoint":
			if endpoint = value; strings.Contains(value, "@") {
				err = errors.New("it has a secret before the @: leave it out; credentials are those of the environment")
			}
		case "region":
			options.Region = value
		case "insecure":
			options.Secure = value != "true"
		case "poll":
			s.poll, err = time.ParseDuration(value)
		default:
			err = errors.New("there is no such parameter: endpoint, region, insecure and poll are known")
		}
		if err != nil {
			return nil, fmt.Errorf("the parameter %.40q of %s: %w", name, shown, err)
		}
	}
	if options.Region == "" && endpoint != "s3.amazonaws.com" {
		options.Region = "us-east-1"
	}
	var err error
	if s.transport, err = minio.DefaultTransport(options.Secure); err != nil {
		return nil, fmt.Errorf("open the store %s: %w", shown, err)
	}
	// A request on a connection that the server closes at that moment has an unknown outcome.
	// Servers close those that were idle for 20 seconds or longer.
	s.transport.IdleConnTimeout = 15 * time.Second
	options.Transport = s.transport
	options.Creds = credentials.NewChainCredentials([]credentials.Provider{
		&credentials.EnvAWS{}, &credentials.EnvMinio{}, &credentials.FileAWSCredentials{}, &credentials.FileMinioClient{}, &credentials.IAM{},
	})
	client, err := minio.NewCore(endpoint, &options)
	if err != nil {
		return nil, fmt.Errorf("open the store %s: %w", shown, err)
	}
	s.client = *client
	return s, nil
}

// Close closes idle connections.
func (s *Store) Close() error {
	s.transport.CloseIdleConnections()
	return nil
}

// object returns the name of a key's object.
func (s *Store) object(key string) string { return s.prefix + key }

// Get reads a key.
func (s *Store) Get(ctx context.Context, key string) (store.Entry, error) {
	entry, _, err := s.read(ctx, key)
	if err != nil {
		return store.Entry{}, fmt.Errorf("get %s: %w", key, err)
	}
	return entry, nil
}

// read returns what a key holds, and the first line of its object. An ETag is the object's MD5 with
// most servers. Where it is not, either this server has others, or it has answered with the ETag of
// one write and the body of another, as versitygw does while a key is written. Then reading again
// helps. A swap with a revision that is newer than the value would lose a write.
func (s *Store) read(ctx context.Context, key string) (entry store.Entry, id string, err error) {
	if err := errors.Join(store.CheckKey(key), ctx.Err()); err != nil {
		return entry, "", err
	}
	object, etag, err := s.download(ctx, key)
	for try := 0; err == nil && !s.otherETags.Load() && etag != hashOf(object); try++ {
		before, etagBefore := object, etag
		object, etag, err = s.download(ctx, key)
		if etag == etagBefore && bytes.Equal(object, before) {
			break
		}
		if try == maxReads {
			return entry, "", fmt.Errorf("after %d attempts the server's ETag is still of another write", try)
		}
	}
	if err != nil {
		return entry, "", err
	}
	first, value, found := bytes.Cut(object, []byte("\n"))
	if !found || len(first) != idBytes || len(value) > store.MaxValue || etag == "" {
		return entry, "", fmt.Errorf("it is no object of a store: %d bytes with the ETag %q", len(object), etag)
	}
	return store.Entry{Value: value, Revision: store.Revision(etag)}, string(first), nil
}

func hashOf(object []byte) string {
	sum := md5.Sum(object)
	return hex.EncodeToString(sum[:])
}

// download returns an object, or its beginning if it is longer than those of a store.
func (s *Store) download(ctx context.Context, key string) (object []byte, etag string, err error) {
	_, err = untilReady(ctx, func() error {
		body, info, _, err := s.client.GetObject(ctx, s.bucket, s.object(key), minio.GetObjectOptions{})
		if err != nil {
			return err
		}
		defer body.Close()
		etag = info.ETag
		object, err = io.ReadAll(io.LimitReader(body, idBytes+1+store.MaxValue+1))
		return err
	})
	if minio.ToErrorResponse(err).Code == minio.NoSuchKey {
		err = store.ErrNotFound
	}
	return object, etag, err
}

// List yields keys in order.
func (s *Store) List(ctx context.Context, prefix, after string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for object, err := range s.list(ctx, prefix, after) {
			if !yield(object.Key, err) {
				return
			}
		}
	}
}

// list yields the objects of keys, with the key in the place of the name.
func (s *Store) list(ctx context.Context, prefix, after string) iter.Seq2[minio.ObjectInfo, error] {
	return func(yield func(minio.ObjectInfo, error) bool) {
		more := true
		_, err := untilReady(ctx, func() error {
			options := minio.ListObjectsOptions{Prefix: s.prefix + prefix, Recursive: true}
			if after != "" {
				options.StartAfter = s.prefix + after
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			for object := range s.client.ListObjectsIter(ctx, s.bucket, options) {
				if object.Err != nil {
					return object.Err
				}
				key := strings.TrimPrefix(object.Key, s.prefix)
				if key <= after || store.CheckKey(key) != nil { // not of a store, or not what was asked for
					continue
				}
				after, object.Key = key, key
				if more = yield(object, nil); !more {
					return nil
				}
			}
			return ctx.Err()
		})
		if err != nil && more {
			yield(minio.ObjectInfo{}, fmt.Errorf("list %s: %w", prefix, err))
		}
	}
}
