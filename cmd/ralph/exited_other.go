//go:build !linux

package main

import (
	"context"

	"github.com/ralph-loop/ralph/registry"
)

// exited returns nil: the runner has to be asked for.
func exited(context.Context, registry.Liveness) <-chan struct{} { return nil }
