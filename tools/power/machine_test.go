//go:build linux

package power

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
)

// machine runs processes in a PID namespace. Its first process is this test binary in another role;
// killing it ends all others at once, whatever they do, as a power cut does.
type machine struct {
	init  *exec.Cmd
	send  *json.Encoder
	stdin io.Closer
	out   string // the folder of the processes' outputs
	mu    sync.Mutex
	next  int
	waits map[int]chan int
	dead  chan struct{}
}

// machineRole is the variable that makes the test binary the first process of a machine.
const machineRole = "POWER_MACHINE"

type command struct {
	ID       int
	Argv     []string
	Dir      string
	Env      []string
	Out, Err string
}

type outcome struct{ ID, Code int }

func boot(out string) (*machine, error) {
	m := &machine{out: out, waits: map[int]chan int{}, dead: make(chan struct{})}
	m.init = exec.Command("/proc/self/exe")
	m.init.Env = []string{machineRole + "=1", "PATH=" + os.Getenv("PATH")}
	m.init.Stderr = os.Stderr
	m.init.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS}
	stdin, err := m.init.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := m.init.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := m.init.Start(); err != nil {
		return nil, fmt.Errorf("boot a machine: %w", err)
	}
	m.send, m.stdin = json.NewEncoder(stdin), stdin
	go m.listen(stdout)
	return m, nil
}

func (m *machine) listen(stdout io.Reader) {
	in := json.NewDecoder(stdout)
	for {
		var o outcome
		if in.Decode(&o) != nil {
			break
		}
		m.mu.Lock()
		m.waits[o.ID] <- o.Code
		m.mu.Unlock()
	}
	close(m.dead)
}

// powerOff ends all processes. Those that wait for the disk end when answer lets it answer.
func (m *machine) powerOff(answer func()) {
	_ = m.init.Process.Kill()
	answer()
	<-m.dead
	_ = m.init.Wait()
	m.stdin.Close()
}

// started is a process of a machine.
type started struct {
	m        *machine
	code     chan int
	out, err string // files with its output
}

func (m *machine) start(dir string, env []string, argv ...string) *started {
	m.mu.Lock()
	m.next++
	id := m.next
	s := &started{m: m, code: make(chan int, 1)}
	s.out = filepath.Join(m.out, fmt.Sprintf("%d.out", id))
	s.err = filepath.Join(m.out, fmt.Sprintf("%d.err", id))
	m.waits[id] = s.code
	// a machine that is off answers nothing
	_ = m.send.Encode(command{ID: id, Argv: argv, Dir: dir, Env: env, Out: s.out, Err: s.err})
	m.mu.Unlock()
	return s
}

func (s *started) said() (out, err string) {
	o, _ := os.ReadFile(s.out)
	e, _ := os.ReadFile(s.err)
	return string(o), string(e)
}

// playMachine is the first process of a machine: it starts the requested programs and reaps all
// that die.
func playMachine() int {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		fmt.Fprintln(os.Stderr, "machine: keep mounts to itself:", err)
		return 1
	}
	if err := syscall.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		fmt.Fprintln(os.Stderr, "machine: mount /proc:", err)
		return 1
	}
	var mu sync.Mutex
	running := map[int]int{}
	answer := json.NewEncoder(os.Stdout)
	died := make(chan os.Signal, 1)
	signal.Notify(died, syscall.SIGCHLD)
	go func() {
		for range died {
			mu.Lock()
			for {
				var how syscall.WaitStatus
				pid, err := syscall.Wait4(-1, &how, syscall.WNOHANG, nil)
				if err != nil || pid <= 0 {
					break
				}
				if id, ours := running[pid]; ours {
					delete(running, pid)
					code := how.ExitStatus()
					if how.Signaled() {
						code = 128 + int(how.Signal())
					}
					_ = answer.Encode(outcome{id, code})
				}
			}
			mu.Unlock()
		}
	}()
	in := json.NewDecoder(bufio.NewReader(os.Stdin))
	for {
		var c command
		if in.Decode(&c) != nil {
			return 0
		}
		mu.Lock()
		pid, err := launch(c)
		if err != nil {
			_ = os.WriteFile(c.Err, []byte("machine: "+err.Error()), 0o600)
			_ = answer.Encode(outcome{c.ID, 127})
		} else {
			running[pid] = c.ID
		}
		mu.Unlock()
	}
}

func launch(c command) (int, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	out, err := os.Create(c.Out)
	if err != nil {
		return 0, err
	}
	defer out.Close()
	errs, err := os.Create(c.Err)
	if err != nil {
		return 0, err
	}
	defer errs.Close()
	return syscall.ForkExec(c.Argv[0], c.Argv, &syscall.ProcAttr{Dir: c.Dir, Env: c.Env, Files: []uintptr{null.Fd(), out.Fd(), errs.Fd()}})
}
