package loopfolder_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/internal/ground/loopfolder"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// What the public packages make in a loop's folder is protected.
func TestPublicPackagesAreNamed(t *testing.T) {
	dir := t.TempDir()
	lock, err := registration.Acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	if _, err := inbox.Open(dir); err != nil {
		t.Fatal(err)
	}
	options := journal.Options{Notify: true}
	recovery, err := journal.Recover(dir, options)
	if err != nil {
		t.Fatal(err)
	}
	w, _, err := journal.Create(dir, recovery, 0, nil, options)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.Append([]event.Draft{event.Encode(event.LoopStarted{Name: "demo"}, "loop")}); err != nil {
		t.Fatal(err)
	}
	made, err := os.ReadDir(dir)
	if err != nil || len(made) < 4 {
		t.Fatal(made, err)
	}
	files := loopfolder.Files("/p")
	for _, entry := range made {
		name := entry.Name()
		if agents := name == inbox.AgentFolder; loopfolder.Has(name) == agents || slices.Contains(files, filepath.Join("/p", name)) == agents {
			t.Errorf("%s: it is named %v", name, loopfolder.Has(name))
		}
	}
}
