package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/journal/event"
)

// Votes are the verdicts of the reviewers in one round: with several of them, each reviews the same
// work in an iteration of its own, and what they say together is the review. The round ends as soon
// as the result is certain.
type Votes struct {
	Story string `json:"story,omitempty"` // its id; empty if no round is open
	Count int    `json:"count,omitempty"` // reviews of the story before this one
	Given []Vote `json:"given,omitempty"` // at most one of each reviewer
	// Decided says that the result of the round, or the verdict of the only reviewer, is recorded,
	// and Approved what it was. The file may not have it yet.
	Decided  bool `json:"decided,omitempty"`
	Approved bool `json:"approved,omitempty"` // at the cap, an approval by ralph is none
	// Agent is the agent that was started last, if the loop has several: what it left may be judged
	// only when the next iteration begins.
	Agent string `json:"agent,omitempty"`
}

// A Vote is the verdict of one reviewer.
type Vote struct {
	Agent    string `json:"agent"`
	Approved bool   `json:"approved,omitempty"`
	Feedback string `json:"feedback,omitempty"`
}

// voteFeedbackMost bounds the feedback of a vote in a checkpoint, in bytes.
const voteFeedbackMost = 8 << 10

// Apply folds one event. was is the loop before it.
func (v *Votes) Apply(p event.Payload, was *Lifecycle) {
	switch p := p.(type) {
	case event.LoopStarted:
		*v = Votes{}
	case event.LoopResumed:
		if p.Rules != nil {
			v.keep(p.Rules.Agents)
		}
	case event.StoriesRead:
		same := func(s event.StoryState) bool { return s.ID == v.Story && s.ReviewCount == v.Count }
		if v.Decided || p.Mode != event.ModeReview || p.Story != v.Story || !slices.ContainsFunc(p.Stories, same) {
			v.close() // the round has ended, or a person has changed what is to be reviewed
		}
	case event.Decided:
		if p.Do == event.DoStart && p.Agent >= 0 && p.Agent < len(was.Rules.Agents) {
			v.Agent = was.Rules.Agents[p.Agent].Name
		}
	case event.StoryReviewed:
		if !p.Open {
			*v = Votes{Story: p.Story, Count: p.Count - 1, Given: v.round(p.Story, p.Count-1), Agent: v.Agent, Decided: true, Approved: p.Approved && !p.AtCap}
			return
		}
		*v = v.With(p.Story, p.Count, Vote{p.Agent, p.Approved, p.Feedback})
	}
}

// keep drops the votes of agents that the loop no longer has.
func (v *Votes) keep(agents []event.Agent) {
	v.Given = slices.Clone(v.Given)
	v.Given = slices.DeleteFunc(v.Given, func(vote Vote) bool {
		return !slices.ContainsFunc(agents, func(a event.Agent) bool { return a.Name == vote.Agent })
	})
	if len(v.Given) == 0 && !v.Decided {
		v.close()
	}
}

// close ends the round.
func (v *Votes) close() { *v = Votes{Agent: v.Agent} }

// round returns the votes on a story that was reviewed so often before.
func (v *Votes) round(story string, count int) []Vote {
	if v.Story != story || v.Count != count {
		return nil
	}
	return v.Given
}

// decided reports whether the result of that round is recorded.
func (v *Votes) decided(story string, count int) bool {
	return v.Decided && v.Story == story && v.Count == count
}

// bounded returns the vote as a checkpoint has it.
func (v Vote) bounded() Vote {
	v.Feedback = firstBytes(v.Feedback, voteFeedbackMost)
	return v
}

// With returns the votes with one more, which replaces an earlier one of the same reviewer. count
// is how many reviews of the story there were before this round.
func (v *Votes) With(story string, count int, vote Vote) Votes {
	with := Votes{Story: story, Count: count, Agent: v.Agent}
	given := slices.Clone(v.round(story, count)) // the state before the event may be in use
	with.Given = slices.DeleteFunc(given, func(old Vote) bool { return old.Agent == vote.Agent })
	with.Given = append(with.Given, vote.bounded())
	return with
}

// Has reports whether that reviewer has given its verdict in the open round.
func (v *Votes) Has(agent string) bool {
	return !v.Decided && slices.ContainsFunc(v.Given, func(vote Vote) bool { return vote.Agent == agent })
}

// Result returns what the votes come to, of so many reviewers that can vote; certain is false if it
// depends on those that have not.
func (v *Votes) Result(reviewers int, vote string) (approved, certain bool) {
	yes := 0
	for _, given := range v.Given {
		if given.Approved {
			yes++
		}
	}
	no, needed := len(v.Given)-yes, VotesNeeded(reviewers, vote)
	return yes >= needed, yes >= needed || reviewers-no < needed
}

// Feedback returns what the reviewers say that did not approve, with their names.
func (v *Votes) Feedback() string {
	var parts []string
	for _, given := range v.Given {
		if !given.Approved {
			parts = append(parts, given.Agent+": "+strings.TrimSpace(given.Feedback))
		}
	}
	return strings.Join(parts, "\n\n")
}

// VotesNeeded returns how many of so many reviewers have to approve a story.
func VotesNeeded(reviewers int, vote string) int {
	reviewers = max(reviewers, 1)
	if vote == "majority" {
		return reviewers/2 + 1
	}
	return reviewers
}

// IsReviewer reports whether the agent at that place of the rules only reviews.
func IsReviewer(r event.Rules, place int) bool { return place >= len(r.Agents)-r.Reviewers }

// Fits reports whether an iteration of that mode is for the agent at that place of the rules.
func Fits(r event.Rules, place int, mode event.StoryMode) bool {
	return r.Reviewers == 0 || IsReviewer(r, place) == (mode == event.ModeReview)
}

// IsForOther reports whether an iteration of that mode is for another agent than the one at that
// place. That can become known only when the iteration begins: then the turn before may have been
// judged with these verdicts, and one of them may be the agent's own vote in the open round.
func IsForOther(r event.Rules, place int, mode event.StoryMode, verdicts []event.StoryReviewed) bool {
	if !Fits(r, place, mode) {
		return true
	}
	// A result would be the second verdict, and end the round.
	return mode == event.ModeReview && len(verdicts) == 1 && verdicts[0].Open && verdicts[0].Agent == r.Agents[place].Name
}

// Voters returns how many reviewers can give a verdict. One that is not tried again cannot, unless
// none can.
func (f *Failover) Voters(r event.Rules) int {
	n := 0
	for place := range r.Agents {
		if IsReviewer(r, place) && !f.Of(place, Availability{}, r).Gone() {
			n++
		}
	}
	if n == 0 {
		return r.Reviewers
	}
	return n
}

// Candidates returns the places of the agents among which the next iteration is given to one: for a
// review, the reviewers that have not voted yet and can still work, else all of them; for other
// work, the agents that do not only review.
func (f *Failover) Candidates(s *Stories, votes *Votes, current Availability, r event.Rules) []int {
	var fitting, pending []int
	for place, agent := range r.Agents {
		if !Fits(r, place, s.Next) {
			continue
		}
		fitting = append(fitting, place)
		if !votes.Has(agent.Name) && !f.Of(place, current, r).Gone() {
			pending = append(pending, place)
		}
	}
	if s.Next == event.ModeReview && len(pending) > 0 {
		return pending
	}
	return fitting
}

// UndoesReviewer reports whether changes of the code in an iteration of that mode are undone.
func UndoesReviewer(r event.Rules, mode event.StoryMode) bool {
	return mode == event.ModeReview && !r.Review.MayEdit
}

// namedFiles is how many files a sentence names.
const namedFiles = 3

// undoneProblem says what a reviewer may not change.
func undoneProblem(p event.ReviewUndone) event.StoryProblem {
	switch {
	case len(p.Others) > 0:
		return event.StoryProblem{Story: p.Story, Text: fmt.Sprintf(
			"The review of %s does not count: files changed, and perhaps not only by the reviewer: %s. They are as they were found. A reviewer changes only tasks.json and progress.txt.",
			p.Story, someFiles(slices.Compact(slices.Sorted(slices.Values(slices.Concat(p.Files, p.Others))))))}
	case len(p.Files) == 0:
		return event.StoryProblem{Story: p.Story, Text: "What a reviewer changes in the code cannot be undone: " + p.Error}
	}
	text := fmt.Sprintf("The review of %s changed %s: a reviewer changes only tasks.json and progress.txt.", p.Story, someFiles(p.Files))
	if p.Error != "" {
		text += " Not all of it was put back: " + p.Error
		if p.Refused {
			text += ". The review does not count."
		}
		return event.StoryProblem{Story: p.Story, Text: text}
	}
	return event.StoryProblem{Story: p.Story, Text: text + " The files are as they were before the review.", Undone: true}
}

// someFiles names the first of some files.
func someFiles(files []string) string {
	named := strings.Join(files[:min(namedFiles, len(files))], ", ")
	if more := len(files) - namedFiles; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	return named
}
