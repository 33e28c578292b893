//go:build unix

package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/testkit/testfile"
)

// fakeDocker is a docker that records its arguments, answers "sandbox ls" with the machines that
// were created, and refuses everything that it does not know. Docker Desktop cannot run in a test;
// the story sandbox_machine has a fake that runs what it is given.
const fakeDocker = `#!/bin/sh
here=$(dirname "$0")
printf '%s\n' "$*" >> "$here/calls"
[ "$1" = sandbox ] || { echo "unknown command: $1" >&2; exit 64; }
case $2 in
ls) [ -e "$here/off" ] && { echo "Docker Desktop is not running" >&2; exit 1; }
	echo "SANDBOX  AGENT  STATUS"; cat "$here/made" 2>/dev/null; exit 0 ;;
create)
	[ "$3 $5" = "--name claude" ] && [ -d "$6" ] || { echo "create: $*" >&2; exit 64; }
	echo "$4 claude running" >> "$here/made"
	for dir; do case $dir in /*) [ -d "${dir%:ro}" ] || { echo "create: no $dir" >&2; exit 64; } ;; esac; done ;;
exec)
	shift 2
	while :; do case $1 in
		-i) shift; cat > "$here/input" ;;
		-u|-w|-e) shift 2 ;;
		*) break ;;
	esac; done
	grep -q "^$1 " "$here/made" || { echo "no sandbox $1" >&2; exit 1; }
	[ -e "$here/fail-exec" ] && { echo "exec failed" >&2; exit 1; }
	case "$2 $3 $4" in 'sh -c : > '*) [ -e "$here/leaks" ] || exit 1; sh -c "$4" ;; esac
	case $* in *" -c echo hello") echo "agent got: $*"; exit 5 ;; esac
	exit 0 ;;
stop|rm)
	grep -q "^$3 " "$here/made" && [ $# = 3 ] || { echo "$2: $*" >&2; exit 1; }
	[ "$2" = stop ] || { grep -v "^$3 " "$here/made" > "$here/rest"; mv "$here/rest" "$here/made"; } ;;
run) grep -q "^$3 " "$here/made" && [ "$4" = -- ] || { echo "run: $*" >&2; exit 64; } ;;
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
	text := testfile.Read(t, filepath.Join(bin, "calls"))
	if err := os.Remove(filepath.Join(bin, "calls")); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// called reports which calls begin with a text.
func called(all []string, start string) (found []string) {
	for _, call := range all {
		if strings.HasPrefix(call, start) {
			found = append(found, call)
		}
	}
	return found
}

// vmPolicy is that of a loop that works in a project, whose home is another folder.
func vmPolicy(t *testing.T, home, tree, loop string) Policy {
	t.Helper()
	name, dir := MachineOf(home, tree)
	p := Policy{
		Mode: DockerSandbox, Dir: tree, Tree: tree, Name: name, Machine: dir, Loop: loop, State: filepath.Join(home, "docker-sandbox"),
		Ralph: []string{filepath.Join(tree, ".ralph")}, Network: Open, Temp: filepath.Join(home, "temp"), Aside: filepath.Join(home, "aside"),
		Linux: filepath.Join(home, "ralph-linux"), Pass: []string{"ANTHROPIC_API_KEY"},
	}
	for _, folder := range []string{filepath.Join(tree, ".ralph"), p.Temp} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(p.Linux, []byte("the program"), 0o700); err != nil {
		t.Fatal(err)
	}
	return p
}

func openVM(t *testing.T, p Policy) *Box {
	t.Helper()
	b, err := OpenBox(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// TestDockerSandbox plays the life of a virtual machine: it is made once for a project, with
// ralph's files to be read only, runs the agent by exec with the loop's variables, is stopped after
// a pause and for the next loop, and is removed with the last one.
func TestDockerSandbox(t *testing.T) {
	bin := docker(t)
	home, tree := t.TempDir(), t.TempDir()
	p := vmPolicy(t, home, tree, "fix")
	p.Network, p.Hosts = Listed, []string{"api.example.com", "*.example.org"}
	b := openVM(t, p)
	made := calls(t, bin)
	share := filepath.Join(p.Machine, "share")
	for _, want := range []string{
		"sandbox create --name " + p.Name + " claude " + tree + " " + tree + "/.ralph:ro " + share + " " + p.State,
		"sandbox exec -u root " + p.Name + " sh -c rm -rf /home/agent/.claude /home/agent/.claude.json && ln -s '" + p.State + "/.claude' /home/agent/.claude && ln -s '" + p.State +
			"/.claude.json' /home/agent/.claude.json && chown -h agent: /home/agent/.claude /home/agent/.claude.json",
		"sandbox network proxy " + p.Name + " --policy deny --allow-host api.example.com --allow-host *.example.org",
		"sandbox exec -u root " + p.Name + " sh -c : > '" + tree + "/.ralph/.try-" + p.Name + "'",
		"sandbox exec -i -u root " + p.Name + " sh -c cat > /usr/local/bin/ralph.new && chmod 755 /usr/local/bin/ralph.new && mv /usr/local/bin/ralph.new /usr/local/bin/ralph",
	} {
		if len(called(made, want)) != 1 {
			t.Errorf("%q is not one of %q", want, made)
		}
	}
	if text, err := os.ReadFile(filepath.Join(bin, "input")); err != nil || string(text) != "the program" {
		t.Errorf("ralph in the machine is %q, %v", text, err)
	}
	if text, err := os.ReadFile(filepath.Join(p.State, ".claude.json")); err != nil || string(text) != "{}\n" {
		t.Errorf("the settings of the agent are %q, %v", text, err)
	}

	// The agent is that of the machine, has the loop's variables, and its exit code is kept.
	t.Setenv("RALPH_LOOP", "fix")
	t.Setenv("RALPH_LOOP_DIR", tree+"/.ralph/fix")
	t.Setenv("RALPH_HOME", home)
	t.Setenv("RALPH_NOTIFY_URL", "secret")
	t.Setenv("ANTHROPIC_API_KEY", "secret")
	argv, env, err := b.Wrap([]string{"/opt/bin/claude", "-c", "echo hello"}, os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Env = env
	out, err := cmd.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); !ok || failed.ExitCode() != 5 || !strings.Contains(string(out), "claude -c echo hello") {
		t.Errorf("the agent: %q, %v", out, err)
	}
	line := strings.Join(argv, " ")
	for _, part := range []string{
		"docker sandbox exec -i -w " + tree, " -e RALPH_LOOP=fix ", " -e RALPH_LOOP_DIR=" + share + "/fix ", " -e TASK_FOLDER=" + share + "/fix ", " -e ANTHROPIC_API_KEY ",
		" -e RALPH_MACHINE=" + p.Name + " ", " /usr/local/bin/ralph inside --hold " + share + "/fix/run.lock -- claude -c echo hello",
	} {
		if !strings.Contains(line, part) {
			t.Errorf("no %q in %q", part, line)
		}
	}
	if strings.Contains(line, "secret") || strings.Contains(line, "RALPH_HOME") || strings.Contains(line, "-e HOME") || strings.Contains(line, tree+"/.ralph/fix") {
		t.Errorf("%q", line)
	}
	if b.Program("/bin/ralph") != "/usr/local/bin/ralph" || b.LoopDir() != share+"/fix" || b.Settle() <= 0 {
		t.Errorf("%q, %q, %v", b.Program("/bin/ralph"), b.LoopDir(), b.Settle())
	}
	// A question to the agent's program asks the machine that is there.
	if probe, _, err := b.Probe().Wrap([]string{"claude", "--version"}, nil); err != nil || !strings.HasPrefix(strings.Join(probe, " "), "docker sandbox exec "+p.Name+" ") {
		t.Errorf("%q, %v", probe, err)
	}

	calls(t, bin)
	file := filepath.Join(tree, "it's")
	testfile.Write(t, file, "feedback")
	if err := errors.Join(b.Put(t.Context(), file, filepath.Join(tree, "gone")), b.Refresh(t.Context()), b.Sweep(t.Context())); err != nil {
		t.Fatal(err)
	}
	got := calls(t, bin)
	if len(got) != 4 || got[0] != "sandbox exec -i "+p.Name+` sh -c cat > '`+tree+`/it'\''s'` || got[1] != "sandbox stop "+p.Name || got[2] != "sandbox run "+p.Name+" -- --version" ||
		!strings.HasSuffix(got[3], " RALPH_LOOP_DIR="+share+"/fix") {
		t.Errorf("%q", got)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}

	// The next loop of the project has the same machine, with the files as they are.
	p.Loop = "next"
	next := openVM(t, p)
	if got := calls(t, bin); len(called(got, "sandbox create")) > 0 || len(called(got, "sandbox stop "+p.Name)) != 1 || len(called(got, "sandbox exec")) > 0 {
		t.Errorf("the next loop: %q", got)
	}
	if err := next.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second finds no machine
		if err := RemoveVM(t.Context(), home, tree); err != nil {
			t.Fatal(err)
		}
	}
	if got := called(calls(t, bin), "sandbox rm"); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// TestMachineInUse shows that what another loop uses is neither stopped, removed nor changed.
func TestMachineInUse(t *testing.T) {
	bin := docker(t)
	home, tree := t.TempDir(), t.TempDir()
	p := vmPolicy(t, home, tree, "one")
	first := openVM(t, p)
	calls(t, bin)
	p.Loop = "two"
	second := openVM(t, p)
	err := errors.Join(second.Refresh(t.Context()), RemoveVM(t.Context(), home, tree))
	if err != nil {
		t.Fatal(err)
	}
	p.Network = Closed
	_, err = OpenBox(t.Context(), p)
	if hinted, ok := errors.AsType[*vmError](err); !ok || !strings.Contains(err.Error(), "is in use by another loop") || !strings.Contains(hinted.Hint(), "--worktree") {
		t.Errorf("%v", err)
	}
	got := calls(t, bin)
	for _, word := range []string{"sandbox stop", "sandbox rm", "sandbox create", "sandbox network"} {
		if len(called(got, word)) > 0 {
			t.Errorf("in use: %q", got)
		}
	}
	// Both end: the next one makes the machine that it needs.
	if err := errors.Join(second.Close(), first.Close()); err != nil {
		t.Fatal(err)
	}
	openVM(t, p)
	got = calls(t, bin)
	if len(called(got, "sandbox rm")) != 1 || len(called(got, "sandbox create")) != 1 || len(called(got, "sandbox network")) != 1 {
		t.Errorf("another network: %q", got)
	}
}

// TestMachineOfWorktree shows that the machine of a worktree has nothing of ralph's, and of the
// repository what a commit writes.
func TestMachineOfWorktree(t *testing.T) {
	bin := docker(t)
	home, project := t.TempDir(), t.TempDir()
	tree := filepath.Join(project, ".ralph", "fix", "worktree")
	own := filepath.Join(project, ".git", "worktrees", "fix")
	for _, dir := range []string{tree, own} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p := vmPolicy(t, home, tree, "fix")
	p.Ralph = []string{filepath.Join(project, ".ralph", "fix", "journal"), filepath.Join(project, ".ralph", "fix", "config.json")}
	p.Git = Repository{Tree: tree, Common: filepath.Join(project, ".git"), Own: own}
	openVM(t, p)
	git := project + "/.git"
	want := "claude " + tree + " " + git + ":ro " + git + "/worktrees/fix " + git + "/objects " + git + "/refs " + git + "/logs " + p.Machine + "/share " + p.State
	if got := called(calls(t, bin), "sandbox create"); len(got) != 1 || !strings.HasSuffix(got[0], want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestMachineRefused shows what a start says of a machine that cannot be had, and that one which
// could not be set up, or which can write ralph's files, is not taken for ready.
func TestMachineRefused(t *testing.T) {
	for name, row := range map[string]struct{ file, err, hint string }{
		"half made":        {"fail-exec", "exec failed", ""},
		"writes the files": {"leaks", "cannot keep the files of the loop from an agent that works beside them", "--worktree"},
		"does not answer":  {"off", "sandbox docker-sandbox is not available here: docker sandbox ls: exit status 1: Docker Desktop is not running", "start Docker Desktop 4.58 or later"},
	} {
		t.Run(name, func(t *testing.T) {
			bin := docker(t)
			testfile.Write(t, filepath.Join(bin, row.file), "")
			p := vmPolicy(t, t.TempDir(), t.TempDir(), "fix")
			_, err := OpenBox(t.Context(), p)
			if err == nil || !strings.Contains(err.Error(), row.err) {
				t.Fatalf("%v", err)
			}
			hinted, ok := errors.AsType[*vmError](err)
			if ok != (row.hint != "") || ok && !strings.Contains(hinted.Hint(), row.hint) {
				t.Errorf("%v", err)
			}
			if made := called(calls(t, bin), "sandbox create"); len(made) > 0 {
				if text, err := os.ReadFile(filepath.Join(bin, "made")); err != nil || len(text) > 0 {
					t.Errorf("left: %q, %v", text, err)
				}
			}
			if _, err := os.Lstat(filepath.Join(p.Dir, ".ralph", ".try-"+p.Name)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%v", err)
			}
		})
	}
}
