package sandbox

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
)

// seatbelt runs the agent with the rules of macOS. The profile was written after the rules that
// Apple ships in /System/Library/Sandbox/Profiles, and it has not been tried on a Mac.
func (b *Box) seatbelt(argv, env []string) (wrapped, environment []string, err error) {
	env = with(env, b.temporary()...)
	inside := []string{}
	port := 0
	if b.proxy != nil {
		if port, err = freePort(); err != nil {
			return nil, nil, err
		}
		inside = []string{b.Self, "inside", "--proxy", b.proxy.Socket, "--proxy-port", strconv.Itoa(port), "--"}
	}
	return slices.Concat([]string{"/usr/bin/sandbox-exec", "-p", b.profile(port)}, inside, argv), env, nil
}

// freePort finds a port of the loopback address. The profile is written before the helper listens,
// so another program may take the port meanwhile: the helper then says so.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a port for the agent's proxy: %w", err)
	}
	return listener.Addr().(*net.TCPAddr).Port, listener.Close()
}

// profile is the policy in the language of sandbox-exec, with the port on which the agent reaches
// the proxy. Of the rules that fit, the last counts.
func (b *Box) profile(port int) string {
	var t strings.Builder
	t.WriteString("(version 1)\n(allow default)\n(deny file-write*)\n")
	t.WriteString(`(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/dtracehelper") (regex #"^/dev/fd/") (regex #"^/dev/ttys"))` + "\n")
	rule := func(what string, paths []string) {
		for _, path := range paths {
			fmt.Fprintf(&t, "(%s (subpath %s))\n", what, quotedScheme(path))
		}
	}
	seen := map[string]string{} // a folder comes before what is in it
	for _, path := range b.Show {
		seen[path] = "allow file-read*"
	}
	for _, path := range b.Hide {
		seen[path] = "deny file-read*"
	}
	for _, path := range slices.SortedFunc(maps.Keys(seen), byDepth) {
		rule(seen[path], []string{path})
	}
	rule("allow file-write*", b.writable())
	rule("deny file-write*", b.protected())
	// Signals and debuggers reach only what the agent started.
	t.WriteString("(deny signal)\n(allow signal (target same-sandbox))\n(deny process-info*)\n(allow process-info* (target same-sandbox))\n(deny mach-task-name)\n")
	switch b.Network {
	case Closed:
		t.WriteString("(deny network*)\n")
	case Listed:
		// The agent reaches the helper in the sandbox, and the helper the proxy.
		fmt.Fprintf(&t, "(deny network*)\n(allow network* (local ip \"localhost:*\") (remote ip \"localhost:%d\"))\n(allow network-outbound (literal %s))\n", port, quotedScheme(b.proxy.Socket))
	}
	return t.String()
}

// byDepth orders paths so that a folder comes before what is in it.
func byDepth(a, b string) int {
	return cmp.Or(cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")), strings.Compare(a, b))
}

// quotedScheme writes a text as the language of the profile reads it.
func quotedScheme(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
