package loop_test

import (
	"math/rand/v2"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// The reviewers of the seventh edition: agents that only review, each with a vote.

// The invariants of reviews.
const (
	// An iteration that reviews is for a reviewer that has not voted, and any other is for another
	// agent.
	reviewersReview = "only reviewers review"
	// A result follows from the votes.
	votesHold = "a result is what the votes say"
	// Each review of a story is decided once, also if a runner died before the file had the result.
	decidedOnce = "a review has one result"
)

// drawReviewers draws the reviewers of a loop over stories; half of these loops have none.
func drawReviewers(r *rand.Rand, s *scenario) {
	names := []string{"ann", "bob", "cat"}[:[]int{0, 0, 0, 1, 2, 3}[r.IntN(6)]]
	if len(names) == 0 || s.rules.Review.Skip {
		return
	}
	if len(s.agents) == 0 {
		s.refuses, s.hopeless = false, false
		s.add(member{name: "one", limits: s.limits, kinds: s.kinds, outages: true, clumsy: true, costs: s.able.costs})
	}
	s.rules.Review.Vote = []string{"all", "majority"}[r.IntN(2)]
	s.rules.Reviewers = len(names)
	for _, name := range names {
		s.add(drawMember(r, name))
	}
}

// storyModel notes which stories are done, and the votes on one of them.
type storyModel struct {
	states  []event.StoryState
	done    bool
	unknown bool            // an agent ran since the last check
	next    event.StoryMode // of the next iteration
	story   string          // on which the reviewers vote
	reviews int             // of that story before
	votes   map[string]bool // who approved it, and who did not
	results map[string]int  // reviews that were decided, by story
}

func (m *storyModel) read(e event.Event, rules event.Rules) {
	switch e.Type {
	case event.TypeStoriesRead:
		p := as[event.StoriesRead](e)
		m.count(p.Stories, rules)
		m.unknown = false
		if p.Mode != event.ModeReview || p.Story != m.story || m.stateOf(p.Story).ReviewCount != m.reviews {
			m.votes = nil
		}
	case event.TypeStoriesJudged:
		m.count(as[event.StoriesJudged](e).Stories, rules)
	case event.TypeStoryReviewed:
		m.reviewed(as[event.StoryReviewed](e))
	case event.TypeIterationChecked:
		m.unknown = false
	case event.TypeDecided:
		m.unknown = m.unknown || as[event.Decided](e).Do == event.DoStart
	case event.TypeLoopResumed:
		if as[event.LoopResumed](e).AcceptedChanges {
			m.unknown, m.results = false, nil
		}
	}
}

// count notes the states of all stories.
func (m *storyModel) count(states []event.StoryState, rules event.Rules) {
	m.states, m.done, m.next = states, len(states) > 0, ""
	rank := map[event.StoryMode]int{event.ModeImplement: 1, event.ModeReview: 2, event.ModeReviewFix: 3}
	for _, s := range states {
		mode := event.ModeImplement
		switch {
		case s.Passes && (rules.Review.Skip || s.ReviewStatus == event.StoryApproved):
			continue
		case rules.Review.Skip:
		case s.ReviewStatus == event.StoryChangesRequested:
			mode = event.ModeReviewFix
		case s.ReviewStatus != "", s.Passes: // a person may have accepted a story that contradicts itself
			mode = event.ModeReview
		}
		m.done = false
		if rank[mode] > rank[m.next] {
			m.next = mode
		}
	}
}

func (m *storyModel) stateOf(id string) event.StoryState {
	for _, s := range m.states {
		if s.ID == id {
			return s
		}
	}
	return event.StoryState{}
}

func (m *storyModel) reviewed(p event.StoryReviewed) {
	if !p.Open {
		if m.results == nil {
			m.results = map[string]int{}
		}
		m.results[p.Story], m.votes = p.Count, nil
		return
	}
	if m.votes == nil || m.story != p.Story || m.reviews != p.Count {
		m.story, m.reviews, m.votes = p.Story, p.Count, map[string]bool{}
	}
	m.votes[p.Agent] = p.Approved
}

// finished reports whether all stories are known to be done.
func (m *storyModel) finished(rules event.Rules) bool { return rules.Stories && m.done && !m.unknown }

// isReviewer reports whether the agent at that place only reviews.
func (t *counts) isReviewer(place int) bool {
	return place >= len(t.rules.Agents)-t.rules.Reviewers
}

// candidates returns the places of the agents that the next iteration can be for.
func (t *counts) candidates() []int {
	var all, pending []int
	for place, agent := range t.rules.Agents {
		if t.rules.Reviewers > 0 && t.isReviewer(place) != (t.stories.next == event.ModeReview) {
			continue
		}
		all = append(all, place)
		if _, voted := t.stories.votes[agent.Name]; !voted && !t.isGone(place) {
			pending = append(pending, place)
		}
	}
	if t.stories.next == event.ModeReview && len(pending) > 0 {
		return pending
	}
	return all
}

// isGone reports whether the agent at that place is not to be tried again.
func (t *counts) isGone(place int) bool {
	if place != t.others.at {
		n := t.others.aside[place]
		return n.gone != "" || t.rules.Restart.Max > 0 && n.failures > t.rules.Restart.Max
	}
	for _, reason := range reasonsOfAgents {
		if reason != event.ReasonOutage && t.alone(reason) {
			return true
		}
	}
	return false
}

// checkReviewer checks who reviews.
func (w *world) checkReviewer(t *counts, e event.Event) {
	place, mode := t.begun.Agent, event.StoryMode(as[event.IterationStarted](e).Mode)
	if t.rules.Reviewers == 0 {
		return
	}
	if t.isReviewer(place) != (mode == event.ModeReview) {
		w.violate(reviewersReview, "event %d: agent %d works in mode %s, and %d of %d agents review", e.Seq, place, mode, t.rules.Reviewers, len(t.rules.Agents))
	}
	if _, voted := t.stories.votes[t.rules.Agents[place].Name]; !voted || mode != event.ModeReview {
		return
	}
	for other, agent := range t.rules.Agents {
		if _, voted := t.stories.votes[agent.Name]; t.isReviewer(other) && !voted && !t.isGone(other) {
			w.violate(reviewersReview, "event %d: agent %d reviews again, and agent %d has not voted", e.Seq, place, other)
		}
	}
}

// checkReview checks a result: it follows from the votes, the stories have it, and it is the only
// one.
func (w *world) checkReview(t *counts, e event.Event, p event.StoryReviewed) {
	if p.Open {
		return
	}
	if t.stories.results[p.Story] >= p.Count {
		w.violate(decidedOnce, "event %d: review %d of %s is decided, and review %d was before", e.Seq, p.Count, p.Story, t.stories.results[p.Story])
	}
	if s := t.stories.stateOf(p.Story); s.ReviewCount != p.Count || (s.ReviewStatus == event.StoryApproved) != p.Approved {
		w.violate(decidedOnce, "event %d: review %d of %s is decided, approved %v, and the story is %+v", e.Seq, p.Count, p.Story, p.Approved, s)
	}
	if t.rules.Reviewers < 2 {
		return
	}
	yes, voters := 0, 0
	for place := range t.rules.Agents {
		if t.isReviewer(place) && (place == t.others.at || !t.isGone(place)) {
			voters++
		}
	}
	for _, approved := range t.stories.votes {
		if approved {
			yes++
		}
	}
	if voters == 0 {
		voters = t.rules.Reviewers
	}
	no, needed := len(t.stories.votes)-yes, voters
	if t.rules.Review.Vote == "majority" {
		needed = voters/2 + 1
	}
	approved := yes >= needed
	if (p.Approved && !p.AtCap) != approved || !approved && voters-no >= needed {
		w.violate(votesHold, "event %d: approved %v, by %d of %d votes of %d reviewers (%s)", e.Seq, p.Approved, yes, yes+no, voters, t.rules.Review.Vote)
	}
}

// reviewed is a scenario of much reviewing by three reviewers.
func reviewed(s *scenario) {
	storied(s)
	s.swindles, s.disasters, s.stories = 0, 0, 3
	s.rules.MaximumIterations, s.rules.Review.Vote = 20, "all"
	for _, name := range []string{"one", "ann", "bob", "cat"} {
		s.add(member{name: name})
	}
	s.rules.Reviewers = 3
}

var wrongReviews = []wrong{
	{"every agent reviews", mutation{folded: always(func(s *loopstate.State) { s.Rules.Reviewers = 0 }), unfolded: true, stage: reviewed}, reviewersReview},
	{"votes are forgotten", mutation{folded: after(event.TypeStoryReviewed, func(s *loopstate.State) { s.Votes.Given = nil }), unfolded: true, stage: reviewed}, reviewersReview},
	{"most votes are enough", mutation{folded: always(func(s *loopstate.State) { s.Rules.Review.Vote = "majority" }), unfolded: true, stage: reviewed}, votesHold},
	{"a result is forgotten", mutation{folded: after(event.TypeLoopResumed, func(s *loopstate.State) { s.Votes = policy.Votes{Agent: s.Votes.Agent} }), unfolded: true, stage: func(s *scenario) {
		reviewed(s)
		s.abrupt, s.rules.Reviewers, s.agents, s.rules.Agents = 30, 1, s.agents[:2], s.rules.Agents[:2]
	}}, decidedOnce},
}
