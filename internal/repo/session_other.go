//go:build !unix

package repo

import "os/exec"

const noWait = 0

// ownSession leaves a command as it is: a canceled one is killed, and what it started is not followed.
func ownSession(*exec.Cmd) {}

func endSession(*exec.Cmd) {}
