package process

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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

// LoopMarks returns the marks of the processes of a loop with an id: those of its agent, and those
// of ralph's commands.
func LoopMarks(home, id string) []string { return []string{AgentMark(home, id), OwnMark(home, id)} }

// AgentMark marks the processes of a loop's agent. A loop that moves from one home of ralph to
// another one of the same user keeps its id, and what ends it in the one must not end it in the
// other.
func AgentMark(home, id string) string {
	sum := sha256.Sum256([]byte(home))
	return id + "@" + hex.EncodeToString(sum[:4])
}

// OwnMark marks the guardrails and the version control of a loop. It differs from the agent's mark,
// because processes with that mark end with the agent.
func OwnMark(home, id string) string { return AgentMark(home, id) + ".ralph" }

const (
	// MarkVariable is the environment variable that carries a mark into a process and, by
	// inheritance, into everything that it starts, also into what leaves its session.
	MarkVariable = "RALPH_RUN"

	defaultMaxLine    = 64 << 20
	defaultStrayGrace = 2 * time.Second

	// drainTime is how long after a process's end its output is still read while something else
	// holds it open.
	drainTime = 250 * time.Millisecond
	// killTime bounds the wait for a process that was sent KILL. Only one that is stuck inside the
	// kernel takes longer.
	killTime = 3 * time.Second
)

// Spec says which agent to start. Only Argv is required.
type Spec struct {
	// Argv is the program and its arguments. A name without a slash is looked up in the caller's
	// PATH. A relative path is relative to Dir.
	Argv []string
	// Dir is the working directory, by default the caller's. PWD is set to it.
	Dir string
	// Env is the complete environment; nil means the caller's. See Environment.
	Env []string
	// Mark is put into the environment as MarkVariable and replaces an older one. It must differ
	// from that of every other run on the machine. Without a mark, descendants that left the
	// session are found only on Linux.
	Mark string
	// KeepStdin opens a pipe to standard input, for Write. Without it the agent reads the null
	// device: some agents wait for the end of a pipe before they begin (codex exec 0.169).
	KeepStdin bool

	// Output receives what the agent prints. Calls never overlap, also not between the two streams,
	// and all of them have returned before Done is closed. While Output runs nothing is read, so an
	// agent that prints faster than Output works has to wait. Output must not call Wait or
	// Terminate. Nil discards the output.
	Output func(Chunk)
	// Raw delivers an unfinished line at once, as a Partial piece, so that a prompt without a
	// newline is seen.
	Raw bool

	// ParentDeath is sent to the agent by the kernel when this process dies; 0 sends none. Linux
	// only: elsewhere the agent notices the end of its standard input, and Sweep finds processes
	// that did not.
	ParentDeath syscall.Signal
	// Linger is called when the agent has ended and something it started still runs. It returns how
	// long that may run before it is ended. It is called at most once for each end or EndOthers.
	// Without Linger, it is ended at once.
	Linger func() time.Duration

	maxLine    int           // a longer line is delivered in pieces of this size
	strayGrace time.Duration // between TERM and KILL for processes that outlive the agent
}

// Exit is how a process ended.
type Exit struct {
	// Code is the exit status, 0 to 255, or -1 when a signal ended the process.
	Code int
	// Signal is the name of the signal that ended it, such as "SIGKILL", or empty. A process that
	// catches TERM and exits by itself has a code instead (143 for Claude Code and pi).
	Signal string
	// Took is the time from start to the process's own end, without what was spent on its strays.
	Took time.Duration
	// Strays are the processes that outlived it, in the order in which they were found.
	Strays []Stray
	// Err is what went wrong on this side: output that could not be read, processes that could not
	// be listed or ended.
	Err error
}

// Process is one started agent. Its methods may be called by any number of goroutines.
type Process struct {
	spec    Spec
	command *Command // nil: an agent
	cmd     *exec.Cmd
	pid     int
	started time.Time
	tree    *tree
	stdin   *stdinWriter
	readers []*reader

	// waiting ends with Kill: nothing waits any longer for processes to exit by themselves.
	waiting     context.Context
	stopWaiting context.CancelFunc
	// mu is held while signals are sent and while the agent is reaped, so that its pid is its own.
	mu          sync.Mutex
	asked       bool // to end, by Terminate or Kill
	reaped      bool
	baseline    []identity // see SetBaseline; never changed, only replaced
	baselineErr error      // why there is no baseline
	exit        Exit       // written before done is closed
	done        chan struct{}
	outputMu    sync.Mutex
}

// Start runs spec in a session of its own. An error names the program or the directory that it is
// about, and satisfies errors.Is with exec.ErrNotFound when there is no such program,
// fs.ErrPermission when it may not be run, fs.ErrNotExist when Dir is missing.
func Start(spec Spec) (*Process, error) {
	if len(spec.Argv) == 0 || spec.Argv[0] == "" {
		return nil, errors.New("start agent: no program given")
	}
	p, err := startTree(spec, nil)
	if errors.Is(err, exec.ErrNotFound) {
		return nil, fmt.Errorf("start agent: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Argv[0], err)
	}
	return p, nil
}

func startTree(spec Spec, command *Command) (*Process, error) {
	if strings.ContainsRune(spec.Mark, 0) {
		return nil, fmt.Errorf("the mark %q contains a NUL", spec.Mark)
	}
	if spec.maxLine <= 0 {
		spec.maxLine = defaultMaxLine
	}
	if spec.strayGrace <= 0 {
		spec.strayGrace = defaultStrayGrace
	}
	p := &Process{spec: spec, command: command, done: make(chan struct{})}
	p.waiting, p.stopWaiting = context.WithCancel(context.Background())
	launched := make(chan error)
	go p.run(launched)
	if err := <-launched; err != nil {
		p.stopWaiting()
		return nil, err
	}
	return p, nil
}

// run starts, waits and reaps on one goroutine that is locked to its thread, because ParentDeath is
// tied to the thread that forked, not to the process: if that thread ended (the Go runtime ends
// threads when it likes), the kernel would signal an agent whose runner lives.
func (p *Process) run(launched chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := p.launch(); err != nil {
		launched <- err
		return
	}
	var streams sync.WaitGroup
	streams.Go(p.stdin.run)
	for _, r := range p.readers {
		streams.Go(r.run)
	}
	launched <- nil

	waitErr := awaitExit(p.cmd)
	ended := time.Now()
	p.stdin.fail(ErrStdinClosed)
	p.tree.awaitExits(p.waiting, p.spec.Linger)
	drained := time.Now().Add(drainTime)
	for _, r := range p.readers {
		r.drainUntil(drained)
	}
	leave := p.leavesStrays()
	var strayErr error
	if !leave {
		strayErr = p.tree.terminate(p.waiting, p.spec.strayGrace)
	}
	p.reap(leave)
	streams.Wait()

	errs := []error{waitErr, strayErr}
	for _, r := range p.readers {
		errs = append(errs, r.err)
	}
	p.exit.Took = ended.Sub(p.started)
	p.exit.Strays = p.tree.strays()
	p.exit.Err = errors.Join(errs...)
	p.stopWaiting()
	close(p.done)
}

// leavesStrays reports whether processes that outlive this one are left alone.
func (p *Process) leavesStrays() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.command != nil && p.command.LeaveStrays && !p.asked
}

// reap collects the exit status and releases the pid. Before it, pid and group belong to the agent
// although it has ended; after it, they may belong to any process.
func (p *Process) reap(leaveStrays bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !leaveStrays {
		// The last scan found no process, or none was possible. A process that forks and ends
		// faster than a scan reads is not seen. If it stayed in the group, this ends it: the kernel
		// signals a group in one step.
		_ = signalGroup(p.cmd.Process, syscall.SIGKILL)
	}
	// A non-zero exit is an error to os/exec and a result here: both are in ProcessState.
	_ = p.cmd.Wait()
	roots.remove(p.tree.root)
	p.reaped = true
	p.exit.Code, p.exit.Signal = outcome(p.cmd.ProcessState)
}

// PID returns the agent's process id, which is also that of its session and its group.
func (p *Process) PID() int { return p.pid }

// Done is closed when the agent has ended, its output has been delivered and its descendants have
// been ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits for Done and returns the exit: always the same one, to every caller.
func (p *Process) Wait() Exit {
	<-p.done
	return p.exit
}

// Write queues a copy of data for the agent's standard input and returns at once. Data is written
// completely and in the order of the calls. An error (ErrStdinClosed, ErrStdinFull, or that of an
// earlier write, such as syscall.EPIPE) means that none of it will be written. Without an error it
// is queued; the agent may not have read it.
func (p *Process) Write(data []byte) error { return p.stdin.add(data) }

// CloseStdin closes standard input once everything queued has been written. It may be called again.
func (p *Process) CloseStdin() { p.stdin.closeWhenWritten() }

func (p *Process) deliver(c Chunk) {
	p.outputMu.Lock()
	defer p.outputMu.Unlock()
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
