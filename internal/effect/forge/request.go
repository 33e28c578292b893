package forge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

// Request is a pull request.
type Request struct {
	Number int
	URL    string
	Draft  bool
	// Made: Publish made it. Otherwise it was there.
	Made bool

	title, body string
	project     string // owner/name
	program     program
}

// Draft is what Publish publishes.
type Draft struct {
	Branch string // the current branch, which is pushed
	Title  string // one line
	Body   string // Markdown: ralph's part of the text
	Draft  bool   // a new one is a draft
}

// Publish makes a pull request of the current branch, or changes the open one that there is. In
// the text of that it replaces the part that an earlier call wrote. It leaves the text alone if a
// person removed that part, and the title if it is not what an earlier call gave. Title and Body
// must hold no secret: they may become public.
func (at Place) Publish(ctx context.Context, d Draft) (Request, error) {
	d.Title, d.Body = units.Cut(line(d.Title), maxTitle), units.Prefix(strings.TrimSpace(clean(d.Body)), maxBody)
	if d.Branch == "" || d.Branch[0] == '-' || d.Title == "" {
		return Request{}, &Error{Doing: "publish the branch", Err: errors.New("there is no branch or no title"),
			hint: "check out a branch: 'git switch -c NAME'"}
	}
	there, err := at.Open(ctx, d.Branch)
	if err != nil {
		return Request{}, err
	}
	if there == nil {
		return at.create(ctx, d)
	}
	return *there, at.change(ctx, *there, d)
}

// Open returns the open pull request of the current branch, nil if there is none.
func (at Place) Open(ctx context.Context, branch string) (*Request, error) {
	name, err := at.program(ctx)
	if err != nil {
		return nil, err
	}
	if name == gh {
		return at.githubOpen(ctx)
	}
	return at.gitlabOpen(ctx, branch)
}

// githubRequestJSON is what gh pr view --json prints (gh 2.97, api/export_pr.go).
type githubRequestJSON struct {
	Number  int    `json:"number"`
	Title   string `json:"title"`
	Body    string `json:"body"`
	URL     string `json:"url"`
	State   string `json:"state"` // OPEN, CLOSED or MERGED
	IsDraft bool   `json:"isDraft"`
}

// githubOpen finds the pull request as gh does: by the branch and where it is pushed to, so that
// one from another repository with a branch of the same name is not taken for it.
func (at Place) githubOpen(ctx context.Context) (*Request, error) {
	var found githubRequestJSON
	err := at.read(ctx, &found, gh, "pr", "view", "--json", "number,title,body,url,state,isDraft")
	if e, ok := errors.AsType[*Error](err); ok && strings.Contains(e.Output, "no pull requests found") {
		return nil, nil
	}
	if err != nil || found.State != "OPEN" {
		return nil, err
	}
	return (&Request{Number: found.Number, URL: found.URL, Draft: found.IsDraft, title: found.Title, body: found.Body, program: gh}).located()
}

// gitlabRequestJSON is an entry of what glab mr list --output json prints (glab of June 2026,
// internal/commands/mr/list): a merge request of GitLab's REST API.
type gitlabRequestJSON struct {
	IID         int    `json:"iid"`
	Title       string `json:"title"`
	Description string `json:"description"`
	WebURL      string `json:"web_url"`
	State       string `json:"state"` // opened
	Draft       bool   `json:"draft"`
	Author      struct {
		Username string `json:"username"`
	} `json:"author"`
	SourceBranch    string `json:"source_branch"`
	SourceProjectID int    `json:"source_project_id"`
	TargetProjectID int    `json:"target_project_id"`
}

// gitlabOpen finds the merge request of the branch. Another person's fork may have a branch of the
// same name, so a merge request from a fork counts only if the person made it.
func (at Place) gitlabOpen(ctx context.Context, branch string) (*Request, error) {
	var found []gitlabRequestJSON
	if err := at.read(ctx, &found, glab, "mr", "list", "--source-branch", branch, "--output", "json"); err != nil {
		return nil, err
	}
	for _, m := range found {
		if m.SourceBranch != branch || m.State != "opened" {
			continue
		}
		if m.SourceProjectID != m.TargetProjectID {
			me, err := at.gitlabUser(ctx, hostOf(m.WebURL))
			if err != nil {
				return nil, err
			}
			if m.Author.Username != me {
				continue
			}
		}
		return (&Request{Number: m.IID, URL: m.WebURL, Draft: m.Draft, title: m.Title, body: m.Description, program: glab}).located()
	}
	return nil, nil
}

// gitlabUser returns the name of the person's account.
func (at Place) gitlabUser(ctx context.Context, host string) (string, error) {
	var me struct {
		Username string `json:"username"`
	}
	err := at.read(ctx, &me, glab, "api", "--hostname", host, "user")
	if err == nil && me.Username == "" {
		err = &Error{Doing: "glab api user", Err: ErrLogin, hint: "say 'glab auth login' in a terminal, then try again"}
	}
	return me.Username, err
}

// located checks the address and takes the project out of it.
func (r *Request) located() (*Request, error) {
	u, err := url.Parse(address(r.URL))
	if err != nil || u.Host == "" {
		return nil, &Error{Doing: "find the pull request", Err: fmt.Errorf("%.100q is not the address of one", r.URL)}
	}
	path, number, ok := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/pull/")
	if r.program == glab {
		path, number, ok = strings.Cut(strings.TrimPrefix(u.Path, "/"), "/-/merge_requests/")
	}
	number, _, _ = strings.Cut(number, "/")
	n, err := strconv.Atoi(number)
	if !ok || err != nil || n <= 0 || path == "" {
		return nil, &Error{Doing: "find the pull request", Err: fmt.Errorf("%.100q is not the address of one", r.URL)}
	}
	r.project, r.Number = path, cmp.Or(r.Number, n)
	return r, nil
}

func (at Place) create(ctx context.Context, d Draft) (Request, error) {
	name, err := at.program(ctx)
	if err != nil {
		return Request{}, err
	}
	if name == glab {
		d.Body = withoutActions(d.Body)
	}
	body := sign(d.Body, d.Title)
	args := []string{"pr", "create", "--title", d.Title, "--body-file", "-"}
	stdin := body
	if name == glab {
		args = []string{"mr", "create", "--source-branch", d.Branch, "--title", d.Title, "--description", body, "--yes"}
		stdin = ""
	}
	if d.Draft {
		args = append(args, "--draft")
	}
	out, err := at.run(ctx, stdin, name, args...)
	if e, ok := errors.AsType[*Error](err); ok && strings.Contains(e.Output, "already exists") {
		// Another program made it meanwhile.
		if there, again := at.Open(ctx, d.Branch); again == nil && there != nil {
			return *there, at.change(ctx, *there, d)
		}
	}
	if err != nil {
		return Request{}, err
	}
	made, err := (&Request{URL: addressIn(string(out)), Draft: d.Draft, Made: true, program: name}).located()
	if err != nil {
		return Request{}, err
	}
	return *made, nil
}

// addressIn returns the last address of a pull request in what a program printed.
func addressIn(out string) string {
	last := ""
	for _, word := range strings.Fields(clean(out)) {
		if strings.HasPrefix(word, "http") && (strings.Contains(word, "/pull/") || strings.Contains(word, "/-/merge_requests/")) {
			last = word
		}
	}
	return last
}

// change gives an open pull request ralph's part of the text, and the title, where they are still
// ralph's. It calls no program if nothing differs.
func (at Place) change(ctx context.Context, r Request, d Draft) error {
	body, title, ok := replaceOwn(r, d)
	if !ok {
		return nil
	}
	number := strconv.Itoa(r.Number)
	if r.program == glab {
		args := []string{"mr", "update", number, "--description", body}
		// Without --title the program sends the old one.
		if title != r.title {
			args = append(args, "--title", title)
		}
		_, err := at.run(ctx, "", glab, args...)
		return err
	}
	// Not gh pr edit: up to 2.82.0 that asks for a kind of projects that GitHub has removed, and
	// fails (cli/cli issue 11983).
	args := []string{"api", "--hostname", hostOf(r.URL), "repos/" + r.project + "/pulls/" + number, "--method", "PATCH", "-F", "body=@-"}
	if title != r.title {
		args = append(args, "-f", "title="+title)
	}
	_, err := at.run(ctx, body, gh, args...)
	return err
}
