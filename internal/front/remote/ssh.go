package remote

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/term"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// CommandVariable is the command for ssh, as GIT_SSH_COMMAND is for git: ssh finds its settings in
// the home folder of the account, whatever HOME says.
const CommandVariable = "RALPH_SSH_COMMAND"

// A Host is another machine, by the name that ssh gets as it is.
type Host struct {
	Name string

	env  *cli.Env
	argv []string // ssh, and the options that the person's settings leave open
	open bool     // it is OpenSSH, whose options and messages are known
}

// Connect finds out how ssh reaches a host. It does not reach it yet.
func Connect(e *cli.Env, name string) (*Host, error) {
	if err := checkHost(name); err != nil {
		return nil, err
	}
	h := &Host{Name: name, env: e, argv: []string{"ssh"}}
	if command := e.Variable(CommandVariable); command != "" {
		words, err := config.Agent{Command: command}.Argv()
		if err != nil {
			return nil, cli.Refuse("write it as in "+CommandVariable+"='ssh -F FILE'", "%s is no command: %w", CommandVariable, err)
		}
		h.argv = words
	}
	if _, err := exec.LookPath(h.argv[0]); err != nil {
		return nil, cli.Refuse("install OpenSSH's client, or name it in "+CommandVariable, "%s is needed to reach %s: %w", h.argv[0], name, err)
	}
	settings, err := exec.Command(h.argv[0], append(h.argv[1:], "-G", "--", name)...).Output()
	if h.open = err == nil; h.open {
		h.argv = append(h.argv, h.options(settings)...)
	}
	return h, nil
}

// options are what ralph needs of ssh, as far as the person's settings, as 'ssh -G' prints them,
// say nothing else.
func (h *Host) options(settings []byte) []string {
	is := map[string]string{}
	for line := range strings.Lines(string(settings)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		is[key] = value
	}
	options := []string{"-o", "ClearAllForwardings=yes"} // a port is forwarded once
	for _, o := range []struct{ key, unset, option string }{
		{"connecttimeout", "none", "ConnectTimeout=15"},
		{"serveraliveinterval", "0", "ServerAliveInterval=15"}, // else a lost connection looks silent
		{"loglevel", "INFO", "LogLevel=ERROR"},
	} {
		if is[o.key] == o.unset {
			options = append(options, "-o", o.option)
		}
	}
	if command := is["remotecommand"]; command != "" && command != "none" {
		options = append(options, "-o", "RemoteCommand=none")
	}
	path := h.controlPath(settings)
	if is["controlmaster"] != "false" || is["controlpath"] != "" && is["controlpath"] != "none" || path == "" {
		return options
	}
	return append(options, "-o", "ControlMaster=auto", "-o", `ControlPath="`+strings.ReplaceAll(path, "%", "%%")+`"`, "-o", "ControlPersist=10m")
}

// mostSocket is the longest path of a socket on macOS, without the end that ssh gives it at first.
const mostSocket = 103 - 17

// controlPath is the socket of the connection that all commands for a host share; other settings
// are another connection. It is empty where there can be none: every command connects then.
func (h *Host) controlPath(settings []byte) string {
	sum := sha256.Sum256(settings)
	folder := filepath.Join(h.env.Home, "ssh")
	path := filepath.Join(folder, hex.EncodeToString(sum[:5]))
	if runtime.GOOS == "windows" || len(path) > mostSocket || strings.Contains(path, `"`) || os.MkdirAll(folder, 0o700) != nil {
		return ""
	}
	return path
}

// A call is one command there.
type call struct {
	args   []string // of ralph
	tty    bool     // it gets a terminal
	batch  bool     // ssh must not ask for a password
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
}

// sshFailed is the exit code of ssh itself, and notFound that of a shell without the program.
const (
	sshFailed = 255
	notFound  = 127
)

// mostMessages is how much of the messages of ssh is read, in bytes.
const mostMessages = 1 << 20

// do performs a call and returns the exit code of ralph there. The error is a *fault if ssh or the
// shell there failed, or the cause of ctx.
func (h *Host) do(ctx context.Context, c call) (code int, err error) {
	argv, log := h.argv, ""
	if h.open {
		file, err := os.CreateTemp("", "ralph-ssh-")
		if err != nil {
			return 0, fmt.Errorf("make a file for the messages of ssh: %w", err)
		}
		log = file.Name()
		_ = file.Close()
		defer func() { _ = os.Remove(log) }()
		argv = append(argv[:len(argv):len(argv)], "-E", log) // apart from what ralph prints there
		if c.batch {
			argv = append(argv, "-o", "BatchMode=yes")
		}
	}
	words := []string{"ralph"}
	for _, word := range c.args {
		words = append(words, quote(word))
	}
	terminal := "-T"
	if c.tty {
		terminal = "-t"
		defer h.keepTerminal()()
	}
	argv = append(argv[:len(argv):len(argv)], terminal)
	if h.open {
		argv = append(argv, "--")
	}
	argv = append(argv, h.Name, strings.Join(words, " "))
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stderr = c.stdin, c.stderr
	cmd.Env = h.env.Environ
	cmd.WaitDelay = leftOpen // an old ssh leaves its stderr to the connection that is shared
	err = passOn(ctx, cmd, c.stdout)
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	exit, ended := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		return 0, nil
	case !ended:
		return 0, fmt.Errorf("reach %s: %w", h.Name, err)
	case exit.ExitCode() == sshFailed || exit.ExitCode() < 0 || exit.ExitCode() == notFound:
		text, _ := safefile.Read(log, mostMessages) // without it, the code says that it failed
		return 0, faultOf(h.Name, exit.ExitCode(), string(text))
	}
	return exit.ExitCode(), nil
}

// leaveScreen is what a program sends that leaves the alternate screen, with its modes of the
// mouse, of the keyboard and of pasting.
const leaveScreen = "\x1b[<u\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?1049l\x1b[?25h\x1b[0m"

// keepTerminal returns a function that gives the terminal the modes back that it has now: ssh does
// not where it is killed.
func (h *Host) keepTerminal() (restore func()) {
	file, ok := h.env.Stdin.(*os.File)
	if !ok {
		return func() {}
	}
	state, err := term.GetState(int(file.Fd()))
	return func() {
		if err == nil {
			_ = term.Restore(int(file.Fd()), state) // ssh has done so, in all other cases
		}
	}
}

// output returns what a command there prints, up to a limit. Its messages are in the error.
func (h *Host) output(ctx context.Context, batch bool, args ...string) ([]byte, error) {
	var out, messages limited
	code, err := h.do(ctx, call{args: args, batch: batch, stdout: &out, stderr: &messages})
	switch {
	case out.cut || messages.cut:
		return nil, fmt.Errorf("%s printed more than %d bytes", h.Name, mostOutput)
	case err != nil:
		return nil, err
	case code != 0:
		return nil, &refused{host: h.Name, code: code, text: messages.kept.String()}
	}
	return out.kept.Bytes(), nil
}

const mostOutput = 64 << 20

var errTooMuch = errors.New("that is too much")

// limited keeps what a host prints, which may be another's. It has no ReadFrom, by which a copy
// would pass the limit.
type limited struct {
	kept bytes.Buffer
	cut  bool
}

func (l *limited) Write(text []byte) (int, error) {
	keep := min(len(text), mostOutput-l.kept.Len())
	l.cut = l.cut || keep < len(text)
	l.kept.Write(text[:keep])
	if l.cut {
		return keep, errTooMuch // the end may never come
	}
	return len(text), nil
}
