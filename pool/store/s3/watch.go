package s3

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/ralph-loop/ralph/pool/store"
)

const (
	// pageKeys is how many keys an answer to a list has.
	pageKeys = 1000
	// listEach says at which polls a prefix that is a key as well is listed. At the others, only
	// that key is asked for.
	listEach = 12
)

// A watch knows the last ETag of each key that begins with prefix.
type watch struct {
	store  *Store
	prefix string
	seen   map[string]string
	pages  int // of the last list
	yield  func(string, error) bool
}

// Watch yields the keys that are written.
func (s *Store) Watch(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		w := &watch{store: s, prefix: prefix, seen: map[string]string{}}
		w.yield = func(string, error) bool { return true }
		more, err := w.list(ctx)
		w.yield = yield
		more = more && yield("", nil)
		for n := 1; more; n++ {
			select {
			case <-ctx.Done():
				return
			case <-time.After(s.poll * time.Duration(w.pages)):
			}
			if n%listEach != 0 && store.CheckKey(prefix) == nil {
				more, err = w.ask(ctx)
			} else {
				more, err = w.list(ctx)
			}
		}
		if err != nil && ctx.Err() == nil {
			yield("", fmt.Errorf("watch %s: %w", prefix, err))
		}
	}
}

func (w *watch) list(ctx context.Context) (more bool, err error) {
	keys := 0
	for object, err := range w.store.list(ctx, w.prefix, "") {
		if err != nil || !w.report(object.Key, object.ETag) {
			return false, err
		}
		keys++
	}
	w.pages = 1 + keys/pageKeys
	return true, nil
}

func (w *watch) ask(ctx context.Context) (more bool, err error) {
	var object minio.ObjectInfo
	_, err = untilReady(ctx, func() (err error) {
		object, err = w.store.client.StatObject(ctx, w.store.bucket, w.store.object(w.prefix), minio.StatObjectOptions{})
		return err
	})
	if minio.ToErrorResponse(err).Code == minio.NoSuchKey {
		return true, nil
	}
	return err == nil && w.report(w.prefix, object.ETag), err
}

// report yields a key whose ETag is another one than before.
func (w *watch) report(key, etag string) (more bool) {
	if w.seen[key] == etag {
		return true
	}
	w.seen[key] = etag
	return w.yield(key, nil)
}
