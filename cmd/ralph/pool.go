//go:build !ralph_core

package main

import (
	"os"
	"slices"
	"syscall"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/remote"
)

type poolVerb struct {
	Words []string `arg:"" optional:"" passthrough:"" name:"command" help:"A command of ralph-pool, with its arguments; without one, its help."`
}

// Help shows examples.
func (poolVerb) Help() string {
	return "It runs the program ralph-pool, from the folder of ralph or from PATH. On PATH, one is refused that is in the " +
		"work tree, or that others can write.\n\n" +
		cli.Examples("ralph pool serve --listen 0.0.0.0:4222", "ralph pool status", "ralph pool join --help")
}

// looks tells whether a command only shows something, so that anyone may enter it.
func (v *poolVerb) looks() bool {
	return len(v.Words) == 0 || slices.Contains([]string{"list", "status", "--help", "-h"}, v.Words[0])
}

// Run becomes the program, so that its exit code and the terminal are those of the caller.
func (v *poolVerb) Run(e *cli.Env) error {
	program, err := remote.FindPool(e)
	if err != nil {
		return err
	}
	if len(v.Words) == 0 {
		v.Words = []string{"--help"}
	}
	err = syscall.Exec(program, append([]string{remote.PoolProgram}, v.Words...), os.Environ())
	return cli.Refuse("install it again", "run %s: %w", program, err)
}
