//go:build unix

package inbox

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/testkit/simfs"
)

// A shell script moves a file named by its kind: the claim gives it an id, which a crash does not
// change.
func TestFileNamedByKind(t *testing.T) {
	for _, tt := range []struct {
		name, content string
		want          Command
	}{
		{"steer.json", `{"text":"leave the schema alone"}`, Command{Kind: Steer, Text: "leave the schema alone"}},
		{"steer.2.json", `{"v":1,"kind":"steer","from":"cron","text":"x"}` + "\n", Command{Kind: Steer, From: "cron", Text: "x"}},
		{"follow-up.json", `{"text":"x"}`, Command{Kind: FollowUp, Text: "x"}},
		{"stop.json", `{}`, Command{Kind: Stop}},
		{"stop-now.json", ` {"text":"enough"}`, Command{Kind: StopNow, Text: "enough"}},
		{"pause.json", `{}`, Command{Kind: Pause}},
		{"resume.a.b.json", `{}`, Command{Kind: Resume}},
		{"set.json", `{"key":"limits.cost","value":"3"}`, Command{Kind: Set, Key: "limits.cost", Value: "3"}},
		{"kill.json", `{}`, Command{Kind: Kill}},
		{"wait.json", `{"text":"the key"}`, Command{Kind: Wait, Text: "the key"}},
		{"blocked.json", `{}`, Command{Kind: Blocked}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			mustOpen(t, dir)
			put(t, filepath.Join(dir, Folder, tt.name), tt.content)
			got := pending(t, mustOpen(t, dir))
			if len(got) != 1 || !canonicalID(got[0].ID) {
				t.Fatalf("%+v", got)
			}
			tt.want.ID = got[0].ID
			for range 2 { // a runner that died gives it to the next one, under the same id
				if diff := cmp.Diff([]Command{tt.want}, pending(t, mustOpen(t, dir))); diff != "" {
					t.Error(diff)
				}
			}
			if back, err := Withdraw(dir, tt.want.ID); back || err != nil {
				t.Errorf("what is claimed was withdrawn: %v, %v", back, err)
			}
			box := mustOpen(t, dir)
			if err := box.Done(tt.want.ID); err != nil {
				t.Fatal(err)
			}
			if left, err := os.ReadDir(filepath.Join(dir, Folder)); err != nil || len(left) != 0 {
				t.Errorf("left: %v, %v", left, err)
			}
		})
	}
}

func TestHostileFilesNamedByKind(t *testing.T) {
	write := func(s string) func(string) error {
		return func(p string) error { return os.WriteFile(p, []byte(s), 0o600) }
	}
	for _, tt := range []struct {
		title, name string
		make        func(path string) error
		reason      string
	}{
		{"another kind inside", "steer.json", write(`{"kind":"kill"}`), "its kind"},
		{"an id inside", "stop.json", write(`{"id":"` + anID + `"}`), "its id"},
		{"another version", "stop.json", write(`{"v":2}`), "version 2"},
		{"a steer without text", "steer.json", write(`{}`), "without text"},
		{"no JSON", "steer.json", write("look at the tests"), "not a command"},
		{"null", "stop.json", write("null"), "not a JSON object"},
		{"a list", "stop.json", write("[]"), "not a JSON object"},
		{"two objects", "stop.json", write("{}{}"), "not a command"},
		{"no UTF-8", "steer.json", write("{\"text\":\"\xff\"}"), "UTF-8"},
		{"too large", "steer.json", write(`{"text":"` + strings.Repeat("x", MaxSize) + `"}`), "larger"},
		{"2 GB", "steer.json", func(p string) error { return errors.Join(os.WriteFile(p, nil, 0o600), os.Truncate(p, 2<<30)) }, "larger"},
		{"a link", "stop.json", func(p string) error { return os.Symlink("/dev/null", p) }, "symbolic link"},
		{"a FIFO", "stop.json", func(p string) error { return syscall.Mkfifo(p, 0o600) }, "named pipe"},
		{"a folder", "stop.json", func(p string) error { return os.Mkdir(p, 0o700) }, "folder"},
		{"an unknown kind", "explode.json", write("{}"), "its name"},
		{"a claim of an unknown kind", anID + ".explode.claimed", write("{}"), "its name"},
	} {
		t.Run(tt.title, func(t *testing.T) {
			dir := t.TempDir()
			box := mustOpen(t, dir)
			if err := tt.make(filepath.Join(dir, Folder, tt.name)); err != nil {
				t.Fatal(err)
			}
			stop := mustDrop(t, dir, Command{Kind: Stop})
			items, err := box.Pending()
			if err != nil || len(items) != 2 || items[0].Command == nil || items[0].Command.ID != stop || items[1].Reject == nil {
				t.Fatalf("%+v, %v", items, err)
			}
			if got := items[1].Reject; got.Name != tt.name || !strings.Contains(got.Reason, tt.reason) {
				t.Errorf("%+v, want %q", got, tt.reason)
			}
			if err := box.Reject(tt.name, "because"); err != nil {
				t.Error(err)
			}
		})
	}
}

// The beginning of a command is not a command: a file that grows in place is claimed when it is
// complete.
func TestUnfinishedFileIsNotClaimed(t *testing.T) {
	const whole = `{"text":"drop nothing, \"ü\" and {}"}`
	for end := range len(whole) {
		if !isUnfinished([]byte(whole[:end])) {
			t.Fatalf("%q counts as whole", whole[:end])
		}
	}
	if isUnfinished([]byte(whole)) || isUnfinished([]byte("x")) {
		t.Fatal("what is whole, or can never be, counts as unfinished")
	}

	synctest.Test(t, func(t *testing.T) { // the file does not settle while this machine is slow
		dir := t.TempDir()
		box := mustOpen(t, dir)
		path := filepath.Join(dir, Folder, "steer.json")
		put(t, path, whole[:20])
		for range 3 {
			if got := pending(t, box); len(got) != 0 {
				t.Fatalf("half a file: %+v", got)
			}
		}
		if found, err := box.hasDropped(); found || err != nil {
			t.Errorf("half a file wakes the poll: %v, %v", found, err)
		}
		put(t, path, whole)
		if found, err := box.hasDropped(); !found || err != nil {
			t.Errorf("the whole file does not wake the poll: %v, %v", found, err)
		}
		if got := pending(t, box); len(got) != 1 || got[0].Text != `drop nothing, "ü" and {}` {
			t.Fatalf("%+v", got)
		}
	})
}

// A file that no process writes any more is read as it is: an empty stop is complete, half a steer
// is rejected.
func TestUnfinishedFileSettles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		box := mustOpen(t, dir)
		box.wake = make(chan struct{}, 1)
		put(t, filepath.Join(dir, Folder, "stop.json"), "")
		put(t, filepath.Join(dir, Folder, "steer.json"), `{"text":"half`)
		if got := pending(t, box); len(got) != 0 {
			t.Fatalf("at once: %+v", got)
		}
		<-box.wake
		synctest.Wait()
		items, err := box.Pending()
		if err != nil || len(items) != 2 {
			t.Fatalf("%+v, %v", items, err)
		}
		if r := items[0].Reject; r == nil || r.Name != "steer.json" || !strings.Contains(r.Reason, "not a command") {
			t.Errorf("%+v", items[0])
		}
		if c := items[1].Command; c == nil || c.Kind != Stop {
			t.Errorf("%+v", items[1])
		}
	})
}

// If another file takes the name after the first was read, the claimed one is returned.
func TestReplacedFileIsReadAgain(t *testing.T) {
	dir := t.TempDir()
	box := mustOpen(t, dir)
	path := filepath.Join(dir, Folder, "steer.json")
	put(t, path, `{"text":"first"}`)
	box.newID = func(at time.Time) (string, error) { // it is asked for between the two
		put(t, filepath.Join(dir, Folder, ".next"), `{"text":"second"}`)
		return anID, os.Rename(filepath.Join(dir, Folder, ".next"), path)
	}
	if got := pending(t, box); len(got) != 1 || got[0].Text != "second" || got[0].ID != anID {
		t.Fatalf("%+v", got)
	}
}

func TestUnfinishedFileWakesRunner(t *testing.T) {
	settings := defaultWatch
	settings.slow, settings.fast = never, never
	box, wake := watched(t, settings)
	await(t, wake, "the first")
	path := filepath.Join(box.loopDir, Folder, "steer.json")
	put(t, path, `{"text":`)
	for len(pending(t, box)) == 0 {
		await(t, wake, "for the file")
		if box.unfinished["steer.json"] != nil {
			put(t, path, `{"text":"whole"}`)
		}
	}
}

// A claim that Pending returned keeps its id after a loss of power: the next runner delivers it
// under that id, not again under a new one.
func TestClaimIDSurvivesPowerLoss(t *testing.T) {
	for seed := range uint64(30) {
		disk := simfs.New(rand.New(rand.NewPCG(seed, 0)))
		root, err := disk.Folder(".")
		if err == nil {
			err = safefile.Mkdir(root, Folder)
		}
		box, err2 := disk.Folder(Folder)
		if err = errors.Join(err, err2); err == nil {
			err = safefile.Replace(box, "stop.json", []byte("{}"), 0o600)
		}
		if err == nil {
			err = claimAs(simBox{box}, &file{name: "stop.json", kind: Stop}, anID)
		}
		if err != nil {
			t.Fatal(err)
		}
		left := disk.Crash(simfs.PowerLostAnyOrder)
		if _, err := left.ReadFile(Folder + "/" + anID + ".stop.claimed"); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}
