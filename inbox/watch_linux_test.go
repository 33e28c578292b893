package inbox

import (
	"os"
	"path/filepath"
	"testing"
	"time"
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

// An agent that removes its part of the inbox does not delay what people send, and may make it
// again.
func TestWatchWithoutAgentsPart(t *testing.T) {
	for _, row := range []struct {
		settings watchSettings
		sends    func(*Box)
	}{
		{watchSettings{slow: never, fast: never, watch: watchFolders}, func(box *Box) { mustDrop(t, box.loopDir, Command{Kind: Pause}) }},
		{watchSettings{slow: time.Millisecond, fast: time.Millisecond, watch: watchFolders}, func(box *Box) {
			part := filepath.Join(box.loopDir, AgentFolder)
			if err := os.Mkdir(part, 0o700); err != nil {
				t.Fatal(err)
			}
			put(t, filepath.Join(part, "ask.json"), `{"kind":"ask","text":"Which?"}`)
		}},
	} {
		box, wake := watched(t, row.settings)
		await(t, wake, "the first")
		if err := os.RemoveAll(filepath.Join(box.loopDir, AgentFolder)); err != nil {
			t.Fatal(err)
		}
		await(t, wake, "a part that is gone")
		row.sends(box)
		for n := 0; n == 0; n = doneAll(t, box) {
			await(t, wake, "what comes then")
		}
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
