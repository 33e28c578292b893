//go:build unix

package registry

import (
	"os"
	"syscall"
)

// deviceOf returns the device that a path is on.
func deviceOf(path string) (device uint64, ok bool) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return uint64(stat.Dev), true //nolint:unconvert // a signed 32-bit number on macOS
}
