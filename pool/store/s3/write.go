package s3

import (
	"bytes"
	"context"
	"crypto/md5"
	cryptorand "crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/ralph-loop/ralph/pool/store"
)

// PutIfAbsent writes a key that does not exist.
func (s *Store) PutIfAbsent(ctx context.Context, key string, value []byte) (store.Revision, error) {
	revision, err := s.write(ctx, key, "", value, store.ErrExists)
	if err != nil {
		return "", fmt.Errorf("put %s: %w", key, err)
	}
	return revision, nil
}

// CompareAndSwap replaces the value of a key that has this revision.
func (s *Store) CompareAndSwap(ctx context.Context, key string, revision store.Revision, value []byte) (store.Revision, error) {
	next, err := s.write(ctx, key, revision, value, store.ErrChanged)
	if err != nil {
		return "", fmt.Errorf("replace %s: %w", key, err)
	}
	return next, nil
}

// write writes a key that has this revision, or, without one, that does not exist; else it
// returns the error for a condition that does not hold.
func (s *Store) write(ctx context.Context, key string, revision store.Revision, value []byte, refusal error) (store.Revision, error) {
	if err := errors.Join(store.CheckKey(key), store.CheckValue(value), ctx.Err()); err != nil {
		return "", err
	}
	// With the hash in the header, the server compares it with what has arrived.
	options := minio.PutObjectOptions{ContentType: "application/octet-stream", DisableContentSha256: true}
	if revision == "" {
		options.SetMatchETagExcept("*")
	} else {
		options.SetMatchETag(string(revision))
	}
	id := cryptorand.Text()
	object := append([]byte(id+"\n"), value...)
	forServer, forSignature := md5.Sum(object), sha256.Sum256(object)
	var info minio.UploadInfo
	certain, err := untilReady(ctx, func() (err error) {
		info, err = s.client.PutObject(ctx, s.bucket, s.object(key), bytes.NewReader(object), int64(len(object)),
			base64.StdEncoding.EncodeToString(forServer[:]), hex.EncodeToString(forSignature[:]), options)
		return err
	})
	if err == nil {
		if info.ETag == "" {
			return "", errors.New("the server's answer has no ETag")
		}
		return store.Revision(info.ETag), nil
	}
	answer := minio.ToErrorResponse(err)
	if answer.StatusCode != http.StatusPreconditionFailed && (revision == "" || answer.Code != minio.NoSuchKey) {
		return "", err
	}
	return s.refused(ctx, key, id, certain, refusal)
}

// refused finds out whether a write was refused because of itself. It is not certain that nothing
// was written if it may have been written by an attempt before, and been replaced since.
func (s *Store) refused(ctx context.Context, key, id string, certain bool, refusal error) (store.Revision, error) {
	entry, found, err := s.read(ctx, key)
	switch {
	case err == nil && found == id:
		return entry.Revision, nil
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return "", fmt.Errorf("it was refused, and the key cannot be read: %w", err)
	case !certain:
		return "", errors.New("it was refused, after an attempt that may have been successful")
	}
	return "", refusal
}

// untilReady makes a request again while the server is too busy for it. The outcome of the last
// attempt is certain if no attempt before can have had an effect.
func untilReady(ctx context.Context, request func() error) (certain bool, err error) {
	const longest = 10 * time.Second
	certain = true
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, longest) {
		err = request()
		busy, sure := isBusy(err)
		if !busy {
			return certain, err
		}
		certain = certain && sure
		select {
		case <-ctx.Done():
			return certain, fmt.Errorf("the server was too busy: %w: %w", err, ctx.Err())
		case <-time.After(wait/2 + rand.N(wait/2)):
		}
	}
}

// isBusy tells whether a request was refused because of others at the same time, and whether that
// is sure: a proxy that answers for the server may have passed it on.
func isBusy(err error) (busy, sure bool) {
	answer := minio.ToErrorResponse(err)
	switch answer.Code {
	case "SlowDown", "SlowDownRead", "SlowDownWrite", "ConditionalRequestConflict", "OperationAborted":
		return true, true
	}
	return answer.StatusCode == http.StatusServiceUnavailable || answer.StatusCode == http.StatusTooManyRequests, false
}
