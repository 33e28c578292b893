package mirror_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/pool/chunk"
	"github.com/ralph-loop/ralph/pool/command"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/mirror"
	"github.com/ralph-loop/ralph/pool/mirror/decide"
	"github.com/ralph-loop/ralph/pool/program"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/pool/store/dir"
)

// child is a mirror in a process of its own, which may be killed. It mirrors once if it has to
// die at a call, else until it is interrupted.
func child() int {
	s, err := dir.Open(os.Getenv("MIRROR_TEST_STORE"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	opt := mirror.Options{Store: s, Host: "mill", Home: os.Getenv("RALPH_HOME"), Program: program.Ralph(), Say: func(text string) { fmt.Println(text) }}
	run := (*mirror.Mirror).Run
	if at, err := strconv.Atoi(os.Getenv("MIRROR_TEST_CALL")); err == nil {
		opt.Store = &deadly{Store: s, at: at, after: os.Getenv("MIRROR_TEST_AFTER") != ""}
		run = (*mirror.Mirror).Once
	}
	if err := run(mirror.New(opt), ctx); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	return 0
}

// A deadly store kills the process at a call, before or after its effect.
type deadly struct {
	store.Store
	at, n int
	after bool
}

func (d *deadly) call(do func()) {
	d.n++
	if d.n == d.at && !d.after {
		die()
	}
	do()
	if d.n == d.at {
		die()
	}
}

func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func (d *deadly) PutIfAbsent(ctx context.Context, key string, value []byte) (r store.Revision, err error) {
	d.call(func() { r, err = d.Store.PutIfAbsent(ctx, key, value) })
	return r, err
}

func (d *deadly) Get(ctx context.Context, key string) (e store.Entry, err error) {
	d.call(func() { e, err = d.Store.Get(ctx, key) })
	return e, err
}

func (d *deadly) CompareAndSwap(ctx context.Context, key string, revision store.Revision, value []byte) (r store.Revision, err error) {
	d.call(func() { r, err = d.Store.CompareAndSwap(ctx, key, revision, value) })
	return r, err
}

func (d *deadly) List(ctx context.Context, prefix, after string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		d.call(func() {})
		d.Store.List(ctx, prefix, after)(yield)
	}
}

// childOf returns a mirror of a host in a process of its own.
func (h *host) childOf(variables ...string) *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(h.Environ(), append(variables, "MIRROR_TEST_STORE="+h.path)...)
	return c
}

// A mirror is killed at its call k, for each k, before and after the effect. The next one completes
// the log, and a command is in the inbox once.
func TestKilledMirrorGoesOn(t *testing.T) {
	h := newHost(t)
	folder := h.loop(h.Repository(agent), "one")
	id := idOf(t, folder)
	kills := 0
	for _, after := range []string{"", "1"} {
		for call := 1; ; call++ {
			h.path = t.TempDir()
			h.store = openDir(t, h.path)
			if err := os.RemoveAll(filepath.Join(folder, "inbox")); err != nil {
				t.Fatal(err)
			}
			c := inbox.Command{Kind: inbox.FollowUp, From: "cli:ada@kiln", Text: "look"}
			sent, err := command.Send(t.Context(), h.store, id, "mill", 1, c)
			if err != nil {
				t.Fatal(err)
			}
			out, err := h.childOf("MIRROR_TEST_CALL="+strconv.Itoa(call), "MIRROR_TEST_AFTER="+after).CombinedOutput()
			if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
				kills++
			} else if err != nil {
				t.Fatalf("call %d: %v\n%s", call, err, out)
			}
			h.mirror()
			h.wantMirrored(folder)
			if got, err := inbox.Dropped(folder); err != nil || len(got) != 1 || got[0].ID != sent {
				t.Fatalf("killed at call %d: the inbox has %+v: %v", call, got, err)
			}
			if err == nil { // it has fewer calls
				break
			}
		}
	}
	if kills < 16 {
		t.Errorf("%d kills", kills)
	}
	t.Logf("%d kills", kills)
}

// talker works until it is ended, and says which process it is.
const talker = `echo $$ > agent.pid
while :; do echo working; sleep 0.1; done
`

// start starts a loop in the background, and returns its folder once its agent works.
func (h *host) start(project string) string {
	h.t.Helper()
	h.Run(project, "ralph", "start", "one", "--detach", "-p", "do it", "--agent", "./agent.sh", "--protocol", "text")
	folder := h.join(filepath.Join(project, ".ralph", "one"), 1)
	h.t.Cleanup(func() { _, _ = h.Try(project, "ralph", "kill", "one") })
	for e, err := range client.Follow(h.t.Context(), folder, 0) {
		if err != nil {
			h.t.Fatal(err)
		}
		if e.Type == "agent.said" {
			return folder
		}
	}
	h.t.Fatal("the agent said nothing")
	return ""
}

// run runs a mirror until the test ends, and returns what it says.
func (h *host) run() (*exec.Cmd, *bufio.Scanner) {
	h.t.Helper()
	c := h.childOf()
	c.Stderr = os.Stderr
	c.Dir = h.Dir
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	return c, bufio.NewScanner(out)
}

// awaitKey waits until a key of the store is as wanted.
func (h *host) awaitKey(key string, want func([]byte) bool) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), time.Minute)
	defer cancel()
	for _, err := range h.store.Watch(ctx, key) {
		if err != nil {
			h.t.Fatal(err)
		}
		if entry, err := h.store.Get(ctx, key); err == nil && want(entry.Value) {
			return
		}
	}
	h.t.Fatalf("%s is not as wanted after a minute", key)
}

// The host is stopped, another one takes its loop over, and the host wakes up: its agent ends, and
// nothing of it follows the claim.
func TestStoppedHostIsFenced(t *testing.T) {
	h := newHost(t)
	project := h.Repository(talker)
	folder := h.start(project)
	id := idOf(t, folder)
	m, said := h.run()
	h.awaitKey(keys.View(id), func([]byte) bool { return true }) // it has written chunks

	live, err := client.At(folder)
	if err != nil || !live.Live.Alive {
		t.Fatalf("the loop is not alive: %v", err)
	}
	text, err := os.ReadFile(filepath.Join(project, "agent.pid"))
	if err != nil {
		t.Fatal(err)
	}
	agent, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	stopped := []int{m.Process.Pid, live.Live.PID, agent}
	signalAll(t, stopped, syscall.SIGSTOP)
	claim := h.takeOver(id, "kiln")
	began := time.Now()
	signalAll(t, stopped, syscall.SIGCONT)
	for !strings.Contains(said.Text(), "continues on host kiln under epoch 2") {
		if !said.Scan() {
			t.Fatal("the mirror does not say that the loop was fenced")
		}
		t.Log(said.Text())
	}
	t.Logf("fenced %v after it woke up", time.Since(began))
	if now, err := client.At(folder); err != nil || now.Live.Alive {
		t.Errorf("the loop is alive: %v", err)
	}
	if syscall.Kill(agent, 0) == nil {
		t.Errorf("its agent, process %d, lives", agent)
	}
	if out, err := h.Try(project, "ralph", "start", "--resume", "one"); err == nil || !strings.Contains(out, "kiln") {
		t.Errorf("it can be resumed: %s", out)
	}
	if tail, _, _ := logOf(t, h.store, id); tail != claim {
		t.Errorf("the log ends with %+v, and not with the claim %+v", tail, claim)
	}
	// The next mirror fences it again, which changes nothing.
	if n := h.mirror(); n.Chunks != 0 {
		t.Errorf("the next mirror has written %d chunks", n.Chunks)
	}
}

func signalAll(t *testing.T, pids []int, s syscall.Signal) {
	t.Helper()
	for _, pid := range pids {
		if err := syscall.Kill(pid, s); err != nil {
			t.Fatal(err)
		}
	}
}

// takeOver is what another host does, and wakes the one that had the loop.
func (h *host) takeOver(id, by string) decide.Tail {
	h.t.Helper()
	tail := h.claim(id, by)
	if err := command.Wake(h.t.Context(), h.store, "mill", id); err != nil {
		h.t.Fatal(err)
	}
	return tail
}

// claim is a take-over that does not wake the other host.
func (h *host) claim(id, by string) decide.Tail {
	h.t.Helper()
	c := decide.NewClaim(id, by, "a nonce", time.Now())
	for {
		switch step := c.Next(); step.Do {
		case decide.Read:
			entry, err := h.store.Get(h.t.Context(), keys.Chunk(id, step.Number))
			if err != nil {
				c.Missing()
				continue
			}
			c.Found(entry.Value)
		case decide.Put:
			_, err := h.store.PutIfAbsent(h.t.Context(), keys.Chunk(id, step.Number), step.Stored)
			c.Answered(err)
		case decide.Won:
			return c.Tail()
		default:
			h.t.Fatalf("the claim: %+v", step)
		}
	}
}

// A loop that this host takes over again is brought into its folder a moment after the claim.
func TestOwnClaimIsNoFence(t *testing.T) {
	h := newHost(t)
	folder := h.loop(h.Repository(agent), "one")
	m := mirror.New(h.options(h.store))
	if err := m.Once(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.takeOver(idOf(t, folder), "mill")
	if err := m.Once(t.Context()); err == nil || !strings.Contains(err.Error(), "taken it over again") {
		t.Errorf("before it is in its folder: %v", err)
	}
	h.join(folder, 2)
	if err := m.Once(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(folder, "moved.json")); err == nil {
		t.Error("it is fenced")
	}
	h.wantMirrored(folder)
}

// The folder of a loop that has come back to this host in another one stays fenced, whatever of the
// log a new mirror reads.
func TestFencedFolderNeedsNoWait(t *testing.T) {
	h := newHost(t)
	folder := h.loop(h.Repository(agent), "one")
	id := idOf(t, folder)
	h.mirror()
	h.takeOver(id, "kiln")
	h.mirror()
	tail := h.takeOver(id, "mill")
	lines := chunk.Header{Version: 1, Loop: id, Number: tail.Next, Epoch: 3, Host: "mill", First: tail.Last + 1, Last: tail.Last + 1, Prev: tail.Prev, Nonce: "n"}
	stored, err := chunk.Encode(lines, []byte("{}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.store.PutIfAbsent(t.Context(), keys.Chunk(id, tail.Next), stored); err != nil {
		t.Fatal(err)
	}
	if n := h.mirror(); n.Chunks != 0 {
		t.Errorf("%d chunks were written", n.Chunks)
	}
}

// A command reaches a loop that runs, and its receipt is in the log before the store says so.
func TestLiveLoopIsSteered(t *testing.T) {
	h := newHost(t)
	folder := h.start(h.Repository(talker))
	id := idOf(t, folder)
	h.run()
	h.awaitKey(keys.View(id), func([]byte) bool { return true })
	sent, err := command.Send(t.Context(), h.store, id, "mill", 1, inbox.Command{Kind: inbox.FollowUp, From: "cli:ada@kiln", Text: "look at the tests"})
	if err != nil {
		t.Fatal(err)
	}
	h.awaitKey(keys.Inbox(id)+sent, func(value []byte) bool {
		c, err := command.Parse(value)
		return err == nil && c.Outcome == command.Received
	})
	received := 0
	var last chunk.Header
	_, headers, lines := logOf(t, h.store, id)
	for line := range strings.Lines(string(lines)) {
		if strings.Contains(line, `"type":"command.received"`) && strings.Contains(line, sent) {
			received++
		}
	}
	last = headers[len(headers)-1]
	if received != 1 || last.Epoch != 1 {
		t.Errorf("the log has %d receipts of the command; its last chunk is %+v", received, last)
	}
	h.awaitKey(keys.Beat("mill"), func(value []byte) bool { return strings.Contains(string(value), `"host":"mill"`) })
}
