//go:build unix

package executor_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/ground/config"
	_ "github.com/ralph-loop/ralph/internal/testkit/testgit"
	"github.com/ralph-loop/ralph/journal/event"
)

var commit = event.Decided{Do: event.DoCommit, Iteration: 1}

// tracked makes the project a repository with one commit and a change to it, and begins.
func tracked(t *testing.T, s *stage, tasks ...string) *stage {
	t.Helper()
	track(t, s, tasks...)
	return s.up()
}

func track(t *testing.T, s *stage, tasks ...string) {
	t.Helper()
	t.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+who+"_NAME", "Ada")
		t.Setenv("GIT_"+who+"_EMAIL", "ada@example.org")
	}
	s.cfg.Env = append(s.cfg.Env, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org",
		"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.org")
	git(t, s, "init", "-q")
	write(t, s.cfg.Project, "work.txt", "one\n")
	git(t, s, "add", ".")
	git(t, s, "commit", "-qm", "begin")
	write(t, s.cfg.Project, "work.txt", "two\n")
	s.cfg.SCM = config.SCM{Command: "git", Tasks: tasks}
}

func git(t *testing.T, s *stage, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = s.cfg.Project
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestAgentWritesCommitMessage(t *testing.T) {
	s := tracked(t, plays(t, "say the work\nmessage\n  think of it\n  use in=7 out=2 usd=0.5\n  say Let me see.\n  tool bash {\"command\":\"git diff\"} -> ok\n  say <response>Say two</response>\n"), "commit", "tag done")
	all := s.answer(commit)
	if got := types(all); got != "agent.used repo.committed scm.ended" {
		t.Fatalf("reported: %s", got)
	}
	if !has(all[0], `"in":7,"out":2`) || !has(all[1], `"message":"Say two","files":1,"insertions":1,"deletions":1`) {
		t.Errorf("%+v", all)
	}
	if !all[2].is(event.SCMEnded{Tasks: []string{"commit", "tag done"}}) {
		t.Error(all[2].data)
	}
	if got := git(t, s, "log", "-1", "--format=%s %D"); !strings.HasPrefix(got, "Say two ") || !strings.Contains(got, "tag: done") {
		t.Error(got)
	}
	if left := s.rest(); len(left) > 0 {
		t.Errorf("and then %+v", left)
	}
}

func TestNoMessageCommitsNothing(t *testing.T) {
	for name, row := range map[string]struct{ scenario, want string }{
		"an agent that says nothing":  {"say the work\nmessage\n  tool bash -> ok\n", "ask for a commit message: "},
		"an agent whose turn fails":   {"say the work\nmessage\n  error lost for words\n", "the agent's turn ended with an error: lost for words"},
		"an agent that ends too soon": {"say the work\nmessage\n  crash 3\n", "ask for a commit message: "},
	} {
		t.Run(name, func(t *testing.T) {
			s := tracked(t, plays(t, row.scenario), "commit", "tag never")
			all := s.answer(commit)
			if got := types(all); got != "scm.ended" || !has(all[0], `"failed":"message"`) || !has(all[0], row.want) {
				t.Errorf("reported: %+v", all)
			}
			if got := git(t, s, "status", "--porcelain") + git(t, s, "tag"); got != "M work.txt" {
				t.Errorf("the work tree: %q", got)
			}
		})
	}
}

func TestCleanTreeAsksNoAgent(t *testing.T) {
	s := tracked(t, plays(t, "crash\nmessage\n  crash\n"), "commit")
	git(t, s, "checkout", "-q", "work.txt")
	all := s.answer(commit)
	if len(all) != 1 || !all[0].is(event.SCMEnded{Nothing: true}) || s.agents != 0 {
		t.Errorf("%d agents, %+v", s.agents, all)
	}
}

func TestTasksWithoutMessage(t *testing.T) {
	s := tracked(t, plays(t, "crash\nmessage\n  crash\n"), "tag done")
	all := s.answer(commit)
	if len(all) != 1 || !all[0].is(event.SCMEnded{Tasks: []string{"tag done"}}) || s.agents != 0 {
		t.Errorf("%d agents, %+v", s.agents, all)
	}
}

func TestFailedTaskHasGitOutput(t *testing.T) {
	s := tracked(t, plays(t, "say the work\nmessage\n  say Say two\n"), "commit", "push nowhere", "tag never")
	all := s.answer(commit)
	last := all[len(all)-1]
	if !has(last, `"tasks":["commit"],"failed":"push nowhere"`) || !has(last, "nowhere") {
		t.Error(last.data)
	}
	if got := git(t, s, "log", "-1", "--format=%s") + git(t, s, "tag"); got != "Say two" {
		t.Error(got)
	}
}

func TestCancelEndsAskedAgent(t *testing.T) {
	s := tracked(t, plays(t, "say the work\nmessage\n  use in=1\n  silence\n"), "commit")
	s.do(commit)
	s.until(event.TypeAgentUsed)
	s.do(cancel)
	if e := s.next(); e.typ != event.TypeSCMEnded || !has(e, `"failed":"message"`) {
		t.Errorf("answered by %+v", e)
	}
}
