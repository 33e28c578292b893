package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/story"
	"github.com/ralph-loop/ralph/journal/event"
)

// Stories is what a loop knows of ralph/tasks.json. The file belongs to the agents, so each of them
// is judged by what the file was before it ran. From the start of an agent until the judgement, a
// change is the agent's, however many iterations, runners and crashes come between. After it, a
// change before the next start is a person's.
type Stories struct {
	// Mode and Story are those of the last iteration that began.
	Mode  event.StoryMode `json:"mode,omitempty"`
	Story string          `json:"story,omitempty"`
	// File is the file before that iteration's agent ran: the last one that is known to be good.
	File event.Blob `json:"file,omitzero"`
	// AgentRan says that an agent may have worked, and that no judgement has come to its end since:
	// what is put back is written after the judgement is recorded.
	AgentRan bool `json:"agentRan,omitempty"`
	// NoVerdict says that the review of the open iteration gives none; see [event.ReviewUndone].
	NoVerdict bool `json:"noVerdict,omitempty"`

	// Commit is the commit of a verdict that may not have been made, or not been recorded; nil if
	// there is none.
	Commit *event.StoriesCommit `json:"commit,omitempty"`

	// States are the first stories of the file as it was read or judged last. Total, Done, Open and
	// Next are about all of them.
	States []event.StoryState `json:"states,omitempty"`
	Total  int                `json:"total,omitempty"`
	Done   int                `json:"done,omitempty"`
	Open   []string           `json:"open,omitempty"` // the first that are not done, and why
	Next   event.StoryMode    `json:"next,omitempty"` // what the states ask for; empty if all are done

	// Problems are what was wrong with the file; the next prompt says so.
	Problems []event.StoryProblem `json:"problems,omitempty"`
	// Before is what the prompt of the open iteration reported.
	Before []event.StoryProblem `json:"before,omitempty"`
	// Refused says that all stories are done and the loop may not end yet: the next iteration works
	// on what is missing.
	Refused bool `json:"refused,omitempty"`
	// Bases are the commits that the work on the open stories began at, by their ids.
	Bases map[string]string `json:"bases,omitempty"`
	Tally ReviewTally       `json:"tally,omitzero"`
	// Began is the hash of the stories before the agent of the open iteration.
	Began string `json:"began,omitempty"`
	// Refusals are hashes of what the last iterations in a row did to the stories and were refused;
	// empty if the last one brought a story further, or was refused nothing.
	Refusals []string `json:"refusals,omitempty"`
}

// ReviewTally counts the verdicts of a loop.
type ReviewTally struct {
	Reviews  int `json:"reviews,omitempty"`
	Approved int `json:"approved,omitempty"` // with those at the cap
	Changes  int `json:"changes,omitempty"`  // changes were requested
	AtCap    int `json:"atCap,omitempty"`    // approved because review.cap was reached
}

// Bounds of what a checkpoint holds.
const (
	statesMost       = 200
	titleMost        = 120 // bytes
	openStoriesMost  = 10
	problemsMost     = 20
	storyProblemMost = 500 // bytes of its text
	refusalsMost     = 100
)

// Apply folds one event. was is the loop before it.
func (s *Stories) Apply(p event.Payload, was *Lifecycle) {
	switch p := p.(type) {
	case event.LoopStarted:
		*s = Stories{}
	case event.LoopResumed:
		s.Refused, s.Refusals = false, nil // a person may have repaired what was missing
		if p.AcceptedChanges {
			s.AgentRan = false
		}
	case event.StoriesRead:
		s.Mode, s.Story, s.File, s.AgentRan, s.NoVerdict, s.Commit = p.Mode, p.Story, p.File, false, false, nil
		s.count(p.Stories, was.Rules)
		s.Began = hashOf(s.States)
		s.remember(p)
	case event.StoriesJudged:
		s.count(p.Stories, was.Rules)
		s.Problems = addProblems(s.Problems, p.Problems)
		if p.Commit != nil {
			s.Commit = &event.StoriesCommit{Message: firstBytes(p.Commit.Message, storyProblemMost), SHA256: p.Commit.SHA256}
		}
	case event.RepoCommitted:
		s.Commit = nil
	case event.StoryReviewed:
		if !p.Open {
			s.Tally.add(p)
		}
	case event.ReviewUndone:
		s.NoVerdict = s.NoVerdict || p.Refused
		if len(p.Others) == 0 || p.Refused { // else a person's changes stay, and nothing is wrong
			s.Problems = addProblems(s.Problems, []event.StoryProblem{undoneProblem(p)})
		}
	case event.Decided:
		if p.Do == event.DoStart && was.Rules.Stories {
			s.AgentRan = true
		}
	case event.IterationChecked:
		s.AgentRan = false
	case event.IterationStarted:
		s.Before, s.Problems = s.Problems, nil
	case event.IterationEnded:
		if !p.Refunded {
			s.refused()
		}
		if was.unread(p) {
			s.Problems = addProblems(s.Before, s.Problems)
		}
		s.Before = nil
	case event.CompletionRefused:
		s.Refused = s.finished()
	}
}

// refusals returns what the agent of the open iteration did to the stories and was refused, and for
// each a hash of its kind; nothing if it brought a story further. What names no field names files
// or errors, which may differ each time.
func (s *Stories) refusals() (texts, kinds []string) {
	if s.Began == "" || hashOf(s.States) != s.Began {
		return nil, nil
	}
	for _, p := range s.Problems {
		if p.Story == "" && !p.Undone { // a person may have caused it
			continue
		}
		text := p.Text
		if p.Field == "" {
			text = ""
		}
		texts, kinds = append(texts, p.Text), append(kinds, hash(string(s.Mode), s.Story, p.Story, p.Field, alike(text)))
	}
	return texts, kinds
}

// refused adds what the iteration that ends was refused.
func (s *Stories) refused() {
	_, kinds := s.refusals()
	if len(kinds) == 0 {
		s.Refusals = nil
		return
	}
	all := slices.Clone(s.Refusals) // the state before the event may be in use
	for _, kind := range kinds {
		if !slices.Contains(all, kind) {
			all = append(all, kind)
		}
	}
	s.Refusals = all[max(0, len(all)-refusalsMost):]
}

// Repeated returns what the agent of the open iteration did to the stories and was refused, as far
// as one of the iterations right before it was refused the same; else nothing. One same refusal is
// enough: an agent that is refused for a and b, then for a, then for b gets no further.
func (s *Stories) Repeated() string {
	var again []string
	texts, kinds := s.refusals()
	for i, kind := range kinds {
		if slices.Contains(s.Refusals, kind) {
			again = append(again, texts[i])
		}
	}
	return firstBytes(strings.Join(again, "; "), storyProblemMost)
}

// hashOf returns the hash of the states of stories.
func hashOf(states []event.StoryState) string {
	parts := make([]string, 0, len(states))
	for _, state := range states {
		parts = append(parts, fmt.Sprintf("%#v", state))
	}
	return hash(parts...)
}

// Title returns the beginning of the title of a story; empty if it is not known.
func (s *Stories) Title(id string) string {
	for i := range s.States {
		if s.States[i].ID == id {
			return s.States[i].Title
		}
	}
	return ""
}

// count takes over the states of all stories.
func (s *Stories) count(states []event.StoryState, r event.Rules) {
	s.States, s.Open = nil, nil
	s.Total, s.Done, s.Next = len(states), 0, ""
	for _, state := range states {
		if len(s.States) < statesMost {
			state.Title = firstBytes(state.Title, titleMost)
			s.States = append(s.States, state)
		}
		mode := modeOf(state, r)
		if mode == "" {
			s.Done++
			continue
		}
		s.Next = earlier(s.Next, mode)
		if len(s.Open) < openStoriesMost {
			s.Open = append(s.Open, fmt.Sprintf("%s (%s)", firstBytes(state.ID, titleMost), story.Lacks(mode)))
		}
	}
	if s.Total == 0 || s.Done < s.Total {
		s.Refused = false
	}
}

// remember keeps the commit that the work on the iteration's story began at, and forgets those of
// stories that are done or gone.
func (s *Stories) remember(p event.StoriesRead) {
	open := map[string]bool{}
	for _, state := range s.States {
		open[state.ID] = state.ReviewStatus != event.StoryApproved
	}
	bases := maps.Clone(s.Bases) // the state before the event may be in use
	maps.DeleteFunc(bases, func(id, _ string) bool { return !open[id] })
	if p.Base != "" && open[p.Story] {
		if bases == nil {
			bases = map[string]string{}
		}
		bases[p.Story] = p.Base
	}
	if s.Bases = bases; len(bases) == 0 {
		s.Bases = nil
	}
}

func (t *ReviewTally) add(p event.StoryReviewed) {
	t.Reviews++
	switch {
	case p.Approved && p.AtCap:
		t.Approved, t.AtCap = t.Approved+1, t.AtCap+1
	case p.Approved:
		t.Approved++
	default:
		t.Changes++
	}
}

// addProblems returns both lists without repetitions, bounded.
func addProblems(first, more []event.StoryProblem) []event.StoryProblem {
	var all []event.StoryProblem
	for _, p := range slices.Concat(first, more) {
		p.Text = firstBytes(p.Text, storyProblemMost)
		if len(all) < problemsMost && !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// finished reports whether the file has stories and all of them are done.
func (s *Stories) finished() bool { return s.Total > 0 && s.Done == s.Total && !s.AgentRan }

// Claim returns the claim of a file all of whose stories are done, after it was judged; empty if
// there is none.
func (s *Stories) Claim(r event.Rules) event.Claim {
	if r.Stories && s.finished() {
		return event.ClaimStories
	}
	return ""
}

// Missing says which stories prevent a claim.
func (s *Stories) Missing(r event.Rules) []string {
	switch {
	case !r.Stories, s.finished():
		return nil
	case s.AgentRan:
		return []string{"ralph/tasks.json was not checked after the turn"}
	case s.Total == 0:
		return []string{"ralph/tasks.json has no stories"}
	}
	why := fmt.Sprintf("%d of %d stories in ralph/tasks.json are not done: %s", s.Total-s.Done, s.Total, strings.Join(s.Open, "; "))
	if more := s.Total - s.Done - len(s.Open); more > 0 {
		why += fmt.Sprintf("; and %d more", more)
	}
	return []string{why}
}

// Summary says how far the stories are and what the reviews came to; empty in a loop that has none.
func (s *Stories) Summary() string {
	if s.Total == 0 {
		return ""
	}
	words := fmt.Sprintf("%d of %d stories done", s.Done, s.Total)
	t := s.Tally
	if t.Reviews == 0 {
		return words
	}
	words += fmt.Sprintf("; reviews: %d, changes requested: %d", t.Reviews, t.Changes)
	if t.AtCap > 0 {
		words += fmt.Sprintf(", approved at the cap: %d", t.AtCap)
	}
	return words
}

// modeOf returns the mode of an iteration on that story; empty if the story is done.
func modeOf(s event.StoryState, r event.Rules) event.StoryMode {
	return (&story.Story{Passes: s.Passes, ReviewStatus: s.ReviewStatus}).Mode(StoryRules(r))
}

// earlier returns the mode that ralph prefers; an empty one is none.
func earlier(a, b event.StoryMode) event.StoryMode {
	for _, mode := range []event.StoryMode{event.ModeReviewFix, event.ModeReview} {
		if a == mode || b == mode {
			return mode
		}
	}
	return event.ModeImplement
}

// StoryRules returns the settings that a judgement of ralph/tasks.json depends on.
func StoryRules(r event.Rules) story.Rules {
	return story.Rules{SkipReview: r.Review.Skip, Cap: max(r.Review.Cap, 1)}
}
