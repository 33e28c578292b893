//go:build unix

package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/journal/event"
)

// What the agent left uncommitted is named, and a merge asks before it commits that with the words
// of the agent. Any other answer than yes changes nothing.
func TestMergeAsksToCommit(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	git := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("git", append([]string{"-C", p.dir}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q", "-b", "main")
	git("config", "user.name", "Ada")
	git("config", "user.email", "ada@example.org")
	git("commit", "-q", "--allow-empty", "-m", "first")
	agent := p.script("lazy", "echo one > made.txt; echo two > new.txt; echo 'Two files are done.'; echo '<promise>COMPLETE</promise>'")
	p.fine("run", "--name", "lazy", "--worktree", "-p", "x", "--agent", agent, "--protocol", "text")
	for name, row := range map[string]struct {
		keys string
		code int
	}{
		"no":     {"n" + enter, event.ExitUsage},
		"enter":  {enter, event.ExitUsage},
		"ctrl-c": {ctrlC, event.ExitInterrupted},
		"ctrl-d": {ctrlD, event.ExitInterrupted},
	} {
		talk := p.terminal(p.command("merge", "lazy"))
		talk.sees("2 files in the worktree are not committed:")
		talk.sees("made.txt, new.txt")
		talk.sees(`Commit them on ralph/lazy as "Two files are done."? (y/N): `)
		talk.types(row.keys)
		talk.leaves(row.code)
		if heads := git("rev-list", "--count", "--branches"); heads != "1" {
			t.Errorf("%s: there are %s commits", name, heads)
		}
	}
	talk := p.terminal(p.command("merge", "lazy"))
	talk.sees("(y/N): ")
	talk.types("y" + enter)
	talk.sees("committed ")
	talk.sees("Two files are done. (2 files)")
	talk.sees("merged 1 commit of ralph/lazy into main")
	talk.leaves(0)
	if subject, files := git("log", "-1", "--format=%s", "main"), git("show", "--format=", "--name-only", "main"); subject != "Two files are done." || files != "made.txt\nnew.txt" {
		t.Errorf("main has %q with %q", subject, files)
	}
}
