package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Mode is how the agent is kept apart.
type Mode string

// The modes.
const (
	None          Mode = "none"
	Auto          Mode = "auto" // docker-sandbox for Claude Code, else the strongest of bwrap, landlock and seatbelt that works here
	Bwrap         Mode = "bwrap"
	Landlock      Mode = "landlock"
	Seatbelt      Mode = "seatbelt"
	Docker        Mode = "docker"
	Podman        Mode = "podman"
	DockerSandbox Mode = "docker-sandbox"
)

// Network is what the agent reaches.
type Network string

// The networks.
const (
	Open   Network = "open"   // as the person
	Closed Network = "closed" // nothing
	Listed Network = "listed" // the hosts of Policy.Hosts, by a proxy of ralph's
)

// A Policy says what the agent may do. All paths are absolute and without links.
type Policy struct {
	Mode    Mode
	Dir     string     // where the agent works
	Write   []string   // files and folders that it may change
	Protect []string   // parts of Write that it may only read, so far as the mode can tell them apart
	Ralph   []string   // likewise; without that the mode is refused
	Git     Repository // of it the agent may change what a commit needs
	Hide    []string   // what it may not even read; a folder that is in Ralph, too, is empty
	Show    []string   // parts of Hide that it may read
	States  []State    // what agents keep, of which they get copies in Temp
	Network Network
	Hosts   []string // of Listed: example.com, *.example.com or example.com:8443
	Self    string   // the program ralph
	Name    string   // of the sandbox: the same for all processes of a loop, or of a folder
	Temp    string   // a folder for temporary files, which exists and stays with the loop
	Secret  bool     // what runs may leave nothing to other processes, such as in shared memory
	Aside   string   // a folder for what [Box.PutBack] sets aside, which a person may have written

	// Of containers.
	Image  string
	Memory string   // such as 4g
	CPUs   string   // such as 2
	Pass   []string // names of variables that the agent gets, besides those that ralph sets
	// Of docker-sandbox.
	State   string // where the login of the agent is kept
	Tree    string // the folder that the machine has
	Machine string // a folder for what ralph knows of the machine: see [MachineOf]
	Loop    string // the name of the loop
	Linux   string // the program ralph for the machine: see [LinuxProgram]
}

// Box is an open sandbox. Wrap may be called by several goroutines.
type Box struct {
	Policy
	proxy *Proxy       // nil unless the network is listed
	count atomic.Int64 // of containers
	probe bool
	lock  *os.File    // of the machine of docker-sandbox, which other loops may use, too
	used  atomic.Bool // the machine may run something of this loop

	mu       sync.Mutex
	prepared bool
	made     []string // folders that close a missing name
	links    []string // in git's files and ralph's own, before the agent began
	pins     []pin
	ran      map[string]digest // settings and hooks of repositories in the tree, likewise
	judged   map[digest]bool   // settings of git's: they run nothing
	unread   map[string]bool   // folders that cannot be read
	most     int               // names that are looked at; 0 for maxNames
	limited  bool              // there were more, and a person knows it
	config   []byte            // of the repository in a machine's tree, likewise
	todo     []string          // lines of an unfinished rebase that run programs, likewise
	logins   []*login
	watches  sync.WaitGroup
	unwatch  func()
	notes    []string // for a person, until PutBack returns them
}

// ErrUnavailable reports that a mode does not work on this machine.
var ErrUnavailable = errors.New("is not available here")

// Local are the modes without a container, the strongest first.
func Local() []Mode {
	if runtime.GOOS == "darwin" {
		return []Mode{Seatbelt}
	}
	return []Mode{Bwrap, Landlock}
}

// program is the one that a mode needs; "" for one that the kernel has.
func (m Mode) program() string {
	switch m {
	case Seatbelt:
		return "sandbox-exec"
	case DockerSandbox:
		return "docker"
	case Bwrap, Docker, Podman:
		return string(m)
	}
	return ""
}

// Strongest returns the strongest sandbox without a container whose program is here, for a loop in
// a worktree of its own or not. If there is none, it is the one whose check says what is missing.
func Strongest(worktree bool) Mode {
	local := slices.DeleteFunc(Local(), func(m Mode) bool { return m == Landlock && !worktree })
	for _, mode := range local {
		if mode.Check() == nil {
			return mode
		}
	}
	return local[0]
}

// Contained reports whether the agent's program is that of an image, not of this machine.
func (m Mode) Contained() bool { return slices.Contains([]Mode{Docker, Podman, DockerSandbox}, m) }

// Check returns an error that satisfies errors.Is with ErrUnavailable if a mode lacks its program
// or its kernel. Whether it holds, only [Escape] shows.
func (m Mode) Check() error {
	if program := m.program(); program != "" {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("sandbox %s %w: there is no program %s", m, ErrUnavailable, program)
		}
	}
	if m == DockerSandbox {
		return checkVM()
	}
	if m == Bwrap && os.Getuid() == 0 {
		args := slices.Concat(asRoot, []string{"--ro-bind", "/", "/", "true"})
		if out, err := exec.Command(m.program(), args...).CombinedOutput(); err != nil {
			return fmt.Errorf("sandbox %s %w: root would keep its rights in it: %s", m, ErrUnavailable, strings.TrimSpace(string(out)))
		}
	}
	if m == Landlock {
		if version := landlockVersion(); version < minLandlock {
			return fmt.Errorf("sandbox %s %w: the kernel has version %d of it, and %d is needed", m, ErrUnavailable, version, minLandlock)
		}
	}
	return nil
}

// OpenBox makes a sandbox ready. For Listed it starts the proxy, which Close ends.
func OpenBox(ctx context.Context, p Policy) (*Box, error) {
	if err := p.Mode.Check(); err != nil {
		return nil, err
	}
	if owner := ownerOf(p.Dir); os.Getuid() == 0 && owner > 0 && (p.Mode == Bwrap || p.Mode == Landlock) {
		return nil, fmt.Errorf("sandbox %s takes from root the right to change the files of others, and %s belongs to the user %d: run ralph as that user", p.Mode, p.Dir, owner)
	}
	b := &Box{Policy: p}
	if p.Mode == DockerSandbox || p.Mode == None {
		b.States = nil // the first has a folder of its own: State
	}
	b.Show = slices.Concat(p.Show, b.linked())
	if p.Network == Listed && p.Mode != DockerSandbox {
		proxy, err := StartProxy(p.Hosts)
		if err != nil {
			return nil, err
		}
		b.proxy = proxy
	}
	if p.Mode == DockerSandbox {
		if err := b.prepareVM(ctx); err != nil {
			return nil, errors.Join(err, b.Close())
		}
	}
	return b, nil
}

// Probe returns the same sandbox for a short command beside the agent, which needs no login. Of
// docker-sandbox it is the same machine, since another one would have to be made.
func (b *Box) Probe() *Box {
	probe := &Box{Policy: b.Policy, proxy: b.proxy, probe: true}
	probe.States = nil
	if b.Mode != DockerSandbox {
		probe.Name += "-probe"
	}
	return probe
}

// Close ends the proxy, and opens what was closed. Processes of the agent are ended by who started
// them.
func (b *Box) Close() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	unwatch := b.unwatch
	b.mu.Unlock()
	if unwatch != nil {
		unwatch()
		b.watches.Wait()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.Git.open(b.made)
	if b.proxy != nil {
		err = errors.Join(err, b.proxy.Close())
	}
	if b.lock != nil {
		err = errors.Join(err, b.lock.Close())
		b.lock = nil
	}
	return err
}

// Refused returns how many connections the proxy refused, and the last hosts of them.
func (b *Box) Refused() (count int, hosts []string) {
	if b == nil || b.proxy == nil {
		return 0, nil
	}
	return b.proxy.Refused()
}

// Hides says what an agent does not find in the sandbox although it is there outside; "" if that is
// nothing, or a machine of its own.
func (b *Box) Hides() string {
	if b == nil || b.Mode != Bwrap && b.Mode != Landlock && b.Mode != Seatbelt {
		return ""
	}
	hidden := "much of the home folder"
	if b.Mode == Bwrap {
		hidden = strings.Join(emptied, ", ") + " and " + hidden
	}
	return fmt.Sprintf("sandbox %s hides %s from the agent; sandbox.read shows it what it needs of that", b.Mode, hidden)
}

// Wrap returns the command that runs argv in the sandbox, and its environment.
func (b *Box) Wrap(argv, env []string) (wrapped, environment []string, err error) {
	if b == nil {
		return argv, env, nil
	}
	if !b.Mode.Contained() && b.Mode != None && len(argv) > 0 {
		program := argv[0]
		if strings.ContainsRune(program, '/') && !filepath.IsAbs(program) {
			program = filepath.Join(b.Dir, program)
		}
		if _, err := exec.LookPath(program); err != nil {
			return nil, nil, err // here, where it can be reported as what it is
		}
	}
	if err := b.prepare(); err != nil {
		return nil, nil, fmt.Errorf("sandbox %s: %w", b.Mode, err)
	}
	led := with(env, b.leads(env)...)
	switch b.Mode {
	case None, "":
		return argv, env, nil
	case Bwrap:
		wrapped, environment, err = b.bwrap(argv, led)
	case Landlock:
		wrapped, environment, err = b.landlock(argv, led)
	case Seatbelt:
		wrapped, environment, err = b.seatbelt(argv, led)
	case Docker, Podman:
		wrapped, environment = b.container(argv, env)
	case DockerSandbox:
		wrapped, environment = b.inVM(argv, env)
	default:
		err = fmt.Errorf("there is no sandbox %q", b.Mode)
	}
	return wrapped, environment, err
}

// writable are the files and folders that an agent may change, and protected those in them that it
// may only read.
func (b *Box) writable() []string {
	write, _ := b.Git.access()
	return slices.Concat([]string{b.Temp}, b.Write, write)
}

func (b *Box) protected() []string {
	_, protect := b.Git.access()
	return slices.Concat(b.Protect, b.Ralph, protect)
}

// closed reports whether a path is a folder that is both hidden and protected: it is empty in the
// sandbox, and stays so.
func (b *Box) closed(path string) bool {
	if !slices.Contains(b.Hide, path) || !slices.Contains(b.Ralph, path) {
		return false
	}
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// with returns an environment with further entries, which win.
func with(env []string, more ...string) []string { return append(slices.Clip(env), more...) }

// caches are the variables that lead programs to caches of the sandbox: those of the person may not
// be written, because programs outside trust them.
func (b *Box) caches() []string {
	cache := b.Temp + "/cache"
	return []string{"XDG_CACHE_HOME=" + cache, "GOCACHE=" + cache + "/go-build", "npm_config_cache=" + cache + "/npm"}
}

// temporary are those of a sandbox that has no /tmp of its own.
func (b *Box) temporary() []string { return append(b.caches(), "TMPDIR="+b.Temp) }
