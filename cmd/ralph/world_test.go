//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/front/cli"
	_ "github.com/ralph-loop/ralph/internal/testkit/testgit"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// place is a project and a ralph home of its own, for real processes.
type place struct {
	*testing.T
	dir, home string
	as        *syscall.Credential // owner of the processes; nil for the user of the test
	program   string
	untrusted bool // the project's settings are not trusted
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{T: t, dir: t.TempDir(), home: t.TempDir(), program: "ralph"}
	// Two ways to the same folder are one project to ralph.
	dir, err := filepath.EvalSymlinks(p.dir)
	p.must(err)
	p.dir = dir
	t.Cleanup(func() { endRunners(p.home) })
	return p
}

func (p *place) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

func (p *place) command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.program, args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "RALPH_HOME="+p.home, "HOME="+p.home)
	if p.untrusted {
		cmd.Env = append(cmd.Env, cli.TrustVariable+"=")
	}
	if p.as != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.as}
	}
	return cmd
}

// ralph runs a verb to its end.
func (p *place) ralph(args ...string) (stdout, stderr string, code int) {
	p.Helper()
	var out, errs strings.Builder
	cmd := p.command(args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		p.Fatalf("ralph %v: %v", args, err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// fine runs ralph, and fails the test unless the exit code is 0.
func (p *place) fine(args ...string) (stdout string) {
	p.Helper()
	stdout, stderr, code := p.ralph(args...)
	if code != 0 {
		p.Fatalf("ralph %v: exit %d\n%s%s", args, code, stdout, stderr)
	}
	return stdout
}

// script writes a program and returns its path.
func (p *place) script(name, text string) string {
	return program(p.T, p.dir, name, text)
}

func (p *place) loop(name string) string { return filepath.Join(p.dir, cli.RalphFolder, name) }

// until waits for something that another process makes true.
func (p *place) until(what string, is func() bool) {
	p.Helper()
	if !becomes(is) {
		p.Fatalf("waited in vain: %s", what)
	}
}

func (p *place) dead(name string) bool {
	live, err := registry.Probe(p.loop(name))
	p.must(err)
	return !live.Alive
}

// written waits until a file in the project holds something: a shell makes it before it writes.
func (p *place) written(file string) {
	p.Helper()
	p.until("something in "+file, func() bool {
		text, err := os.ReadFile(filepath.Join(p.dir, file))
		return err == nil && len(text) > 0
	})
}

// alive reports whether the process lives whose pid is in a file of the project.
func (p *place) alive(file string) bool {
	var pid int
	text, err := os.ReadFile(filepath.Join(p.dir, file))
	p.must(err)
	_, err = fmt.Sscan(string(text), &pid)
	p.must(err)
	return syscall.Kill(pid, 0) == nil
}

// Of twenty that start the same loop at the same moment, one runs it, the others report that, and
// nothing of the loop is damaged. After its end, twenty resume it.
func TestRacingStarts(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	agent := p.script("agent.sh", "cat > /dev/null\necho $$ >> started\nsleep 300\n")
	race := func(args ...string) {
		t.Helper()
		var wg sync.WaitGroup
		results := make(chan string, 20)
		for i := range 20 {
			wg.Go(func() {
				_, stderr, code := p.ralph(append(args, "--set", fmt.Sprintf("maximumIterations=%d", 100+i), "--agent", agent, "--protocol", "text")...)
				if code == 0 {
					results <- ""
					return
				}
				if code != event.ExitUsage {
					stderr = fmt.Sprintf("exit %d: %s", code, stderr)
				}
				results <- stderr
			})
		}
		wg.Wait()
		close(results)
		won := 0
		for r := range results {
			switch {
			case r == "":
				won++
			case !strings.Contains(r, "loop one is already run by ") && !strings.Contains(r, "loop one has changed meanwhile"):
				t.Errorf("a start that lost says: %s", r)
			}
		}
		state, err := loopstate.Open(p.loop("one"))
		p.must(err)
		if won != 1 || state.Status() != "running" {
			t.Errorf("%d of twenty started; the loop is %s", won, state.Status())
		}
		// The settings in the folder are the winner's.
		frozen, err := os.ReadFile(filepath.Join(p.loop("one"), "config.json"))
		p.must(err)
		if want := fmt.Sprintf(`"maximumIterations": %d,`, state.Rules.MaximumIterations); !strings.Contains(string(frozen), want) {
			t.Errorf("config.json is not what the loop runs with, %s:\n%s", want, frozen)
		}
	}
	race("start", "one", "--detach", "-p", "x")
	p.until("the agent to have begun", func() bool {
		_, err := os.Stat(filepath.Join(p.dir, "started"))
		return err == nil
	})
	p.fine("stop", "one", "--now")
	p.until("the loop to end", func() bool { return p.dead("one") })
	race("start", "one", "--detach", "--resume")
	p.fine("stop", "one", "--now")
	p.until("the loop to end", func() bool { return p.dead("one") })
	race("start", "one", "--detach", "--fresh", "-p", "x")
	p.fine("kill", "one")
	p.until("the loop to end", func() bool { return p.dead("one") })
	p.fine("journal", "verify", "one")
	if archived, err := os.ReadDir(filepath.Join(p.dir, cli.RalphFolder, "archive")); err != nil || len(archived) != 1 {
		t.Errorf("archived: %v %v", archived, err)
	}
	started, err := os.ReadFile(filepath.Join(p.dir, "started"))
	p.must(err)
	if n := strings.Count(string(started), "\n"); n > 3 {
		t.Errorf("%d agents were started by three runners", n)
	}
}

// A folder that may not be written is reported, at the start of a loop and at its resume.
func TestReadOnlyFolder(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if os.Geteuid() == 0 {
		p.asNobody()
	}
	agent := p.script("agent.sh", "cat > /dev/null\necho working\n")
	p.must(os.Chmod(p.dir, 0o555))
	t.Cleanup(func() { os.Chmod(p.dir, 0o755) })
	_, stderr, code := p.ralph("start", "one", "--detach", "-p", "x", "--agent", agent, "--protocol", "text")
	if code != event.ExitUsage || !strings.Contains(stderr, "ralph: error: make the loop's folder: ") || !strings.Contains(stderr, "ralph: hint: ") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	p.must(os.Chmod(p.dir, 0o777))
	_, stderr, code = p.ralph("start", "one", "--detach", "-m", "1", "-p", "x", "--agent", agent, "--protocol", "text")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	p.until("the loop to end", func() bool { return p.dead("one") })
	for _, folder := range []string{"journal", "."} {
		path := filepath.Join(p.loop("one"), folder)
		p.must(os.Chmod(path, 0o555))
		_, stderr, code = p.ralph("start", "one", "--detach", "--resume", "-m", "9", "--agent", agent, "--protocol", "text")
		if code != event.ExitFailed || !strings.Contains(stderr, "ralph: error: ") || !strings.Contains(stderr, "permission denied") {
			t.Errorf("%s: exit %d: %s", folder, code, stderr)
		}
		p.must(os.Chmod(path, 0o777))
	}
	p.fine("journal", "verify", "one")
}

// asNobody runs all processes of a place as another user, without the tester's rights.
func (p *place) asNobody() {
	nobody := uint32(65534)
	p.as = &syscall.Credential{Uid: nobody, Gid: nobody}
	// The ralph of these tests is in a folder that only the tester can read.
	path, err := exec.LookPath("ralph")
	p.must(err)
	folder := p.TempDir()
	p.program = filepath.Join(folder, "ralph")
	from, err := os.Open(path)
	p.must(err)
	defer from.Close()
	p.must(writeProgram(p.program, from))
	for _, dir := range []string{folder, p.dir, p.home} {
		p.must(os.Chmod(filepath.Dir(dir), 0o755))
		p.must(os.Chmod(dir, 0o777))
	}
	p.must(os.Chown(p.dir, int(nobody), int(nobody)))
}

// What an agent does until the disk is full.
const (
	printsMuch = "yes 'more and more and more and more and more and more and more'\n"
	makesFiles = "n=0; while touch $RALPH_LOOP_DIR/from-agent/.drop-$n; do n=$((n+1)); done\n"
	fillsOnce  = "cd $RALPH_LOOP_DIR\ntest -e fill && exit\nhead -c 4000000 /dev/zero > fill\nhead -c 9000 /dev/zero | tr '\\0' x\nexit 1\n"
)

// A full disk ends the loop and its agent with a clear message, and nothing that was shown is lost.
// Once there is room, the loop goes on.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for _, way := range []struct {
		name  string
		small func(*testing.T, *place) (start func(args ...string) *exec.Cmd, room func())
		does  string // the agent
		guard string // the guardrails
		says  string
		first string // what failed
	}{
		{"a file system without room", smallFileSystem, printsMuch, "[]", "no space left on device", "append to the journal"},
		{"a limit on the size of a file", smallFiles, printsMuch, "[]", "file too large", "append to the journal"},
		{"a file system that may have no more files", smallFileSystem, makesFiles, "[]", "no space left on device", "begin the next segment"},
		{"a guardrail without room", smallFileSystem, "echo done\n", `[{"command":"./fill.sh"}]`, "no space left on device", "append to the journal"},
	} {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			start, room := way.small(t, p)
			agent := program(t, p.home, "agent.sh", "cat > /dev/null\necho $$ > $RALPH_HOME/pid\nsleep 300 & "+way.does)
			var errs strings.Builder
			p.script("fill.sh", fillsOnce)
			begin := start("start", "one", "--detach", "-p", "x", "--agent", agent, "--protocol", "text", "--guardrails", way.guard)
			begin.Stderr = &errs
			if err := begin.Run(); err != nil {
				t.Fatalf("start: %v\n%s", err, errs.String())
			}
			var shown strings.Builder
			attach := p.command("attach", "one", "--json")
			attach.Stdout, attach.Stderr = &shown, &errs
			_ = attach.Run()
			if attach.ProcessState.ExitCode() != event.ExitFailed {
				t.Errorf("attach: %v\n%s", attach.ProcessState, errs.String())
			}
			p.until("the runner to leave", func() bool { return p.dead("one") })
			pid, err := os.ReadFile(filepath.Join(p.home, "pid"))
			p.must(err)
			if p.must(os.WriteFile(filepath.Join(p.home, "again"), pid, 0o600)); p.aliveIn(p.home, "again") {
				t.Error("the agent is alive")
			}
			stdout, stderr, code := p.ralph("status", "one")
			if !strings.Contains(stdout+stderr, way.says) || !strings.Contains(stdout, "make room, make the folder writable or put it back, then 'ralph start one --resume'") {
				t.Errorf("status (%d) does not say why and what next:\n%s%s", code, stdout, stderr)
			}
			log, err := os.ReadFile(filepath.Join(p.loop("one"), "runner.log"))
			if err != nil || strings.Count(string(log), "ralph: error: ") != 1 || !strings.HasPrefix(string(log), "ralph: error: "+way.first+": ") {
				t.Errorf("runner.log: %v\n%s", err, log)
			}
			p.fine("journal", "verify", "one")
			p.fine("replay", "one", "--verify")
			p.fine("journal", "rebuild", "--check", "one")
			onDisk, err := os.ReadFile(filepath.Join(p.loop("one"), loopstate.StateFile))
			p.must(err)
			var folded loopstate.State
			for e, err := range journal.Read(p.loop("one"), journal.ReadOptions{}) {
				p.must(err)
				p.must(folded.Fold(e))
			}
			if !bytes.Equal(onDisk, loopstate.Encode(&folded)) {
				t.Errorf("state.json is not what the whole journal says:\n%s\nwant\n%s", onDisk, loopstate.Encode(&folded))
			}
			if _, err := os.Stat(filepath.Join(p.loop("one"), "reserve")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the reserve: %v", err)
			}
			room()
			quick := program(t, p.home, "quick.sh", "cat > /dev/null\necho '<promise>COMPLETE</promise>'\n")
			p.fine("start", "one", "--detach", "--resume", "--agent", quick, "--protocol", "text", "--set", "completion.minToolCalls=0")
			p.until("the loop to end", func() bool { return p.dead("one") })
			state, err := loopstate.Open(p.loop("one"))
			p.must(err)
			if state.Status() != "completed" {
				t.Errorf("the resumed loop is %s", state.Status())
			}
			var whole strings.Builder
			for e, err := range journal.Read(p.loop("one"), journal.ReadOptions{}) {
				p.must(err)
				whole.Write(e.Line())
				whole.WriteByte('\n')
			}
			if !strings.Contains(whole.String(), shown.String()) {
				t.Error("something that was shown is not in the journal")
			}
		})
	}
}

func (p *place) aliveIn(dir, file string) bool {
	q := *p
	q.dir = dir
	return q.alive(file)
}

// smallFiles lets no file of the runner grow beyond 1 MB.
func smallFiles(t *testing.T, p *place) (start func(...string) *exec.Cmd, room func()) {
	return func(args ...string) *exec.Cmd {
		cmd := p.command()
		cmd.Path, cmd.Err = "/bin/sh", nil
		cmd.Args = append([]string{"sh", "-c", `ulimit -f 2048; exec ralph "$@"`, "ralph"}, args...)
		return cmd
	}, func() {}
}

// A runner that first has to end stubborn processes of the one before starts slowly, and its
// starter says so meanwhile.
func TestSlowStartIsReported(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	agent := p.script("agent.sh", "trap '' TERM\ncat > /dev/null\necho $$ > pid\nwhile true; do sleep 300; done\n")
	p.fine("start", "one", "--detach", "-p", "x", "--agent", agent, "--protocol", "text")
	p.written("pid")
	live, err := registry.Probe(p.loop("one"))
	p.must(err)
	p.must(syscall.Kill(live.PID, syscall.SIGKILL))
	p.until("the runner to be dead", func() bool { return p.dead("one") })
	if !p.alive("pid") {
		t.Fatal("the agent is not stubborn")
	}
	quick := p.script("quick.sh", "cat > /dev/null\necho '<promise>COMPLETE</promise>'\n")
	_, stderr, code := p.ralph("start", "one", "--detach", "--resume", "--agent", quick, "--protocol", "text")
	if code != 0 || !strings.Contains(stderr, "ralph: loop one is starting …") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	p.until("the stubborn agent to be gone", func() bool { return !p.alive("pid") })
	if swept := p.fine("logs", "one", "--json", "--type", "loop.resumed"); !strings.Contains(swept, `"swept":`) {
		t.Errorf("the sweep is not in the journal:\n%s", swept)
	}
}

// A runner that dies while a command waits for its delivery does not answer. The command reports
// that, instead of waiting until its --wait is over.
func TestCommandNoticesDeadRunner(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	agent := p.script("agent", "exec sleep 600\n")
	runner := p.command("run", "--name", "deaf", "--agent", agent, "--protocol", "text", "-p", "wait")
	p.must(runner.Start())
	p.until("the loop to run", func() bool {
		state, err := loopstate.Open(p.loop("deaf"))
		return err == nil && state.Status() == "running"
	})
	var out strings.Builder
	steer := p.command("steer", "--loop", "deaf", "--wait", "1h", "hello")
	steer.Stdout, steer.Stderr = &out, &out
	p.must(steer.Start())
	p.until("the runner to have the command", func() bool {
		return p.fine("logs", "deaf", "--json", "--type", "command.received") != ""
	})
	p.must(runner.Process.Kill())
	if err := steer.Wait(); err != nil || !strings.Contains(out.String(), "steer received by loop deaf, whose runner has ended since") {
		t.Errorf("%v: %s", err, out.String())
	}
	_ = runner.Wait()
}
