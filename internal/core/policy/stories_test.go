package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/story"
	"github.com/ralph-loop/ralph/journal/event"
)

// overStories are the rules of a loop over stories.
var overStories = event.Rules{Stories: true, Review: event.ReviewRules{Cap: 5}}

// known folds a loop over stories.
func known(t testing.TB, r event.Rules, happened ...event.Payload) *policy.Stories {
	t.Helper()
	s, l := &policy.Stories{}, &policy.Lifecycle{}
	for _, p := range append([]event.Payload{event.LoopStarted{Rules: r}}, happened...) {
		fold(s, l, noon, p)
		s = throughJSON(t, s)
	}
	return s
}

func open(id string) event.StoryState { return event.StoryState{ID: id} }
func waits(id string) event.StoryState {
	return event.StoryState{ID: id, ReviewStatus: event.StoryNeedsReview}
}
func sentBack(id string) event.StoryState {
	return event.StoryState{ID: id, ReviewStatus: event.StoryChangesRequested, ReviewCount: 1}
}
func approved(id string) event.StoryState {
	return event.StoryState{ID: id, Passes: true, ReviewStatus: event.StoryApproved, ReviewCount: 1}
}

func readStories(states ...event.StoryState) event.StoriesRead {
	return event.StoriesRead{Mode: event.ModeReview, Story: "A", File: event.Blob{Text: "{}", Bytes: 2}, Stories: states}
}
func judgedStories(states ...event.StoryState) event.StoriesJudged {
	return event.StoriesJudged{Mode: event.ModeReview, Stories: states}
}

var asked = event.Decided{Do: event.DoStart}

func TestStoriesClaim(t *testing.T) {
	const unchecked = "ralph/tasks.json was not checked after the turn"
	skips := overStories
	skips.Review.Skip = true
	for name, row := range map[string]struct {
		rules   event.Rules
		story   []event.Payload
		claim   event.Claim
		missing string
	}{
		"a loop without stories claims nothing": {event.Rules{}, []event.Payload{readStories(approved("A"))}, "", ""},
		"a loop that has read none":             {overStories, nil, "", "ralph/tasks.json has no stories"},
		"all are done":                          {overStories, []event.Payload{readStories(approved("A"), approved("B"))}, event.ClaimStories, ""},
		"one is open":                           {overStories, []event.Payload{readStories(approved("A"), open("B"))}, "", "1 of 2 stories in ralph/tasks.json are not done: B (not implemented)"},
		"each says what it lacks":               {overStories, []event.Payload{readStories(sentBack("A"), waits("B"), open("C"))}, "", "3 of 3 stories in ralph/tasks.json are not done: A (changes requested); B (needs review); C (not implemented)"},
		"passes alone is not enough":            {overStories, []event.Payload{readStories(event.StoryState{ID: "A", Passes: true})}, "", "1 of 1 stories in ralph/tasks.json are not done: A (needs review)"},
		"without reviews it is":                 {skips, []event.Payload{readStories(event.StoryState{ID: "A", Passes: true})}, event.ClaimStories, ""},
		"without reviews a status is nothing":   {skips, []event.Payload{readStories(waits("A"))}, "", "1 of 1 stories in ralph/tasks.json are not done: A (not implemented)"},
		"after a turn nothing is known":         {overStories, []event.Payload{readStories(waits("A")), asked}, "", unchecked},
		"a judgement has to come to its end":    {overStories, []event.Payload{readStories(waits("A")), asked, judgedStories(approved("A"))}, "", unchecked},
		"which the check is":                    {overStories, []event.Payload{readStories(waits("A")), asked, judgedStories(approved("A")), checked}, event.ClaimStories, ""},
		"or the next reading":                   {overStories, []event.Payload{readStories(waits("A")), asked, judgedStories(approved("A")), readStories(approved("A"))}, event.ClaimStories, ""},
		"a check of an older loop is none":      {overStories, []event.Payload{checked}, "", "ralph/tasks.json has no stories"},
		"another decision changes nothing":      {overStories, []event.Payload{readStories(approved("A")), event.Decided{Do: event.DoCheck}}, event.ClaimStories, ""},
		"a runner that died leaves it unknown":  {overStories, []event.Payload{readStories(waits("A")), asked, event.LoopResumed{Died: true}}, "", unchecked},
		"a person may accept what is there":     {overStories, []event.Payload{readStories(approved("A")), asked, event.LoopResumed{AcceptedChanges: true}}, event.ClaimStories, ""},
		"the next loop begins with nothing":     {overStories, []event.Payload{readStories(approved("A")), event.LoopStarted{Rules: overStories}}, "", "ralph/tasks.json has no stories"},
	} {
		t.Run(name, func(t *testing.T) {
			s := known(t, row.rules, row.story...)
			if got := s.Claim(row.rules); got != row.claim {
				t.Errorf("claims %q, want %q", got, row.claim)
			}
			if got := strings.Join(s.Missing(row.rules), "|"); got != row.missing {
				t.Errorf("lacks %q, want %q", got, row.missing)
			}
		})
	}
	if s := known(t, event.Rules{}, asked); s.AgentRan {
		t.Error("an agent without stories is waited for")
	}
}

func TestStoriesPreferredMode(t *testing.T) {
	for _, row := range []struct {
		states []event.StoryState
		want   event.StoryMode
	}{
		{nil, ""}, {[]event.StoryState{approved("A")}, ""},
		{[]event.StoryState{open("A"), approved("B")}, event.ModeImplement},
		{[]event.StoryState{open("A"), waits("B"), open("C")}, event.ModeReview},
		{[]event.StoryState{waits("A"), sentBack("B"), open("C")}, event.ModeReviewFix},
		{[]event.StoryState{sentBack("A"), waits("B")}, event.ModeReviewFix},
	} {
		if got := known(t, overStories, readStories(row.states...)).Next; got != row.want {
			t.Errorf("%v: %q, want %q", row.states, got, row.want)
		}
	}
}

func problem(text string) event.StoryProblem {
	return event.StoryProblem{Story: "A", Field: "passes", Text: text, Undone: true}
}

// What was wrong is said once, and again if the iteration that was to read it is repeated.
func TestStoryProblemsReachPrompt(t *testing.T) {
	wrong := judgedStories(open("A"))
	wrong.Problems = []event.StoryProblem{problem("one"), problem("two")}
	again := wrong
	again.Problems = []event.StoryProblem{problem("two"), problem("three")}
	ended := event.IterationEnded{Outcome: event.OutcomeDone}
	for name, row := range map[string]struct {
		story []event.Payload
		want  string
	}{
		"nothing is wrong at first":                 {nil, ""},
		"what is wrong is said":                     {[]event.Payload{wrong, checked, ended}, "one two"},
		"once":                                      {[]event.Payload{wrong, checked, ended, event.IterationStarted{N: 2}, ended}, ""},
		"not while the prompt is there":             {[]event.Payload{wrong, ended, event.IterationStarted{N: 2}}, ""},
		"and again after a refund":                  {[]event.Payload{wrong, ended, event.IterationStarted{N: 2}, limited}, "one two"},
		"together with what is new":                 {[]event.Payload{wrong, ended, event.IterationStarted{N: 2}, limited, again}, "one two three"},
		"also if it was found first":                {[]event.Payload{wrong, ended, event.IterationStarted{N: 2}, again, limited}, "one two three"},
		"a second judgement of the turn adds to it": {[]event.Payload{wrong, again}, "one two three"},
		"a later refund repeats nothing old":        {[]event.Payload{wrong, ended, event.IterationStarted{N: 2}, ended, limited}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var texts []string
			for _, p := range known(t, overStories, row.story...).Problems {
				texts = append(texts, p.Text)
			}
			if got := strings.Join(texts, " "); got != row.want {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
}

// While all stories are done and something else is missing, the next iteration works on that.
func TestStoriesRefused(t *testing.T) {
	refused := event.CompletionRefused{Missing: []string{"the guardrails have not all run"}}
	done := readStories(approved("A"))
	for name, row := range map[string]struct {
		story []event.Payload
		want  bool
	}{
		"a refusal of stories that are done":     {[]event.Payload{done, refused}, true},
		"stays until one is open":                {[]event.Payload{done, refused, asked, judgedStories(approved("A"))}, true},
		"which a person may do":                  {[]event.Payload{done, refused, readStories(approved("A"), open("B"))}, false},
		"or take all away":                       {[]event.Payload{done, refused, readStories()}, false},
		"or resume the loop":                     {[]event.Payload{done, refused, event.LoopResumed{}}, false},
		"a promise while one is open is another": {[]event.Payload{readStories(open("A")), refused}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := known(t, overStories, row.story...).Refused; got != row.want {
				t.Errorf("%v, want %v", got, row.want)
			}
		})
	}
}

func TestStoryBases(t *testing.T) {
	based := func(id, base string, states ...event.StoryState) event.StoriesRead {
		r := readStories(states...)
		r.Story, r.Base = id, base
		return r
	}
	for name, row := range map[string]struct {
		story []event.Payload
		want  map[string]string
	}{
		"the first commit of a story is kept":  {[]event.Payload{based("A", "1", open("A")), based("A", "1", waits("A"))}, map[string]string{"A": "1"}},
		"of each":                              {[]event.Payload{based("A", "1", open("A"), open("B")), based("B", "2", waits("A"), open("B"))}, map[string]string{"A": "1", "B": "2"}},
		"of one that is done it is forgotten":  {[]event.Payload{based("A", "1", open("A"), open("B")), based("B", "2", approved("A"), open("B"))}, map[string]string{"B": "2"}},
		"and of one that is gone":              {[]event.Payload{based("A", "1", open("A"), open("B")), based("B", "", open("B"))}, nil},
		"of one that is not known it is not":   {[]event.Payload{based("C", "1", open("A"))}, nil},
		"an unknown commit replaces no other":  {[]event.Payload{based("A", "1", open("A")), based("A", "", open("A"))}, map[string]string{"A": "1"}},
		"without a repository there are none":  {[]event.Payload{based("A", "", open("A"))}, nil},
		"a judgement leaves them as they were": {[]event.Payload{based("A", "1", open("A")), judgedStories(approved("A"))}, map[string]string{"A": "1"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, known(t, overStories, row.story...).Bases); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReviewTally(t *testing.T) {
	s := known(t, overStories,
		event.StoryReviewed{Story: "A", Approved: true, Count: 1}, event.StoryReviewed{Story: "B", Count: 1},
		event.StoryReviewed{Story: "B", Count: 2}, event.StoryReviewed{Story: "B", Approved: true, AtCap: true, Count: 3})
	if want := (policy.ReviewTally{Reviews: 4, Approved: 2, Changes: 2, AtCap: 1}); s.Tally != want {
		t.Errorf("%+v, want %+v", s.Tally, want)
	}
	for want, s := range map[string]policy.Stories{
		"":                    {Tally: s.Tally},
		"1 of 3 stories done": {Total: 3, Done: 1},
		"3 of 3 stories done; reviews: 4, changes requested: 2, approved at the cap: 1": {Total: 3, Done: 3, Tally: s.Tally},
		"2 of 3 stories done; reviews: 2, changes requested: 0":                         {Total: 3, Done: 2, Tally: policy.ReviewTally{Reviews: 2, Approved: 2}},
	} {
		if got := s.Summary(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestStoriesRemembersTurn(t *testing.T) {
	s := known(t, overStories, readStories(waits("A")), asked)
	if s.Mode != event.ModeReview || s.Story != "A" || s.File.Text != "{}" || !s.AgentRan || !slices.Equal(s.States, []event.StoryState{waits("A")}) {
		t.Errorf("%+v", s)
	}
	if s := known(t, overStories, readStories(waits("A")), asked, judgedStories(approved("A"))); s.Total != 1 || s.Done != 1 || s.States[0] != approved("A") {
		t.Errorf("after the judgement: %+v", s)
	}
}

func TestStoriesAreBounded(t *testing.T) {
	r := readStories()
	var wrong event.StoriesJudged
	for i := range 1000 {
		s := open(fmt.Sprintf("S%03d", i))
		s.Title = strings.Repeat("é", 1000)
		r.Stories = append(r.Stories, s)
		wrong.Problems = append(wrong.Problems, problem(fmt.Sprint(i)+strings.Repeat("é", 1000)))
	}
	wrong.Stories = r.Stories
	s := known(t, overStories, r, wrong)
	if s.Total != 1000 || len(s.States) != 200 || len(s.States[0].Title) != 120 || len(s.Open) != 10 || len(s.Problems) != 20 || len(s.Problems[0].Text) > 500 {
		t.Errorf("%d stories, %d states, %d open, %d problems", s.Total, len(s.States), len(s.Open), len(s.Problems))
	}
	if got := known(t, overStories, event.StoriesRead{Stories: r.Stories[:11]}).Missing(overStories)[0]; !strings.HasSuffix(got, "; and 1 more") {
		t.Error(got)
	}
	if got := s.Missing(overStories)[0]; !strings.HasPrefix(got, "1000 of 1000 stories") || !strings.HasSuffix(got, "S009 (not implemented); and 990 more") {
		t.Error(got)
	}
	// The rest counts too.
	r.Stories[999] = approved("S999")
	for i := range 999 {
		r.Stories[i] = approved(r.Stories[i].ID)
	}
	if known(t, overStories, r).Claim(overStories) == "" {
		t.Error("all are done, and that is no claim")
	}
	r.Stories[999] = open("S999")
	if known(t, overStories, r).Claim(overStories) != "" {
		t.Error("the last is open, and that is a claim")
	}
}

func TestStoryRules(t *testing.T) {
	for _, row := range []struct {
		in   event.ReviewRules
		want story.Rules
	}{
		{event.ReviewRules{Cap: 3}, story.Rules{Cap: 3}},
		{event.ReviewRules{Skip: true, Cap: 1}, story.Rules{SkipReview: true, Cap: 1}},
		{event.ReviewRules{}, story.Rules{Cap: 1}}, // of a journal from before there were stories
	} {
		if got := policy.StoryRules(event.Rules{Review: row.in}); got != row.want {
			t.Errorf("%+v: %+v, want %+v", row.in, got, row.want)
		}
	}
}

func TestVotesNeeded(t *testing.T) {
	for _, row := range []struct {
		vote            string
		reviewers, want int
	}{
		{"all", 0, 1}, {"all", 1, 1}, {"all", 3, 3}, {"majority", 0, 1}, {"majority", 1, 1}, {"majority", 2, 2}, {"majority", 3, 2}, {"majority", 4, 3},
	} {
		if got := policy.VotesNeeded(row.reviewers, row.vote); got != row.want {
			t.Errorf("%s of %d: %d, want %d", row.vote, row.reviewers, got, row.want)
		}
	}
}

func TestUndoesReviewer(t *testing.T) {
	for mode, want := range map[event.StoryMode]bool{event.ModeReview: true, event.ModeImplement: false, event.ModeReviewFix: false} {
		if got := policy.UndoesReviewer(event.Rules{}, mode); got != want {
			t.Errorf("%s: %v", mode, got)
		}
		if policy.UndoesReviewer(event.Rules{Review: event.ReviewRules{MayEdit: true}}, mode) {
			t.Errorf("%s with review.mayEdit", mode)
		}
	}
}

// A reading that says that all is done ends the beginning, and nothing else does.
func TestStoriesDoneBeforeIteration(t *testing.T) {
	for name, row := range map[string]struct {
		phase policy.Phase
		done  bool
		want  policy.Phase
		early bool
	}{
		"done while the prompt is composed": {policy.Beginning, true, policy.Between, true},
		"open":                              {policy.Beginning, false, policy.Beginning, false},
		"done in a turn":                    {policy.Turning, true, policy.Turning, false},
	} {
		l := &policy.Lifecycle{Rules: overStories, Phase: row.phase, Cancelled: true}
		c := &policy.Completion{}
		r := readStories(approved("A"))
		r.Done = row.done
		fold(c, l, noon, r)
		if c.Early != row.early {
			t.Errorf("%s: early is %v", name, c.Early)
		}
		if l.Phase != row.want || l.Cancelled != (row.phase == row.want) {
			t.Errorf("%s: %q, cancelled %v", name, l.Phase, l.Cancelled)
		}
	}
}

func TestRefusalOfSameKind(t *testing.T) {
	refused := func(text string, states ...event.StoryState) []event.Payload {
		judged := judgedStories(states...)
		judged.Problems = []event.StoryProblem{{Story: "A", Field: "passes", Text: text, Undone: true}}
		return []event.Payload{readStories(open("A")), event.IterationStarted{N: 1}, judged}
	}
	const approves, removes = "story A: it approves itself", "story A: it is gone"
	several := func(texts ...string) []event.Payload {
		judged := judgedStories(open("A"))
		for _, text := range texts {
			judged.Problems = append(judged.Problems, event.StoryProblem{Story: "A", Field: "passes", Text: text, Undone: true})
		}
		return []event.Payload{readStories(open("A")), event.IterationStarted{N: 1}, judged, event.IterationEnded{N: 1, Outcome: event.OutcomeDone}}
	}
	edits := func(file string) []event.Payload {
		return []event.Payload{readStories(waits("A")), event.IterationStarted{N: 1}, event.ReviewUndone{Story: "A", Files: []string{file}}, judgedStories(waits("A"))}
	}
	ended, again := event.IterationEnded{N: 1, Outcome: event.OutcomeDone}, refused(approves, open("A"))
	foreign := judgedStories(open("A"))
	foreign.Problems = []event.StoryProblem{{Field: "prd.md", Text: "prd.md was changed"}}
	for name, row := range map[string]struct {
		story []event.Payload
		want  string
	}{
		"the first refusal is none again":           {again, ""},
		"the same one is":                           {slices.Concat(again, []event.Payload{ended}, again), approves},
		"it is for each further time":               {slices.Concat(again, []event.Payload{ended}, again, []event.Payload{ended}, again), approves},
		"numbers make no difference":                {slices.Concat(refused("A has 2 reviews", open("A")), []event.Payload{ended}, refused("A has 3 reviews", open("A"))), "A has 3 reviews"},
		"another reason does":                       {slices.Concat(again, []event.Payload{ended}, refused(removes, open("A"))), ""},
		"an iteration without one comes between":    {slices.Concat(again, []event.Payload{ended, readStories(open("A")), event.IterationStarted{N: 2}, judgedStories(open("A")), ended}, again), ""},
		"the story was brought further":             {slices.Concat(again, []event.Payload{ended}, refused(approves, waits("A"))), ""},
		"a part of what was refused is the same":    {slices.Concat(several(approves, removes), again), approves},
		"so is that and something new":              {slices.Concat(several(removes), several(approves), several(approves, "else")[:3]), approves},
		"also if another reason came between":       {slices.Concat(several(approves), several(removes), again), approves},
		"the parts may take turns":                  {slices.Concat(several(approves, removes), several(removes), again), approves},
		"a review may edit another file each time":  {slices.Concat(edits("a.go"), []event.Payload{ended}, edits("b.go")), "The review of A changed b.go: a reviewer changes only tasks.json and progress.txt. The files are as they were before the review."},
		"a resume forgets it":                       {slices.Concat(several(approves), []event.Payload{event.LoopResumed{}}, again), ""},
		"a refunded iteration does not count":       {slices.Concat(again, []event.Payload{event.IterationEnded{N: 1, Refunded: true}}, again), ""},
		"a person may have changed another file":    {[]event.Payload{readStories(open("A")), event.IterationStarted{N: 1}, foreign, ended, readStories(open("A")), event.IterationStarted{N: 2}, foreign}, ""},
		"a loop without stories is refused nothing": {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := known(t, overStories, row.story...).Repeated(); got != row.want {
				t.Errorf("repeated %q, want %q", got, row.want)
			}
		})
	}
}
