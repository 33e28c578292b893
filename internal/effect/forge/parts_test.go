//go:build unix

package forge

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/journal/event"
)

// A part names its branch and its base. One that is merged or closed is left alone.
func TestPublishParts(t *testing.T) {
	d := Draft{Branch: "fix-2", Part: true, Base: "fix-1", Title: "Fix login", Body: "It works."}
	github := func(state, base string) string {
		return `{"body":"` + jsonLines(sign("old", "Fix login")) + `","number":7,"state":"` + state + `","title":"Fix login","baseRefName":"` + base +
			`","headRefOid":"4b82","url":"https://github.com/acme/shop/pull/7"}`
	}
	gitlab := func(state, base string) string {
		return `[{"iid":7,"source_branch":"fix-2","target_branch":"` + base + `","state":"` + state + `","title":"Fix login","description":"` +
			jsonLines(sign("old", "Fix login")) + `","sha":"4b82","web_url":"https://gitlab.example.org/acme/web/shop/-/merge_requests/7"}]`
	}
	for name, row := range map[string]struct {
		answers answers
		remote  string
		called  string // contains
		never   string // does not
		state   event.RequestState
		head    string
	}{
		"made on GitHub": {answers{"gh-pr-view.err": "no pull requests found for branch \"fix-2\"\n", "gh-pr-view.code": "1", "gh-pr-create.out": "https://github.com/acme/shop/pull/7\n"},
			onGitHub, "\n--head\nfix-2\n--base\nfix-1\n", "PATCH", event.RequestOpen, ""},
		"changed on GitHub": {answers{"gh-pr-view.out": github("OPEN", "main"), "gh-api-repos_acme_shop_pulls_7.out": "{}"},
			onGitHub, "\nbase=fix-1\n", "create", event.RequestOpen, "4b82"},
		"with its base on GitHub": {answers{"gh-pr-view.out": github("OPEN", "fix-1"), "gh-api-repos_acme_shop_pulls_7.out": "{}"},
			onGitHub, "\n--\nfix-2\n", "base=fix-1", event.RequestOpen, "4b82"},
		"merged on GitHub": {answers{"gh-pr-view.out": github("MERGED", "main")}, onGitHub, "view", "PATCH", event.RequestMerged, "4b82"},
		"closed on GitHub": {answers{"gh-pr-view.out": github("CLOSED", "main")}, onGitHub, "view", "create", event.RequestClosed, "4b82"},
		"made on GitLab": {answers{"glab-mr-list.out": "[]", "glab-mr-create.out": "https://gitlab.example.org/acme/web/shop/-/merge_requests/7\n"},
			onGitLab, "\n--target-branch\nfix-1\n", "update", event.RequestOpen, ""},
		"changed on GitLab": {answers{"glab-mr-list.out": gitlab("opened", "main")}, onGitLab, "\n--target-branch\nfix-1\n", "create", event.RequestOpen, "4b82"},
		"merged on GitLab":  {answers{"glab-mr-list.out": gitlab("merged", "main")}, onGitLab, "\n--all\n", "update", event.RequestMerged, "4b82"},
		"closed on GitLab":  {answers{"glab-mr-list.out": gitlab("closed", "main")}, onGitLab, "\n--all\n", "create", event.RequestClosed, "4b82"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := scripted(t, row.answers, row.remote).Publish(t.Context(), d)
			if err != nil || r.Number != 7 || r.State != row.state || r.Head != row.head {
				t.Errorf("%+v, %v", r, err)
			}
			if called := calls(t); !strings.Contains(called, row.called) || strings.Contains(called, row.never) {
				t.Errorf("called:\n%s", called)
			}
		})
	}
}

// A merged pull request of the current branch is not the open one.
func TestMergedOneIsNotOpen(t *testing.T) {
	at := scripted(t, answers{"gh-pr-view.out": `{"number":7,"state":"MERGED","title":"x","url":"https://github.com/acme/shop/pull/7"}`}, onGitHub)
	if r, err := at.Open(t.Context(), "fix"); r != nil || err != nil {
		t.Errorf("%+v, %v", r, err)
	}
}
