package runner

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/effect/forge"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/journal/event"
)

const (
	// followEvery is the least time between two readings of the review comments.
	followEvery = time.Minute
	// followLimit bounds one reading, with all of its calls.
	followLimit = time.Minute
	// followMost is how many new comments one reading takes; the others wait for the next one.
	followMost = 20
	// partsMost is how many parts of a branch are read.
	partsMost = 10
)

// fromFollowing begins the ids of refusals that no command belongs to.
const fromFollowing = "pr:"

// follower remembers what this runner read of the pull request.
type follower struct {
	mu      sync.Mutex
	last    time.Time       // of the last reading
	handled map[string]bool // addresses of comments that were taken or refused
	problem string          // the last one that was reported
}

// receiveCommands returns when the review comments and all commands that are in the inbox now are
// recorded.
func (r *runner) receiveCommands(ctx context.Context) {
	r.readComments(ctx)
	r.waitForInbox(ctx)
}

// readComments records new review comments on the branch's pull request as follow-ups, if that is
// set. A comment that the journal has already is not recorded again. One by a person who may not
// write to the repository is refused, and recorded as that.
func (r *runner) readComments(ctx context.Context) {
	if !r.Settings.SCM.FollowPR {
		return
	}
	f := &r.follower
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := r.clock(); !f.last.IsZero() && now.Sub(f.last) < followEvery {
		return
	}
	limited, cancel := context.WithTimeout(ctx, followLimit)
	defer cancel()
	comments, err := r.comments(limited)
	if err != nil {
		f.last = r.clock()
	}
	var in loop.Input
	switch {
	case ctx.Err() != nil:
		return
	case err != nil && err.Error() != f.problem:
		f.problem = err.Error()
		in.Drafts = append(in.Drafts, refusal("", "the review comments were not read: "+f.problem+hintOf(err)))
	case err == nil:
		f.problem = ""
		f.take(comments, r.Settings.SCM.FollowOwn, &in)
	}
	if len(in.Drafts)+len(in.Commands) == 0 {
		return
	}
	done := make(chan struct{})
	in.Synced = func() { close(done) }
	if !r.send(ctx, in) {
		return
	}
	select {
	case <-done:
	case <-ctx.Done():
	case <-r.driverDone:
	}
}

// comments returns the comments on the open pull requests of the branch and of its parts; none if
// there is none.
func (r *runner) comments(ctx context.Context) ([]forge.Comment, error) {
	env := r.ownEnvironment()
	branch := repo.Branch(ctx, r.Tree)
	if branch == "" {
		return nil, nil
	}
	at := forge.Place{Dir: r.Tree, Env: env, Remotes: repo.Remotes(ctx, r.Tree, env...)}
	request, err := at.Open(ctx, branch)
	var all []forge.Request
	if r.Settings.Limits.Diff > 0 && err == nil {
		all, err = at.Parts(ctx, branch, partsMost)
	}
	if err != nil || request == nil && len(all) == 0 {
		return nil, err
	}
	if request != nil {
		all = append(all, *request)
	}
	r.follower.last = r.clock()
	var found []forge.Comment
	for _, one := range all {
		if one.State != event.RequestOpen {
			continue
		}
		comments, err := at.Comments(ctx, one)
		if err != nil {
			return nil, err
		}
		found = append(found, comments...)
	}
	return found, nil
}

// take adds the new comments to an input.
func (f *follower) take(comments []forge.Comment, own bool, in *loop.Input) {
	if f.handled == nil {
		f.handled = map[string]bool{}
	}
	for _, c := range comments {
		if f.handled[c.URL] || c.Bot || c.Own && !own {
			continue
		}
		if len(in.Drafts)+len(in.Commands) == followMost {
			return
		}
		f.handled[c.URL] = true
		if !c.MayWrite {
			in.Drafts = append(in.Drafts, refusal(c.URL,
				fmt.Sprintf("the comment by %s was not taken, because its author may not write to the repository", c.Author)))
			continue
		}
		in.Commands = append(in.Commands, event.CommandReceived{
			ID: commentID(c), Kind: event.CommandFollowUp, From: policy.FromPullRequest + c.Author, Text: commentText(c),
		})
	}
}

func refusal(url, why string) event.Draft {
	return event.Encode(event.CommandRefused{ID: fromFollowing + url, Why: why}, "inbox")
}

func hintOf(err error) string {
	if hinted, ok := err.(interface{ Hint() string }); ok && hinted.Hint() != "" {
		return " (" + hinted.Hint() + ")"
	}
	return ""
}

// commentID returns the command id of a comment: the same each time it is read, also by another
// runner. Its time is that of the comment, or 0 if an id cannot have that.
func commentID(c forge.Comment) string {
	at := uint64(0)
	if ms := c.At.UnixMilli(); ms > 0 && uint64(ms) <= ulid.MaxTime() {
		at = uint64(ms)
	}
	sum := sha256.Sum256([]byte(c.URL))
	return ulid.MustNew(at, bytes.NewReader(sum[:])).String()
}

// commentText returns a comment as it is in a prompt: who wrote what about which line, and the
// words themselves as a quote.
func commentText(c forge.Comment) string {
	where := ""
	if c.File != "" {
		where = " on " + c.File
		if c.Line > 0 {
			where = fmt.Sprintf("%s:%d", where, c.Line)
		}
	}
	return fmt.Sprintf("%s%s (%s):\n> %s", c.Author, where, c.URL, strings.ReplaceAll(c.Body, "\n", "\n> "))
}
