package phrase_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render/phrase"
)

func TestPhrasesOfStories(t *testing.T) {
	var problems []event.StoryProblem
	for i := range 13 {
		problems = append(problems, event.StoryProblem{Story: "US-001", Text: fmt.Sprintf("problem %d", i+1)})
	}
	for name, row := range map[string]struct {
		payload event.Payload
		want    phrase.Phrase
	}{
		"the next iteration shows what is read": {event.StoriesRead{Mode: event.ModeReview, Story: "US-001"}, phrase.Phrase{Text: "tasks.json was read", Why: "next: review US-001"}},
		"all are done":                          {event.StoriesRead{Done: true, Stories: make([]event.StoryState, 3)}, good("all 3 stories are done")},
		"nothing is wrong":                      {event.StoriesJudged{}, phrase.Phrase{Text: "tasks.json was checked"}},
		"restored without a reason":             {event.StoriesJudged{Restored: true}, warning("tasks.json was restored")},
		"put back, and not": {
			event.StoriesJudged{Problems: []event.StoryProblem{{Story: "US-001", Text: "story US-001: passes", Undone: true}, {Story: "US-002", Text: "story US-002: no notes"}}},
			warning("story US-001: passes\nralph corrected it\nstory US-002: no notes"),
		},
		"approved": {event.StoryReviewed{Story: "US-001", Approved: true, Count: 1}, good("US-001 approved in review 1")},
		"one vote of several": {
			event.StoryReviewed{Story: "US-001", Agent: "codex", Approved: true, Count: 1, Open: true},
			good("US-001 approved by codex in review 1; other reviewers have not voted yet"),
		},
		"approved at the cap": {
			event.StoryReviewed{Story: "US-001", Approved: true, AtCap: true, Count: 5, Feedback: "[AUTO-APPROVED AT CAP] x\n"},
			warning("US-001 approved in review 5, the last that review.cap allows\n[AUTO-APPROVED AT CAP] x"),
		},
		"changes requested": {
			event.StoryReviewed{Story: "US-001", Agent: "codex", Count: 2, Feedback: "1. a\n2. b"},
			warning("changes of US-001 requested by codex in review 2\n1. a\n2. b"),
		},
		"undone": {event.ReviewUndone{Story: "US-001", Files: []string{"a.go"}, Ref: "refs/x"}, warning("what the reviewer of US-001 changed was undone: a.go\nkept in refs/x")},
		"what is partly undone": {
			event.ReviewUndone{Story: "US-001", Files: []string{"a", "lib"}, Ref: "refs/x", Error: "left as they are: lib", Partly: true},
			warning("what the reviewer of US-001 changed was undone: a, lib\nleft as they are: lib\nkept in refs/x"),
		},
		"what an earlier runner kept": {event.ReviewUndone{Ref: "refs/x", Error: "ralph ended during a review"}, failure("ralph ended during a review\nkept in refs/x")},
		"what a person changed": {
			event.ReviewUndone{Story: "US-001", Others: []string{"a", "b"}},
			phrase.Phrase{Tone: phrase.ToneGood, Text: "files changed during the review of US-001, not by the reviewer: they stay as they are", Why: "a, b"},
		},
		"what may be a person's": {
			event.ReviewUndone{Story: "US-001", Files: []string{"a"}, Others: []string{"b"}, Refused: true},
			phrase.Phrase{Tone: phrase.ToneWarning, Text: "the review of US-001 does not count: the reviewer and perhaps a person changed files, which stay as they are", Why: "a, b"},
		},
		"what was not undone": {
			event.ReviewUndone{Story: "US-001", Error: "another branch", Refused: true},
			failure("the review of US-001 does not count, since what the reviewer changed could not be undone: another branch"),
		},
		"what cannot be undone": {event.ReviewUndone{Story: "US-001", Error: "no space"}, failure("what the reviewer of US-001 changed could not be undone: no space")},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, phrase.Of(row.payload, phrase.Known{})); diff != "" {
				t.Error(diff)
			}
		})
	}
	said := phrase.Of(event.StoriesJudged{Problems: problems}, phrase.Known{})
	if lines := strings.Split(said.Text, "\n"); len(lines) != 11 || !strings.Contains(lines[10], "3 more problems") {
		t.Errorf("of 13 problems: %v", lines)
	}
}

func good(text string) phrase.Phrase    { return phrase.Phrase{Tone: phrase.ToneGood, Text: text} }
func warning(text string) phrase.Phrase { return phrase.Phrase{Tone: phrase.ToneWarning, Text: text} }
func failure(text string) phrase.Phrase { return phrase.Phrase{Tone: phrase.ToneFailure, Text: text} }

func TestStoriesSum(t *testing.T) {
	state := func(id string, passes bool, reviews int) event.StoryState {
		return event.StoryState{ID: id, Passes: passes, ReviewCount: reviews}
	}
	for want, stories := range map[string][]event.StoryState{
		"":                                nil,
		"1 of 1 story pass":               {state("a", true, 0)},
		"1 of 2 stories pass · 2 reviews": {state("a", true, 1), state("b", false, 1)},
		"0 of 2 stories pass · 3 reviews": {state("a", false, 3), state("b", false, 0)},
		"2 of 2 stories pass · 4 reviews, 3 of them of b": {state("a", true, 1), state("b", true, 3)},
	} {
		if got := phrase.StoriesSum(stories); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Implementers and reviewers take turns: that is no takeover.
func TestTurnsOfAgents(t *testing.T) {
	for want, p := range map[string]event.AgentReplaced{
		"codex reviews what is implemented":                                    {Was: "claude", Name: "codex", Turn: true, Why: "codex reviews what is implemented"},
		"codex takes over from claude: rate limit":                             {Was: "claude", Name: "codex", Why: "rate limit"},
		"codex takes over from claude: codex can work again, and is preferred": {Was: "claude", Name: "codex", Why: "codex can work again, and is preferred"},
	} {
		if got := phrase.Of(p, phrase.Known{}).String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
