package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// An Attempt is one try to get out of a sandbox.
type Attempt struct {
	What    string `json:"what"`
	Escaped bool   `json:"escaped"`
	Says    string `json:"says,omitempty"` // what happened
}

// targets are what the attempts are about: files and processes that were made for them.
type targets struct {
	Outside string `json:"outside"` // a folder beside the tree
	Tree    string `json:"tree"`
	Journal string `json:"journal"`
	Config  string `json:"config"`
	Task    string `json:"task"`
	Secret  string `json:"secret"` // in ~/.ssh
	Home    string `json:"home"`
	Address string `json:"address"` // of a server that is not listed
	Socket  string `json:"socket"`  // of a server, as a file; "" if its path is too long for one
	Packets string `json:"packets"` // the address of a server that answers each datagram
	Runner  int    `json:"runner"`  // pid
	Mark    string `json:"mark"`    // in the arguments of a process that is left behind
	Ground  ground `json:"ground"`  // where something is planted
	Only    bool   `json:"only"`    // nothing else is tried
}

// Escape runs attempts to escape in a sandbox of that mode, on files and processes that it makes
// for them in a folder, which should not be one for temporary files, and removes. The network is
// closed. An error says that nothing could be tried.
func Escape(ctx context.Context, mode Mode, self, image, folder string) ([]Attempt, error) {
	if mode == DockerSandbox {
		if err := mode.Check(); err != nil {
			return nil, fmt.Errorf("%w; it cannot be tried without Docker Desktop", err)
		}
		return nil, errors.New("it is there, and auto takes it for Claude Code; to try it would make a machine")
	}
	if err := mode.Check(); err != nil {
		return nil, err
	}
	if mode.Contained() && image == "" {
		return nil, errors.New("set sandbox.image to an image to try it in")
	}
	dir, err := os.MkdirTemp(folder, "escape-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	t, policy, err := prepareEscape(ctx, dir)
	if err != nil {
		return nil, err
	}
	policy.Mode, policy.Self, policy.Image, policy.Network = mode, self, image, Closed
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	t.Address = listener.Addr().String()
	if socket, err := net.Listen("unix", filepath.Join(t.Outside, "s")); err == nil {
		defer socket.Close()
		t.Socket = socket.Addr().String()
	}
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer packets.Close()
	t.Packets = packets.LocalAddr().String()
	go answerPackets(packets) // ends with the connection
	victim := exec.Command(self, "inside", "--sleep", "60s")
	if err := victim.Start(); err != nil {
		return nil, err
	}
	defer func() { _ = victim.Process.Kill(); _ = victim.Wait() }() // it may have ended
	t.Runner = victim.Process.Pid
	attempts, err := t.try(ctx, policy)
	if err != nil || mode == Landlock || t.Ground.Common == "" { // Landlock needs a loop in a worktree
		return attempts, err
	}
	t.Only = true
	if err = t.Ground.lay(ctx, filepath.Join(dir, "main"), filepath.Join(dir, "home"), false); err != nil {
		return nil, err
	}
	policy.Dir, policy.Write, policy.Ralph, policy.Git = t.Ground.Tree, []string{t.Ground.Tree}, nil, t.Ground.Repository
	inProject, err := t.try(ctx, policy)
	for _, a := range inProject {
		if i := slices.IndexFunc(attempts, func(b Attempt) bool { return a.What == b.What }); a.Escaped && i >= 0 && !attempts[i].Escaped {
			a.Says += ", without a worktree"
			attempts[i] = a
		}
	}
	return attempts, err
}

// prepareEscape makes a project with a loop in a worktree, and a home with a secret.
func prepareEscape(ctx context.Context, dir string) (targets, Policy, error) {
	loop := filepath.Join(dir, "project", ".ralph", "loop")
	t := targets{
		Outside: filepath.Join(dir, "outside"), Tree: filepath.Join(loop, "worktree"), Journal: filepath.Join(loop, "journal", "000001.jsonl"),
		Config: filepath.Join(loop, "config.json"), Task: filepath.Join(loop, "task.md"), Secret: filepath.Join(dir, "home", ".ssh", "id_ed25519"),
		Mark: filepath.Base(dir), Home: filepath.Join(dir, "home"),
	}
	if err := t.Ground.lay(ctx, filepath.Join(dir, "project"), filepath.Join(dir, "home"), true); err != nil {
		return t, Policy{}, err
	}
	for _, name := range logins {
		name = filepath.Join(t.Home, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), safefile.WriteFile(name, []byte("made for an attempt\n"), 0o600)); err != nil {
			return t, Policy{}, err
		}
	}
	for _, name := range []string{filepath.Join(t.Outside, "x"), filepath.Join(t.Tree, "x"), t.Journal, t.Config,
		t.Task, t.Secret, filepath.Join(dir, "temp", "x")} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), safefile.WriteFile(name, []byte("made for an attempt\n"), 0o600)); err != nil {
			return t, Policy{}, err
		}
	}
	policy := Policy{
		Dir: t.Tree, Write: []string{t.Tree, t.Task}, Ralph: []string{filepath.Dir(t.Journal), t.Config}, Git: t.Ground.Repository,
		Name: "ralph-" + strings.ToLower(t.Mark), Temp: filepath.Join(dir, "temp"), Aside: filepath.Join(dir, "aside"),
	}
	policy.HideHome(t.Home)
	for _, program := range agents() {
		policy.States = append(policy.States, StatesOf(program, t.Home, nil)...)
	}
	return t, policy, t.Ground.layLogins()
}

// logins are some of those in a home folder, the last of a program that is not known.
var logins = []string{
	".npmrc", ".cargo/credentials.toml", ".m2/settings.xml", ".gradle/gradle.properties", ".gem/credentials",
	".composer/auth.json", ".config/composer/auth.json",
	".cache/huggingface/token", ".config/gh/hosts.yml", ".codex/auth.json", ".claude/.credentials.json", ".config/git/credentials", ".unknown/token",
}

// readLogins returns an error if none can be read, and else which can.
func (t targets) readLogins() (read []string, err error) {
	for _, name := range logins {
		if _, err = safefile.Read(filepath.Join(t.Home, name), 1<<10); err == nil {
			read = append(read, "~/"+name)
		}
	}
	if len(read) > 0 {
		err = nil
	}
	return read, err
}

// Known are the attempts that succeed by design of a mode, and are met otherwise: ralph itself ends
// what an agent leaves behind.
func Known(mode Mode) []string {
	if mode == Landlock || mode == Seatbelt {
		return []string{leaveBehind}
	}
	return nil
}

const leaveBehind = "leave a process behind"

// escapeTime bounds the attempts of one mode.
const escapeTime = time.Minute

func (t targets) try(ctx context.Context, policy Policy) ([]Attempt, error) {
	ctx, cancel := context.WithTimeout(ctx, escapeTime)
	defer cancel()
	box, err := OpenBox(ctx, policy)
	if err != nil {
		return nil, err
	}
	defer box.Close()
	text, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	self := policy.Self
	if policy.Mode.Contained() {
		self = selfInside
		box.Protect = append(box.Protect, policy.Self)
	}
	argv, env, err := box.Wrap([]string{self, "inside", "--escape", string(text)}, environOf(policy))
	if err != nil {
		return nil, err
	}
	if policy.Mode.Contained() {
		at := len(argv) - 5 // before the image
		argv = append(argv[:at:at], append([]string{"--volume", policy.Self + ":" + selfInside + ":ro"}, argv[at:]...)...)
	}
	var out bytes.Buffer
	errs := process.Tail{Max: 2000}
	exit, err := process.Run(ctx, process.Command{Argv: argv, Env: env, Dir: policy.Dir, Stdout: &out, Stderr: &errs, Mark: "escape-" + t.Mark, Session: true})
	if err == nil {
		err = exit.Failure()
	}
	var attempts []Attempt
	if err == nil {
		err = json.Unmarshal(out.Bytes(), &attempts)
	}
	if err != nil {
		return nil, fmt.Errorf("sandbox %s does not work here: %w: %s", policy.Mode, err, strings.Join(strings.Fields(errs.String()), " "))
	}
	if err := box.Sweep(ctx); err != nil {
		return attempts, err
	}
	if _, err := box.PutBack(); err != nil {
		return attempts, err
	}
	t.Ground.harvest(ctx, attempts)
	if t.Only {
		return attempts, nil
	}
	return append(attempts, t.left()), nil
}

// environOf is the environment of a person whose home is that of the attempts. A client of
// containers needs its own.
func environOf(p Policy) []string {
	env := os.Environ()
	for _, s := range p.States {
		switch {
		case s.Variable != "HOME":
			env = append(env, s.Variable+"=")
		case !p.Mode.Contained():
			env = append(env, "HOME="+s.Home)
		}
	}
	return env
}

// left looks for the process that the attempts left behind.
func (t targets) left() Attempt {
	a := Attempt{What: leaveBehind, Says: "it ended with the agent"}
	time.Sleep(100 * time.Millisecond) // it may be ending
	found, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range found {
		text, err := safefile.Read(name, 1<<20)
		if err == nil && bytes.Contains(text, []byte("--sleep\x0061s")) && bytes.Contains(text, []byte(t.Mark)) {
			a.Escaped, a.Says = true, "pid "+filepath.Base(filepath.Dir(name))+" lives"
		}
	}
	return a
}

// attempts makes all attempts, from within the sandbox.
func (t targets) attempts() []Attempt {
	var all []Attempt
	try := func(what string, do func() error) {
		a := Attempt{What: what, Escaped: true}
		if err := do(); err != nil {
			a.Escaped, a.Says = false, err.Error()
		}
		all = append(all, a)
	}
	t.Ground.plant(try)
	if t.Only {
		return all
	}
	try("write outside of the tree", func() error { return safefile.WriteFile(filepath.Join(t.Outside, "new"), nil, 0o600) })
	try("read ~/.ssh", func() error { _, err := safefile.Read(t.Secret, 1<<10); return err })
	read, err := t.readLogins()
	try("read a login", func() error { return err })
	all[len(all)-1].Says += strings.Join(read, ", ")
	try("change the journal", func() error { return appendTo(t.Journal) })
	try("change config.json", func() error { return appendTo(t.Config) })
	try("remove config.json", func() error { return os.Remove(t.Config) })
	try("reach a forbidden host", func() error { return connect("tcp", t.Address) })
	if t.Socket != "" {
		try("connect with a socket that is a file", func() error { return connect("unix", t.Socket) })
	}
	try("send a datagram", func() error { return sendPacket(t.Packets) })
	try("signal the runner", func() error { return signalProcess(t.Runner) })
	try("trace the runner", func() error { return traceProcess(t.Runner) })
	try("change a setting of the kernel", openKernelSetting)
	try("unmount a protection", func() error { return unmount(filepath.Dir(t.Journal)) })
	try("make a device", func() error { return makeDevice(filepath.Join(t.Tree, "device")) })
	for _, program := range agents() {
		try(settingsOf+program, func() error { return t.Ground.plantSettings(program) })
	}
	all = append(all, t.usable()...)
	if err := leaveProcess(t.Mark); err != nil {
		all = append(all, Attempt{What: leaveBehind, Says: err.Error()})
	}
	return all
}

const netTime = 3 * time.Second

func connect(network, address string) error {
	c, err := net.DialTimeout(network, address, netTime)
	if err == nil {
		err = c.Close()
	}
	return err
}

// sendPacket sends a datagram and waits for the answer: that it was sent shows nothing.
func sendPacket(address string) error {
	c, err := net.DialTimeout("udp", address, netTime)
	if err != nil {
		return err
	}
	defer c.Close()
	defer time.AfterFunc(netTime, func() { _ = c.Close() }).Stop() // ends the wait
	if _, err = c.Write([]byte{1}); err == nil {
		_, err = c.Read(make([]byte, 1))
	}
	return err
}

func answerPackets(c net.PacketConn) {
	packet := make([]byte, 1)
	for {
		_, from, err := c.ReadFrom(packet)
		if err != nil {
			return
		}
		_, _ = c.WriteTo(packet, from) // the sender waits no longer than netTime
	}
}

// usable are what an agent must be able to do. It counts as escaped if it cannot, since a sandbox
// in which nothing works would pass everything else.
func (t targets) usable() []Attempt {
	var all []Attempt
	for what, do := range map[string]func() error{
		"work in the tree": func() error { return safefile.WriteFile(filepath.Join(t.Tree, "new"), nil, 0o600) },
		"change task.md":   func() error { return appendTo(t.Task) },
	} {
		if err := do(); err != nil {
			all = append(all, Attempt{What: what, Escaped: true, Says: "an agent could not: " + err.Error()})
		}
	}
	return all
}

func appendTo(name string) error {
	f, err := safefile.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString("by an attempt\n")
	return errors.Join(err, f.Close())
}
