package mirror_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/mirror"
	"github.com/ralph-loop/ralph/registry"
)

var measured = flag.Int("mirror.loops", 0, "measure a mirror of so many idle loops for a minute")

// TestMirrorIsMeasured prints what a mirror costs. It asserts only that all is mirrored, and is for
// 'go test ./mirror -run Measured -v -mirror.loops 1000'.
func TestMirrorIsMeasured(t *testing.T) {
	if *measured == 0 {
		t.Skip("-mirror.loops says how many")
	}
	h := newHost(t)
	project := h.Repository(agent)
	h.Write(filepath.Join(project, "talk.rehearsal"), "talk 300KB\n")
	out, _ := h.Try(project, "ralph", "run", "--name", "long", "-m", "1", "-p", "do it", "--agent", "ralph rehearse talk.rehearsal", "--protocol", "rehearsal")
	t.Logf("%.200s", out)
	long := h.join(filepath.Join(project, ".ralph", "long"), 1)
	began := time.Now()
	n := h.mirror()
	t.Logf("a journal of %d bytes: %d chunks, %d bytes, %v of writes, %v in all", len(linesOf(t, long)), n.Chunks, n.Bytes, n.Writing, time.Since(began))

	folder := h.loop(project, "one")
	for i := range *measured {
		name := fmt.Sprintf("copy-%d", i)
		copied := filepath.Join(project, ".ralph", name)
		if err := os.CopyFS(copied, os.DirFS(folder)); err != nil {
			t.Fatal(err)
		}
		id := ulid.Make().String()
		h.Write(filepath.Join(copied, "pool.json"), `{"epoch":1,"host":"mill","loop":"`+id+`"}`)
		if err := registry.Put(h.Home, registry.Entry{Name: name, Dir: copied, Project: project, ID: id, Started: time.Now()}); err != nil {
			t.Fatal(err)
		}
		lock, err := os.OpenFile(filepath.Join(copied, registry.LockFile), os.O_RDWR|os.O_CREATE, 0o600)
		if err == nil {
			err = unix.Flock(int(lock.Fd()), unix.LOCK_EX)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer lock.Close()
	}
	began = time.Now()
	first := h.mirror()
	t.Logf("%d loops: %d chunks, %d bytes, %v of writes, %v one after the other", *measured, first.Chunks, first.Bytes, first.Writing, time.Since(began))

	if view, err := h.store.Get(t.Context(), keys.View(idOf(t, folder))); err == nil {
		t.Logf("a view has %d bytes", len(view.Value))
	}

	c, _ := h.run()
	h.awaitKey(keys.Beat("mill"), func(value []byte) bool { return strings.Contains(string(value), fmt.Sprintf(`"alive":%d`, *measured)) })
	before := costOf(t, c.Process.Pid)
	<-time.After(time.Minute)
	after := costOf(t, c.Process.Pid)
	t.Logf("idle, in a minute: %d wake-ups of threads, %d ms of processor time, %d KB of memory",
		after.switches-before.switches, (after.ticks-before.ticks)*10, after.resident)
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if n := h.mirror(func(o *mirror.Options) { o.Verify = true }); n.Chunks != 0 {
		t.Errorf("%d chunks were missing", n.Chunks)
	}
}

type cost struct{ switches, ticks, resident int }

// costOf reads what Linux counts of a process.
func costOf(t *testing.T, pid int) (c cost) {
	t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(tasks) == 0 {
		t.Skip("this system counts no wake-ups")
	}
	number := func(text, key string) int {
		_, rest, _ := strings.Cut(text, key)
		fields := strings.Fields(rest)
		if len(fields) == 0 {
			return 0
		}
		n, _ := strconv.Atoi(fields[0])
		return n
	}
	for _, task := range tasks {
		text, _ := os.ReadFile(task)
		c.switches += number(string(text), "\nvoluntary_ctxt_switches:")
		c.resident = number(string(text), "VmRSS:")
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	for _, at := range []int{11, 12} {
		n, _ := strconv.Atoi(fields[at])
		c.ticks += n
	}
	return c
}
