package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// MarkVariable is the environment variable that carries Spec.Mark into the agent and, by inheritance, into everything the
	// agent starts, also what leaves its session.
	MarkVariable = "RALPH_RUN"

	defaultMaxLine    = 64 << 20
	defaultStderrTail = 64 << 10
	defaultStrayGrace = 2 * time.Second

	// drainTime is how long after the agent's end its output is still read while something else holds it open.
	drainTime = 250 * time.Millisecond
	// killTime bounds the wait for a process that has been sent KILL: only one stuck inside the kernel outlasts it.
	killTime = 3 * time.Second
)

// Spec says what to run. Argv is required, everything else has a use as zero value.
type Spec struct {
	// Argv is the program and its arguments. A name without a slash is looked up in the caller's PATH; a relative path is
	// relative to Dir.
	Argv []string
	// Dir is the working directory, by default the caller's. PWD is set to it.
	Dir string
	// Env is the whole environment; nil stands for the caller's. See Environment.
	Env []string
	// Mark goes into the environment as MarkVariable and replaces one that is already there. It must differ from that of every
	// other run on the machine. Without a mark, descendants that left the session are found only on Linux.
	Mark string

	// Stdin is written first, however long it is. Start does not copy it.
	Stdin []byte
	// KeepStdin leaves standard input open after Stdin, for Write. Without it and without Stdin the agent reads the null
	// device: some agents wait for the end of a pipe before they begin (codex exec 0.169).
	KeepStdin bool

	// Output receives what the agent prints. Calls never overlap, also not between the two streams, and all of them have
	// returned before Done is closed. While Output runs nothing is read, so an agent that prints faster than Output works is
	// slowed by its full pipe. Output must not call Wait or Terminate. Nil discards the output.
	Output func(Chunk)
	// Raw delivers an unfinished line at once, as a Partial piece, so that a prompt without a newline shows.
	Raw bool
	// MaxLine is the longest line that is delivered whole, in bytes without the newline; 0 means 64 MiB and the smallest is
	// 4 KiB. A longer one comes in pieces of this size.
	MaxLine int
	// StderrTail is how many of the last bytes of standard error are kept for Process.StderrTail; 0 means 64 KiB.
	StderrTail int

	// ParentDeath is sent to the agent by the kernel when this process dies, however it dies; 0 sends none. Linux only:
	// elsewhere the agent notices the end of its standard input, and Sweep finds what did not.
	ParentDeath syscall.Signal
	// Linger is asked when the agent has ended and something it started is still there: for how long that may go on
	// before it is ended. It is asked at most once for each end or EndOthers. nil gives no time.
	Linger func() time.Duration
	// StrayGrace is how long processes that outlive the agent have between TERM and KILL; 0 means 2 s.
	StrayGrace time.Duration
}

// Exit is how an agent ended.
type Exit struct {
	// Code is the exit status, 0 to 255, or -1 when a signal ended the agent.
	Code int
	// Signal is the name of the signal that ended it, such as "SIGKILL", or empty. An agent that catches TERM and leaves by
	// itself has a code instead (143 for Claude Code and pi).
	Signal string
	// Took is the time from start to the agent's own end, without what was spent on its strays.
	Took time.Duration
	// Strays are the processes that outlived the agent, in the order they were found.
	Strays []Stray
	// OutputHeld is set when something still held the agent's output open after the drain, so that what it printed later is
	// not known.
	OutputHeld bool
	// Err is what went wrong on our side: output that could not be read, processes that could not be listed or ended.
	Err error
}

// Process is one started agent. Its methods may be called by any number of goroutines.
type Process struct {
	spec    Spec
	cmd     *exec.Cmd
	pid     int
	started time.Time
	family  *family
	stdin   *feeder
	stdout  *reader
	stderr  *reader
	tail    *tail

	// hurry is cancelled by Kill: whoever is waiting for processes to leave by themselves stops waiting.
	hurry       context.Context
	giveUp      context.CancelFunc
	mu          sync.Mutex // held while signals are sent and while the agent is reaped, so that its pid is its own
	reaped      bool
	killed      bool
	own         []identity // what Spare found; never changed, only replaced
	unknown     error      // what kept Spare from finding it
	exit        Exit       // written before done is closed
	done        chan struct{}
	outputGuard sync.Mutex
}

// Start runs spec in a session of its own. An error says which program or which directory it is about, and satisfies errors.Is
// with exec.ErrNotFound when there is no such program, fs.ErrPermission when it may not be run, fs.ErrNotExist when Dir is missing.
func Start(spec Spec) (*Process, error) {
	spec, err := complete(spec)
	if err != nil {
		return nil, err
	}
	p := &Process{spec: spec, done: make(chan struct{}), tail: &tail{limit: spec.StderrTail}}
	p.hurry, p.giveUp = context.WithCancel(context.Background())
	launched := make(chan error)
	go p.live(launched)
	if err := <-launched; err != nil {
		p.giveUp()
		return nil, err
	}
	return p, nil
}

func complete(spec Spec) (Spec, error) {
	if len(spec.Argv) == 0 || spec.Argv[0] == "" {
		return spec, errors.New("start agent: no program given")
	}
	if strings.ContainsRune(spec.Mark, 0) {
		return spec, fmt.Errorf("start %s: the mark %q contains a NUL", spec.Argv[0], spec.Mark)
	}
	if spec.MaxLine <= 0 {
		spec.MaxLine = defaultMaxLine
	}
	spec.MaxLine = max(spec.MaxLine, smallestMaxLine)
	if spec.StderrTail <= 0 {
		spec.StderrTail = defaultStderrTail
	}
	if spec.StrayGrace <= 0 {
		spec.StrayGrace = defaultStrayGrace
	}
	return spec, nil
}

// live is the agent's whole life. It starts, waits and reaps on one goroutine locked to its thread, because ParentDeath is
// tied to the thread that forked, not to the process: were that thread to end (the Go runtime retires threads as it likes), the
// kernel would signal an agent whose runner is alive and well.
func (p *Process) live(launched chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := p.launch(); err != nil {
		launched <- err
		return
	}
	var streams sync.WaitGroup
	streams.Go(p.stdin.run)
	streams.Go(func() { p.stdout.run(p.deliver) })
	streams.Go(func() { p.stderr.run(p.deliver) })
	launched <- nil

	waitErr := awaitExit(p.cmd)
	ended := time.Now()
	p.stdin.shut(ErrStdinClosed)
	p.family.linger(p.hurry, p.spec.Linger)
	drained := time.Now().Add(drainTime)
	p.stdout.drainUntil(drained)
	p.stderr.drainUntil(drained)
	strayErr := p.family.end(p.hurry, p.spec.StrayGrace)
	p.reap()
	streams.Wait()

	p.exit.Took = ended.Sub(p.started)
	p.exit.Strays = p.family.strays()
	p.exit.OutputHeld = p.stdout.held || p.stderr.held
	p.exit.Err = errors.Join(waitErr, strayErr, p.stdout.err, p.stderr.err)
	p.giveUp()
	close(p.done)
}

// reap collects the exit status and gives the pid back. Before it, pid and group belong to the agent although it has ended;
// after it, they may belong to anyone.
func (p *Process) reap() {
	p.mu.Lock()
	defer p.mu.Unlock()
	// No look has found anyone any more, or none was possible. But what forks and ends faster than a look can read passes unseen;
	// if it has stayed in the group this ends it, for the kernel signals a group in one step.
	_ = signalGroup(p.cmd.Process, syscall.SIGKILL)
	// A non-zero exit is an error to os/exec and an answer to us: both stand in ProcessState.
	_ = p.cmd.Wait()
	live.remove(p.family.root)
	p.reaped = true
	p.exit.Code, p.exit.Signal = outcome(p.cmd.ProcessState)
}

// PID returns the agent's process id, which is also its session's and its group's.
func (p *Process) PID() int { return p.pid }

// Done is closed when the agent has ended, its output has been delivered and its descendants have been dealt with.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits for Done and returns the exit: always the same one, to every caller.
func (p *Process) Wait() Exit {
	<-p.done
	return p.exit
}

// StderrTail returns a copy of the last bytes of standard error, Spec.StderrTail of them at most. It may be called at any time.
func (p *Process) StderrTail() []byte { return p.tail.bytes() }

// Write queues a copy of data for the agent's standard input and returns at once. Data is written whole and in the order of the calls; an
// error (ErrStdinClosed, ErrStdinFull, or what an earlier write met, such as syscall.EPIPE) means that none of it will be.
// A nil error says that it is queued, not that the agent has read it.
func (p *Process) Write(data []byte) error { return p.stdin.add(data) }

// CloseStdin closes standard input once everything queued has been written. It may be called again.
func (p *Process) CloseStdin() { p.stdin.finish() }

func (p *Process) deliver(c Chunk) {
	p.outputGuard.Lock()
	defer p.outputGuard.Unlock()
	if p.spec.Output != nil {
		p.spec.Output(c)
	}
}

func outcome(state *os.ProcessState) (code int, signal string) {
	if state == nil {
		return -1, ""
	}
	return state.ExitCode(), signalName(state)
}
