//go:build linux

package network

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/pool/pooltest"
)

// firstProcess is the variable that makes the test binary the first process of a machine: its
// name, and its address.
const firstProcess = "NETWORK_TEST_MACHINE"

// A request starts a process, or sends a signal to one that was started.
type request struct {
	ID       int
	Signal   syscall.Signal
	Argv     []string
	Dir      string
	Env      []string
	Out, Err string
}

type ended struct{ ID, Code int }

// A machine has a network and processes of its own.
type machine struct {
	*pooltest.Host
	t       *testing.T
	name    string
	address netip.Addr
	line    *line
	first   *exec.Cmd
	dead    chan struct{}

	mu    sync.Mutex
	send  *json.Encoder
	next  int
	waits map[int]chan int
}

// boot turns a machine on, which ends with the test. An error says what this system lacks.
func boot(t *testing.T, w *wire, name string, number byte) (*machine, error) {
	t.Helper()
	m := &machine{
		Host: pooltest.NewHost(t), t: t, name: name, address: netip.AddrFrom4([4]byte{10, 29, 0, number}),
		dead: make(chan struct{}), waits: map[int]chan int{},
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	theirs := os.NewFile(uintptr(pair[1]), "socket")
	defer theirs.Close()
	defer unix.Close(pair[0])
	m.first = exec.Command("/proc/self/exe")
	m.first.Env = append(os.Environ(), firstProcess+"="+name+" "+m.address.String())
	m.first.Stderr, m.first.ExtraFiles = os.Stderr, []*os.File{theirs}
	m.first.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWUTS}
	if os.Geteuid() != 0 {
		m.first.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		m.first.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		m.first.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	stdin, err := m.first.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := m.first.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := m.first.Start(); err != nil {
		return nil, err
	}
	t.Cleanup(m.off)
	m.send = json.NewEncoder(stdin)
	theirs.Close()
	device, err := received(pair[0])
	if err != nil {
		return nil, fmt.Errorf("the network of a machine: %w", err)
	}
	go func() {
		for in := json.NewDecoder(stdout); ; {
			var e ended
			if in.Decode(&e) != nil {
				close(m.dead)
				return
			}
			m.mu.Lock()
			m.waits[e.ID] <- e.Code
			m.mu.Unlock()
		}
	}()
	m.line = w.connect(m.address, device)
	return m, nil
}

// off ends all processes of a machine.
func (m *machine) off() {
	_ = m.first.Process.Kill()
	_ = m.first.Wait()
}

// received takes the network device that a machine has made.
func received(socket int) (*os.File, error) {
	oob := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(socket, make([]byte, 1), oob, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(messages) != 1 {
		return nil, errors.Join(errors.New("there is none"), err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fds[0]), "tun"), nil
}

// A process is one of a machine.
type process struct {
	m        *machine
	id       int
	code     chan int
	out, err string // files with its output
}

// start starts a program with the home of the machine.
func (m *machine) start(argv ...string) *process {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next++
	p := &process{m: m, id: m.next, code: make(chan int, 1)}
	p.out = filepath.Join(m.Dir, fmt.Sprintf("%d-%s.out", p.id, filepath.Base(argv[0])))
	p.err = strings.TrimSuffix(p.out, "out") + "err"
	m.waits[p.id] = p.code
	r := request{ID: p.id, Argv: argv, Dir: m.Dir, Env: m.Environ(), Out: p.out, Err: p.err}
	if err := m.send.Encode(r); err != nil {
		m.t.Fatal(err)
	}
	return p
}

// signal sends a signal to a process.
func (p *process) signal(s syscall.Signal) {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	if err := p.m.send.Encode(request{ID: p.id, Signal: s}); err != nil {
		p.m.t.Fatal(err)
	}
}

// wait returns the exit code of a process, and what it has printed.
func (p *process) wait() (code int, out, errs string) {
	p.m.t.Helper()
	select {
	case code = <-p.code:
	case <-p.m.dead:
		p.m.t.Fatalf("machine %s is dead", p.m.name)
	case <-time.After(pooltest.Deadline):
		out, errs := p.printed()
		p.m.t.Fatalf("a process of %s has not ended: %s%s", p.m.name, out, errs)
	}
	out, errs = p.printed()
	return code, out, errs
}

func (p *process) printed() (out, errs string) {
	o, _ := os.ReadFile(p.out)
	e, _ := os.ReadFile(p.err)
	return string(o), string(e)
}

// must runs a program that has to succeed, and returns what it prints on stdout.
func (m *machine) must(argv ...string) string {
	m.t.Helper()
	code, out, errs := m.start(argv...).wait()
	if code != 0 {
		m.t.Fatalf("%s: %q: exit code %d: %s%s", m.name, argv, code, out, errs)
	}
	return out
}

// playMachine is the first process of a machine. It starts programs and reaps all that die.
func playMachine(role string) error {
	name, text, _ := strings.Cut(role, " ")
	address, err := netip.ParseAddr(text)
	if err != nil {
		return err
	}
	if err := errors.Join(unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""), unix.Mount("proc", "/proc", "proc", 0, ""),
		unix.Sethostname([]byte(name)), attach(address)); err != nil {
		return err
	}
	var mu sync.Mutex
	running, pids := map[int]int{}, map[int]int{} // IDs by pid, and pids by ID
	answer := json.NewEncoder(os.Stdout)
	died := make(chan os.Signal, 1)
	signal.Notify(died, syscall.SIGCHLD)
	go func() {
		for range died {
			mu.Lock()
			reap(running, pids, answer)
			mu.Unlock()
		}
	}()
	for in := json.NewDecoder(os.Stdin); ; {
		var r request
		if in.Decode(&r) != nil {
			return nil // the test has ended
		}
		mu.Lock()
		if pid := pids[r.ID]; r.Signal != 0 && pid > 0 {
			_ = syscall.Kill(pid, r.Signal)
		} else if r.Signal == 0 {
			pid, err := launch(r)
			if err != nil {
				_ = os.WriteFile(r.Err, []byte(err.Error()), 0o600)
				_ = answer.Encode(ended{r.ID, 127})
			} else {
				running[pid], pids[r.ID] = r.ID, pid
			}
		}
		mu.Unlock()
	}
}

func reap(running, pids map[int]int, answer *json.Encoder) {
	for {
		var how syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &how, syscall.WNOHANG, nil)
		if err != nil || pid <= 0 {
			return
		}
		id, ours := running[pid]
		if !ours {
			continue
		}
		delete(running, pid)
		delete(pids, id)
		code := how.ExitStatus()
		if how.Signaled() {
			code = 128 + int(how.Signal())
		}
		_ = answer.Encode(ended{id, code})
	}
}

// attach makes the network device of this machine, and gives it to the test.
func attach(address netip.Addr) error {
	tun, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open /dev/net/tun: %w", err)
	}
	device, err := unix.NewIfreq("pool")
	if err != nil {
		return err
	}
	device.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(tun, unix.TUNSETIFF, device); err != nil {
		return fmt.Errorf("make a network device: %w", err)
	}
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	set := func(what uint, ip []byte) error {
		if err := device.SetInet4Addr(ip); err != nil {
			return err
		}
		return unix.IoctlIfreq(socket, what, device)
	}
	if err := errors.Join(set(unix.SIOCSIFADDR, address.AsSlice()), set(unix.SIOCSIFNETMASK, []byte{255, 255, 255, 0})); err != nil {
		return fmt.Errorf("give the device an address: %w", err)
	}
	for _, name := range []string{"pool", "lo"} {
		if device, err = unix.NewIfreq(name); err != nil {
			return err
		}
		device.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
		if err := unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, device); err != nil {
			return fmt.Errorf("turn %s on: %w", name, err)
		}
	}
	return unix.Sendmsg(3, []byte{0}, unix.UnixRights(tun), nil, 0)
}

func launch(r request) (int, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	out, err := os.Create(r.Out)
	if err != nil {
		return 0, err
	}
	defer out.Close()
	errs, err := os.Create(r.Err)
	if err != nil {
		return 0, err
	}
	defer errs.Close()
	path, err := exec.LookPath(r.Argv[0])
	if err != nil {
		return 0, err
	}
	return syscall.ForkExec(path, r.Argv, &syscall.ProcAttr{Dir: r.Dir, Env: r.Env, Files: []uintptr{null.Fd(), out.Fd(), errs.Fd()}})
}
