//go:build !unix

package preflight

import "math"

// filesLimit is how many files this process and those that it starts may have open: there is no
// such limit.
func filesLimit() uint64 { return math.MaxUint64 }
