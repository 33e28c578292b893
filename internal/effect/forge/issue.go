package forge

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

// Bounds of what is taken of an issue, in bytes, and how many of its comments: the first ones,
// which say most about what is asked for, and the latest ones.
const (
	maxTitle     = 300
	maxBody      = 60_000
	maxComment   = 8_000
	maxComments  = 40
	firstKept    = 10
	maxLabels    = 50
	maxName      = 100
	maxAddress   = 2000
	notesPerPage = 100
)

// Issue is an issue. Its texts are cleaned and bounded, and were written by other people.
type Issue struct {
	Number   int            `json:"number"`
	Title    string         `json:"title"`
	Body     string         `json:"body,omitempty"`
	URL      string         `json:"url"`
	State    string         `json:"state"` // open or closed
	Author   string         `json:"author,omitempty"`
	Labels   []string       `json:"labels,omitempty"`
	Comments []IssueComment `json:"comments,omitempty"`
	Left     int            `json:"left,omitempty"` // comments that are not in Comments
}

// IssueComment is a comment on an issue.
type IssueComment struct {
	Author string `json:"author"`
	Body   string `json:"body"`
}

// Issue returns the issue that a text names: its number in the repository of the folder, or its
// address. Text that names none is an [ErrReference].
func (at Place) Issue(ctx context.Context, ref string) (Issue, error) {
	r, err := parseReference(ref)
	if err != nil {
		return Issue{}, &Error{Doing: "read the issue", Err: err, hint: "give a number such as 42, or an address such as https://HOST/OWNER/NAME/issues/42"}
	}
	name, err := at.programFor(ctx, r)
	if err != nil {
		return Issue{}, err
	}
	if name == gh {
		return at.githubIssue(ctx, r)
	}
	return at.gitlabIssue(ctx, r)
}

// githubIssueJSON is what gh issue view --json prints (gh 2.97, api/export_pr.go).
type githubIssueJSON struct {
	Number int    `json:"number"`
	Title  string `json:"title"`
	Body   string `json:"body"`
	URL    string `json:"url"`
	State  string `json:"state"` // OPEN or CLOSED
	Author struct {
		Login string `json:"login"`
	} `json:"author"`
	Labels []struct {
		Name string `json:"name"`
	} `json:"labels"`
	Comments []struct {
		Author struct {
			Login string `json:"login"`
		} `json:"author"`
		Body        string `json:"body"`
		IsMinimized bool   `json:"isMinimized"` // hidden as spam, outdated and so on
	} `json:"comments"`
}

func (at Place) githubIssue(ctx context.Context, r reference) (Issue, error) {
	var found githubIssueJSON
	err := at.read(ctx, &found, gh, "issue", "view", r.argument(), "--json", "number,title,body,comments,labels,url,state,author")
	if err != nil {
		return Issue{}, err
	}
	i := Issue{Number: found.Number, Title: found.Title, Body: found.Body, URL: found.URL, State: strings.ToLower(found.State), Author: found.Author.Login}
	for _, l := range found.Labels {
		i.Labels = append(i.Labels, l.Name)
	}
	for _, c := range found.Comments {
		if !c.IsMinimized {
			i.Comments = append(i.Comments, IssueComment{c.Author.Login, c.Body})
		}
	}
	return i.cleaned(), nil
}

// gitlabIssueJSON is what glab issue view --output json prints (glab of June 2026,
// internal/commands/issue/view): an issue of GitLab's REST API, with --comments and its notes.
type gitlabIssueJSON struct {
	IID         int      `json:"iid"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	WebURL      string   `json:"web_url"`
	State       string   `json:"state"` // opened or closed
	Labels      []string `json:"labels"`
	Author      struct {
		Username string `json:"username"`
	} `json:"author"`
	Notes []struct {
		Body   string `json:"body"`
		System bool   `json:"system"` // written by GitLab: changed the label and so on
		Author struct {
			Username string `json:"username"`
		} `json:"author"`
	} `json:"Notes"`
}

func (at Place) gitlabIssue(ctx context.Context, r reference) (Issue, error) {
	var found gitlabIssueJSON
	err := at.read(ctx, &found, glab, "issue", "view", r.argument(), "--comments", "--per-page", strconv.Itoa(notesPerPage), "--output", "json")
	if err != nil {
		return Issue{}, err
	}
	i := Issue{Number: found.IID, Title: found.Title, Body: found.Description, URL: found.WebURL,
		State: strings.TrimSuffix(found.State, "ed"), Author: found.Author.Username, Labels: found.Labels}
	if found.State == "closed" {
		i.State = "closed"
	}
	for _, n := range found.Notes {
		if !n.System {
			i.Comments = append(i.Comments, IssueComment{n.Author.Username, n.Body})
		}
	}
	return i.cleaned(), nil
}

// cleaned returns the issue with clean texts of bounded length.
func (i Issue) cleaned() Issue {
	i.Title, i.Body = units.Cut(line(i.Title), maxTitle), cut(clean(i.Body), maxBody)
	i.URL, i.Author, i.State = address(i.URL), short(i.Author), short(i.State)
	i.Labels = slices.Clone(i.Labels[:min(len(i.Labels), maxLabels)])
	for n := range i.Labels {
		i.Labels[n] = short(i.Labels[n])
	}
	if i.Left = max(0, len(i.Comments)-maxComments); i.Left > 0 {
		i.Comments = slices.Concat(i.Comments[:firstKept], i.Comments[len(i.Comments)-(maxComments-firstKept):])
	}
	for n, c := range i.Comments {
		i.Comments[n] = IssueComment{short(c.Author), cut(clean(c.Body), maxComment)}
	}
	return i
}
