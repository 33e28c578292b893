package sandbox

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test's own program be "ralph inside".
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 4 && os.Args[1] == "get":
		os.Exit(get(os.Args[2], os.Args[3] == "direct"))
	case len(os.Args) == 3 && os.Args[1] == "dial":
		if err := connect("unix", os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case len(os.Args) < 2 || os.Args[1] != "inside":
		os.Exit(m.Run())
	}
	var in Inside
	flags := flag.NewFlagSet("inside", flag.ExitOnError)
	flags.BoolVar(&in.IgnoreTerm, "ignore-term", false, "")
	flags.BoolVar(&in.DefaultTerm, "default-term", false, "")
	flags.StringVar(&in.Landlock, "landlock", "", "")
	flags.StringVar(&in.Proxy, "proxy", "", "")
	flags.StringVar(&in.Sockets, "sockets", "", "")
	flags.StringVar(&in.Escape, "escape", "", "")
	flags.DurationVar(&in.Sleep, "sleep", 0, "")
	_ = flags.Parse(os.Args[2:])
	in.Command = flags.Args()
	code, err := in.Run()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// get prints what an address answers, through the proxy of the environment or without it. A client
// of Go never asks a proxy for an address of this machine, so this one is made to.
func get(address string, direct bool) int {
	transport := &http.Transport{}
	if proxy, err := url.Parse(os.Getenv("HTTP_PROXY")); err == nil && !direct {
		transport.Proxy = http.ProxyURL(proxy)
	}
	answer, err := (&http.Client{Transport: transport, Timeout: 2 * time.Minute}).Get(address)
	if err == nil {
		_, err = io.Copy(os.Stdout, answer.Body)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func needs(t *testing.T, mode Mode) {
	t.Helper()
	if err := mode.Check(); err != nil {
		t.Skip(err)
	}
	if mode != Bwrap {
		return
	}
	if out, err := exec.CommandContext(t.Context(), "bwrap", "--ro-bind", "/", "/", "--unshare-pid", "--unshare-net", "--proc", "/proc", "true").CombinedOutput(); err != nil {
		t.Skipf("bubblewrap may not make namespaces here: %v: %s", err, out)
	}
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestEscape tries to get out of each sandbox of this machine.
func TestEscape(t *testing.T) {
	for _, mode := range Local() {
		t.Run(string(mode), func(t *testing.T) {
			needs(t, mode)
			attempts, err := Escape(t.Context(), mode, self(t), "", outsideOfTemp(t))
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range attempts {
				if a.Escaped && !slices.Contains(Known(mode), a.What) {
					t.Errorf("%s: %s", a.What, a.Says)
				}
			}
			if len(attempts) < 9 {
				t.Errorf("only %d attempts: %+v", len(attempts), attempts)
			}
		})
	}
}

// outsideOfTemp returns a folder that no sandbox empties.
func outsideOfTemp(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(".", ".escape-test-")
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // it is empty
	return dir
}

// TestEscapeWithoutSandbox shows that each attempt succeeds where nothing prevents it.
func TestEscapeWithoutSandbox(t *testing.T) {
	attempts, err := Escape(t.Context(), None, self(t), "", outsideOfTemp(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range attempts {
		// The process that is left is ended with all that the attempts started, and only a parent
		// may trace a process where Yama says so. Nothing is mounted, and some takes root.
		others := []string{leaveBehind, "trace the runner", "unmount a protection"}
		if os.Getuid() != 0 {
			others = append(others, "change a setting of the kernel", "make a device")
		}
		if !a.Escaped && !slices.Contains(others, a.What) {
			t.Errorf("%s: %s", a.What, a.Says)
		}
	}
}

// box opens a sandbox around a new tree.
func box(t *testing.T, mode Mode, change func(*Policy)) *Box {
	t.Helper()
	needs(t, mode)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tree", "temp", "home"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p := Policy{
		Mode: mode, Dir: filepath.Join(dir, "tree"), Write: []string{filepath.Join(dir, "tree")}, Network: Open, Self: self(t),
		Name: "ralph-test", Temp: filepath.Join(dir, "temp"), Aside: filepath.Join(dir, "aside"),
	}
	if change != nil {
		change(&p)
	}
	b, err := OpenBox(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// runs runs a shell in a sandbox.
func (b *Box) runs(t *testing.T, script string) (string, error) {
	t.Helper()
	argv, env, err := b.Wrap([]string{"sh", "-c", script}, os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = b.Dir, env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	return out.String(), err
}

// TestSandboxedShell shows that an agent has its tree, its own temporary files and its exit code.
func TestSandboxedShell(t *testing.T) {
	for _, mode := range Local() {
		t.Run(string(mode), func(t *testing.T) {
			b := box(t, mode, nil)
			out, err := b.runs(t, `pwd; echo made > made; echo temporary > "${TMPDIR:-/tmp}/x" && mkdir -p "$XDG_CACHE_HOME"; exit 7`)
			if failed, ok := errors.AsType[*exec.ExitError](err); !ok || failed.ExitCode() != 7 || strings.TrimSpace(out) != b.Dir {
				t.Errorf("%v: %s", err, out)
			}
			if text, err := os.ReadFile(filepath.Join(b.Dir, "made")); err != nil || string(text) != "made\n" {
				t.Errorf("%q, %v", text, err)
			}
			if out, err := b.runs(t, "echo x > "+filepath.Join(filepath.Dir(b.Dir), "home", "x")); err == nil {
				t.Errorf("it wrote into the home folder: %s", out)
			}
		})
	}
}

// TestHiddenHome shows that programs of a home folder run, with the packages that they consist of,
// and that its other files are hidden.
func TestHiddenHome(t *testing.T) {
	for _, mode := range Local() {
		t.Run(string(mode), func(t *testing.T) {
			b := box(t, mode, func(p *Policy) {
				home := filepath.Join(filepath.Dir(p.Dir), "home")
				for name, text := range map[string]string{
					"tools/lib/node_modules/agent/agent": "#!/bin/sh\nexec cat \"$(dirname \"$(realpath \"$0\")\")/../part\"\n",
					"tools/lib/node_modules/part":        "PART",
					"tools/bin/tool":                     "#!/bin/sh\necho TOOL\n",
					"tools/token":                        "TOKEN",
					".gitconfig":                         "CONFIG",
					".ssh/id":                            "KEY",
				} {
					path := filepath.Join(home, name)
					if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o700)); err != nil {
						t.Fatal(err)
					}
				}
				if err := os.Symlink("../lib/node_modules/agent/agent", filepath.Join(home, "tools/bin/agent")); err != nil {
					t.Fatal(err)
				}
				t.Setenv("HOME", home)
				t.Setenv("PATH", filepath.Join(home, "tools", "bin")+":"+os.Getenv("PATH"))
				p.HideHome(home)
			})
			argv, env, err := b.Wrap([]string{"agent"}, os.Environ())
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
			cmd.Dir, cmd.Env = b.Dir, env
			if out, err := cmd.CombinedOutput(); err != nil || string(out) != "PART" {
				t.Errorf("a package: %v: %s", err, out)
			}
			out, err := b.runs(t, `tool; cat "$HOME/.gitconfig"; cat "$HOME/tools/token" "$HOME/.ssh/id"`)
			if err == nil || !strings.HasPrefix(out, "TOOL\nCONFIG") || strings.Contains(out, "TOKEN") || strings.Contains(out, "KEY") {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// TestTermEndsSandboxedAgent shows that the agent gets TERM, and may end in its own way.
func TestTermEndsSandboxedAgent(t *testing.T) {
	for _, mode := range Local() {
		t.Run(string(mode), func(t *testing.T) {
			b := box(t, mode, nil)
			argv, env, err := b.Wrap([]string{"sh", "-c", `trap 'echo ended > ended; exit 3' TERM; echo ready; while :; do sleep 0.05; done`}, os.Environ())
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
			cmd.Dir, cmd.Env = b.Dir, env
			cmd.SysProcAttr = ownGroup()
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := out.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			termGroup(t, cmd.Process.Pid)
			err = cmd.Wait()
			if failed, ok := errors.AsType[*exec.ExitError](err); !ok || failed.ExitCode() != 3 {
				t.Errorf("%v", err)
			}
			if _, err := os.Stat(filepath.Join(b.Dir, "ended")); err != nil {
				t.Error(err)
			}
		})
	}
}

// stays starts an agent in the sandbox that is there until the test ends.
func (b *Box) stays(t *testing.T) {
	t.Helper()
	argv, env, err := b.Wrap([]string{"sh", "-c", "echo ready; cat"}, os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = b.Dir, env
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatalf("an agent in the sandbox: %v", err)
	}
}

// TestSandboxedNetwork reaches a listed host through the proxy, and no other one.
func TestSandboxedNetwork(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "LISTED") }))
	defer server.Close()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "OTHER") }))
	defer other.Close()
	for _, mode := range Local() {
		t.Run(string(mode), func(t *testing.T) {
			listed := func(p *Policy) {
				p.Network, p.Hosts = Listed, []string{strings.TrimPrefix(server.URL, "http://")}
			}
			box(t, mode, listed).stays(t) // each loop has a proxy of its own
			b := box(t, mode, listed)
			get := b.Self + " get "
			if out, err := b.runs(t, get+server.URL+" proxied"); err != nil || out != "LISTED" {
				t.Errorf("a listed host: %q, %v", out, err)
			}
			if out, err := b.runs(t, get+other.URL+" proxied"); err != nil || !strings.Contains(out, "is not in sandbox.hosts") {
				t.Errorf("another host: %q, %v", out, err)
			}
			if out, err := b.runs(t, get+other.URL+" direct"); err == nil {
				t.Errorf("around the proxy: %q", out)
			}
			if n, hosts := b.Refused(); n != 1 || !slices.Equal(hosts, []string{strings.TrimPrefix(other.URL, "http://")}) {
				t.Errorf("refused %d: %q", n, hosts)
			}
		})
	}
}

// TestProxy speaks with the proxy itself.
func TestProxy(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "SECRET-LINE") }))
	defer server.Close()
	proxy, err := StartProxy([]string{strings.TrimPrefix(server.URL, "https://"), "localhost"})
	if err != nil {
		t.Fatal(err)
	}
	dial := func() net.Conn {
		c, err := net.Dial("unix", proxy.Socket)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	client := server.Client()
	transport := client.Transport.(*http.Transport)
	transport.Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: "proxy"})
	transport.Dial = func(string, string) (net.Conn, error) { return dial(), nil } //nolint:staticcheck // it needs no context
	answer, err := client.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(answer.Body); err != nil || string(text) != "SECRET-LINE" {
		t.Errorf("%q, %v", text, err)
	}
	answer.Body.Close()
	for what, request := range map[string]string{
		"a host that is not listed":      "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n",
		"another port":                   "CONNECT localhost:22 HTTP/1.1\r\nHost: localhost:22\r\n\r\n",
		"a name of this machine":         "CONNECT localhost:443 HTTP/1.1\r\nHost: localhost:443\r\n\r\n",
		"a plain request to a name here": "GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
	} {
		c := dial()
		fmt.Fprint(c, request)
		said := make([]byte, 64)
		n, _ := c.Read(said)
		if !strings.HasPrefix(string(said[:n]), "HTTP/1.1 403 ") {
			t.Errorf("%s: %q", what, said[:n])
		}
		c.Close()
	}
	transport.CloseIdleConnections()
	closed := make(chan error)
	go func() { closed <- proxy.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("the proxy does not close")
	}
	if _, err := os.Stat(proxy.Socket); err == nil {
		t.Error("the socket is left")
	}
}

func TestHosts(t *testing.T) {
	for _, row := range []struct {
		pattern, host, port string
		want                bool
	}{
		{"example.com", "example.com", "443", true},
		{"example.com", "example.com", "80", true},
		{"example.com", "example.com", "22", false},
		{"example.com", "a.example.com", "443", false},
		{"example.com", "badexample.com", "443", false},
		{"*.example.com", "a.b.example.com", "443", true},
		{"*.example.com", "example.com", "443", false},
		{"Example.com:8443", "example.com", "8443", true},
		{"example.com:8443", "example.com", "443", false},
		{"[::1]:8080", "::1", "8080", true},
		{"192.0.2.7", "192.0.2.7", "443", true},
		{"*", "example.com", "443", false},
	} {
		if got := fits(row.pattern, row.host, row.port); got != row.want {
			t.Errorf("%s fits %s:%s: %t", row.pattern, row.host, row.port, got)
		}
	}
}

// TestProfile shows the rules of macOS for a policy.
func TestProfile(t *testing.T) {
	b := &Box{Policy: Policy{
		Mode: Seatbelt, Dir: "/tree", Write: []string{"/tree", `/odd "name"`}, Protect: []string{"/tree/.git/hooks"}, Hide: []string{"/home/ada/.ssh"}, Temp: "/temp", Network: Closed,
	}}
	const want = `(version 1)
(allow default)
(deny file-write*)
(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/dtracehelper") (regex #"^/dev/fd/") (regex #"^/dev/ttys"))
(deny file-read* (subpath "/home/ada/.ssh"))
(allow file-write* (subpath "/temp"))
(allow file-write* (subpath "/tree"))
(allow file-write* (subpath "/odd \"name\""))
(deny file-write* (subpath "/tree/.git/hooks"))
(deny signal)
(allow signal (target same-sandbox))
(deny process-info*)
(allow process-info* (target same-sandbox))
(deny mach-task-name)
(deny network*)
`
	if got := b.profile(0); got != want {
		t.Errorf("%s", got)
	}
	argv, _, err := b.seatbelt([]string{"agent", "-x"}, nil)
	if err != nil || !slices.Equal(argv, []string{"/usr/bin/sandbox-exec", "-p", want, "agent", "-x"}) {
		t.Errorf("%q, %v", argv, err)
	}
}

// What is hidden in a folder that is shown stays hidden: of the rules that fit, the last counts.
func TestSeatbeltHidesInsideShown(t *testing.T) {
	b := &Box{Policy: Policy{Mode: Seatbelt, Hide: []string{"/home/ada/.ralph/held-out"}, Show: []string{"/home/ada", "/home/ada/.ralph/held-out/shown"}, Network: Open}}
	profile := b.profile(0)
	shown, hidden := strings.Index(profile, `(allow file-read* (subpath "/home/ada"))`), strings.Index(profile, `(deny file-read* (subpath "/home/ada/.ralph/held-out"))`)
	again := strings.Index(profile, `(allow file-read* (subpath "/home/ada/.ralph/held-out/shown"))`)
	if shown < 0 || hidden < shown || again < hidden {
		t.Errorf("the rules are in another order:\n%s", profile)
	}
}
