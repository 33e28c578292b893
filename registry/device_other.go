//go:build !unix

package registry

// deviceOf returns the device that a path is on, which is not known here.
func deviceOf(string) (device uint64, ok bool) { return 0, false }
