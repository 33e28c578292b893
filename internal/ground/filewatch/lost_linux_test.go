package filewatch_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Beyond its limit the kernel drops events; after that, a caller has to look at everything.
func TestLostChangesAreReported(t *testing.T) {
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	must(t, err)
	limit, err := strconv.Atoi(strings.TrimSpace(string(text)))
	must(t, err)
	dir := t.TempDir()
	paths := []string{filepath.Join(dir, "a"), filepath.Join(dir, "b")}
	write(t, paths[0])
	write(t, paths[1])
	w := watch(t, dir)
	// The kernel joins an event with one like it. Some thousands more are in fsnotify's buffers.
	for i := range limit + 10_000 {
		must(t, os.Chmod(paths[i%2], 0o600))
	}
	awaitName(t, w, "")
}
