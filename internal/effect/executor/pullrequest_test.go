//go:build unix

package executor_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/effect/guardrail"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/redact"
	"github.com/ralph-loop/ralph/journal/event"
)

// published is a project on a branch whose remote is on GitHub. Its pushes go to a bare repository,
// and gh is the script of package forge, with these answers.
func published(t *testing.T, answers map[string]string, tasks ...string) *stage {
	t.Helper()
	bin, err := filepath.Abs("../forge/testdata/bin")
	if err != nil {
		t.Fatal(err)
	}
	dir, bare := t.TempDir(), t.TempDir()
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	for name, text := range answers {
		write(t, dir, name, text)
	}
	s := plays(t, "say the work\nmessage\n  say Say two\n")
	s.cfg.Env = append(os.Environ(), "FORGE_ANSWERS="+dir, "DEPLOY_TOKEN=hunter2hunter2")
	s.cfg.Secrets = redact.New(s.cfg.Env)
	track(t, s, tasks...)
	s.cfg.SCM.Draft = true
	git(t, s, "init", "-q", "--bare", bare)
	git(t, s, "remote", "add", "origin", "https://github.com/acme/shop.git")
	git(t, s, "remote", "set-url", "--push", "origin", bare)
	git(t, s, "switch", "-q", "-c", "say-two")
	t.Setenv("FORGE_ANSWERS", dir)
	return s
}

func called(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(os.Getenv("FORGE_ANSWERS"), "calls"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// noneYet are the answers of gh for a branch without a pull request.
func noneYet() map[string]string {
	return map[string]string{
		"gh-pr-view.err": "no pull requests found for branch \"say-two\"\n", "gh-pr-view.code": "1",
		"gh-pr-create.out": "https://github.com/acme/shop/pull/7\n",
	}
}

func TestPullRequestIsMade(t *testing.T) {
	s := published(t, noneYet(), "commit", "push", "pr")
	s.cfg.Guardrails = []guardrail.Guardrail{{Command: "true | cat"}}
	s.up()
	write(t, s.cfg.Dir, "PR.md", "# Say two instead of one\n\nBecause hunter2hunter2 is two.\n")
	s.answer(check)
	all := s.answer(commit)
	if got := types(all); got != "repo.committed scm.ended" {
		t.Fatalf("reported: %s", got)
	}
	if !all[1].is(event.SCMEnded{Tasks: []string{"commit", "push", "pr"}, PR: "https://github.com/acme/shop/pull/7"}) {
		t.Error(all[1].data)
	}
	text := called(t)
	for _, part := range []string{
		"pr\ncreate\n--title\nSay two instead of one\n--body-file\n-\n--draft\n",
		"\nBecause [masked:DEPLOY_TOKEN] is two.\n\n## Guardrails\n\n| command | result |\n|---|---|\n| `true \\| cat` | passed in ",
		"\n\nLoop `" + filepath.Base(s.cfg.Dir) + "`, after iteration 1.\n",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
}

func TestPullRequestFromCommits(t *testing.T) {
	s := published(t, noneYet(), "commit", "push", "pr")
	s.cfg.SCM.Draft = false
	s.up()
	git(t, s, "update-ref", "refs/remotes/origin/main", "HEAD")
	git(t, s, "commit", "-q", "--allow-empty", "-m", "Begin to count")
	s.answer(commit)
	if text := called(t); !strings.Contains(text, "--title\nBegin to count\n--body-file\n-\n-- stdin\n") || !strings.Contains(text, "\n- Begin to count\n- Say two\n") {
		t.Error(text)
	}
}

func TestPullRequestFails(t *testing.T) {
	for name, row := range map[string]struct {
		answers map[string]string
		prepare func(s *stage)
		want    string // in scm.ended
	}{
		"without a login": {
			map[string]string{"gh-pr-view.err": "To get started with GitHub CLI, please run:  gh auth login\n", "gh-pr-view.code": "4"}, nil,
			`"tasks":["commit","push"],"failed":"pr","error":"gh pr view: it is not logged in`,
		},
		"nothing of its own": {
			map[string]string{"gh-pr-view.err": "no pull requests found for branch \"x\"", "gh-pr-view.code": "1", "gh-pr-create.err": "pull request create failed: GraphQL: No commits between main and x (createPullRequest)", "gh-pr-create.code": "1"}, nil,
			`{"tasks":["commit","push"]}`,
		},
		"another file in the place of the agent's": {noneYet(), func(s *stage) {
			if err := os.Symlink("/etc/passwd", filepath.Join(s.cfg.Dir, "PR.md")); err != nil {
				s.t.Fatal(err)
			}
		}, `"pr":"https://github.com/acme/shop/pull/7"`},
		"the default branch": {noneYet(), func(s *stage) { git(s.t, s, "switch", "-q", "-c", "main") },
			`"tasks":["commit"],"failed":"push","error":"make a pull request: the branch is the one that it would be merged into: main\nwork on a branch of its own: 'git switch -c NAME'"`},
		"no forge": {nil, func(s *stage) { git(s.t, s, "remote", "set-url", "origin", "/srv/git/shop.git") }, `"failed":"pr","error":"find the forge: no remote`},
	} {
		t.Run(name, func(t *testing.T) {
			s := published(t, row.answers, "commit", "push", "pr").up()
			if row.prepare != nil {
				row.prepare(s)
			}
			all := s.answer(commit)
			if last := all[len(all)-1]; !has(last, row.want) {
				t.Error(last.data)
			}
		})
	}
}

// The prompt asks for the description where there is to be a pull request.
func TestPromptAsksForDescription(t *testing.T) {
	for _, tasks := range [][]string{{"commit", "push", "pr"}, {"commit", "push"}} {
		s := plays(t, "say the work\n")
		s.cfg.SCM = config.SCM{Command: "git", Tasks: tasks}
		s.cfg.Memory = func(int) bool { return true }
		s.up()
		s.answer(begins())
		if asks := strings.Contains(s.prompts[0], "PR.md"); asks != s.cfg.SCM.Publishes() {
			t.Errorf("%v: %s", tasks, s.prompts[0])
		}
	}
}

func TestCommentsAreForeign(t *testing.T) {
	s := plays(t, "say the work\n").up()
	s.state.Commands.Open = []policy.Message{
		{ID: "a", Kind: event.CommandFollowUp, Text: "from a person"},
		{ID: "b", Kind: event.CommandFollowUp, Text: "from a stranger", From: policy.FromPullRequest + "bob"},
	}
	s.answer(begins("a", "b"))
	_, comments, ok := strings.Cut(s.prompts[0], "\nReview comments on the pull request")
	if !ok || !strings.Contains(comments, "- from a stranger") || strings.Contains(comments, "from a person") {
		t.Error(s.prompts[0])
	}
}

func TestPullRequestOfStories(t *testing.T) {
	s := published(t, noneYet(), "commit", "push", "pr")
	story := func(id, title string, passes bool) string {
		return fmt.Sprintf(`{"id":%q,"title":%q,"description":"d","acceptanceCriteria":["a"],"priority":1,"passes":%v,"reviewStatus":null,"reviewCount":0,"reviewFeedback":"","notes":"done","dependsOn":[]}`, id, title, passes)
	}
	if err := os.Mkdir(filepath.Join(s.cfg.Project, "ralph"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(s.cfg.Project, "ralph"), "tasks.json", `{"project":"p","branchName":"b","description":"Count to two.\nSlowly.","verifyCommands":[],"userStories":[`+
		story("US-001", "Say one", true)+","+story("US-002", "Say  two", false)+"]}")
	s.state.Rules.Stories, s.state.Rules.Review = true, event.ReviewRules{Skip: true, Cap: 5}
	s.up()
	if all := s.answer(begins()); !strings.HasSuffix(types(all), "iteration.started") {
		t.Fatalf("%+v", all)
	}
	s.answer(commit)
	if text := called(t); !strings.Contains(text, "--title\nCount to two.\n") || !strings.Contains(text, "\n## Stories\n\n- [x] US-001: Say one\n- [ ] US-002: Say two\n\nLoop `") {
		t.Error(text)
	}
}
