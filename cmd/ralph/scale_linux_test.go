package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/units"
)

// What many loops on one machine, and one loop with a long history, use. Both take minutes and much
// of the disk, so they run with 'make scale' only. They print tables: other programs change how
// long something takes, and hardly how much memory, processor time and reading it takes.
var (
	scaleLoops      = flag.Int("scale.loops", 0, "how many loops TestScaleLoops runs at once; 0 skips it")
	scaleIterations = flag.Int("scale.iterations", 0, "the iterations of the loop of TestScaleHistory; 0 skips it")
	scaleJournal    = flag.Int64("scale.journal", 1<<10, "the journal of that loop, in MB before it is compressed")
)

// scaled is a run of one of the two.
type scaled struct {
	*stage
	told time.Time
}

// newScaled checks that the machine has what the run needs, before it begins.
func newScaled(t *testing.T, disk, memory int64) *scaled {
	t.Helper()
	folder := t.TempDir()
	var free unix.Statfs_t
	if err := unix.Statfs(folder, &free); err != nil {
		t.Fatal(err)
	}
	//nolint:unconvert // Bsize is an int32 on some processors
	if have := int64(free.Bavail) * int64(free.Bsize); have < disk {
		t.Fatalf("%s has %s of free disk, and this needs %s: set TMPDIR to another folder, or take fewer loops or a shorter journal",
			folder, units.Bytes(have), units.Bytes(disk))
	}
	if have := int64(procNumber(t, "/proc/meminfo", "MemAvailable")) << 10; have < memory {
		t.Fatalf("%s of memory are free, and this needs %s: take fewer loops", units.Bytes(have), units.Bytes(memory))
	}
	return &scaled{stage: &stage{T: t, binary: newBinary(t)}}
}

// tell reports progress, at most once in five seconds.
func (s *scaled) tell(format string, args ...any) {
	if time.Since(s.told) >= 5*time.Second {
		s.told = time.Now()
		fmt.Fprintf(os.Stderr, "scale: "+format+"\n", args...)
	}
}

// row prints one line of the table.
func row(what, format string, args ...any) {
	fmt.Printf("| %s | %s |\n", what, fmt.Sprintf(format, args...))
}

// procNumber is the number of a line "Name: 123 kB" of a file in /proc; 0 if the process is gone.
func procNumber(t testing.TB, file, name string) float64 {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			n, err := strconv.ParseFloat(strings.Fields(value)[0], 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	return 0
}

// cost is what a command took.
type cost struct {
	wall, cpu time.Duration
	memory    int64 // at most, bytes
	read      int64 // bytes that it asked the kernel for, from the page cache or the disk
}

func (c cost) String() string {
	return fmt.Sprintf("%.1f ms | %.1f ms | %.0f MB | %.2f MB",
		c.wall.Seconds()*1e3, c.cpu.Seconds()*1e3, float64(c.memory)/1e6, float64(c.read)/1e6)
}

// measure runs a command five times, or once if it is long, and returns what the median one took.
// With a text it ends the command once that was printed, else it waits for its end.
func (s *scaled) measure(until string, args ...string) cost {
	s.Helper()
	var all []cost
	for len(all) < 5 {
		s.tell("ralph %s", strings.Join(args, " "))
		if args[0] == "export" {
			_ = os.Remove(args[len(args)-1]) // it replaces none
		}
		if all = append(all, s.once(until, args...)); all[0].wall > 2*time.Second {
			break
		}
	}
	slices.SortFunc(all, func(a, b cost) int { return int(a.cpu - b.cpu) })
	median := all[len(all)/2]
	for _, c := range all { // a short one may have ended before it was looked at
		median.memory = max(median.memory, c.memory)
	}
	return median
}

func (s *scaled) once(until string, args ...string) (c cost) {
	s.Helper()
	cmd := s.command(args...)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.StdoutPipe()
	s.must(err)
	began := time.Now()
	s.must(cmd.Start())
	proc := fmt.Sprintf("/proc/%d/", cmd.Process.Pid)
	var memory atomic.Int64
	gone, watched := make(chan struct{}), make(chan struct{})
	look := func() { memory.Store(max(memory.Load(), int64(procNumber(s.T, proc+"status", "VmHWM"))<<10)) }
	go func() { // a process that has ended has no memory any more
		defer close(watched)
		for tick := time.NewTicker(time.Millisecond); ; {
			select {
			case <-tick.C:
				look()
			case <-gone:
				tick.Stop()
				return
			}
		}
	}()
	found := readUntil(out, until)
	c.wall = time.Since(began)
	if until != "" {
		look()
		c.read = int64(procNumber(s.T, proc+"io", "rchar"))
		_ = cmd.Process.Kill()
	} else {
		for err = unix.EINTR; errors.Is(err, unix.EINTR); {
			err = unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		}
		s.must(err)
		c.read = int64(procNumber(s.T, proc+"io", "rchar"))
	}
	close(gone)
	<-watched
	err = cmd.Wait()
	if until != "" && !found || until == "" && err != nil {
		s.Fatalf("ralph %v: %v, %q was printed: %t\n%s", args, err, until, found, complaint.String())
	}
	c.cpu, c.memory = cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), memory.Load()
	return c
}

// readUntil reads up to a text, or all without one, and reports whether the text came.
func readUntil(from io.Reader, text string) bool {
	var seen []byte
	for buf := make([]byte, 64<<10); ; {
		n, err := from.Read(buf)
		if text != "" {
			if seen = append(seen, buf[:n]...); bytes.Contains(seen, []byte(text)) {
				return true
			}
			seen = slices.Clone(seen[max(0, len(seen)-len(text)):])
		}
		if err != nil {
			return false
		}
	}
}

// TestScaleLoops runs many loops at once, each with a runner and an agent of its own that says one
// line and then nothing.
func TestScaleLoops(t *testing.T) {
	n := *scaleLoops
	if n == 0 {
		t.Skip("many loops: make scale")
	}
	s := newScaled(t, int64(n)*3<<20, int64(n)*12<<20)
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("loop-%04d", i)
		s.must(os.Mkdir(filepath.Join(s.project, names[i]), 0o700))
	}
	fmt.Printf("\n| %d loops at once | |\n|---|---|\n", n)
	pids := make([]int, n)
	t.Cleanup(func() { // of a run that failed: the loops end all at once
		_ = s.command("stop", "--all", "--yes", "--now").Run()
		for _, name := range names {
			becomes(func() bool { return hasEnded(s.loopDir(name)) })
		}
	})
	var begun atomic.Int64
	before := selfChildren()
	took := s.each(names, func(i int) error {
		start := s.command("start", names[i], "--project", filepath.Join(s.project, names[i]), "--detach", "--json", "-p", "work",
			"--agent", "sh -c 'cat >/dev/null; echo I wait.; exec sleep 7200'", "--protocol", "text", "--set", "limits.idle=2h")
		out, err := start.Output()
		if err == nil {
			var started struct{ PID int }
			err = json.Unmarshal(out, &started)
			pids[i] = started.PID
		}
		s.tell("%d of %d loops run", begun.Add(1), n)
		return err
	})
	row("time to start them all", "%.1f s, %.1f ms of processor time each", took.Seconds(), (selfChildren()-before).Seconds()*1e3/float64(n))
	s.judgeRunners(pids)
	s.watchIdle(pids)
	s.judgeVerbs(names)
	s.stopAll(names, pids)
}

// loopDir is the folder of a loop. Each loop has a project of its own.
func (s *scaled) loopDir(name string) string {
	return filepath.Join(s.project, name, cli.RalphFolder, name)
}

// each calls do for all names, two at a time for each processor, and returns how long that took.
func (s *scaled) each(names []string, do func(i int) error) time.Duration {
	s.Helper()
	began := time.Now()
	var next atomic.Int64
	var group sync.WaitGroup
	for range 2 * runtime.NumCPU() {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(names); i = int(next.Add(1)) - 1 {
				if err := do(i); err != nil {
					s.Errorf("%s: %v%s", names[i], err, complaintOf(err))
				}
			}
		})
	}
	group.Wait()
	if s.Failed() {
		s.FailNow()
	}
	return time.Since(began)
}

func complaintOf(err error) string {
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return ": " + string(e.Stderr)
	}
	return ""
}

// selfChildren is the processor time of all commands that were waited for.
func selfChildren() time.Duration {
	var used unix.Rusage
	if unix.Getrusage(unix.RUSAGE_CHILDREN, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// judgeRunners prints what the runners hold. Proportional memory counts a page that many share
// once.
func (s *scaled) judgeRunners(pids []int) {
	s.Helper()
	var proportional, own, files, threads, watching float64
	for _, pid := range pids {
		proc := fmt.Sprintf("/proc/%d/", pid)
		proportional += procNumber(s.T, proc+"smaps_rollup", "Pss")
		own += procNumber(s.T, proc+"smaps_rollup", "Pss_Anon")
		threads += procNumber(s.T, proc+"status", "Threads")
		links, err := os.ReadDir(proc + "fd")
		s.must(err) // a runner that has ended is a fault
		files += float64(len(links))
		for _, link := range links {
			if what, _ := os.Readlink(proc + "fd/" + link.Name()); what == "anon_inode:inotify" {
				watching++
				break
			}
		}
		s.tell("memory of the runners")
	}
	n := float64(len(pids))
	row("memory of the runners, shared pages once", "%.0f MB, %.1f MB each, of it %.1f MB its own", proportional/1024, proportional/1024/n, own/1024/n)
	row("open files and threads of a runner", "%.1f and %.1f", files/n, threads/n)
	limit, err := os.ReadFile("/proc/sys/fs/inotify/max_user_instances")
	s.must(err)
	row("runners with file events (fs.inotify.max_user_instances is "+strings.TrimSpace(string(limit))+"); the others poll", "%.0f", watching)
}

// watchIdle prints what all runners use together in a minute in which nothing happens.
func (s *scaled) watchIdle(pids []int) {
	s.Helper()
	const watched = time.Minute
	settled := time.Now().Add(30 * time.Second) // first syncs, state.json, the last garbage collection
	for time.Now().Before(settled) {
		s.tell("waiting until nothing happens")
		time.Sleep(time.Second)
	}
	used := func() (all spent) {
		for _, pid := range pids {
			one := spentBy(s.T, pid)
			all.cpu, all.wakes = all.cpu+one.cpu, all.wakes+one.wakes
		}
		return all
	}
	before := used()
	for end := time.Now().Add(watched); time.Now().Before(end); time.Sleep(time.Second) {
		s.tell("an idle minute")
	}
	idle := used().since(before)
	n := float64(len(pids))
	row("wake-ups of the idle runners in a minute", "%d, %.1f each", idle.wakes, float64(idle.wakes)/n)
	row("processor time of the idle runners in a minute", "%.2f s, %.1f ms each", idle.cpu.Seconds(), idle.cpu.Seconds()*1e3/n)
}

// judgeVerbs prints what looking at the loops takes.
func (s *scaled) judgeVerbs(names []string) {
	s.Helper()
	fmt.Printf("\n| with %d loops | time | processor | memory | read |\n|---|---|---|---|---|\n", len(names))
	last := names[len(names)-1]
	for _, v := range []struct {
		until string
		args  []string
	}{
		{"", []string{"list", "--all"}},
		{"", []string{"list", "--all", "--json"}},
		{last, []string{"list", "--all", "--json", "--watch"}},
		{"", []string{"status", last, "--project", filepath.Join(s.project, last)}},
		{"", []string{"report", "--all"}},
		{"I wait.", []string{"attach", last, "--project", filepath.Join(s.project, last)}},
	} {
		what := strings.Join(v.args, " ")
		what, _, _ = strings.Cut(what, " --project")
		row("`"+what+"`", "%s", s.measure(v.until, v.args...))
	}
	s.judgeBoard()
	s.judgeWeb(len(names))
}

// stopAll ends all loops with one command, and waits until the runners are gone.
func (s *scaled) stopAll(names []string, pids []int) {
	s.Helper()
	began := time.Now()
	stop := s.command("stop", "--all", "--yes", "--now")
	out, err := stop.CombinedOutput()
	if err != nil {
		s.Fatalf("stop --all: %v\n%.2000s", err, out)
	}
	said := time.Since(began)
	for i, pid := range pids {
		if !becomes(func() bool { return hasEnded(s.loopDir(names[i])) }) {
			s.Fatalf("the runner %d of %s lives on", pid, names[i])
		}
		s.tell("%d of %d have ended", i, len(pids))
	}
	fmt.Println()
	row("`stop --all --now`, until the last runner is gone", "%.1f s; %.2f s of processor time of the command, done after %.1f s",
		time.Since(began).Seconds(), (stop.ProcessState.UserTime() + stop.ProcessState.SystemTime()).Seconds(), said.Seconds())
}
