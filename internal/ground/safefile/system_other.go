//go:build !unix

package safefile

import "os"

// There are no pipes among the files here, and no flag against links.
const (
	noWait   = 0
	noFollow = 0
)

// syncNames does nothing: Windows keeps names durable by itself and has no call for it.
func syncNames(*os.File) error { return nil }
