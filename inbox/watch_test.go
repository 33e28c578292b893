//go:build unix

package inbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// never is an interval longer than any test.
const never = time.Hour

// The test binary plays other processes: with RALPH_TEST_DROP set it drops commands into that
// folder and prints each id when its file is there.
func TestMain(m *testing.M) {
	dir := os.Getenv("RALPH_TEST_DROP")
	if dir == "" {
		os.Exit(m.Run())
	}
	for i := range 250 {
		id, err := Drop(dir, Command{Kind: Steer, From: fmt.Sprintf("test:%d", os.Getpid()), Text: fmt.Sprint(i)})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(id)
	}
}

func watched(t *testing.T, settings watchSettings) (box *Box, wake <-chan struct{}) {
	t.Helper()
	box = mustOpen(t, t.TempDir())
	box.watch = settings
	wake = box.Watch(t.Context())
	t.Cleanup(func() { // t.Context is done by now; the watch must end with it
		for range wake {
		}
	})
	return box, wake
}

func await(t *testing.T, wake <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-wake:
	case <-time.After(2 * time.Minute):
		t.Fatal("no wake-up: " + what)
	}
}

func doneAll(t *testing.T, box *Box) (n int) {
	t.Helper()
	for _, c := range pending(t, box) {
		if err := box.Done(c.ID); err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

func TestDropSendsWakeUp(t *testing.T) {
	box, wake := watched(t, watchSettings{slow: never, fast: never, watch: watchFolders})
	await(t, wake, "the first")
	for range 20 {
		mustDrop(t, box.loopDir, Command{Kind: Pause})
		await(t, wake, "a drop")
		for doneAll(t, box) == 0 {
			await(t, wake, "one that is not for nothing")
		}
	}
}

func TestWatchFindsEarlierDrop(t *testing.T) {
	box := mustOpen(t, t.TempDir())
	mustDrop(t, box.loopDir, Command{Kind: Pause})
	box.watch = watchSettings{slow: never, fast: never, watch: watchFolders}
	await(t, box.Watch(t.Context()), "the first")
	if n := doneAll(t, box); n != 1 {
		t.Errorf("%d commands", n)
	}
}

func TestWatchEndsWithContext(t *testing.T) {
	for title, watch := range map[string]func(...string) (folderWatch, error){
		"with notifications": watchFolders,
		"with polls":         noWatches,
	} {
		t.Run(title, func(t *testing.T) {
			box := mustOpen(t, t.TempDir())
			box.watch = watchSettings{slow: never, fast: never, watch: watch}
			ctx, cancel := context.WithCancel(t.Context())
			wake := box.Watch(ctx)
			await(t, wake, "the first")
			cancel()
			select {
			case _, open := <-wake:
				if open {
					t.Error("a wake-up for nothing")
				}
			case <-time.After(2 * time.Minute):
				t.Error("it is still open")
			}
		})
	}
}

func TestPollFindsDrop(t *testing.T) {
	box, wake := watched(t, watchSettings{slow: never, fast: time.Millisecond, watch: noWatches})
	await(t, wake, "the first")
	mustDrop(t, box.loopDir, Command{Kind: Pause})
	await(t, wake, "a poll")
	if n := doneAll(t, box); n != 1 {
		t.Errorf("%d commands", n)
	}
}

func noWatches(...string) (folderWatch, error) { return nil, errors.New("no space left on device") }

// fakeWatch is a watch whose notifications the test sends.
type fakeWatch struct {
	changed chan string
	failed  chan error
	closed  chan struct{}
}

func newFakeWatch() *fakeWatch {
	return &fakeWatch{changed: make(chan string), failed: make(chan error), closed: make(chan struct{})}
}

func (f *fakeWatch) Wait(ctx context.Context) ([]string, error) {
	select {
	case name := <-f.changed:
		return []string{name}, nil
	case err := <-f.failed:
		return nil, err
	case <-ctx.Done():
		return nil, nil
	}
}

func (f *fakeWatch) Close() error {
	close(f.closed)
	return nil
}

func (f *fakeWatch) watch(...string) (folderWatch, error) { return f, nil }

func TestFailedWatchIsRetried(t *testing.T) {
	first, second := newFakeWatch(), newFakeWatch()
	watches := make(chan *fakeWatch, 2)
	watches <- first
	watches <- second
	box, wake := watched(t, watchSettings{slow: 20 * time.Millisecond, fast: time.Millisecond, watch: func(...string) (folderWatch, error) {
		return <-watches, nil
	}})
	await(t, wake, "the first")
	mustDrop(t, box.loopDir, Command{Kind: Pause})
	first.failed <- errors.New("the watch has failed")
	<-first.closed
	await(t, wake, "a poll")
	second.changed <- anID + ".json" // received, so the second watch is in use
	await(t, wake, "a notification again")
}

func TestMissingNotificationsAreDetected(t *testing.T) {
	box, wake := watched(t, watchSettings{slow: 10 * time.Millisecond, fast: time.Millisecond, watch: newFakeWatch().watch})
	await(t, wake, "the first")
	for range 3 {
		mustDrop(t, box.loopDir, Command{Kind: Pause})
		for doneAll(t, box) == 0 {
			await(t, wake, "a poll")
		}
	}
}

// pollTimes is a watch without a notification that notes when each poll is due.
type pollTimes struct{ due chan time.Duration }

func (p pollTimes) Wait(ctx context.Context) ([]string, error) {
	at, _ := ctx.Deadline()
	select {
	case p.due <- time.Until(at):
	case <-ctx.Done():
	}
	<-ctx.Done()
	return nil, nil
}

func (pollTimes) Close() error { return nil }

// Where no notification comes, a thousand idle runners would use a processor for their polls.
func TestIdlePollsBecomeRare(t *testing.T) {
	const fast = 250 * time.Millisecond
	t.Run("of a watch that announces nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := pollTimes{make(chan time.Duration)}
			box, wake := watched(t, watchSettings{slow: 30 * time.Second, fast: fast, watch: func(...string) (folderWatch, error) { return p, nil }})
			await(t, wake, "the first")
			<-p.due // the first poll, which finds what no notification announced
			for range 2 {
				mustDrop(t, box.loopDir, Command{Kind: Pause})
				await(t, wake, "a poll")
				if n := doneAll(t, box); n != 1 {
					t.Fatalf("%d commands", n)
				}
				for range activePolls {
					if due := <-p.due; due != fast {
						t.Fatalf("a poll after %s", due)
					}
				}
				if due := <-p.due; due != 4*fast {
					t.Fatalf("a poll after %s once nothing has come", due)
				}
			}
		})
	})
	t.Run("without a watch", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			box, wake := watched(t, watchSettings{slow: 30 * time.Second, fast: fast, watch: noWatches})
			await(t, wake, "the first")
			if err := os.RemoveAll(inboxPath(box)); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			for range activePolls {
				await(t, wake, "a poll reports that the inbox has vanished")
			}
			if took := time.Since(began); took != activePolls*fast {
				t.Errorf("%d polls took %s", activePolls, took)
			}
			await(t, wake, "a poll that is rare")
			if took := time.Since(began); took != (activePolls+4)*fast {
				t.Errorf("the next came after %s", took)
			}
		})
	})
}

func TestOwnRenamesWakeNothing(t *testing.T) {
	f := newFakeWatch()
	_, wake := watched(t, watchSettings{slow: never, fast: never, watch: f.watch})
	await(t, wake, "the first")
	for _, name := range []string{".drop-x", anID + ".claimed", anID + ".stop.claimed", RejectedFolder, ".last"} {
		f.changed <- name // unbuffered: the next is received only after this one was handled
	}
	select {
	case <-wake:
		t.Error("a wake-up")
	default:
	}
	f.changed <- "" // some notifications were lost
	await(t, wake, "what was lost")
}

// Box does not create a vanished inbox again, since that would keep the loop's folder from being
// removed while its runner lives. If another process creates a new one, that is used.
func TestVanishedInboxIsReported(t *testing.T) {
	for title, vanish := range map[string]func(path string) error{
		"removed":    os.RemoveAll,
		"moved away": func(path string) error { return os.Rename(path, path+".old") },
	} {
		t.Run(title, func(t *testing.T) {
			box, wake := watched(t, watchSettings{slow: never, fast: time.Millisecond, watch: watchFolders})
			await(t, wake, "the first")
			if err := vanish(inboxPath(box)); err != nil {
				t.Fatal(err)
			}
			await(t, wake, "the loss")
			if _, err := box.Pending(); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%v", err)
			}
			if _, err := os.Lstat(inboxPath(box)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("it was made again: %v", err)
			}
			mustDrop(t, box.loopDir, Command{Kind: Pause})
			for found := false; !found; {
				await(t, wake, "a drop in the new folder")
				items, _ := box.Pending() // a wake-up from before the drop may be left
				found = len(items) == 1
			}
		})
	}
}

func TestVanishedLoopFolderIsReported(t *testing.T) {
	box, wake := watched(t, watchSettings{slow: time.Millisecond, fast: time.Millisecond, watch: watchFolders})
	await(t, wake, "the first")
	if err := os.RemoveAll(box.loopDir); err != nil {
		t.Fatal(err)
	}
	for {
		await(t, wake, "the loss")
		if _, err := box.Pending(); errors.Is(err, fs.ErrNotExist) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// Three processes drop commands, and one of them is killed at some point. A runner gets each
// command that they reported once, and those of one process in their order.
func TestConcurrentDropsAreNeverLost(t *testing.T) {
	box, wake := watched(t, watchSettings{slow: never, fast: never, watch: watchFolders})
	said := make(chan []string)
	for i := range 3 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "RALPH_TEST_DROP="+box.loopDir)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err := errors.Join(err, cmd.Start()); err != nil {
			t.Fatal(err)
		}
		go func() {
			var ids []string
			for lines := bufio.NewScanner(out); lines.Scan(); {
				ids = append(ids, lines.Text())
				if i == 0 && len(ids) == 100 {
					cmd.Process.Kill()
				}
			}
			if err := cmd.Wait(); err != nil && i > 0 {
				t.Error(err)
			}
			said <- ids
		}()
	}
	got := map[string][]string{} // by sender
	seen := map[string]bool{}
	take := func() {
		for n := PassLimit; n == PassLimit; {
			commands := pending(t, box)
			n = len(commands)
			for _, c := range commands {
				if seen[c.ID] {
					t.Errorf("%s came twice", c.ID)
				}
				seen[c.ID] = true
				got[c.From] = append(got[c.From], c.Text)
				if err := box.Done(c.ID); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	var all []string
	for senders := 3; senders > 0; {
		select {
		case ids := <-said:
			all = append(all, ids...)
			senders--
		case <-wake:
			take()
		case <-time.After(2 * time.Minute):
			t.Fatal("nothing happens")
		}
	}
	take()
	for _, id := range all {
		if !seen[id] {
			t.Errorf("%s is lost", id)
		}
	}
	if len(all) < 600 || len(seen) > len(all)+1 { // the killed one may have dropped one more than it said
		t.Errorf("%d said, %d seen", len(all), len(seen))
	}
	for from, texts := range got {
		for i, text := range texts {
			if text != fmt.Sprint(i) {
				t.Fatalf("%s: %s is in place %d", from, text, i)
			}
		}
	}
	left, err := os.ReadDir(inboxPath(box))
	// the killed one's
	left = slices.DeleteFunc(left, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), tempPrefix) })
	if err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func inboxPath(box *Box) string { return filepath.Join(box.loopDir, Folder) }
