package inbox

import (
	"os"
	"path/filepath"
	"testing"
)

// A user often has 128 inotify instances for all programs. A runner takes one of them, and is woken
// by both parts of its inbox.
func TestWatchTakesOneInstance(t *testing.T) {
	if w, err := watchFolders(); err != nil {
		t.Skipf("other programs of this user have all instances: %v", err)
	} else if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	before := inotifyInstances(t)
	box, wake := watched(t, watchSettings{slow: never, fast: never, watch: watchFolders})
	await(t, wake, "the first")
	if n := inotifyInstances(t) - before; n != 1 {
		t.Errorf("%d instances", n)
	}
	for _, folder := range []string{Folder, AgentFolder} {
		put(t, filepath.Join(box.loopDir, folder, "stuck.json"), `{"id":"`+anID+`","kind":"ask","text":"Which?"}`)
		await(t, wake, "a file in "+folder)
	}
}

func inotifyInstances(t *testing.T) (n int) {
	t.Helper()
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil || len(links) == 0 {
		t.Fatal(links, err)
	}
	for _, link := range links {
		if what, err := os.Readlink(link); err == nil && what == "anon_inode:inotify" {
			n++
		}
	}
	return n
}
