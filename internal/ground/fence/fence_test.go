package fence

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/loopfolder"
)

// TestFenceIsDurable shows that the fence has its name and content before its folder is synced,
// and that it is synced.
func TestFenceIsDurable(t *testing.T) {
	dir := t.TempDir()
	var seen []byte
	before := syncFolder
	t.Cleanup(func() { syncFolder = before })
	syncFolder = func(path string) error {
		if path == dir {
			seen, _ = os.ReadFile(filepath.Join(dir, loopfolder.Moved))
		}
		return before(path)
	}
	want := Fence{File: "/media/demo.ralph", Host: "mill", At: time.Date(2026, 11, 26, 1, 2, 3, 0, time.UTC), Complete: true}
	if err := Write(dir, want); err != nil {
		t.Fatal(err)
	}
	if len(seen) == 0 {
		t.Error("the folder was not synced with the fence in it")
	}
	got, err := Read(dir)
	if err != nil || *got != want {
		t.Errorf("read %+v, %v; want %+v", got, err, want)
	}
	if err := Remove(dir); err != nil {
		t.Fatal(err)
	}
	if got, err := Read(dir); got != nil || err != nil {
		t.Errorf("read %+v, %v after it was removed", got, err)
	}
}
