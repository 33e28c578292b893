//go:build !unix

package safefile

import "os"

// syncNames does nothing: Windows keeps names durable by itself and has no call for it.
func syncNames(*os.File) error { return nil }
