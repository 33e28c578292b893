package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/pool/pooltest"
)

// asProgram makes the test binary the program.
const asProgram = "RALPH_POOL_TEST_PROGRAM=1"

func TestMain(m *testing.M) {
	if os.Getenv("RALPH_POOL_TEST_PROGRAM") != "" {
		main()
		return
	}
	pooltest.Main(m)
}

// programAt is ralph-pool with a home of its own.
func programAt(t testing.TB, home string, arguments ...string) *exec.Cmd {
	c := exec.CommandContext(t.Context(), os.Args[0], arguments...)
	c.Env = append(os.Environ(), asProgram, "RALPH_HOME="+home)
	return c
}

// run returns what the program prints, and its exit code.
func run(t testing.TB, home string, arguments ...string) (out, errs string, code int) {
	t.Helper()
	return runWith(t, "", home, arguments...)
}

// runWith is run with an input.
func runWith(t testing.TB, input, home string, arguments ...string) (out, errs string, code int) {
	t.Helper()
	c := programAt(t, home, arguments...)
	c.Stdin = strings.NewReader(input)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return stdout.String(), stderr.String(), c.ProcessState.ExitCode()
}

// A served process is 'ralph pool serve'.
type servedProcess struct {
	command *exec.Cmd
	stderr  bytes.Buffer
	served
}

// serveIn starts a server in a folder. It is ended with the test.
func serveIn(t testing.TB, c *exec.Cmd) *servedProcess {
	t.Helper()
	s := &servedProcess{command: c}
	c.Stderr = &s.stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.end(syscall.SIGKILL) })
	if err := json.NewDecoder(bufio.NewReader(out)).Decode(&s.served); err != nil {
		t.Fatalf("the server has printed no line: %v; %s", err, s.stderr.String())
	}
	return s
}

// end sends a signal, and returns the exit code.
func (s *servedProcess) end(signal os.Signal) int {
	_ = s.command.Process.Signal(signal)
	_ = s.command.Wait()
	return s.command.ProcessState.ExitCode()
}

func serveArguments(dir string) []string {
	return []string{"serve", "--json", "--listen", "127.0.0.1:0", "--dir", dir}
}

func wants(t testing.TB, what, text, want string) {
	t.Helper()
	if !strings.Contains(text, want) {
		t.Errorf("%s: %q, want %q in it", what, text, want)
	}
}

func TestServeJoinStatus(t *testing.T) {
	dir, home, other := t.TempDir(), t.TempDir(), t.TempDir()
	s := serveIn(t, programAt(t, home, serveArguments(dir)...))

	_, errs, code := run(t, home, serveArguments(dir)...)
	if code == 0 {
		t.Error("a second server runs in the folder")
	}
	wants(t, "a second server", errs, "another server runs in the folder "+dir)
	if out, errs, code := run(t, home, "serve", "--lines", "--json", "--dir", dir); code != 0 || !strings.Contains(out, `"join":"`+strings.ReplaceAll(s.Join, "&", `\u0026`)+`"`) {
		t.Errorf("the lines of a server that runs: %d, %s%s", code, out, errs)
	}
	_, errs, _ = run(t, home, "serve", "--listen", s.Listen, "--dir", t.TempDir())
	wants(t, "a second server on the port", errs, "address already in use")

	out, errs, code := runWith(t, s.Join+"\n", home, "join", "-", "--host", "mill")
	if code != 0 || errs != "" {
		t.Fatalf("join: %d, %s", code, errs)
	}
	wants(t, "join", out, "mill has joined the pool nats://"+s.Listen+"\nnext: ralph pool mirror")
	info, err := os.Stat(filepath.Join(home, "pool.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("pool.json: %v, %v", info.Mode(), err)
	}
	out, errs, _ = run(t, home, "join", s.Join)
	wants(t, "join again", out, "mill is already in the pool")
	wants(t, "join with a token among the arguments", errs, "other users of this machine could read the token")
	_, errs, code = run(t, home, "join", s.Join, "--host", "weir")
	if code == 0 {
		t.Error("another name is taken without --replace")
	}
	wants(t, "join with another name", errs, "this host is mill in the pool nats://"+s.Listen+" already: --replace")

	out, _, _ = run(t, other, "join", s.Reader, "--host", "desk")
	wants(t, "join of a reader", out, "as a reader\nnext: ralph pool list")
	out, errs, code = run(t, other, "status", "--json")
	var st state
	if err := json.Unmarshal([]byte(out), &st); err != nil || code != 0 || st.Server == nil || st.Server.Keys != 1 || st.Host != "desk" || !st.Reader {
		t.Errorf("status --json: %s, %s, %v", out, errs, err)
	}
	out, _, _ = run(t, home, "status")
	wants(t, "status", out, "no host has been heard of")

	if code := s.end(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d", code)
	}
	wants(t, "the end", s.stderr.String(), "the server has stopped; all that it acknowledged is stored")
	wants(t, "the beginning", s.stderr.String(), "only this machine reaches it")
	again := serveIn(t, programAt(t, home, serveArguments(dir)...))
	if again.Fingerprint != s.Fingerprint || again.Join[len("ralph+nats://"+again.Listen):] != s.Join[len("ralph+nats://"+s.Listen):] {
		t.Errorf("the join line is %s, and was %s", again.Join, s.Join)
	}
}

func TestLinesAreShownOnce(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	start := func(want bool, more ...string) {
		t.Helper()
		c := programAt(t, home, append([]string{"serve", "--listen", "127.0.0.1:0", "--dir", dir}, more...)...)
		errs, err := c.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		c.Stdout = &out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		said := ""
		for lines := bufio.NewScanner(errs); lines.Scan(); {
			said += lines.Text() + "\n"
			if strings.Contains(lines.Text(), "which is a secret:") || strings.Contains(lines.Text(), "--lines' prints") {
				_ = c.Process.Signal(syscall.SIGTERM)
			}
		}
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
		if strings.HasPrefix(out.String(), "ralph+nats://") != want || strings.Contains(said+out.String(), "token=") != want {
			t.Errorf("serve %s: %s%s", more, said, out.String())
		}
	}
	start(true)
	start(false)
	start(true, "--lines")
	if err := os.Remove(filepath.Join(dir, "server.json")); err != nil {
		t.Fatal(err)
	}
	start(true) // new secrets for what is stored
}

func TestUnreachableStoreIsNotJoined(t *testing.T) {
	home := t.TempDir()
	for address, want := range map[string]string{
		"ralph+nats://127.0.0.1:1/?token=t":  "connect to the server at 127.0.0.1:1",
		"nats://127.0.0.1:1/":                "begins with ralph+nats",
		"ralph+dir:///does/not/exist":        "does not exist",
		"ralph+dir:///tmp --host a/b":        "does not exist",
		"ralph+nats://127.0.0.1:1/%zz?token": "quotation marks",
	} {
		_, errs, code := run(t, home, "join", address)
		if code == 0 {
			t.Errorf("%s is joined", address)
		}
		wants(t, address, errs, want)
	}
	_, errs, _ := run(t, home, "join", "-")
	wants(t, "join without a line", errs, "read the join line from standard input")
	_, errs, _ = run(t, home, "join", "ralph+dir://"+t.TempDir(), "--host", "a/b")
	wants(t, "a host with a slash", errs, "is no name of a host")
	if _, err := os.Stat(filepath.Join(home, "pool.json")); err == nil {
		t.Error("pool.json was written")
	}
	_, errs, _ = run(t, home, "status")
	wants(t, "status without a pool", errs, "this host is in no pool")
	wants(t, "status without a pool", errs, "'ralph pool join -' makes it")
}

func TestTornFoldersAreRefused(t *testing.T) {
	secrets := func(change func(map[string]any)) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			file := filepath.Join(dir, "server.json")
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var s map[string]any
			if err := json.Unmarshal(text, &s); err != nil {
				t.Fatal(err)
			}
			change(s)
			if text, err = json.Marshal(s); err == nil {
				err = os.WriteFile(file, text, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for want, damage := range map[string]func(t *testing.T, dir string){
		"has lost what the pool had stored": func(t *testing.T, dir string) {
			if err := os.RemoveAll(filepath.Join(dir, "jetstream")); err != nil {
				t.Fatal(err)
			}
		},
		"the secrets of the server are torn": func(t *testing.T, dir string) {
			if err := os.Truncate(filepath.Join(dir, "server.json"), 100); err != nil {
				t.Fatal(err)
			}
		},
		"has no token":                  secrets(func(s map[string]any) { s["token"] = "" }),
		"the certificate of the server": secrets(func(s map[string]any) { s["key"] = "text" }),
	} {
		t.Run(want, func(t *testing.T) {
			dir, home := t.TempDir(), t.TempDir()
			s := serveIn(t, programAt(t, home, serveArguments(dir)...))
			if _, errs, code := run(t, home, "join", s.Join); code != 0 {
				t.Fatal(errs)
			}
			s.end(syscall.SIGKILL)
			damage(t, dir)
			c := programAt(t, home, serveArguments(dir)...)
			var stderr bytes.Buffer
			c.Stderr = &stderr
			if err := c.Run(); err == nil {
				t.Error("the server runs")
			}
			wants(t, "the damaged folder", stderr.String(), want)
		})
	}
}
