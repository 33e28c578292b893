//go:build unix

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/effect/sandbox"
	"github.com/ralph-loop/ralph/internal/ground/frame"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){
		"ralph":      func() { os.Exit(run(os.Args[1:])) },
		"solo-agent": func() { os.Exit(soloAgent()) },
		"follower":   func() { os.Exit(follower()) },
	})
}

// tests are the tests of this package. A story mostly waits for other processes, so more of them
// run at a time than there are processors, unless -parallel says otherwise.
type tests struct{ m *testing.M }

func (t tests) Run() int {
	// Most tests write the settings of their project themselves, so these are trusted. The tests
	// about trust unset this.
	_ = os.Setenv("RALPH_TRUST", "1")
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0)))
	}
	return t.m.Run()
}

// TestScript runs the stories of testdata/script: the whole binary, real processes, real files. It
// kills the runners that a story leaves.
func TestScript(t *testing.T) {
	leaveToScript(t)
	p := scriptParams(false)
	p.Dir = filepath.Join("testdata", "script")
	testscript.Run(t, p)
}

// scriptParams are the commands and conditions of the stories, of the whole program or of its core.
func scriptParams(core bool) testscript.Params {
	return testscript.Params{
		Setup: setup,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"await":    await,
			"recorded": awaitLine,
			"exits":    exits,
			"signal":   sendSignal,
			"sparse":   sparse,
			"flip":     flip,
			"gone":     gone,
			"cut":      cut,
			"forge":    forge,
			"spoken":   spoken,
			"host":     host,
			"unhost":   unhost,
			"lose":     lose,
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "core":
				return core, nil
			case "sshd":
				return sshdPath() != "", nil
			case "root":
				return os.Geteuid() == 0, nil
			case "landlock":
				return sandbox.Landlock.Check() == nil, nil
			case "bwrap": // a container may not allow it
				return exec.Command("bwrap", "--ro-bind", "/", "/", "--unshare-pid", "--unshare-net", "--proc", "/proc", "true").Run() == nil, nil
			}
			return false, nil
		},
		RequireExplicitExec: true,
	}
}

// leaveToScript skips a test that plays whole loops for seconds: 'make script' runs it, and
// 'make race-all'.
func leaveToScript(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes seconds: make script")
	}
}

func setup(e *testscript.Env) error {
	home := filepath.Join(e.WorkDir, "ralph-home")
	e.Setenv("RALPH_HOME", home)
	e.Setenv("HOME", e.WorkDir)
	e.Setenv("RALPH_TRUST", os.Getenv("RALPH_TRUST"))
	released, err := filepath.Abs(filepath.Join("testdata", "released"))
	if err != nil {
		return err
	}
	e.Setenv("RELEASED", released) // loops that earlier releases wrote
	e.Defer(func() { endRunners(home) })
	scripts, err := filepath.Glob(filepath.Join(e.WorkDir, "*.sh"))
	for _, script := range scripts {
		err = errors.Join(err, os.Chmod(script, 0o755))
	}
	return err
}

// endRunners kills what a story left running, by pid, and what their agents started.
func endRunners(home string) {
	loops, _ := registry.Survey(home, nil)
	for _, s := range loops {
		if s.Live.Alive && s.Live.PID > 0 {
			_ = syscall.Kill(s.Live.PID, syscall.SIGKILL)
		}
		if s.ID != "" {
			strays(home, s.ID)
		}
	}
}

// exits runs a program that ends with an exit code: exits CODE PROGRAM ARGUMENT…
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGUMENT…")
	}
	got := "0"
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		failed, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = strconv.Itoa(failed.ExitCode())
	}
	if got != args[0] {
		ts.Fatalf("it exits with %s, not with %s", got, args[0])
	}
}

// await waits until a loop's state is as wanted: await NAME FIELD VALUE, where FIELD is one of
// status, reason, iteration, phase, or "dead" for a free lock.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || neg {
		ts.Fatalf("usage: await NAME FIELD [VALUE]")
	}
	dir := ts.MkAbs(filepath.Join(".ralph", args[0]))
	want := strings.Join(args[2:], " ")
	var got string
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		if got = field(dir, args[1]); got == want || args[1] == "dead" && got == "dead" {
			return
		}
		time.Sleep(5 * time.Millisecond) // polling another process, which has no event for this
	}
	log, _ := os.ReadFile(filepath.Join(dir, "runner.log"))
	ts.Fatalf("%s of loop %s is %q, not %q\nrunner.log:\n%s\nits last events:\n%s", args[1], args[0], got, want, log, lastEvents(dir))
}

// lastEvents is what a loop's journal ends with.
func lastEvents(dir string) string {
	const most = 30
	events, _, err := journal.Last(dir, most)
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%.300s\n", e.Line())
	}
	if err != nil {
		fmt.Fprintln(&b, err)
	}
	return b.String()
}

// awaitLine waits until a line of a loop's journal matches: recorded NAME PATTERN. What an agent or
// a guardrail does can be seen before its event.
func awaitLine(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 || neg {
		ts.Fatalf("usage: recorded NAME PATTERN")
	}
	pattern, err := regexp.Compile(args[1])
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for e, err := range journal.Follow(ctx, ts.MkAbs(filepath.Join(".ralph", args[0])), journal.FollowOptions{}) {
		ts.Check(err)
		if pattern.Match(e.Line()) {
			return
		}
	}
	ts.Fatalf("no line of loop %s matches %s", args[0], args[1])
}

func field(dir, name string) string {
	if name == "dead" {
		if live, err := registry.Probe(dir); err == nil && !live.Alive {
			return "dead"
		}
		return "alive"
	}
	s, err := loopstate.Open(dir)
	if err != nil {
		return err.Error()
	}
	switch name {
	case "status":
		return s.Status().String()
	case "reason":
		return s.Summary().Reason
	case "iteration":
		return strconv.Itoa(s.Lifecycle.Iteration)
	case "phase":
		return string(s.Lifecycle.Phase)
	}
	return "no such field"
}

// sendSignal sends a signal to a loop's runner: signal KILL NAME. KILL comes when state.json is as
// new as the journal: a loop without one is not listed as one that died.
func sendSignal(ts *testscript.TestScript, _ bool, args []string) {
	signals := map[string]syscall.Signal{"KILL": syscall.SIGKILL, "TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "HUP": syscall.SIGHUP, "STOP": syscall.SIGSTOP, "CONT": syscall.SIGCONT}
	live, err := registry.Probe(ts.MkAbs(filepath.Join(".ralph", args[1])))
	ts.Check(err)
	if !live.Alive || live.PID == 0 {
		ts.Fatalf("loop %s has no runner", args[1])
	}
	if args[0] == "KILL" {
		awaitState(ts, ts.MkAbs(filepath.Join(".ralph", args[1])))
	}
	ts.Check(syscall.Kill(live.PID, signals[args[0]]))
}

// awaitState waits until state.json has what the journal has now.
func awaitState(ts *testscript.TestScript, dir string) {
	last, _, err := journal.Last(dir, 1)
	ts.Check(err)
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) { // as in await
		var s registry.Summary
		text, err := os.ReadFile(filepath.Join(dir, "state.json"))
		if err == nil && json.Unmarshal(text, &s) == nil && s.Seq >= last[0].Seq {
			return
		}
	}
	ts.Fatalf("%s has no state.json up to event %d", dir, last[0].Seq)
}

// sparse makes a file of a size without its bytes: sparse FILE BYTES.
func sparse(ts *testscript.TestScript, _ bool, args []string) {
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	size, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(f.Truncate(size))
	ts.Check(f.Close())
}

// flip changes one byte in the middle of a file.
func flip(ts *testscript.TestScript, _ bool, args []string) {
	name := ts.MkAbs(args[0])
	data, err := os.ReadFile(name)
	ts.Check(err)
	data[len(data)/2] ^= 1
	ts.Check(os.WriteFile(name, data, 0o600))
}

// forge replaces a text in the last segment of an ended loop by one of the same length, and
// computes its checksums again: forge NAME OLD NEW.
func forge(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(filepath.Join(".ralph", args[0]))
	segments, err := journal.Segments(dir)
	ts.Check(err)
	name := filepath.Join(dir, "journal", segments[len(segments)-1].Name)
	text, err := os.ReadFile(name)
	ts.Check(err)
	if len(args[1]) != len(args[2]) || !bytes.Contains(text, []byte(args[1])) {
		ts.Fatalf("%q is not in %s, or %q is of another length", args[1], name, args[2])
	}
	var forged []byte
	var crc uint32
	for line := range bytes.Lines(bytes.ReplaceAll(text, []byte(args[1]), []byte(args[2]))) {
		line = line[:bytes.LastIndex(line, []byte(`,"crc":`))]
		if i := bytes.Index(line, []byte(`"sha256":"`)); bytes.Contains(line, []byte(`"type":"segment.sealed"`)) {
			copy(line[i+len(`"sha256":"`):], fmt.Sprintf("%x", sha256.Sum256(forged)))
		}
		start := len(forged)
		forged, crc = frame.Close(append(forged, line...), start, crc)
		forged = append(forged, '\n')
	}
	ts.Check(os.WriteFile(name, forged, 0o600))
}

// cut cuts a dead loop's journal off after the first line that contains a text, as KILL at that
// moment would have left it: cut NAME TEXT.
func cut(ts *testscript.TestScript, _ bool, args []string) {
	segments, err := journal.Segments(ts.MkAbs(filepath.Join(".ralph", args[0])))
	ts.Check(err)
	for _, segment := range segments {
		name := ts.MkAbs(filepath.Join(".ralph", args[0], "journal", segment.Name))
		text, err := os.ReadFile(name)
		ts.Check(err)
		if i := bytes.Index(text, []byte(args[1])); i >= 0 {
			end := i + bytes.IndexByte(text[i:], '\n') + 1
			ts.Check(os.Truncate(name, int64(end)))
			return
		}
	}
	ts.Fatalf("no line of loop %s holds %s", args[0], args[1])
}

// spoken checks how many bytes of text an agent said in all: spoken NAME BYTES.
func spoken(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	total := 0
	for e, err := range journal.Read(ts.MkAbs(filepath.Join(".ralph", args[0])), journal.ReadOptions{}) {
		ts.Check(err)
		if e.Type == event.TypeAgentSaid {
			p, err := event.As[event.AgentSaid](e)
			ts.Check(err)
			total += len(p.Text.String())
		}
	}
	if total != want {
		ts.Fatalf("the agent of loop %s said %d bytes, not %d", args[0], total, want)
	}
}

// gone waits until a file holds a pid, and then until no process has it: gone FILE.
func gone(ts *testscript.TestScript, neg bool, args []string) {
	deadline := time.Now().Add(patience)
	pid := pidIn(ts.MkAbs(args[0]), deadline)
	if pid == 0 {
		ts.Fatalf("no pid in %s", args[0])
	}
	for {
		_, alive := process.StartTime(pid)
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			alive = false
		}
		if neg {
			if !alive {
				ts.Fatalf("process %d is gone", pid)
			}
			return
		}
		if !alive {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("process %d is still there", pid)
		}
		time.Sleep(5 * time.Millisecond) // as in await
	}
}

// pidIn reads a pid as soon as the file holds one; 0 if it does not in time.
func pidIn(name string, deadline time.Time) int {
	for time.Now().Before(deadline) {
		text, err := os.ReadFile(name)
		if pid, bad := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && bad == nil {
			return pid
		}
		time.Sleep(5 * time.Millisecond) // as in await
	}
	return 0
}

// strays ends the processes that carry a loop's marks.
func strays(home, id string) {
	for _, mark := range process.LoopMarks(home, id) {
		_, _ = process.Sweep(context.Background(), mark, 0)
	}
}
