//go:build !linux

package journal

// Sync is F_FULLFSYNC on macOS: plain fsync leaves the data in the drive's cache.
func (f osFile) Sync() error { return f.File.Sync() }
