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
	"time"

	"github.com/fsnotify/fsnotify"
)

// never is a poll that no test lives to see.
const never = time.Hour

// The test binary plays other processes: with RALPH_TEST_DROP set it drops commands there and prints each id once it stands.
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
	case <-time.After(20 * time.Second):
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

func TestEventsWakeTheRunner(t *testing.T) {
	box, wake := watched(t, watchSettings{slow: never, fast: never, listen: listenFsnotify})
	await(t, wake, "the first")
	for range 20 {
		mustDrop(t, box.loopDir, Command{Kind: Pause})
		await(t, wake, "a drop")
		for doneAll(t, box) == 0 {
			await(t, wake, "one that is not for nothing")
		}
	}
}

func TestWhatWasThereBeforeTheWatchWakesIt(t *testing.T) {
	box := mustOpen(t, t.TempDir())
	mustDrop(t, box.loopDir, Command{Kind: Pause})
	box.watch = watchSettings{slow: never, fast: never, listen: listenFsnotify}
	await(t, box.Watch(t.Context()), "the first")
	if n := doneAll(t, box); n != 1 {
		t.Errorf("%d commands", n)
	}
}

func TestTheChannelIsClosedWithItsContext(t *testing.T) {
	for title, listen := range map[string]func(string) (*listener, error){
		"while events come": listenFsnotify,
		"while it polls":    func(string) (*listener, error) { return nil, fsnotify.ErrEventOverflow },
	} {
		t.Run(title, func(t *testing.T) {
			box := mustOpen(t, t.TempDir())
			box.watch = watchSettings{slow: never, fast: never, listen: listen}
			ctx, cancel := context.WithCancel(t.Context())
			wake := box.Watch(ctx)
			await(t, wake, "the first")
			cancel()
			select {
			case _, open := <-wake:
				if open {
					t.Error("a wake-up for nothing")
				}
			case <-time.After(20 * time.Second):
				t.Error("it is still open")
			}
		})
	}
}

func TestWithoutEventsThePollWakes(t *testing.T) {
	noWatches := func(string) (*listener, error) { return nil, errors.New("no space left on device") }
	box, wake := watched(t, watchSettings{slow: never, fast: time.Millisecond, listen: noWatches})
	await(t, wake, "the first")
	mustDrop(t, box.loopDir, Command{Kind: Pause})
	await(t, wake, "a poll")
	if n := doneAll(t, box); n != 1 {
		t.Errorf("%d commands", n)
	}
}

// fake is a listener whose events the test sends.
type fake struct {
	*listener
	events chan fsnotify.Event
	errors chan error
	closed chan struct{}
}

func newFake() *fake {
	f := &fake{events: make(chan fsnotify.Event), errors: make(chan error), closed: make(chan struct{})}
	f.listener = &listener{events: f.events, errors: f.errors, close: func() error { close(f.closed); return nil }}
	return f
}

func TestAnOverflowWakesThenPollsThenListensAgain(t *testing.T) {
	first, second := newFake(), newFake()
	listens := make(chan *fake, 2)
	listens <- first
	listens <- second
	box, wake := watched(t, watchSettings{slow: 20 * time.Millisecond, fast: time.Millisecond, listen: func(string) (*listener, error) {
		return (<-listens).listener, nil
	}})
	await(t, wake, "the first")
	mustDrop(t, box.loopDir, Command{Kind: Pause})
	first.errors <- fsnotify.ErrEventOverflow
	<-first.closed
	await(t, wake, "what the overflow hid")
	second.events <- fsnotify.Event{Name: filepath.Join(inboxPath(box), anID+".json"), Op: fsnotify.Create} // taken: it listens again
	await(t, wake, "an event again")
}

func TestSilentEventsAreFoundOut(t *testing.T) {
	f := newFake()
	box, wake := watched(t, watchSettings{slow: 10 * time.Millisecond, fast: time.Millisecond, listen: func(string) (*listener, error) { return f.listener, nil }})
	await(t, wake, "the first")
	for range 3 {
		mustDrop(t, box.loopDir, Command{Kind: Pause})
		for doneAll(t, box) == 0 {
			await(t, wake, "a poll")
		}
	}
}

func TestTheRunnersOwnRenamesDoNotWakeIt(t *testing.T) {
	f := newFake()
	box, wake := watched(t, watchSettings{slow: never, fast: never, listen: func(string) (*listener, error) { return f.listener, nil }})
	await(t, wake, "the first")
	for _, e := range []fsnotify.Event{
		{Name: filepath.Join(inboxPath(box), ".drop-x"), Op: fsnotify.Create},
		{Name: filepath.Join(inboxPath(box), ".drop-x"), Op: fsnotify.Write},
		{Name: filepath.Join(inboxPath(box), anID+".claimed"), Op: fsnotify.Create},
		{Name: filepath.Join(inboxPath(box), anID+".json"), Op: fsnotify.Rename},
		{Name: filepath.Join(inboxPath(box), anID+".claimed"), Op: fsnotify.Remove},
		{Name: filepath.Join(inboxPath(box), rejectedFolder), Op: fsnotify.Create},
		{Name: inboxPath(box), Op: fsnotify.Chmod},
	} {
		f.events <- e // unbuffered: the next is taken only when this one is dealt with
	}
	f.events <- fsnotify.Event{Name: filepath.Join(inboxPath(box), ".last"), Op: fsnotify.Create}
	select {
	case <-wake:
		t.Error("woken")
	default:
	}
}

// It is not made again, or a loop's folder could not be removed as a whole while its runner lives. Where somebody else puts another in its place,
// that one counts.
func TestAnInboxThatVanishesIsTold(t *testing.T) {
	for title, vanish := range map[string]func(path string) error{
		"removed":    os.RemoveAll,
		"moved away": func(path string) error { return os.Rename(path, path+".old") },
	} {
		t.Run(title, func(t *testing.T) {
			box, wake := watched(t, watchSettings{slow: never, fast: time.Millisecond, listen: listenFsnotify})
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

func TestALoopFolderThatVanishesIsTold(t *testing.T) {
	box, wake := watched(t, watchSettings{slow: time.Millisecond, fast: time.Millisecond, listen: listenFsnotify})
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

// Three processes drop, one of them is killed at some point, and a runner takes what they say they dropped: each once, in the order of each.
func TestNothingIsLostBetweenProcesses(t *testing.T) {
	box, wake := watched(t, watchSettings{slow: never, fast: never, listen: listenFsnotify})
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
		case <-time.After(20 * time.Second):
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
	left = slices.DeleteFunc(left, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), tempPrefix) }) // the killed one's
	if err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func inboxPath(box *Box) string { return filepath.Join(box.loopDir, folder) }
