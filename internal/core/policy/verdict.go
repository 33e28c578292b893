package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/story"
	"github.com/ralph-loop/ralph/journal/event"
)

// A Judgement is what the verdicts of a review iteration depend on besides the file.
type Judgement struct {
	Stories Stories
	Rules   event.Rules
	Votes   Votes // of the open round
	Voters  int   // how many reviewers can vote
}

// Verdicts returns the verdicts of a review iteration, and tasks.json as it is after them. before
// is the file before the turn, data what [story.Repair] left. With several reviewers, the story is
// put back until the result of the round is certain, and then has the result. A turn can be judged
// again, if the runner died before it had replaced the file: what is recorded already is left out,
// and the file is the same.
func (j Judgement) Verdicts(before, data []byte) ([]event.StoryReviewed, []byte, error) {
	if j.Stories.Mode != event.ModeReview || j.Rules.Review.Skip {
		return nil, data, nil
	}
	rules := StoryRules(j.Rules)
	list, _ := story.Parse(before)
	after, _ := story.Parse(data)
	if list == nil || after == nil {
		return nil, data, nil
	}
	verdict, ok := story.Reviewed(list.States(), after, rules)
	if !ok {
		return nil, data, nil
	}
	verdict.Agent = j.Votes.Agent
	switch {
	case j.Stories.NoVerdict:
		data, err := withoutVerdict(list.Find(verdict.Story), data)
		return nil, data, err
	case j.Rules.Reviewers > 1:
		return j.vote(list.Find(verdict.Story), verdict, data)
	case j.Votes.decided(verdict.Story, verdict.Count-1):
		return nil, data, nil
	}
	return []event.StoryReviewed{verdict}, data, nil
}

// withoutVerdict returns tasks.json with the story as it was before its review.
func withoutVerdict(before *story.Story, data []byte) ([]byte, error) {
	return story.SetReview(data, before.ID, story.Review{
		Passes: before.Passes, Status: before.ReviewStatus, Count: before.ReviewCount, Feedback: before.ReviewFeedback,
	})
}

// vote adds a verdict to its round. before is the story before the turn.
func (j Judgement) vote(before *story.Story, verdict event.StoryReviewed, data []byte) (verdicts []event.StoryReviewed, _ []byte, err error) {
	vote := Vote{Agent: verdict.Agent, Approved: verdict.Approved && !verdict.AtCap, Feedback: verdict.Feedback}
	if verdict.AtCap { // ralph has made an approval of it
		vote.Feedback = strings.TrimSpace(strings.TrimPrefix(verdict.Feedback, story.CapPrefix))
	}
	round := j.Votes.With(before.ID, before.ReviewCount, vote)
	approved, certain := round.Result(j.Voters, j.Rules.Review.Vote)
	recorded := j.Votes.decided(before.ID, before.ReviewCount)
	switch {
	case recorded: // the file may have the result, and others may be able to vote now
		round, approved, certain = j.Votes, j.Votes.Approved, true
	case !slices.Contains(j.Votes.round(before.ID, before.ReviewCount), vote.bounded()):
		verdicts = append(verdicts, event.StoryReviewed{
			Story: before.ID, Agent: vote.Agent, Approved: vote.Approved, Feedback: vote.Feedback, Count: before.ReviewCount, Open: true,
		})
	}
	if !certain {
		data, err := withoutVerdict(before, data)
		return verdicts, data, err
	}
	count := before.ReviewCount + 1
	note := fmt.Sprintf("%d reviewers reviewed it in review %d.", len(round.Given), count)
	data, err = story.Decide(data, before.ID, approved, round.Feedback(), count, note, StoryRules(j.Rules))
	if err != nil || recorded {
		return verdicts, data, err
	}
	list, _ := story.Parse(data)
	result := list.Find(before.ID)
	decided := event.StoryReviewed{
		Story: before.ID, Approved: result.ReviewStatus == event.StoryApproved, Feedback: result.ReviewFeedback, Count: count,
	}
	decided.AtCap = decided.Approved && !approved
	return append(verdicts, decided), data, nil
}
