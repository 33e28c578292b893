package safefile

import (
	"os"
	"testing"
)

// SyncNames makes the names in an open folder durable, or returns the error of a file system that
// cannot.
func SyncNames(folder *os.File) error { return syncNames(folder) }

// Synced calls observe with each folder that is synced while the test runs.
func Synced(t *testing.T, observe func(path string)) {
	syncedFolder = observe
	t.Cleanup(func() { syncedFolder = nil })
}
