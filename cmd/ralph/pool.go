//go:build !ralph_core

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/ralph-loop/ralph/internal/front/cli"
)

// poolProgram is not part of ralph: only hosts of a pool need it.
const poolProgram = "ralph-pool"

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
	program, err := findPool(e)
	if errors.Is(err, cli.ErrForeign) {
		return cli.Refuse("install it in the folder of ralph, or in another one that only you or root can write", "run %s: %w", program, err)
	} else if err != nil {
		return cli.Refuse("'go install github.com/ralph-loop/ralph/pool/cmd/ralph-pool@latest' installs it; only hosts of a pool need it",
			"find the program %s beside ralph or on PATH: %w", poolProgram, err)
	}
	if len(v.Words) == 0 {
		v.Words = []string{"--help"}
	}
	err = syscall.Exec(program, append([]string{poolProgram}, v.Words...), os.Environ())
	return cli.Refuse("install it again", "run %s: %w", program, err)
}

// findPool refuses a program on PATH that an agent may have put there: it would run with the rights
// of a person.
func findPool(e *cli.Env) (string, error) {
	if own, err := os.Executable(); err == nil {
		if program, err := exec.LookPath(filepath.Join(filepath.Dir(own), poolProgram)); err == nil {
			return program, nil
		}
	}
	program, err := exec.LookPath(poolProgram)
	if err == nil {
		err = e.CheckProgram(program)
	}
	return program, err
}
