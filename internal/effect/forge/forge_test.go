//go:build unix

package forge

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/testkit/testfile"
)

const (
	onGitHub = "git@github.com:acme/shop.git"
	onGitLab = "https://gitlab.example.org/acme/web/shop.git"
)

// answers are the answers of the scripted programs, by the names of their files.
type answers map[string]string

// scripted returns a place where gh and glab are the scripts of testdata.
func scripted(t *testing.T, a answers, remotes ...string) Place {
	t.Helper()
	dir := t.TempDir()
	bin, err := filepath.Abs("testdata/bin")
	must(t, err)
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("FORGE_ANSWERS", dir)
	for name, text := range a {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return Place{Dir: t.TempDir(), Remotes: remotes}
}

// calls returns what the programs were called with.
func calls(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(os.Getenv("FORGE_ANSWERS"), "calls"))
	if errors.Is(err, os.ErrNotExist) {
		return ""
	}
	must(t, err)
	return string(text)
}

func recorded(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	must(t, err)
	return string(text)
}

var must = testfile.Must

func TestIssueOfEachForge(t *testing.T) {
	for name, row := range map[string]struct {
		answers answers
		remote  string
		ref     string
		called  string
		want    Issue
	}{
		"GitHub by number": {
			answers{"gh-issue-view.out": recorded(t, "gh/issue-view.json")}, onGitHub, "#42",
			"== gh\nissue\nview\n42\n--json\nnumber,title,body,comments,labels,url,state,author\n",
			Issue{
				Number: 42, Title: "Login fails", URL: "https://github.com/acme/shop/issues/42", State: "open", Author: "bob", Labels: []string{"bug"},
				Body:     "The login page shows 500.\n\n- [ ] a wrong password shows a message\n- [x] the log has the cause\n\n```\n- [ ] no criterion\n```\n\n",
				Comments: []IssueComment{{"eve", "It also happens with IPv6."}},
			},
		},
		"GitLab by address": {
			answers{"glab-issue-view.out": recorded(t, "glab/issue-view.json")}, onGitHub, "https://gitlab.example.org/acme/web/shop/-/issues/42#note_3",
			"== glab\nissue\nview\nhttps://gitlab.example.org/acme/web/shop/-/issues/42\n--comments\n--per-page\n100\n--output\njson\n",
			Issue{
				Number: 42, Title: "Login fails", URL: "https://gitlab.example.org/acme/web/shop/-/issues/42", State: "open", Author: "bob", Labels: []string{"bug", "login"},
				Body:     "The login page shows 500.\n\n* [ ] a wrong password shows a message\n",
				Comments: []IssueComment{{"eve", "It also happens with IPv6."}},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := scripted(t, row.answers, row.remote).Issue(t.Context(), row.ref)
			if diff := cmp.Diff(row.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			if called := calls(t); called != row.called {
				t.Errorf("called:\n%s", called)
			}
		})
	}
}

func TestReferences(t *testing.T) {
	for text, want := range map[string]string{
		"42":                                    "42",
		" #42 ":                                 "42",
		"https://github.com/acme/shop/issues/4": "https://github.com/acme/shop/issues/4",
		"https://github.com/acme/shop/issues/4?x=1#issuecomment-5": "https://github.com/acme/shop/issues/4",
		"https://gitlab.com/a/b/c/-/issues/4":                      "https://gitlab.com/a/b/c/-/issues/4",
		"https://gitlab.com/a/b/-/work_items/4":                    "https://gitlab.com/a/b/-/issues/4",
		"":                                                         "",
		"-1":                                                       "",
		"0":                                                        "",
		"--web":                                                    "",
		"fix the login":                                            "",
		"ftp://github.com/acme/shop/issues/4":                      "",
		"https://me:pass@github.com/a/b/issues/4": "",
		"https://github.com/acme/shop/issues/x":   "",
		"https://github.com/issues/4":             "",
	} {
		r, err := parseReference(text)
		if want == "" {
			if !errors.Is(err, ErrReference) {
				t.Errorf("%q: %+v, %v", text, r, err)
			}
			continue
		}
		if err != nil || r.argument() != want {
			t.Errorf("%q: %q, %v", text, r.argument(), err)
		}
	}
}

func TestHostDecidesTheProgram(t *testing.T) {
	for remote, want := range map[string]program{
		"git@github.com:acme/shop.git":            gh,
		"https://github.com/acme/shop":            gh,
		"ssh://git@github.example.org:2222/a/b":   gh,
		"https://gitlab.com/acme/shop.git":        glab,
		"git@gitlab.example.org:acme/web/shop":    glab,
		"https://code.example.org/acme/shop.git":  glab,
		"https://forge.example.org/acme/shop.git": gh,
		"https://other.example.org/acme/shop.git": "",
		"../origin.git":                           "",
		"/srv/git/origin.git":                     "",
		"file:///srv/git/origin.git":              "",
		`C:\git\origin`:                           "",
		"-oProxyCommand=x:y":                      "",
	} {
		at := scripted(t, answers{"gh-auth-status.sh": `[ "$4" = forge.example.org ] || exit 1`, "glab-auth-status.sh": `[ "$4" = code.example.org ] || exit 1`}, remote)
		got, err := at.program(t.Context())
		if got != want || (want == "") != errors.Is(err, ErrNoRemote) {
			t.Errorf("%s: %q, %v", remote, got, err)
		}
	}
	at := scripted(t, nil, "/srv/git/mirror.git", onGitLab)
	if got, err := at.program(t.Context()); got != glab || err != nil {
		t.Errorf("the second remote: %q, %v", got, err)
	}
}

// The texts are those of the programs.
func TestFailuresHaveHints(t *testing.T) {
	for name, row := range map[string]struct {
		remote, err, code string
		want              error
		hint              string
	}{
		"gh without a login":        {onGitHub, "To get started with GitHub CLI, please run:  gh auth login\nAlternatively, populate the GH_TOKEN environment variable with a GitHub API authentication token.\n", "4", ErrLogin, "gh auth login"},
		"gh with an old token":      {onGitHub, "HTTP 401: Bad credentials (https://api.github.com/graphql)\nTry authenticating with:  gh auth login\n", "1", ErrLogin, "gh auth login"},
		"gh without that issue":     {onGitHub, "GraphQL: Could not resolve to an issue or pull request with the number of 42. (repository.issue)\n", "1", ErrNotFound, "gh auth status"},
		"gh of no known host":       {onGitHub, "none of the git remotes configured for this repository point to a known GitHub host. To tell gh about a new GitHub host, please use `gh auth login`\n", "1", ErrNoRemote, "address of the issue"},
		"gh beyond its rate":        {onGitHub, "GraphQL: API rate limit already exceeded for user ID 1. (repository)\n", "1", ErrRateLimited, "later"},
		"gh without a network":      {onGitHub, "error connecting to api.github.com\ncheck your internet connection or https://githubstatus.com\n", "1", ErrUnreachable, "again"},
		"an old gh":                 {onGitHub, "unknown flag: --json\n\nUsage:  gh issue view {<number> | <url>} [flags]\n", "1", nil, "update gh"},
		"gh with another problem":   {onGitHub, "the disk is on fire\n", "1", nil, ""},
		"glab without a login":      {onGitLab, "   ERROR  \n\n  GET https://gitlab.example.org/api/v4/projects/a%2Fb/issues/42: 401 {message: 401 Unauthorized}.\n", "1", ErrLogin, "glab auth login"},
		"glab without that issue":   {onGitLab, "404 Not Found\n", "1", ErrNotFound, "glab auth status"},
		"glab beyond its rate":      {onGitLab, "GET https://gitlab.example.org/api/v4/x: 429 Too Many Requests\n", "1", ErrRateLimited, "later"},
		"glab that knows no --json": {onGitLab, "Unknown flag: --output\n", "1", nil, "update glab"},
	} {
		t.Run(name, func(t *testing.T) {
			program := "gh"
			if row.remote == onGitLab {
				program = "glab"
			}
			at := scripted(t, answers{program + "-issue-view.err": row.err, program + "-issue-view.code": row.code}, row.remote)
			_, err := at.Issue(t.Context(), "42")
			e, ok := errors.AsType[*Error](err)
			if !ok || row.want != nil && !errors.Is(err, row.want) || !strings.Contains(e.Hint(), row.hint) || (row.hint == "") != (e.Hint() == "") {
				t.Errorf("%v; hint %q", err, e.Hint())
			}
			if !strings.HasPrefix(err.Error(), program+" issue view: ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestMissingProgram(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Place{Remotes: []string{onGitHub}}.Issue(t.Context(), "42")
	if e, ok := errors.AsType[*Error](err); !ok || !errors.Is(err, ErrNotInstalled) || !strings.Contains(e.Hint(), "install") {
		t.Errorf("%v", err)
	}
}

func TestHangingProgramEnds(t *testing.T) {
	at := scripted(t, answers{"gh-issue-view.sh": "sleep 600"}, onGitHub)
	at.Timeout = 50 * time.Millisecond
	_, err := at.Issue(t.Context(), "42")
	if !errors.Is(err, ErrUnreachable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

func TestHugeAnswerIsRefused(t *testing.T) {
	at := scripted(t, answers{"gh-issue-view.sh": "yes '{\"body\": 1}' | head -c 30000000"}, onGitHub)
	if _, err := at.Issue(t.Context(), "42"); !errors.Is(err, ErrTooMuch) {
		t.Errorf("%v", err)
	}
}

func TestAnswerThatIsNoJSON(t *testing.T) {
	at := scripted(t, answers{"gh-issue-view.out": "<html>maintenance</html>"}, onGitHub)
	_, err := at.Issue(t.Context(), "42")
	if e, ok := errors.AsType[*Error](err); !ok || e.Hint() != "update gh" {
		t.Errorf("%v", err)
	}
}

// A person's terminal settings and a git hook's variables do not reach the programs.
func TestEnvironmentIsQuiet(t *testing.T) {
	t.Setenv("GIT_DIR", "/elsewhere")
	t.Setenv("GH_FORCE_TTY", "1")
	at := scripted(t, answers{"gh-issue-view.sh": `echo "$GH_PROMPT_DISABLED $NO_COLOR $GIT_DIR $GH_FORCE_TTY ." >&2; exit 1`}, onGitHub)
	_, err := at.Issue(t.Context(), "42")
	if e, ok := errors.AsType[*Error](err); !ok || e.Output != "1 1   ." {
		t.Errorf("%v", err)
	}
}
