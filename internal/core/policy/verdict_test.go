package policy_test

import (
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/story"
	"github.com/ralph-loop/ralph/journal/event"
)

// tasks is a file with one story.
func tasks(status string, passes bool, count, feedback string) []byte {
	return []byte(`{"project": "p", "branchName": "", "description": "d", "verifyCommands": [], "userStories": [
  {"id": "US-1", "title": "t", "description": "", "acceptanceCriteria": ["c"], "priority": 1, "passes": ` + map[bool]string{true: "true", false: "false"}[passes] +
		`, "reviewStatus": "` + status + `", "reviewCount": ` + count + `, "reviewFeedback": "` + feedback + `", "notes": "n", "dependsOn": []}]}`)
}

// A round of two reviewers: what each verdict leaves in the file.
func TestVerdictsOfOneRound(t *testing.T) {
	before := tasks("needs_review", false, "1", "")
	approves := tasks("approved", true, "2", "")
	wants := tasks("changes_requested", false, "2", "no test")
	atCap := tasks("approved", true, "2", story.CapPrefix+" no test")
	ann := policy.Vote{Agent: "ann", Approved: true}
	for name, row := range map[string]struct {
		found  []byte
		given  []policy.Vote
		cap    int
		left   []byte
		last   event.StoryReviewed
		events int
	}{
		"the first approves":   {approves, nil, 5, before, event.StoryReviewed{Story: "US-1", Agent: "bob", Approved: true, Count: 1, Open: true}, 1},
		"the first wants more": {wants, nil, 5, tasks("changes_requested", false, "2", `bob: no test`), event.StoryReviewed{Story: "US-1", Feedback: "bob: no test", Count: 2}, 2},
		"both approve":         {approves, []policy.Vote{ann}, 5, approves, event.StoryReviewed{Story: "US-1", Approved: true, Count: 2}, 2},
		"one at the cap": {atCap, []policy.Vote{ann}, 2, tasks("approved", true, "2", story.CapPrefix+" bob: no test"),
			event.StoryReviewed{Story: "US-1", Approved: true, AtCap: true, Feedback: story.CapPrefix + " bob: no test", Count: 2}, 2},
	} {
		j := policy.Judgement{
			Stories: policy.Stories{Mode: event.ModeReview}, Voters: 2,
			Rules: event.Rules{Reviewers: 2, Review: event.ReviewRules{Cap: row.cap, Vote: "all"}},
			Votes: policy.Votes{Story: "US-1", Count: 1, Given: row.given, Agent: "bob"},
		}
		verdicts, data, err := j.Verdicts(before, row.found)
		if err != nil || len(verdicts) != row.events || string(data) != string(row.left) {
			t.Errorf("%s: %v, %+v\n%s\nwant\n%s", name, err, verdicts, data, row.left)
			continue
		}
		if last := verdicts[len(verdicts)-1]; last != row.last {
			t.Errorf("%s: %+v, want %+v", name, last, row.last)
		}
	}
}

// One reviewer's verdict is as the file says, and is recorded once.
func TestVerdictOfOneReviewer(t *testing.T) {
	j := policy.Judgement{
		Stories: policy.Stories{Mode: event.ModeReview}, Rules: event.Rules{Reviewers: 1, Review: event.ReviewRules{Cap: 5}}, Votes: policy.Votes{Agent: "ann"},
	}
	verdicts, data, err := j.Verdicts(tasks("needs_review", false, "0", ""), tasks("approved", true, "1", ""))
	want := event.StoryReviewed{Story: "US-1", Agent: "ann", Approved: true, Count: 1}
	if err != nil || len(verdicts) != 1 || verdicts[0] != want || string(data) != string(tasks("approved", true, "1", "")) {
		t.Errorf("%+v, %v", verdicts, err)
	}
	j.Votes.Apply(want, &policy.Lifecycle{Rules: j.Rules})
	if again, _, _ := j.Verdicts(tasks("needs_review", false, "0", ""), tasks("approved", true, "1", "")); len(again) > 0 {
		t.Errorf("again: %+v", again)
	}
}

// A turn that is judged again, after the runner died, comes to the same, with any number of voters
// and whether the file has the result or not.
func TestVerdictsOfRepeatedJudgement(t *testing.T) {
	before := tasks("needs_review", false, "1", "")
	approves, wants := tasks("approved", true, "2", ""), tasks("changes_requested", false, "2", "no test")
	no := policy.Vote{Agent: "ann", Feedback: "no docs"}
	for name, row := range map[string]struct {
		found  []byte
		given  []policy.Vote
		vote   string
		voters int
	}{
		"all approve":             {approves, []policy.Vote{{Agent: "ann", Approved: true}}, "all", 2},
		"one wants more":          {wants, []policy.Vote{{Agent: "ann", Approved: true}}, "all", 2},
		"both want more":          {wants, []policy.Vote{no}, "majority", 3},
		"a minority":              {approves, []policy.Vote{no, {Agent: "cat", Approved: true}}, "majority", 3},
		"an overruled one":        {wants, []policy.Vote{{Agent: "ann", Approved: true}, {Agent: "cat", Approved: true}}, "majority", 3},
		"the only one that can":   {approves, nil, "all", 1},
		"not certain":             {approves, nil, "all", 2},
		"not certain, wants more": {wants, nil, "majority", 3},
	} {
		j := policy.Judgement{
			Stories: policy.Stories{Mode: event.ModeReview}, Voters: row.voters,
			Rules: event.Rules{Reviewers: 3, Review: event.ReviewRules{Cap: 5, Vote: row.vote}},
			Votes: policy.Votes{Story: "US-1", Count: 1, Given: row.given, Agent: "bob"},
		}
		verdicts, left, err := j.Verdicts(before, row.found)
		if err != nil || len(verdicts) == 0 {
			t.Fatalf("%s: %+v, %v", name, verdicts, err)
		}
		for recorded, verdict := range verdicts {
			j.Votes.Apply(verdict, &policy.Lifecycle{Rules: j.Rules})
			more, again, err := j.Verdicts(before, row.found)
			if err != nil || string(again) != string(left) || !slices.Equal(more, verdicts[recorded+1:]) {
				t.Errorf("%s, %d of %d recorded: %+v, %v\n%s\nwant\n%s", name, recorded+1, len(verdicts), more, err, again, left)
			}
		}
		j.Voters = 3 // a person resumed the loop
		more, again, err := j.Verdicts(before, left)
		if err != nil || string(again) != string(left) || len(more) > 0 {
			t.Errorf("%s, when the file has the result: %+v, %v\n%s\nwant\n%s", name, more, err, again, left)
		}
	}
}

func TestVerdictsOnlyOfReviews(t *testing.T) {
	before, found := tasks("needs_review", false, "0", ""), tasks("approved", true, "1", "")
	for name, j := range map[string]policy.Judgement{
		"another mode":    {Stories: policy.Stories{Mode: event.ModeReviewFix}},
		"without reviews": {Stories: policy.Stories{Mode: event.ModeReview}, Rules: event.Rules{Review: event.ReviewRules{Skip: true}}},
	} {
		if verdicts, data, err := j.Verdicts(before, found); len(verdicts) > 0 || err != nil || string(data) != string(found) {
			t.Errorf("%s: %+v, %v", name, verdicts, err)
		}
	}
}

// An agent whose vote is known only when the next iteration begins does not review again.
func TestIterationIsForOtherAgent(t *testing.T) {
	own := event.StoryReviewed{Story: "US-1", Agent: "ann", Open: true}
	for name, row := range map[string]struct {
		place    int
		mode     event.StoryMode
		verdicts []event.StoryReviewed
		want     bool
	}{
		"a reviewer":             {2, event.ModeReview, nil, false},
		"an implementer":         {0, event.ModeReview, nil, true},
		"other work":             {2, event.ModeImplement, nil, true},
		"its own vote":           {2, event.ModeReview, []event.StoryReviewed{own}, true},
		"another one's vote":     {3, event.ModeReview, []event.StoryReviewed{own}, false},
		"the round is decided":   {2, event.ModeReview, []event.StoryReviewed{own, {Story: "US-1", Count: 1}}, false},
		"the only one's verdict": {2, event.ModeReview, []event.StoryReviewed{{Story: "US-1", Agent: "ann", Count: 1}}, false},
	} {
		if got := policy.IsForOther(reviewing, row.place, row.mode, row.verdicts); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The state before an event may be in use.
func TestFoldingVotesKeepsEarlierState(t *testing.T) {
	before := ballot("ynn")
	after := before
	after.Apply(event.LoopResumed{Rules: &event.Rules{Agents: []event.Agent{{Name: "cat"}}}}, &policy.Lifecycle{Rules: reviewing})
	if len(after.Given) != 1 || after.Given[0].Agent != "cat" || before.Given[0].Agent != "ann" {
		t.Errorf("%+v, and before %+v", after.Given, before.Given)
	}
}

// A review whose changes stay gives no verdict: the story is as it was before.
func TestNoVerdictOfRefusedReview(t *testing.T) {
	before := tasks("needs_review", false, "1", "")
	for name, found := range map[string][]byte{
		"approved": tasks("approved", true, "2", ""), "wants more": tasks("changes_requested", false, "2", "no test"), "nothing": before,
	} {
		var s policy.Stories
		s.Apply(event.StoriesRead{Mode: event.ModeReview}, &policy.Lifecycle{})
		s.Apply(event.ReviewUndone{Story: "US-1", Others: []string{"a"}, Refused: true}, &policy.Lifecycle{})
		for reviewers := range 3 {
			j := policy.Judgement{Stories: s, Voters: reviewers, Rules: event.Rules{Reviewers: reviewers, Review: event.ReviewRules{Cap: 5, Vote: "all"}}}
			if verdicts, data, err := j.Verdicts(before, found); err != nil || len(verdicts) > 0 || string(data) != string(before) {
				t.Errorf("%s, %d reviewers: %+v, %v\n%s", name, reviewers, verdicts, err, data)
			}
		}
		if len(s.Problems) != 1 || s.Problems[0].Story != "US-1" {
			t.Errorf("%+v", s.Problems)
		}
		s.Apply(event.StoriesRead{Mode: event.ModeReview}, &policy.Lifecycle{})
		if s.NoVerdict {
			t.Error("the next review gives no verdict either")
		}
	}
}
