//go:build !linux

package process

import (
	"context"
	"errors"
	"os"
)

// AwaitExit returns nil: the end of a process has to be polled for.
func AwaitExit(context.Context, int, uint64) <-chan struct{} { return nil }

func enableSubreaper() error { return errors.ErrUnsupported }

func enlargePipe(*os.File) {}
