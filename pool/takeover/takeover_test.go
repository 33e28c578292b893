//go:build unix

package takeover_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/pool/command"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/live"
	"github.com/ralph-loop/ralph/pool/membership"
	"github.com/ralph-loop/ralph/pool/pooltest"
	"github.com/ralph-loop/ralph/pool/store/dir"
	"github.com/ralph-loop/ralph/pool/takeover"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

func TestMain(m *testing.M) { pooltest.Main(m) }

// agent waits at the fifo of an iteration, on the host that has one.
const agent = `
echo "iteration $RALPH_ITERATION" >>out.txt
fifo="$HOME/fifo$RALPH_ITERATION"
if [ -p "$fifo" ]; then cat "$fifo" >/dev/null; fi
if [ $RALPH_ITERATION -ge 5 ]; then echo '<promise>COMPLETE</promise>'; fi
`

// A scene is a loop that host mill has begun, has mirrored in iteration 3, and has left in
// iteration 4, when it was killed.
type scene struct {
	pool       string // the folder of the store
	mill, kiln *pooltest.Host
	project    string
	loop       string // its ID
}

func begin(t *testing.T) scene {
	t.Helper()
	s := scene{pool: t.TempDir(), mill: pooltest.NewHost(t), kiln: pooltest.NewHost(t)}
	s.mill.Join(s.pool, "mill")
	s.kiln.Join(s.pool, "kiln")
	s.project = s.mill.Repository(agent)
	fifo := filepath.Join(s.mill.Home, "fifo")
	for _, iteration := range []string{"3", "4"} {
		if err := syscall.Mkfifo(fifo+iteration, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.mill.Run(s.project, "ralph", "start", "demo", "--detach", "-m", "9", "-p", "do it", "--agent", "./agent.sh", "--protocol", "text")
	writer := open(t, fifo+"3") // iteration 3 is there
	s.mill.Run(s.project, "ralph-pool", "mirror", "--all", "--once")
	writer.Close()
	writer = open(t, fifo+"4")
	folder := filepath.Join(s.project, ".ralph", "demo")
	runner, err := registry.Probe(folder)
	if err != nil || !runner.Alive {
		t.Fatalf("the runner is %+v: %v", runner, err)
	}
	if err := syscall.Kill(runner.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	lock, err := os.Open(filepath.Join(folder, "run.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_SH); err != nil { // until the runner is gone
		t.Fatal(err)
	}
	loaded, err := projector.Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	s.loop = loaded.View().ID
	return s
}

func open(t *testing.T, fifo string) *os.File {
	t.Helper()
	f, err := os.OpenFile(fifo, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// lines returns the journal of a loop.
func lines(t *testing.T, folder string) (all []string) {
	t.Helper()
	for e, err := range journal.Read(folder, journal.ReadOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(e.Line()))
	}
	return all
}

// awaitEnd follows a loop until it has ended.
func awaitEnd(t *testing.T, folder string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), pooltest.Deadline)
	defer stop()
	for _, err := range journal.Follow(ctx, folder, journal.FollowOptions{UntilEnded: true}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if ctx.Err() != nil {
		t.Fatal("the loop has not ended")
	}
}

// taken is what 'ralph pool take --json' printed.
func taken(t *testing.T, out string) (v takeover.Taken) {
	t.Helper()
	last := out[strings.LastIndex(out, "\n")+1:]
	if err := json.Unmarshal([]byte(last), &v); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	return v
}

func TestHostIsGone(t *testing.T) {
	s := begin(t)
	dead := lines(t, filepath.Join(s.project, ".ralph", "demo"))
	if err := os.RemoveAll(s.project); err != nil {
		t.Fatal(err)
	}
	out, err := s.kiln.Try(s.kiln.Dir, "ralph-pool", "take", "demo")
	if err == nil || !strings.Contains(out, "--trust") {
		t.Fatalf("no person was asked: %v: %s", err, out)
	}
	pool, err := dir.Open(s.pool)
	if err != nil {
		t.Fatal(err)
	}
	beat := live.Cell{Key: keys.Beat("mill")}
	if err := beat.Put(t.Context(), pool, 0, live.Beat{Version: 1, Host: "mill", At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	out, err = s.kiln.Try(s.kiln.Dir, "ralph-pool", "take", "demo", "--trust", "--json")
	if err == nil || !strings.Contains(out, "host mill was heard of") || !strings.Contains(out, "--now") {
		t.Fatalf("a host that was heard of lost its loop: %v: %s", err, out)
	}
	got := taken(t, s.kiln.Run(s.kiln.Dir, "ralph-pool", "take", "demo", "--trust", "--now", "--json"))
	if got.From != "mill" || got.Epoch != 2 || !got.Running {
		t.Errorf("taken: %+v", got)
	}
	t.Logf("take-over: %+v", got.Milliseconds)
	// The host that had it is woken, and lists show where it is, before any mirror runs.
	woken, unknown, err := new(command.Listener).Woken(t.Context(), pool, "mill")
	if err != nil || unknown || len(woken) != 2 || woken[0] != s.loop {
		t.Errorf("host mill was woken for %q, %v: %v", woken, unknown, err)
	}
	var shown live.View
	if entry, err := pool.Get(t.Context(), keys.View(s.loop)); err != nil || json.Unmarshal(entry.Value, &shown) != nil || shown.Host != "kiln" || shown.Epoch != 2 {
		t.Errorf("the view is of host %q, epoch %d: %v", shown.Host, shown.Epoch, err)
	}
	folder := filepath.Join(s.kiln.Dir, "demo", ".ralph", "demo")
	awaitEnd(t, folder)
	after := lines(t, folder)
	sealed := int(got.Events)
	if sealed >= len(dead) {
		t.Fatalf("all %d events were sealed", len(dead))
	}
	for i := range dead[:sealed] {
		if dead[i] != after[i] {
			t.Fatalf("event %d is %s, not %s", i+1, after[i], dead[i])
		}
	}
	t.Logf("%d events of the dead host were not sealed", len(dead)-sealed)
	s.kiln.Run(filepath.Join(s.kiln.Dir, "demo"), "ralph", "journal", "verify", "demo")
	loaded, err := projector.Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	if v := loaded.View(); v.Status != "completed" || v.ID != s.loop {
		t.Errorf("the loop is %s", v.Status)
	}
	text, err := os.ReadFile(filepath.Join(s.kiln.Dir, "demo", "out.txt"))
	if err != nil || !strings.HasPrefix(string(text), "iteration 1\niteration 2\n") {
		t.Errorf("out.txt: %q: %v", text, err)
	}
	out, err = s.kiln.Try(s.kiln.Dir, "ralph-pool", "take", s.loop, "--trust", "--into", "again")
	if err == nil || !strings.Contains(out, "on this host") {
		t.Errorf("taken from itself: %v: %s", err, out)
	}
	s.kiln.Run(s.kiln.Dir, "ralph-pool", "mirror", "--once")
	out, err = s.mill.Try(s.mill.Dir, "ralph-pool", "take", "demo", "--trust", "--now")
	if err == nil || !strings.Contains(out, "it has ended") {
		t.Errorf("a loop that has ended was taken: %v: %s", err, out)
	}
}

// killAt runs a take-over, and kills it when it prints a line.
func killAt(t *testing.T, s scene, text string) {
	t.Helper()
	command := exec.Command("ralph-pool", "take", "demo", "--trust", "--now")
	command.Dir, command.Env = s.kiln.Dir, s.kiln.Environ()
	out, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	found := false
	for lines := bufio.NewScanner(out); !found && lines.Scan(); {
		found = strings.Contains(lines.Text(), text)
	}
	if !found {
		t.Errorf("it never printed %q", text)
	}
	_ = command.Process.Kill() // it may have ended
	_ = command.Wait()
	// A program that it has started may go on, and has its lock.
	lock, err := os.OpenFile(filepath.Join(s.kiln.Home, "pool", "take", s.loop+".lock"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
}

func TestKilledTakeOverGoesOn(t *testing.T) {
	s := begin(t)
	for _, step := range []string{"reading the log", "files of tree", "claiming", "making a work tree", "bringing the history", "resuming it"} {
		killAt(t, s, step)
		// The loop's ID in the pool comes with the import: a mirror would not know the loop else.
		folder := filepath.Join(s.kiln.Dir, "demo", ".ralph", "demo")
		if m, err := membership.Read(folder); err != nil || m.Epoch > 0 && m.Loop != s.loop || step == "resuming it" && m.Epoch != 2 {
			t.Errorf("after %q: %+v, %v", step, m, err)
		}
	}
	got := taken(t, s.kiln.Run(s.kiln.Dir, "ralph-pool", "take", "demo", "--trust", "--now", "--json"))
	if got.Epoch != 2 || !got.Running {
		t.Errorf("taken: %+v", got)
	}
	awaitEnd(t, filepath.Join(got.Project, ".ralph", "demo"))
	s.kiln.Run(got.Project, "ralph", "journal", "verify", "demo")
	s.kiln.Run(s.kiln.Dir, "ralph-pool", "mirror", "--once")
	out := s.kiln.Run(s.kiln.Dir, "ralph-pool", "check", "--json")
	if !strings.Contains(out, `"verified":true`) || !strings.Contains(out, `"epoch":2`) {
		t.Errorf("check: %s", out)
	}
	if _, err := os.Stat(filepath.Join(s.kiln.Home, "pool", "take", s.loop+".json")); err == nil {
		t.Error("the record is still there")
	}
}

// The host that was taken for dead stores the end of the loop just before the claim. The loop is on
// the other host then, and does not begin again there.
func TestEndedLoopIsNotResumed(t *testing.T) {
	s := begin(t)
	pool, err := dir.Open(s.pool)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(s.mill.Home, "fifo4")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", s.kiln.Home) // of the programs that it runs
	t.Setenv("RALPH_HOME", s.kiln.Home)
	into := filepath.Join(s.kiln.Dir, "demo")
	got, err := takeover.Take(t.Context(), takeover.Options{
		Store: pool, Host: "kiln", Home: s.kiln.Home, Loop: s.loop, Into: into, Now: true, Trust: true, Stderr: os.Stderr, Clock: time.Now,
		Say: func(text string) {
			if strings.HasPrefix(text, "claiming") {
				s.mill.Run(s.project, "ralph", "start", "demo", "--resume", "--detach")
				awaitEnd(t, filepath.Join(s.project, ".ralph", "demo"))
				s.mill.Run(s.project, "ralph-pool", "mirror", "--all", "--once")
			}
		},
	})
	if err != nil || got.Epoch != 2 || got.Running {
		t.Errorf("taken: %+v, %v", got, err)
	}
	loaded, err := projector.Load(filepath.Join(into, ".ralph", "demo"))
	if err != nil {
		t.Fatal(err)
	}
	if v := loaded.View(); v.Status != "completed" {
		t.Errorf("the loop is %s", v.Status)
	}
}

// TestDamagedLogIsNotTaken shows that a loop is claimed only if all of its journal can be read, and
// that a repair makes it so.
func TestDamagedLogIsNotTaken(t *testing.T) {
	s := begin(t)
	if err := os.Remove(filepath.Join(s.pool, filepath.FromSlash(keys.Chunk(s.loop, 0)))); err != nil {
		t.Fatal(err)
	}
	out, err := s.kiln.Try(s.kiln.Dir, "ralph-pool", "take", s.loop, "--trust", "--now")
	if err == nil || !strings.Contains(out, "chunk 0 is missing: 'ralph pool check --repair' on a host that has its journal") {
		t.Fatalf("a loop without its first chunk was taken: %v: %s", err, out)
	}
	if out, err := s.mill.Try(s.mill.Dir, "ralph-pool", "check"); err == nil || !strings.Contains(out, "chunk 0 is missing") {
		t.Errorf("check: %v: %s", err, out)
	}
	out = s.mill.Run(s.mill.Dir, "ralph-pool", "check", "--repair")
	if !strings.Contains(out, "chunk 0 is missing (its lines were stored again by mill): repaired") {
		t.Errorf("check --repair: %s", out)
	}
	got := taken(t, s.kiln.Run(s.kiln.Dir, "ralph-pool", "take", "demo", "--trust", "--now", "--json"))
	awaitEnd(t, filepath.Join(got.Project, ".ralph", "demo"))
	s.kiln.Run(s.kiln.Dir, "ralph-pool", "mirror", "--once")
	out = s.kiln.Run(s.kiln.Dir, "ralph-pool", "check")
	if !strings.Contains(out, "yes") {
		t.Errorf("check: %s", out)
	}
}
