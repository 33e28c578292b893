//go:build unix

package preflight

import (
	"math"

	"golang.org/x/sys/unix"
)

// filesLimit is how many files this process and those that it starts may have open.
func filesLimit() uint64 {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return math.MaxUint64
	}
	return uint64(limit.Cur) //nolint:unconvert // an int64 on some systems
}
