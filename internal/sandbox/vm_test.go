//go:build unix

package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeDocker is a docker that records its arguments, answers "sandbox ls" with the machines that
// were created, and refuses everything that it does not know. Docker Desktop cannot run in a test.
const fakeDocker = `#!/bin/sh
here=$(dirname "$0")
printf '%s\n' "$*" >> "$here/calls"
[ "$1" = sandbox ] || { echo "unknown command: $1" >&2; exit 64; }
case $2 in
ls) echo "SANDBOX  AGENT  STATUS"; cat "$here/made" 2>/dev/null; exit 0 ;;
create)
	[ "$3 $5" = "--name claude" ] && [ -d "$6" ] && [ -d "$7" ] && [ $# = 7 ] || { echo "create: $*" >&2; exit 64; }
	echo "$4 claude running" >> "$here/made" ;;
exec)
	[ "$3" = -u ] && shift 2
	[ "$3" = -i ] && { shift; cat > "$here/input"; }
	grep -q "^$3 " "$here/made" || { echo "no sandbox $3" >&2; exit 1; }
	[ -e "$here/fail-exec" ] && { echo "exec failed" >&2; exit 1; }
	exit 0 ;;
stop|rm)
	grep -q "^$3 " "$here/made" && [ $# = 3 ] || { echo "$2: $*" >&2; exit 1; }
	[ "$2" = stop ] || { grep -v "^$3 " "$here/made" > "$here/rest"; mv "$here/rest" "$here/made"; } ;;
run)
	grep -q "^$3 " "$here/made" && [ "$4" = -- ] || { echo "run: $*" >&2; exit 64; }
	shift 4; echo "agent got: $*"; exit 5 ;;
network)
	[ "$3" = proxy ] && [ "$5 $6" = "--policy deny" ] || { echo "network: $*" >&2; exit 64; } ;;
*) echo "unknown command: sandbox $2" >&2; exit 64 ;;
esac
`

// docker puts the fake on PATH, and returns its folder.
func docker(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "docker"), []byte(fakeDocker), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	return bin
}

func calls(t *testing.T, bin string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(bin, "calls"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(bin, "calls")); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// TestDockerSandbox plays the life of a virtual machine: it is made once, runs the agent, is
// stopped after a pause and on a resume, gets files by exec, and is removed with its loop.
func TestDockerSandbox(t *testing.T) {
	bin := docker(t)
	const id = "01M8BNGX9EWD5NWXM83V7K72KS"
	name := NameOf(id)
	state := filepath.Join(t.TempDir(), "state")
	change := func(p *Policy) {
		p.Name, p.State, p.Network, p.Hosts = name, state, Listed, []string{"api.example.com", "*.example.org"}
	}
	b := box(t, DockerSandbox, change)
	made := calls(t, bin)
	want := []string{
		"sandbox ls",
		"sandbox create --name " + name + " claude " + b.Dir + " " + state,
		"sandbox exec -u root " + name + " sh -c rm -rf /home/agent/.claude /home/agent/.claude.json && ln -s '" + state + "/.claude' /home/agent/.claude && ln -s '" + state +
			"/.claude.json' /home/agent/.claude.json && chown -h agent: /home/agent/.claude /home/agent/.claude.json",
	}
	for i, call := range want {
		if i >= len(made) || made[i] != call {
			t.Fatalf("call %d of %q is not %q", i+1, made, call)
		}
	}
	if last := made[len(made)-1]; last != "sandbox network proxy "+name+" --policy deny --allow-host api.example.com --allow-host *.example.org" {
		t.Errorf("the network: %s", last)
	}
	if text, err := os.ReadFile(filepath.Join(state, ".claude.json")); err != nil || string(text) != "{}\n" {
		t.Errorf("the settings of the agent are %q, %v", text, err)
	}

	out, err := b.runs(t, "-p hello")
	if err == nil || out != "agent got: -c -p hello\n" {
		t.Errorf("the agent: %q, %v", out, err)
	}
	calls(t, bin)
	file := filepath.Join(b.Dir, "it's")
	if err := os.WriteFile(file, []byte("feedback"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := b.Put(t.Context(), file, filepath.Join(b.Dir, "gone")); err != nil {
		t.Fatal(err)
	}
	put := calls(t, bin)
	if len(put) != 1 || put[0] != "sandbox exec -i "+name+` sh -c cat > '`+b.Dir+`/it'\''s'` {
		t.Errorf("%q", put)
	}
	if err := b.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := calls(t, bin); len(got) != 1 || got[0] != "sandbox stop "+name {
		t.Errorf("%q", got)
	}
	// A question to the agent's program asks the machine that is there.
	if probe, _, err := b.Probe().Wrap([]string{"claude", "--version"}, nil); err != nil || strings.Join(probe, " ") != "docker sandbox exec "+name+" claude --version" {
		t.Errorf("%q, %v", probe, err)
	}
	if b.Settle() <= 0 {
		t.Error("nothing waits for the files")
	}

	// A resumed loop finds its machine, with the files as they are.
	box(t, DockerSandbox, change)
	if got := calls(t, bin); len(got) != 2 || got[1] != "sandbox stop "+name {
		t.Errorf("a resumed loop: %q", got)
	}
	if err := RemoveVM(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if got := calls(t, bin); len(got) != 2 || got[1] != "sandbox rm "+name {
		t.Errorf("%q", got)
	}
	if err := RemoveVM(t.Context(), id); err != nil {
		t.Errorf("without a machine: %v", err)
	}
}

// TestDockerSandboxHalfMade shows that a machine which could not be set up is not taken for ready.
func TestDockerSandboxHalfMade(t *testing.T) {
	bin := docker(t)
	if err := os.WriteFile(filepath.Join(bin, "fail-exec"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p := Policy{Mode: DockerSandbox, Dir: t.TempDir(), Name: "ralph-x", State: filepath.Join(t.TempDir(), "state"), Network: Open}
	if _, err := OpenBox(t.Context(), p); err == nil || !strings.Contains(err.Error(), "exec failed") {
		t.Errorf("%v", err)
	}
	if got := calls(t, bin); got[len(got)-1] != "sandbox rm ralph-x" {
		t.Errorf("%q", got)
	}
}
