package forge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// Request is a pull request.
type Request struct {
	Number int
	URL    string
	Draft  bool
	// Made: Publish made it. Otherwise it was there.
	Made  bool
	State event.RequestState
	Head  string // its last commit

	title, body string
	base        string // the branch that it is to be merged into; empty if it is not known
	project     string // owner/name
	program     program
}

// Draft is what Publish publishes.
type Draft struct {
	Branch string // the current branch, or one of another name with Part, which is pushed
	Part   bool   // it is not the current branch
	Base   string // of a Part: the branch that it is to be merged into; empty for the default one
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
	there, err := at.find(ctx, d.Branch, d.Part)
	switch {
	case err != nil:
		return Request{}, err
	case there == nil, there.State != event.RequestOpen && !d.Part:
		return at.create(ctx, d)
	case there.State != event.RequestOpen:
		return *there, nil // a person has merged or closed it
	}
	return *there, at.change(ctx, *there, d)
}

// Open returns the open pull request of the current branch, nil if there is none.
func (at Place) Open(ctx context.Context, branch string) (*Request, error) {
	there, err := at.find(ctx, branch, false)
	if there != nil && there.State != event.RequestOpen {
		there = nil
	}
	return there, err
}

// PartBranch is the name of one of the branches that a branch is split into.
func PartBranch(branch string, i int) string { return fmt.Sprintf("%s-%d", branch, i+1) }

// Parts returns the pull requests of the branches that a branch was split into, in whatever state,
// up to the first branch that has none. Of several, an open one counts.
func (at Place) Parts(ctx context.Context, branch string, most int) (all []Request, err error) {
	for i := range most {
		r, err := at.find(ctx, PartBranch(branch, i), true)
		if err != nil || r == nil {
			return all, err
		}
		all = append(all, *r)
	}
	return all, nil
}

func (at Place) find(ctx context.Context, branch string, part bool) (*Request, error) {
	name, err := at.program(ctx)
	if err != nil {
		return nil, err
	}
	if name == glab {
		return at.gitlabFind(ctx, branch, part)
	}
	return at.githubFind(ctx, branch, part)
}

// githubRequestJSON is what gh pr view --json prints (gh 2.97, api/export_pr.go).
type githubRequestJSON struct {
	Number  int    `json:"number"`
	Title   string `json:"title"`
	Body    string `json:"body"`
	URL     string `json:"url"`
	State   string `json:"state"` // OPEN, CLOSED or MERGED
	IsDraft bool   `json:"isDraft"`
	Base    string `json:"baseRefName"`
	Head    string `json:"headRefOid"`
}

// githubFind finds the pull request as gh does: by the branch and where it is pushed to, so that
// one from another repository with a branch of the same name is not taken for it. By a name alone,
// gh finds one of the same repository only.
func (at Place) githubFind(ctx context.Context, branch string, part bool) (*Request, error) {
	var found githubRequestJSON
	args := []string{"pr", "view", "--json", "number,title,body,url,state,isDraft,baseRefName,headRefOid"}
	if part {
		args = append(args, "--", branch)
	}
	err := at.read(ctx, &found, gh, args...)
	if e, ok := errors.AsType[*Error](err); ok && strings.Contains(e.Output, "no pull requests found") {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return (&Request{Number: found.Number, URL: found.URL, Draft: found.IsDraft, State: event.RequestState(strings.ToLower(found.State)), Head: found.Head,
		title: found.Title, body: found.Body, base: found.Base, program: gh}).located()
}

// gitlabRequestJSON is an entry of what glab mr list --output json prints (glab of June 2026,
// internal/commands/mr/list): a merge request of GitLab's REST API.
type gitlabRequestJSON struct {
	IID         int    `json:"iid"`
	Title       string `json:"title"`
	Description string `json:"description"`
	WebURL      string `json:"web_url"`
	State       string `json:"state"` // opened, merged, closed or locked
	Draft       bool   `json:"draft"`
	Author      struct {
		Username string `json:"username"`
	} `json:"author"`
	SourceBranch    string `json:"source_branch"`
	TargetBranch    string `json:"target_branch"`
	SHA             string `json:"sha"`
	SourceProjectID int    `json:"source_project_id"`
	TargetProjectID int    `json:"target_project_id"`
}

// gitlabFind finds the merge request of the branch: of a part also one that is not open, after
// those that are. Another person's fork may have a branch of the same name, so a merge request from
// a fork counts only if the person made it.
func (at Place) gitlabFind(ctx context.Context, branch string, part bool) (*Request, error) {
	var found []gitlabRequestJSON
	args := []string{"mr", "list", "--source-branch", branch, "--output", "json"}
	if part {
		args = append(args, "--all")
	}
	if err := at.read(ctx, &found, glab, args...); err != nil {
		return nil, err
	}
	opened := func(m gitlabRequestJSON) bool { return m.State == "opened" }
	slices.SortStableFunc(found, func(a, b gitlabRequestJSON) int {
		switch {
		case opened(a) == opened(b):
			return 0
		case opened(a):
			return -1
		}
		return 1
	})
	for _, m := range found {
		if m.SourceBranch != branch || !opened(m) && !part {
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
		state := event.RequestClosed
		switch m.State {
		case "opened":
			state = event.RequestOpen
		case "merged":
			state = event.RequestMerged
		}
		return (&Request{Number: m.IID, URL: m.WebURL, Draft: m.Draft, State: state, Head: m.SHA,
			title: m.Title, body: m.Description, base: m.TargetBranch, program: glab}).located()
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
		if d.Base != "" {
			args = append(args, "--target-branch", d.Base)
		}
	} else if d.Part {
		args = append(args, "--head", d.Branch)
		if d.Base != "" {
			args = append(args, "--base", d.Base)
		}
	}
	if d.Draft {
		args = append(args, "--draft")
	}
	out, err := at.run(ctx, stdin, name, args...)
	if e, ok := errors.AsType[*Error](err); ok && strings.Contains(e.Output, "already exists") {
		// Another program made it meanwhile.
		if there, again := at.find(ctx, d.Branch, d.Part); again == nil && there != nil && there.State == event.RequestOpen {
			return *there, at.change(ctx, *there, d)
		}
	}
	if err != nil {
		return Request{}, err
	}
	made, err := (&Request{URL: addressIn(string(out)), Draft: d.Draft, Made: true, State: event.RequestOpen, program: name}).located()
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
// ralph's, and its base. It calls no program if nothing differs.
func (at Place) change(ctx context.Context, r Request, d Draft) error {
	body, title, ok := replaceOwn(r, d)
	rebase := d.Base != "" && r.base != d.Base
	if !ok && !rebase {
		return nil
	}
	return at.edit(ctx, r, body, title, d.Base)
}

// AddStrength adds to ralph's part of the text of an open pull request what supports the work. The
// next Publish removes it: it is about the work as it was. It does nothing if the branch has
// another pull request than that of the address, or if a person removed ralph's part.
func (at Place) AddStrength(ctx context.Context, branch string, part bool, address, text string) error {
	r, err := at.find(ctx, branch, part)
	if err != nil || r == nil || r.State != event.RequestOpen || r.URL != address {
		return err
	}
	if body, ok := withStrength(*r, clean(text)); ok {
		return at.edit(ctx, *r, body, r.title, "")
	}
	return nil
}

// edit gives a pull request a text, and a title and a base if they are others.
func (at Place) edit(ctx context.Context, r Request, body, title, base string) error {
	rebase := base != "" && r.base != base
	number := strconv.Itoa(r.Number)
	if r.program == glab {
		args := []string{"mr", "update", number, "--description", body}
		// Without --title the program sends the old one.
		if title != r.title {
			args = append(args, "--title", title)
		}
		if rebase {
			args = append(args, "--target-branch", base)
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
	if rebase {
		args = append(args, "-f", "base="+base)
	}
	_, err := at.run(ctx, body, gh, args...)
	return err
}
