package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BenchmarkIdle measures what a runner with a silent agent and an attach to it use in twenty
// seconds in which nothing happens: CPU, wake-ups and memory. It needs no yardstick: it reads
// counters of the kernel, which other load does not change.
func BenchmarkIdle(b *testing.B) {
	const watched = 20 * time.Second
	p := newBinary(b)
	var started struct{ PID int }
	jsonOf(b, p.command(append([]string{"start", "idle", "--detach", "--json"}, sleeper...)...), &started)
	attached := p.command("attach", "idle")
	if err := attached.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		attached.Process.Signal(syscall.SIGKILL)
		attached.Wait()
		p.end(b, "idle")
	}()
	// The first seconds include state.json, the first sync and the last garbage collection.
	time.Sleep(5 * time.Second)
	for b.Loop() {
		runner, reader := spentBy(b, started.PID), spentBy(b, attached.Process.Pid)
		time.Sleep(watched)
		for name, used := range map[string]spent{
			"runner": spentBy(b, started.PID).since(runner),
			"attach": spentBy(b, attached.Process.Pid).since(reader),
		} {
			b.ReportMetric(100*used.cpu.Seconds()/watched.Seconds(), name+"-%core")
			b.ReportMetric(float64(used.wakes)/watched.Minutes(), name+"-wakes/min")
			b.ReportMetric(used.resident, name+"-MB")
			b.ReportMetric(used.own, name+"-own-MB")
		}
	}
	b.ReportMetric(0, "ns/op")
}

// spent is what a process and all its threads have used so far.
type spent struct {
	cpu      time.Duration
	wakes    int
	resident float64 // MB, now
	own      float64 // MB of it that no other process shares: all but pages of the program's file
}

func (u spent) since(before spent) spent {
	return spent{u.cpu - before.cpu, u.wakes - before.wakes, u.resident, u.own}
}

// spentBy reads /proc. It takes a thread's time from schedstat, in nanoseconds: one tick of utime
// would be 0.05 % of the measured time.
func spentBy(b testing.TB, pid int) (u spent) {
	b.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil || len(threads) == 0 {
		b.Fatalf("process %d is gone: %v", pid, err)
	}
	for _, thread := range threads {
		stat := strings.Fields(read(b, filepath.Join(thread, "schedstat")))
		ns, err := strconv.ParseInt(stat[0], 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		u.cpu += time.Duration(ns)
		u.wakes += int(statusField(b, read(b, filepath.Join(thread, "status")), "voluntary_ctxt_switches"))
	}
	status := read(b, fmt.Sprintf("/proc/%d/status", pid))
	u.resident, u.own = statusField(b, status, "VmRSS")/1024, statusField(b, status, "RssAnon")/1024
	return u
}

func read(b testing.TB, name string) string {
	b.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}

// statusField returns the number of a line "Name: 123 kB".
func statusField(b testing.TB, text, name string) float64 {
	b.Helper()
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			n, err := strconv.ParseFloat(strings.Fields(value)[0], 64)
			if err != nil {
				b.Fatal(err)
			}
			return n
		}
	}
	b.Fatalf("no %s in %q", name, text)
	return 0
}
