package sandbox

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

// Inside is what "ralph inside" does in a sandbox, or right before one.
type Inside struct {
	IgnoreTerm  bool          // the command ignores TERM: bubblewrap ends only with the agent
	DefaultTerm bool          // TERM ends the command again
	Landlock    string        // a ruleset
	Proxy       string        // the socket of the proxy
	ProxyPort   int           // where the command reaches the proxy, on loopback; 0 for a free port
	Sockets     string        // those that the command may make; "" for all
	Hold        string        // a file that the command keeps locked, as a loop that lives
	Escape      string        // attempts that are made, instead of a command
	Sleep       time.Duration // a time to wait, instead of a command
	Command     []string
}

// Run becomes the command, or runs it if the proxy needs a process that stays. It returns the exit
// code of the command.
func (in Inside) Run() (int, error) {
	switch {
	case in.Escape != "":
		var t targets
		if err := json.Unmarshal([]byte(in.Escape), &t); err != nil {
			return 0, err
		}
		return 0, json.NewEncoder(os.Stdout).Encode(t.attempts())
	case in.Sleep > 0:
		time.Sleep(in.Sleep)
		return 0, nil
	case len(in.Command) == 0:
		return 0, errors.New("no command is given")
	}
	if in.Hold != "" {
		if err := hold(in.Hold); err != nil {
			return 0, err
		}
	}
	env := os.Environ()
	var listener net.Listener
	var ports []int
	if in.Proxy != "" {
		var err error
		// Before Landlock: an agent may reach this port, and no other. It is free, since others use
		// the same loopback address where the sandbox has none of its own.
		if listener, err = net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(in.ProxyPort)); err != nil {
			return 0, fmt.Errorf("listen for the agent: %w", err)
		}
		ports = []int{listener.Addr().(*net.TCPAddr).Port}
		env = append(env, proxyVariables(listener.Addr().String())...)
	}
	if in.Landlock != "" {
		if err := restrict(in.Landlock, ports); err != nil {
			return 0, fmt.Errorf("sandbox landlock: %w", err)
		}
	}
	program, err := exec.LookPath(in.Command[0])
	if err != nil {
		return 0, err
	}
	if listener == nil {
		if in.Sockets != "" {
			if err := limitSockets(in.Sockets); err != nil {
				return 0, fmt.Errorf("sandbox: %w", err)
			}
		}
		switch {
		case in.IgnoreTerm:
			signal.Ignore(syscall.SIGTERM)
		case in.DefaultTerm: // a signal that is received has its default action in the next program
			signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM)
		}
		err := become(program, in.Command, env)
		if errors.Is(err, fs.ErrNotExist) { // the program is there
			err = fmt.Errorf("the interpreter or loader it names is missing: %w", err)
		}
		return 0, fmt.Errorf("start %s: %w", program, err)
	}
	return in.run(program, env, listener)
}

// restrict limits this process by a ruleset, which allows TCP connections to the ports if it limits
// the network.
func restrict(text string, ports []int) error {
	var rules ruleset
	plain, err := base64.StdEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(plain, &rules)
	}
	if err != nil {
		return err
	}
	return rules.restrict(ports)
}

func proxyVariables(address string) (env []string) {
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		env = append(env, name+"=http://"+address)
	}
	return append(env, "NO_PROXY=", "no_proxy=", "NODE_USE_ENV_PROXY=1") // Node 24 and later
}

// run runs the command beside a listener that leads to the proxy. Signals reach the command by its
// process group, so this process only outlives them.
func (in Inside) run(program string, env []string, listener net.Listener) (int, error) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, os.Interrupt)
	go func() { // ends with the process
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go forward(c, in.Proxy)
		}
	}()
	if in.Sockets != "" { // of the command, not of this process
		self, err := os.Executable()
		if err != nil {
			return 0, err
		}
		program, in.Command = self, append([]string{self, "inside", "--sockets", in.Sockets, "--", program}, in.Command[1:]...)
	}
	cmd := &exec.Cmd{Path: program, Args: in.Command, Env: env, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	err := cmd.Run()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		if code := failed.ExitCode(); code >= 0 {
			return code, nil
		}
		if status, ok := failed.Sys().(syscall.WaitStatus); ok {
			return signalExit + int(status.Signal()), nil
		}
	}
	return 0, err
}

// signalExit is added to a signal that ended a command, as a shell does.
const signalExit = 128

func forward(c net.Conn, socket string) {
	defer c.Close()
	proxy, err := net.Dial("unix", socket)
	if err != nil {
		return // the runner is gone, and the agent ends soon
	}
	defer proxy.Close()
	join(c, c, proxy)
}
