//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// A loop that cannot be resumed because the disk is full stays as it ended, however often a resume
// fails, and no iteration number is used up. The first resume that finds room goes on where the
// loop stopped.
func TestResumeOnFullDiskFails(t *testing.T) {
	t.Parallel()
	for _, way := range []struct {
		name  string
		says  string
		tight func(*testing.T, *place) (start func(args ...string) *exec.Cmd, room func())
	}{
		{"a file system without room", "no space left on device", fullFileSystem},
		{"a limit on the size of a file", "file too large", tinyFiles},
	} {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			agent := program(t, p.home, "agent.sh", "cat > /dev/null\necho working\n")
			start, room := way.tight(t, p)
			if _, stderr, code := p.ralph("run", "--name", "one", "-m", "1", "-p", "x", "--agent", agent, "--protocol", "text"); code != event.ExitLimit {
				t.Fatalf("exit %d: %s", code, stderr)
			}
			for range 3 {
				var errs strings.Builder
				resume := start("start", "one", "--detach", "--resume", "-m", "2", "--agent", agent, "--protocol", "text")
				resume.Stderr = &errs
				if err := resume.Run(); err == nil || !strings.Contains(errs.String(), way.says) {
					t.Fatalf("the resume: %v\n%s", err, errs.String())
				}
				p.until("the runner to leave", func() bool { return p.dead("one") })
				state, err := loopstate.Open(p.loop("one"))
				p.must(err)
				if state.Status() != "stopped" || state.Lifecycle.Iteration != 1 {
					t.Errorf("the loop is %s in iteration %d", state.Status(), state.Lifecycle.Iteration)
				}
				if listed := p.fine("list"); !strings.Contains(listed, "stopped") || strings.Contains(listed, "died") {
					t.Errorf("it is listed as\n%s", listed)
				}
			}
			room()
			p.fine("start", "one", "--detach", "--resume", "-m", "2", "--agent", agent, "--protocol", "text")
			p.until("the loop to end", func() bool { return p.dead("one") })
			state, err := loopstate.Open(p.loop("one"))
			p.must(err)
			if state.Summary().Reason != "iterations" || state.Lifecycle.Iteration != 2 {
				t.Errorf("with room it is %s in iteration %d", state.Summary().Reason, state.Lifecycle.Iteration)
			}
			p.fine("journal", "verify", "one")
		})
	}
}

// fullFileSystem leaves less room on the file system of .ralph than a runner reserves for its end,
// from the first start on.
func fullFileSystem(t *testing.T, p *place) (start func(...string) *exec.Cmd, room func()) {
	unbounded, _ := smallFileSystem(t, p)
	ballast := filepath.Join(p.dir, cli.RalphFolder, "ballast")
	fill := sync.OnceFunc(func() {
		f, err := os.Create(ballast)
		p.must(err)
		for block := make([]byte, 4096); err == nil; {
			_, err = f.Write(block)
		}
		info, err := f.Stat()
		p.must(err)
		p.must(f.Truncate(info.Size() - 100<<10))
		p.must(f.Close())
	})
	return func(args ...string) *exec.Cmd {
		fill()
		return unbounded(args...)
	}, func() { p.must(os.Remove(ballast)) }
}

// tinyFiles limits the runner's files to less than it reserves for its end.
func tinyFiles(t *testing.T, p *place) (start func(...string) *exec.Cmd, room func()) {
	return limited(p, "ulimit -f 200"), func() {}
}

// limited runs ralph after a command of the shell.
func limited(p *place, limit string) func(...string) *exec.Cmd {
	return func(args ...string) *exec.Cmd {
		cmd := p.command()
		cmd.Path, cmd.Err = "/bin/sh", nil
		cmd.Args = append([]string{"sh", "-c", limit + `; exec ralph "$@"`, "ralph"}, args...)
		return cmd
	}
}

// If a loop needs more open files than the limit allows, ralph says so before anything begins. If
// they just suffice, the loop completes.
func TestFewDescriptors(t *testing.T) {
	t.Parallel()
	for _, most := range []int{24, 127, 128} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.must(exec.Command("git", "init", "-q", p.dir).Run())
			p.must(os.Mkdir(filepath.Join(p.dir, cli.RalphFolder), 0o700))
			p.must(os.WriteFile(filepath.Join(p.dir, cli.RalphFolder, "settings.json"), []byte(`{"guardrails": [{"command": "true"}]}`), 0o600))
			agent := program(t, p.home, "agent.sh", "cat > /dev/null\necho work >> $RALPH_LOOP_DIR/../../work\necho '<promise>COMPLETE</promise>'\n")
			run := limited(p, fmt.Sprintf("ulimit -n %d", most))("run", "--name", "one", "-m", "3", "-p", "x", "--agent", agent, "--protocol", "text")
			said, err := run.CombinedOutput()
			_, begun := os.Stat(p.loop("one"))
			switch code := run.ProcessState.ExitCode(); {
			case code == event.ExitUsage && strings.Contains(string(said), "open files") && begun != nil:
			case code == event.ExitCompleted && most >= 128:
				p.fine("journal", "rebuild", "--check", "one")
			default:
				t.Errorf("exit %d (%v), begun: %v\n%s", code, err, begun == nil, said)
			}
		})
	}
}

// A process that holds the journal open keeps out every other writer, even if no process holds
// run.lock.
func TestJournalInUseIsUntouched(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	agent := p.script("agent.sh", "cat > /dev/null\n")
	if _, stderr, code := p.ralph("run", "--name", "one", "-m", "1", "-p", "x", "--agent", agent, "--protocol", "text"); code != event.ExitLimit {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	rec, err := journal.Recover(p.loop("one"), journal.Options{})
	p.must(err)
	state, err := loopstate.Open(p.loop("one"))
	p.must(err)
	w, _, err := journal.Create(p.loop("one"), rec, 1, state.Checkpoint(), journal.Options{})
	p.must(err)
	for _, verb := range [][]string{
		{"start", "one", "--detach", "--resume", "-m", "2", "--agent", agent, "--protocol", "text"},
		{"start", "one", "--detach", "--fresh", "-p", "x", "--agent", agent, "--protocol", "text"},
		{"journal", "repair", "one"},
		{"journal", "rebuild", "one"},
	} {
		_, stderr, code := p.ralph(verb...)
		if code != event.ExitUsage || !strings.Contains(stderr, "ralph: error: loop one: ") || !strings.Contains(stderr, "another process has the journal open for writing") || !strings.Contains(stderr, "ralph: hint: ") {
			t.Errorf("%v: exit %d: %s", verb, code, stderr)
		}
	}
	p.must(w.Close())
	p.fine("journal", "verify", "one")
	p.fine("start", "one", "--detach", "--resume", "-m", "2", "--agent", agent, "--protocol", "text")
	p.until("the loop to end", func() bool { return p.dead("one") })
	p.fine("journal", "verify", "one")
}

// Commands that were dropped into the inbox of a loop without a runner are in the first prompt
// after it is resumed.
func TestResumeReadsInboxFirst(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.rehearsed("one")
	p.fine("stop", "one", "--now")
	p.until("the runner to be gone", func() bool { return p.dead("one") })
	_, err := inbox.Drop(p.loop("one"), inbox.Command{Kind: inbox.FollowUp, Text: "and the docs, please", From: "cli:ada@mill"})
	p.must(err)
	p.fine("start", "one", "--detach", "--resume")
	began := strings.Split(strings.TrimSpace(p.fine("logs", "one", "--json", "--type", "iteration.started")), "\n")
	if len(began) != 2 || !strings.Contains(began[1], "and the docs, please") {
		t.Errorf("the words are not in the next prompt:\n%s", began)
	}
	p.fine("stop", "one", "--now")
}

// A command in the inbox may hold a resumed loop back before its first agent. The loop runs, and
// its starter returns.
func TestResumeIntoPauseReturns(t *testing.T) {
	t.Parallel()
	for kind, status := range map[inbox.Kind]event.Status{inbox.Pause: event.StatusPaused, inbox.Wait: event.StatusWaiting} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.rehearsed("one")
			p.fine("stop", "one", "--now")
			p.until("the runner to be gone", func() bool { return p.dead("one") })
			_, err := inbox.Drop(p.loop("one"), inbox.Command{Kind: kind, Text: "a person is needed", From: "cli:ada@mill"})
			p.must(err)
			p.fine("start", "one", "--detach", "--resume")
			if page := p.fine("status", "one", "--json"); !strings.Contains(page, `"status":"`+status.String()+`"`) {
				t.Errorf("it is not %s:\n%.200s", status, page)
			}
			p.fine("stop", "one", "--now")
		})
	}
}
