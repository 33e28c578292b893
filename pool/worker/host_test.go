package worker_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/live"
	"github.com/ralph-loop/ralph/pool/pooltest"
	"github.com/ralph-loop/ralph/pool/queue"
	"github.com/ralph-loop/ralph/pool/spec"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/pool/store/dir"
	"github.com/ralph-loop/ralph/pool/trust"
	"github.com/ralph-loop/ralph/pool/worker"
)

var (
	loops = flag.Int("loops", 30, "loops of the night with kills")
	kills = flag.Int("kills", 8, "kills of the night")
)

// TestMain is a worker, if the environment says so: one that is killed at a call of its store.
func TestMain(m *testing.M) {
	if folder := os.Getenv("TEST_WORKER_STORE"); folder != "" {
		beWorker(folder)
	}
	pooltest.Main(m)
}

func beWorker(folder string) {
	s, err := dir.Open(folder)
	if err != nil {
		panic(err)
	}
	var recorded store.Store = s
	if path := os.Getenv("TEST_WORKER_HISTORY"); path != "" {
		recorded = record(s, path)
	}
	at, _ := strconv.Atoi(os.Getenv("TEST_WORKER_KILL"))
	slots, _ := strconv.Atoi(os.Getenv("TEST_WORKER_SLOTS"))
	w := worker.New(worker.Options{
		Store: &mortal{Store: recorded, at: int64(at)}, Host: os.Getenv("TEST_WORKER_HOST"), Home: os.Getenv("RALPH_HOME"), Slots: slots,
		Once: os.Getenv("TEST_WORKER_ONCE") != "",
		Say:  func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) },
	})
	if err := w.Run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// mortal kills its process at a write: an odd number before the effect, an even one after it. A
// death at a read differs in nothing from one before the next write.
type mortal struct {
	store.Store
	at    int64
	calls atomic.Int64
}

// die is called before a write, and returns what is to be called after it.
func (m *mortal) die() (after func()) {
	n := m.calls.Add(1)
	end := func() {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	if m.at == 2*n-1 {
		end()
	}
	return func() {
		if m.at == 2*n {
			end()
		}
	}
}

func (m *mortal) PutIfAbsent(ctx context.Context, key string, value []byte) (store.Revision, error) {
	defer m.die()()
	return m.Store.PutIfAbsent(ctx, key, value)
}

func (m *mortal) CompareAndSwap(ctx context.Context, key string, revision store.Revision, value []byte) (store.Revision, error) {
	defer m.die()()
	return m.Store.CompareAndSwap(ctx, key, revision, value)
}

// A world is a store, a repository, and a file with a line for each run of an agent.
type world struct {
	t          *testing.T
	store      store.Store
	folder     string
	repository string
	runs       string
	person     *pooltest.Host
	key        ed25519.PrivateKey
	ids        map[string]string // by name
}

// newWorld makes a repository whose agent notes the loop that it works in, and then does more.
func newWorld(t *testing.T, more string) *world {
	t.Helper()
	w := &world{t: t, person: pooltest.NewHost(t), ids: map[string]string{}}
	w.runs = filepath.Join(t.TempDir(), "runs")
	w.newStore()
	w.repository = filepath.Join(w.person.Dir, "app.git")
	seed := filepath.Join(w.person.Dir, "seed")
	w.person.Write(filepath.Join(seed, "work.rehearsal"), "run basename \"$(dirname \"$PWD\")\" >> "+w.runs+"\n"+more+"promise\n")
	w.person.Run(seed, "git", "init", "-q", "-b", "main")
	w.person.Run(seed, "git", "add", ".")
	w.person.Run(seed, "git", "commit", "-q", "-m", "one")
	w.person.Run(w.person.Dir, "git", "clone", "-q", "--bare", seed, w.repository)
	key, err := trust.Own(w.person.Home)
	if err != nil {
		t.Fatal(err)
	}
	w.key = key
	return w
}

// newStore replaces the store by an empty one.
func (w *world) newStore() {
	w.t.Helper()
	w.folder = w.t.TempDir()
	s, err := dir.Open(w.folder)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { s.Close() })
	w.store = s
}

// submit submits a loop with what change says.
func (w *world) submit(name string, change func(*spec.Spec)) *spec.Spec {
	w.t.Helper()
	sp := &spec.Spec{
		Name: name, Repository: w.repository, Branch: "main", Prompt: "do it", By: "ada@mill",
		Start: []string{"--agent", "ralph rehearse work.rehearsal", "--protocol=rehearsal"},
	}
	if change != nil {
		change(sp)
	}
	if err := queue.Submit(w.t.Context(), w.store, sp, w.key); err != nil {
		w.t.Fatal(err)
	}
	w.ids[name] = sp.ID
	return sp
}

// host makes a host that trusts the person, and has a mirror as far as a worker sees.
func (w *world) host(name string) *pooltest.Host {
	w.t.Helper()
	h := pooltest.NewHost(w.t)
	if err := trust.Add(h.Home, fmt.Sprintf("%x", w.key.Public().(ed25519.PublicKey)), "ada"); err != nil {
		w.t.Fatal(err)
	}
	h.Run(h.Dir, "git", "config", "--global", "user.name", "a")
	w.beat(name)
	return h
}

func (w *world) beat(host string) {
	w.t.Helper()
	cell := live.Cell{Key: keys.Beat(host)}
	if err := cell.Put(w.t.Context(), w.store, 0, live.Beat{Version: 1, Host: host, At: time.Now()}); err != nil {
		w.t.Fatal(err)
	}
}

// options are those of a worker in this process, which runs ralph with the home of a host.
func (w *world) options(h *pooltest.Host, name string) worker.Options {
	return worker.Options{
		Store: w.store, Host: name, Home: h.Home, Slots: 4, Once: true,
		Say: func(format string, args ...any) { w.t.Logf(name+": "+format, args...) },
	}
}

// process starts a worker as a process of its own, which kills itself at a call of the store.
func (w *world) process(h *pooltest.Host, name string, slots, kill int, once bool) (*exec.Cmd, *bytes.Buffer) {
	w.t.Helper()
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	out := new(bytes.Buffer)
	command := exec.Command(self)
	command.Env = append(h.Environ(), "TEST_WORKER_STORE="+w.folder, "TEST_WORKER_HOST="+name,
		fmt.Sprint("TEST_WORKER_SLOTS=", slots), fmt.Sprint("TEST_WORKER_KILL=", kill))
	if once {
		command.Env = append(command.Env, "TEST_WORKER_ONCE=1")
	}
	command.Stdout, command.Stderr = out, out
	if err := command.Start(); err != nil {
		w.t.Fatal(err)
	}
	return command, out
}

// ran returns how often the agent of each loop ran, by the loop's ID.
func (w *world) ran() map[string]int {
	w.t.Helper()
	text, err := os.ReadFile(w.runs)
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	counts := map[string]int{}
	for _, id := range strings.Fields(string(text)) {
		counts[id]++
	}
	return counts
}

// eachOnce fails unless each loop ran once.
func (w *world) eachOnce() {
	w.t.Helper()
	counts := w.ran()
	for name, id := range w.ids {
		if counts[id] != 1 {
			w.t.Errorf("loop %s (%s) ran %d times", name, id, counts[id])
		}
	}
	if len(counts) != len(w.ids) {
		w.t.Errorf("%d loops ran, and %d were submitted", len(counts), len(w.ids))
	}
}
