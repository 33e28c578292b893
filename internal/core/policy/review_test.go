package policy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// reviewing are the rules of a loop with two implementers and three reviewers.
var reviewing = event.Rules{
	Stories: true, Reviewers: 3, Restart: event.RestartRules{Max: 5},
	Agents: []event.Agent{{Name: "claude"}, {Name: "pi"}, {Name: "ann"}, {Name: "bob"}, {Name: "cat"}},
}

// ballot is a round in which the reviewers voted as the letters say: y, n.
func ballot(votes string) policy.Votes {
	v := policy.Votes{}
	for i, vote := range votes {
		v = v.With("US-1", 0, policy.Vote{Agent: reviewing.Agents[i+2].Name, Approved: vote == 'y', Feedback: " why " + string(vote)})
	}
	return v
}

func TestVotesComeToResult(t *testing.T) {
	for _, row := range []struct {
		votes             string
		reviewers         int
		vote              string
		approved, certain bool
	}{
		{"y", 1, "all", true, true},
		{"n", 1, "all", false, true},
		{"y", 3, "all", false, false},
		{"yy", 3, "all", false, false},
		{"yyy", 3, "all", true, true},
		{"n", 3, "all", false, true},
		{"yn", 3, "all", false, true},
		{"y", 3, "majority", false, false},
		{"n", 3, "majority", false, false},
		{"yn", 3, "majority", false, false},
		{"yy", 3, "majority", true, true},
		{"nn", 3, "majority", false, true},
		{"yny", 3, "majority", true, true},
		{"ynn", 3, "majority", false, true},
		{"y", 2, "majority", false, false},
		{"n", 2, "majority", false, true},
		{"yy", 2, "majority", true, true},
		{"yy", 2, "all", true, true},
	} {
		v := ballot(row.votes)
		approved, certain := v.Result(row.reviewers, row.vote)
		if approved != row.approved || certain != row.certain {
			t.Errorf("%s of %d, %s: %v, certain %v", row.votes, row.reviewers, row.vote, approved, certain)
		}
	}
}

func TestVotesFoldOneRound(t *testing.T) {
	l := &policy.Lifecycle{Rules: reviewing}
	open := func(agent string, approved bool) event.StoryReviewed {
		return event.StoryReviewed{Story: "US-1", Agent: agent, Approved: approved, Feedback: "x", Open: true}
	}
	read := event.StoriesRead{Mode: event.ModeReview, Story: "US-1", Stories: []event.StoryState{{ID: "US-1"}}}
	later := event.StoriesRead{Mode: event.ModeReview, Story: "US-1", Stories: []event.StoryState{{ID: "US-1", ReviewCount: 1}}}
	fix := read
	fix.Mode = event.ModeReviewFix
	for name, row := range map[string]struct {
		happened []event.Payload
		voted    string
	}{
		"two votes":             {[]event.Payload{open("ann", true), read, open("bob", false)}, "ann bob"},
		"one vote twice":        {[]event.Payload{open("ann", true), open("ann", false)}, "ann"},
		"a result":              {[]event.Payload{open("ann", true), event.StoryReviewed{Story: "US-1", Approved: true}}, ""},
		"another story is next": {[]event.Payload{open("ann", true), event.StoriesRead{Story: "US-2"}}, ""},
		"a later review":        {[]event.Payload{open("ann", true), later}, ""},
		"a fix":                 {[]event.Payload{open("ann", true), fix}, ""},
		"another story":         {[]event.Payload{open("ann", true), event.StoryReviewed{Story: "US-2", Agent: "bob", Open: true}}, "bob"},
		"fewer reviewers":       {[]event.Payload{open("ann", true), open("bob", true), event.LoopResumed{Rules: &event.Rules{Agents: []event.Agent{{Name: "bob"}}}}}, "bob"},
		"a new loop":            {[]event.Payload{open("ann", true), event.LoopStarted{}}, ""},
	} {
		v := policy.Votes{}
		for _, p := range append([]event.Payload{event.Decided{Do: event.DoStart, Agent: 2}}, row.happened...) {
			v.Apply(p, l)
		}
		var voted []string
		for _, vote := range v.Given {
			voted = append(voted, vote.Agent)
		}
		if got := strings.Join(voted, " "); got != row.voted {
			t.Errorf("%s: %q voted, want %q", name, got, row.voted)
		}
		if name != "a new loop" && v.Agent != "ann" {
			t.Errorf("%s: the last agent is %q", name, v.Agent)
		}
	}
}

func TestFeedbackNamesWhoDissents(t *testing.T) {
	v := ballot("nyn")
	if got := v.Feedback(); got != "ann: why n\n\ncat: why n" {
		t.Errorf("%q", got)
	}
}

// A review is for reviewers that have not voted and can work; all else is for the other agents.
func TestCandidatesFollowTheMode(t *testing.T) {
	for name, row := range map[string]struct {
		next  event.StoryMode
		votes string
		gone  []int
		want  []int
	}{
		"implement":             {event.ModeImplement, "", nil, []int{0, 1}},
		"a fix":                 {event.ModeReviewFix, "", []int{0}, []int{0, 1}},
		"nothing is known":      {"", "", nil, []int{0, 1}},
		"a review":              {event.ModeReview, "", nil, []int{2, 3, 4}},
		"one voted":             {event.ModeReview, "y", nil, []int{3, 4}},
		"one voted, one cannot": {event.ModeReview, "y", []int{3}, []int{4}},
		"only one can":          {event.ModeReview, "y", []int{3, 4}, []int{2, 3, 4}},
		"none can":              {event.ModeReview, "", []int{2, 3, 4}, []int{2, 3, 4}},
	} {
		f := policy.Failover{Aside: make([]policy.AgentRecord, 5)}
		for _, place := range row.gone {
			f.Aside[place].Reason = event.ReasonAuth
		}
		current := policy.Availability{}
		if slices.Contains(row.gone, 0) {
			current.Reason = event.ReasonAuth
		}
		v := ballot(row.votes)
		if got := f.Candidates(&policy.Stories{Next: row.next}, &v, current, reviewing); !slices.Equal(got, row.want) {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
		voters := 3
		for _, place := range row.gone {
			if place >= 2 {
				voters--
			}
		}
		if got := f.Voters(reviewing); got != max(voters, 0) && (voters > 0 || got != 3) {
			t.Errorf("%s: %d voters", name, got)
		}
	}
}

func TestFitsWithoutReviewers(t *testing.T) {
	for _, mode := range []event.StoryMode{event.ModeImplement, event.ModeReview, event.ModeReviewFix} {
		if !policy.Fits(event.Rules{Stories: true}, 0, mode) {
			t.Errorf("%s", mode)
		}
		if policy.Fits(reviewing, 4, mode) != (mode == event.ModeReview) || policy.Fits(reviewing, 1, mode) != (mode != event.ModeReview) {
			t.Errorf("%s with reviewers", mode)
		}
	}
}

// What was undone is a problem for the next prompt, and no verdict of a single reviewer counts.
func TestStoriesKnowWhatWasUndone(t *testing.T) {
	s := known(t, reviewing,
		event.ReviewUndone{Story: "US-1", Files: []string{"a", "b", "c", "d"}, Ref: "refs/x"},
		event.ReviewUndone{Story: "US-2", Files: []string{"a"}, Error: "another branch is checked out"},
		event.ReviewUndone{Story: "US-3", Error: "no git"},
		event.StoryReviewed{Story: "US-1", Agent: "ann", Open: true},
	)
	if s.Tally.Reviews != 0 {
		t.Errorf("%+v", s.Tally)
	}
	var texts []string
	for _, p := range s.Problems {
		texts = append(texts, p.Text)
	}
	all := strings.Join(texts, "\n")
	for _, want := range []string{
		"The review of US-1 changed a, b, c and 1 more", "as they were before the review", "Not all of it was put back: another branch", "cannot be undone: no git",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing in\n%s", want, all)
		}
	}
}
