//go:build unix

package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// A story may have other hosts: folders of its own, each with an sshd on loopback, a home of ralph
// and a folder for its loops. The story's ssh has a settings file and a key that nothing else uses.

// sshdPath is where sshd is: it may not be on PATH, and it starts itself again by its full name.
func sshdPath() string {
	for _, path := range []string{"/usr/sbin/sshd", "/usr/local/sbin/sshd", "/usr/bin/sshd"} {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

// host makes a host, or starts its sshd again at the same port: host NAME [PROGRAMS], where the
// folder of programs comes first on its PATH.
func host(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(filepath.Join(ts.Getenv("WORK"), args[0]))
	config := filepath.Join(dir, "sshd_config")
	if _, err := os.Stat(config); err != nil {
		ts.Check(os.MkdirAll(dir, 0o700))
		path := os.Getenv("PATH")
		if len(args) > 1 {
			path = ts.MkAbs(args[1]) + ":/usr/bin:/bin"
		}
		makeHost(ts, args[0], dir, config, path)
	}
	if os.Geteuid() == 0 {
		ts.Check(os.MkdirAll("/run/sshd", 0o755)) // where Debian's sshd confines itself
	}
	sshd := exec.Command(sshdPath(), "-D", "-e", "-f", config)
	log, err := os.OpenFile(filepath.Join(dir, "sshd.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	ts.Check(err)
	sshd.Stderr = log
	ts.Check(sshd.Start())
	ts.Check(log.Close())
	ts.Check(os.WriteFile(filepath.Join(dir, "sshd.pid"), []byte(strconv.Itoa(sshd.Process.Pid)), 0o600))
	ended := make(chan struct{})
	go func() { _ = sshd.Wait(); close(ended) }()
	ts.Defer(func() {
		select {
		case <-ended: // its pid may be another's
		default:
			endHost(sshd.Process.Pid)
			<-ended
		}
	})
	home := filepath.Join(dir, "ralph-home")
	ts.Defer(func() { endRunners(home) })
	address := portOf(ts, config)
	if !becomes(func() bool {
		conn, err := net.Dial("tcp", address)
		return err == nil && conn.Close() == nil
	}) {
		text, _ := os.ReadFile(filepath.Join(dir, "sshd.log"))
		ts.Fatalf("sshd of %s does not answer: %s", args[0], text)
	}
}

// portOf returns the address that an sshd listens at.
func portOf(ts *testscript.TestScript, config string) string {
	text, err := os.ReadFile(config)
	ts.Check(err)
	_, after, _ := strings.Cut(string(text), "Port ")
	port, _, _ := strings.Cut(after, "\n")
	return "127.0.0.1:" + port
}

func makeHost(ts *testscript.TestScript, name, dir, config, path string) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	_, port, err := net.SplitHostPort(free.Addr().String())
	ts.Check(errors.Join(err, free.Close()))
	key, client, settings := filepath.Join(dir, "key"), ts.MkAbs(filepath.Join(ts.Getenv("WORK"), "client-key")), ts.Getenv("WORK")+"/ssh_config"
	ts.Check(ts.Exec("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key))
	if _, err := os.Stat(client); err != nil {
		ts.Check(ts.Exec("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", client))
	}
	shared := "PATH=" + path + " RALPH_TRUST=1"
	ts.Check(os.WriteFile(config, fmt.Appendf(nil, `Port %s
ListenAddress 127.0.0.1
HostKey %s
AuthorizedKeysFile %s.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin yes
MaxStartups 100
SetEnv RALPH_HOME=%s/ralph-home HOME=%s %s
ForceCommand cd %s && exec sh -c "$SSH_ORIGINAL_COMMAND"
`, port, key, client, dir, dir, shared, dir), 0o600))
	public, err := os.ReadFile(key + ".pub")
	ts.Check(err)
	known, err := os.OpenFile(ts.Getenv("WORK")+"/known_hosts", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	ts.Check(err)
	fmt.Fprintf(known, "[127.0.0.1]:%s %s", port, public)
	ts.Check(known.Close())
	hosts, err := os.OpenFile(settings, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	ts.Check(err)
	fmt.Fprintf(hosts, `Host %s
  HostName 127.0.0.1
  Port %s
  IdentityFile %s
  IdentitiesOnly yes
  UserKnownHostsFile %s/known_hosts
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
`, name, port, client, ts.Getenv("WORK"))
	ts.Check(hosts.Close())
	ts.Setenv("RALPH_SSH_COMMAND", "ssh -F "+settings)
}

// unhost ends the sshd of a host, with all its connections: unhost NAME.
func unhost(ts *testscript.TestScript, _ bool, args []string) {
	endHost(sshdPid(ts, args[0]))
	address := portOf(ts, filepath.Join(ts.Getenv("WORK"), args[0], "sshd_config"))
	if !becomes(func() bool {
		conn, err := net.Dial("tcp", address)
		return errors.Is(err, syscall.ECONNREFUSED) || conn != nil && conn.Close() != nil
	}) {
		ts.Fatalf("sshd of %s is still there", args[0])
	}
}

func endHost(sshd int) {
	_ = syscall.Kill(sshd, syscall.SIGSTOP) // it takes no more connections
	endConnections(sshd)
	_ = syscall.Kill(sshd, syscall.SIGKILL)
}

// lose ends the connections to a host, whose sshd stays: lose NAME.
func lose(ts *testscript.TestScript, _ bool, args []string) {
	if endConnections(sshdPid(ts, args[0])) == 0 {
		ts.Fatalf("there is no connection to %s", args[0])
	}
}

// endConnections ends the processes of an sshd's connections, and returns how many there were.
func endConnections(sshd int) (ended int) {
	children, _ := exec.Command("pgrep", "-P", strconv.Itoa(sshd)).Output() // none is an error
	for pid := range strings.FieldsSeq(string(children)) {
		if n, err := strconv.Atoi(pid); err == nil {
			_ = syscall.Kill(n, syscall.SIGKILL) // it may have ended by itself
			ended++
		}
	}
	return ended
}

func sshdPid(ts *testscript.TestScript, name string) int {
	text, err := os.ReadFile(filepath.Join(ts.Getenv("WORK"), name, "sshd.pid"))
	ts.Check(err)
	pid, err := strconv.Atoi(string(text))
	ts.Check(err)
	return pid
}
