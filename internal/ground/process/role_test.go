//go:build linux || darwin

package process

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The test binary plays the agents, their tools and the runners: "role" in the environment says
// which.
const roleVariable = "PROCESS_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		play(role, os.Args[1:])
		os.Exit(0)
	}
	if err := EnableSubreaper(); err != nil && runtime.GOOS == "linux" {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func play(role string, args []string) {
	switch role {
	case "sit": // until a signal; "stubborn" ignores TERM; "until" ends when something is written to the FIFO that it names
		sit(args)
	case "daemon": // start a process in a session of its own, say its pid, and leave it
		startDaemon(os.Environ(), args)
	case "hidden daemon": // the same, with an empty environment
		startDaemon([]string{roleVariable + "=sit"}, args)
	case "agent with daemon":
		startDaemon(os.Environ(), args)
		sit(nil)
	case "launcher": // start a process, say its pid, and another one for each line read; see launcher
		launch()
	case "runner": // start an agent in the role and with the arguments given, pass on its first line, sit
		runRunner(args)
	case "sweeper": // sweep our own mark
		strays, err := Sweep(context.Background(), os.Getenv(MarkVariable), time.Second)
		fmt.Println(len(strays), err)
	case "flood":
		flood(args)
	case "long line":
		length, _ := strconv.Atoi(args[0])
		os.Stdout.Write(bytes.Repeat([]byte("x"), length))
		fmt.Println("\nafter")
	default:
		fmt.Fprintln(os.Stderr, "no such role:", role)
		os.Exit(64)
	}
}

func sit(args []string) {
	if len(args) > 0 && args[0] == "stubborn" {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	}
	signal.Ignore(syscall.SIGPIPE) // the runner may be killed between the two lines
	fmt.Println(os.Getpid())
	fmt.Fprintln(os.Stderr, "ready")
	if len(args) > 1 && args[0] == "until" {
		_, _ = os.ReadFile(args[1])
		fmt.Println("the end")
		return
	}
	time.Sleep(time.Hour) // an empty select is a deadlock to the Go runtime, which ends the program

}

func startDaemon(env, args []string) {
	daemon := exec.Command(self(), args...)
	daemon.Env = append(env, roleVariable+"=sit")
	daemon.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	daemon.Stdout = os.Stdout // so the daemon keeps it open
	ready, err := daemon.StderrPipe()
	if err == nil {
		err = daemon.Start()
	}
	if err != nil {
		panic(err)
	}
	if _, err := bufio.NewReader(ready).ReadString('\n'); err != nil {
		panic(err)
	}
}

func launch() {
	startChild(false)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		switch lines.Text() {
		case "daemon":
			startChild(true)
		case "child":
			startChild(false)
		case "stubborn child":
			startChild(false, "stubborn")
		}
	}
}

// startChild starts a process in our group, or in a session of its own. It says its pid, and may be
// ended from then on.
func startChild(session bool, args ...string) {
	child := exec.Command(self(), args...)
	child.Env = append(os.Environ(), roleVariable+"=sit")
	child.Stdout = os.Stdout
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: session}
	if err := child.Start(); err != nil {
		panic(err)
	}
	go child.Wait()
}

func runRunner(args []string) {
	mark, role, death := args[0], args[1], args[2]
	spec := actor(role, args[3:]...)
	spec.Mark = mark
	if death == "die together" {
		spec.ParentDeath = syscall.SIGKILL
	}
	spec.Output = func(c Chunk) {
		if c.Stream == Stderr {
			return
		}
		for _, line := range c.Lines {
			fmt.Printf("%s\n", line)
		}
	}
	p, err := Start(spec)
	if err != nil {
		panic(err)
	}
	p.Wait()
}

func flood(args []string) {
	total, _ := strconv.Atoi(args[0])
	block := floodBlock()
	for sent := 0; sent < total; sent += len(block) {
		if _, err := os.Stdout.Write(block); err != nil {
			os.Exit(1)
		}
	}
}

// floodBlock is about 1 MiB of JSON lines with the lengths of real streams: mostly short, a few
// long.
func floodBlock() []byte {
	var block []byte
	for i := 0; len(block) < 1<<20; i++ {
		length := 150 + i*37%300
		if i%40 == 0 {
			length = 20_000
		}
		line, _ := json.Marshal(map[string]string{"type": "message_update", "text": strings.Repeat("word ", length/5)})
		block = append(append(block, line...), '\n')
	}
	return block
}

func self() string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return path
}

// actor is a Spec for this test binary in a role.
func actor(role string, args ...string) Spec {
	return Spec{
		Argv: append([]string{self()}, args...),
		Env:  append(os.Environ(), roleVariable+"="+role),
	}
}

func shell(script string) Spec { return Spec{Argv: []string{"sh", "-c", script}} }

// agent is a started process whose output is collected.
type agent struct {
	*Process
	t      *testing.T
	mu     sync.Mutex
	chunks []Chunk // with copied lines
	lines  chan string
}

// deadline bounds the wait for something that must happen. A busy machine does not reach it.
const deadline = 2 * time.Minute

// mark returns the mark of a test's processes. Processes are found by their mark on the whole
// machine, so two copies of this test binary must not share one.
func mark(t testing.TB) string { return fmt.Sprintf("%s of %d", t.Name(), os.Getpid()) }

func start(t *testing.T, spec Spec) *agent {
	t.Helper()
	a := &agent{t: t, lines: make(chan string, 10_000)}
	spec.Output = func(c Chunk) {
		a.mu.Lock()
		defer a.mu.Unlock()
		lines := make([][]byte, len(c.Lines))
		for i, line := range c.Lines {
			lines[i] = bytes.Clone(line)
			if c.Stream == Stdout {
				a.lines <- string(line)
			}
		}
		c.Lines = lines
		a.chunks = append(a.chunks, c)
	}
	if spec.Mark == "" {
		spec.Mark = mark(t)
	}
	if spec.strayGrace == 0 {
		// processes that would leave on TERM must not be killed because the machine is busy
		spec.strayGrace = deadline
	}
	p, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	a.Process = p
	t.Cleanup(func() {
		p.Kill()
		select {
		case <-p.Done():
		case <-time.After(deadline):
			t.Error("the agent was not gone after the test")
		}
	})
	return a
}

// line waits for the next line of standard output.
func (a *agent) line() string {
	a.t.Helper()
	select {
	case line := <-a.lines:
		return line
	case <-time.After(deadline):
		a.t.Fatal("the agent printed no further line")
		return ""
	}
}

func (a *agent) pidLine() int {
	a.t.Helper()
	pid, err := strconv.Atoi(a.line())
	if err != nil {
		a.t.Fatal(err)
	}
	return pid
}

func (a *agent) ended() Exit {
	a.t.Helper()
	select {
	case <-a.Done():
		return a.Wait()
	case <-time.After(deadline):
		a.t.Fatal("the agent has not ended")
		return Exit{}
	}
}

// ending is the result of a Terminate.
type ending struct {
	Gone   bool
	Killed bool // the agent, or something it had started, was sent KILL
	Exit   Exit
}

func (a *agent) terminated(ctx context.Context, grace time.Duration) ending {
	if err := a.Terminate(ctx, grace); err != nil {
		return ending{}
	}
	exit := a.Wait()
	killed := exit.Signal == "SIGKILL"
	for _, stray := range exit.Strays {
		killed = killed || stray.Ended == Killed
	}
	return ending{Gone: true, Killed: killed, Exit: exit}
}

// output joins what a stream brought: complete lines end with "|", pieces with nothing.
func (a *agent) output(stream Stream) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var text strings.Builder
	for _, c := range a.chunks {
		if c.Stream != stream {
			continue
		}
		for i, line := range c.Lines {
			text.Write(line)
			if i < len(c.Lines)-1 || !c.Partial {
				text.WriteByte('|')
			}
		}
	}
	return text.String()
}

// awaitEnd fails the test if the process is there after the deadline. A zombie counts as dead,
// and its parent reaps it.
func awaitEnd(t *testing.T, pid int) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(deadline); alive(pid); <-tick.C {
		if time.Now().After(limit) {
			t.Fatalf("pid %d (%s) is still there", pid, commandLine(pid))
		}
	}
}

func alive(pid int) bool {
	who, ok := inspect(pid)
	return ok && !who.zombie()
}
