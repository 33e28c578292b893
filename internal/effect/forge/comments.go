package forge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

// Comment is a comment on a pull request. Its texts are cleaned and bounded, and were written by
// other people.
type Comment struct {
	URL    string // its own address, which identifies it
	At     time.Time
	Author string
	Body   string
	File   string // that it is about; empty for none
	Line   int    // 0 if it is not known
	// Own: the account of gh or glab wrote it. Bot: a program did. MayWrite: its author may write
	// to the repository.
	Own, Bot, MayWrite bool
}

// Comments returns the comments on a pull request that are neither resolved nor hidden, oldest
// first: of each kind the latest hundred, without those that have no text.
func (at Place) Comments(ctx context.Context, r Request) ([]Comment, error) {
	var found []Comment
	var err error
	if r.program == glab {
		found, err = at.gitlabComments(ctx, r)
	} else {
		found, err = at.githubComments(ctx, r)
	}
	if err != nil {
		return nil, err
	}
	for i, c := range found {
		found[i].URL, found[i].Author, found[i].File = address(c.URL), short(c.Author), line(c.File)
		found[i].Body = cut(strings.TrimSpace(clean(c.Body)), maxComment)
	}
	found = slices.DeleteFunc(found, func(c Comment) bool { return c.Body == "" || c.URL == "" })
	slices.SortStableFunc(found, func(a, b Comment) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.URL, b.URL)) })
	return found, nil
}

// githubQuery asks for all kinds of comments at once: of the conversation, of reviews, and on
// lines.
const githubQuery = `query($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      comments(last: 100) { nodes { ...said isMinimized } }
      reviews(last: 100, states: [APPROVED, CHANGES_REQUESTED, COMMENTED]) { nodes { ...said } }
      reviewThreads(last: 100) { nodes { isResolved path line comments(last: 30) { nodes { ...said isMinimized } } } }
    }
  }
}
fragment said on Comment { body createdAt authorAssociation viewerDidAuthor author { __typename login }
  ... on IssueComment { url } ... on PullRequestReview { url } ... on PullRequestReviewComment { url } }`

// githubSaid is one comment of the answer.
type githubSaid struct {
	URL               string    `json:"url"`
	Body              string    `json:"body"`
	CreatedAt         time.Time `json:"createdAt"`
	AuthorAssociation string    `json:"authorAssociation"`
	ViewerDidAuthor   bool      `json:"viewerDidAuthor"`
	IsMinimized       bool      `json:"isMinimized"`
	Author            *struct { // null for an account that was deleted
		Typename string `json:"__typename"`
		Login    string `json:"login"`
	} `json:"author"`
}

type githubSaids struct {
	Nodes []githubSaid `json:"nodes"`
}

// githubComments reads what gh api graphql prints: the answer of the server as it is.
func (at Place) githubComments(ctx context.Context, r Request) ([]Comment, error) {
	owner, name, ok := strings.Cut(r.project, "/")
	u, err := url.Parse(r.URL)
	if !ok || err != nil {
		return nil, fmt.Errorf("read the comments: %.100q is not the address of a pull request", r.URL)
	}
	var answer struct {
		Data struct {
			Repository struct {
				PullRequest struct {
					Comments githubSaids `json:"comments"`
					Reviews  githubSaids `json:"reviews"`
					Threads  struct {
						Nodes []struct {
							IsResolved bool        `json:"isResolved"`
							Path       string      `json:"path"`
							Line       int         `json:"line"`
							Comments   githubSaids `json:"comments"`
						} `json:"nodes"`
					} `json:"reviewThreads"`
				} `json:"pullRequest"`
			} `json:"repository"`
		} `json:"data"`
	}
	err = at.read(ctx, &answer, gh, "api", "graphql", "--hostname", u.Host, "-f", "query="+githubQuery,
		"-f", "owner="+owner, "-f", "name="+name, "-F", "number="+strconv.Itoa(r.Number))
	if err != nil {
		return nil, err
	}
	request := answer.Data.Repository.PullRequest
	found := append(request.Comments.comments("", 0), request.Reviews.comments("", 0)...)
	for _, t := range request.Threads.Nodes {
		if !t.IsResolved {
			found = append(found, t.Comments.comments(t.Path, t.Line)...)
		}
	}
	return found, nil
}

func (s githubSaids) comments(file string, line int) (found []Comment) {
	for _, n := range s.Nodes {
		if n.IsMinimized {
			continue
		}
		c := Comment{URL: n.URL, At: n.CreatedAt, Body: n.Body, File: file, Line: line, Own: n.ViewerDidAuthor}
		if n.Author != nil {
			c.Author = n.Author.Login
			c.Bot = n.Author.Typename == "Bot" || strings.HasSuffix(c.Author, "[bot]")
		}
		c.MayWrite = slices.Contains([]string{"OWNER", "MEMBER", "COLLABORATOR"}, n.AuthorAssociation)
		found = append(found, c)
	}
	return found
}

const (
	// developer is the lowest access level of GitLab that may push to a branch.
	developer = 30
	// maxMembers is how many authors are looked up in one call of Comments.
	maxMembers = 30
)

// gitlabNote is one entry of GitLab's list of notes (REST, version 4).
type gitlabNote struct {
	ID        int       `json:"id"`
	Body      string    `json:"body"`
	System    bool      `json:"system"`
	Resolved  bool      `json:"resolved"`
	CreatedAt time.Time `json:"created_at"`
	Author    struct {
		ID       int    `json:"id"`
		Username string `json:"username"`
	} `json:"author"`
	Position *struct {
		NewPath string `json:"new_path"`
		NewLine int    `json:"new_line"`
	} `json:"position"`
}

// gitlabComments reads the latest hundred notes, and which of their authors may write.
func (at Place) gitlabComments(ctx context.Context, r Request) ([]Comment, error) {
	host, project := hostOf(r.URL), "projects/"+url.PathEscape(r.project)
	var notes []gitlabNote
	err := at.read(ctx, &notes, glab, "api", "--hostname", host,
		fmt.Sprintf("%s/merge_requests/%d/notes?per_page=%d&order_by=created_at&sort=desc", project, r.Number, notesPerPage))
	if err != nil {
		return nil, err
	}
	me, err := at.gitlabUser(ctx, host)
	if err != nil {
		return nil, err
	}
	members := map[int]bool{}
	var found []Comment
	for _, n := range notes {
		if n.System || n.Resolved {
			continue
		}
		c := Comment{URL: r.URL + "#note_" + strconv.Itoa(n.ID), At: n.CreatedAt, Author: n.Author.Username, Body: n.Body}
		c.Own, c.Bot = c.Author == me, gitlabBot(c.Author)
		if n.Position != nil {
			c.File, c.Line = n.Position.NewPath, n.Position.NewLine
		}
		if _, known := members[n.Author.ID]; !known && len(members) < maxMembers {
			if members[n.Author.ID], err = at.mayWrite(ctx, host, project, n.Author.ID); err != nil {
				return nil, err
			}
		}
		c.MayWrite = members[n.Author.ID]
		found = append(found, c)
	}
	return found, nil
}

// mayWrite reports whether an account has write access to a project. One that is no member is not
// found.
func (at Place) mayWrite(ctx context.Context, host, project string, account int) (bool, error) {
	out, err := at.run(ctx, "", glab, "api", "--hostname", host, fmt.Sprintf("%s/members/all/%d", project, account))
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var member struct {
		AccessLevel int    `json:"access_level"`
		State       string `json:"state"`
	}
	if err := json.Unmarshal(out, &member); err != nil {
		return false, &Error{Doing: "glab api", Err: fmt.Errorf("its answer is not what ralph expects: %w", err), hint: "update glab"}
	}
	return member.AccessLevel >= developer && member.State != "blocked", nil
}

// gitlabBot knows the accounts of GitLab's access tokens and services by their names.
func gitlabBot(name string) bool {
	return strings.HasSuffix(name, "-bot") || name == "ghost" || botName().MatchString(name)
}

var botName = units.Pattern(`^(project|group)_\d+_bot`)
