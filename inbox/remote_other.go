//go:build !linux && !darwin

package inbox

// isRemote is not known here; a poll that finds what no event announced makes up for it.
func isRemote(string) bool { return false }
