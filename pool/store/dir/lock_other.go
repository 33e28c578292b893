//go:build !unix

package dir

import (
	"context"
	"errors"
)

func (s *Store) lock(context.Context, string) (unlock func(), err error) {
	return nil, errors.New("this system has no flock: use a pool on nats or s3")
}
