//go:build !unix

package launch

import (
	"os"
	"runtime/debug"
)

// redirectOutput sends the output of this process to a log, also that of a crash.
func redirectOutput(log *os.File) error {
	os.Stdout, os.Stderr = log, log
	return debug.SetCrashOutput(log, debug.CrashOptions{})
}
