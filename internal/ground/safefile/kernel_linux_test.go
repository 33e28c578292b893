package safefile_test

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// The kernel cannot sync folders of /proc: its error shows that it was called.
func TestSyncedFolderReachesKernel(t *testing.T) {
	proc, err := os.Open("/proc")
	if err != nil {
		t.Fatal(err)
	}
	defer proc.Close()
	if err := safefile.SyncNames(proc); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("the sync of a folder without a disk says %v", err)
	}
	// SyncFolder ignores a file system that cannot sync folders.
	if err := safefile.Dir("/proc").Sync(); err != nil {
		t.Error(err)
	}
}
