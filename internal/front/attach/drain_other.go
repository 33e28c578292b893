//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package attach

import "os"

// drainKeys does nothing: this system cannot discard typed input.
func drainKeys(*os.File) {}
