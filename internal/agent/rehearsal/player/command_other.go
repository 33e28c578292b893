//go:build !unix

package player

import (
	"context"
	"os/exec"
)

func shell(ctx context.Context, command string) *exec.Cmd {
	return exec.CommandContext(ctx, "cmd", "/c", command)
}

func group(*exec.Cmd) {}

func detach(*exec.Cmd) {}
