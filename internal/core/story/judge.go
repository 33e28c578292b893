package story

import (
	"fmt"

	"github.com/ralph-loop/ralph/journal/event"
)

// Judge compares the stories after an iteration with those before it. It returns what the iteration
// of this mode may not do:
//
//	implement     one story: reviewStatus null → needs_review
//	review        one story: reviewCount + 1, and needs_review → approved with passes, or
//	              → changes_requested with reviewFeedback
//	review-fix    one story: changes_requested → needs_review with an empty reviewFeedback
//
// New stories begin with passes false, reviewStatus null and reviewCount 0; no story may vanish.
// A review iteration that reviews no story is a problem too, the only one that does not
// concern a change.
//
// Before may be empty, or mode, if they are not known: then only contradictions between the fields
// of a story are problems. Else a contradiction that was there before is not, because a person made
// it. With Rules.SkipReview only vanished stories are problems.
func Judge(before []event.StoryState, after *List, mode event.StoryMode, r Rules) []event.StoryProblem {
	var problems []event.StoryProblem
	for _, f := range judge(before, after, mode, r) {
		problems = append(problems, f.StoryProblem)
	}
	return bounded(problems)
}

// bounded returns the first problems, and how many more there are.
func bounded(problems []event.StoryProblem) []event.StoryProblem {
	more := len(problems) - maxProblems
	if more <= 0 {
		return problems
	}
	last := event.StoryProblem{Text: moreProblems(more), Undone: problems[maxProblems].Undone}
	return append(problems[:maxProblems:maxProblems], last)
}

// A remedy is what puts a finding right.
type remedy int

const (
	_       remedy = iota
	restore        // a story that vanished; else its review fields, those of a new story as at the start
	clearFeedback
	nothing // no change of the file helps
)

// A finding is a problem and its remedy.
type finding struct {
	event.StoryProblem
	remedy remedy
}

func found(id, field string, by remedy, format string, args ...any) finding {
	return finding{event.StoryProblem{Story: id, Field: field, Text: "story " + id + ": " + fmt.Sprintf(format, args...)}, by}
}

func judge(before []event.StoryState, after *List, mode event.StoryMode, r Rules) []finding {
	known := make(map[string]event.StoryState, len(before))
	for _, b := range before {
		known[b.ID] = b
	}
	findings := append(vanished(before, after), oversized(known, after, mode, r)...)
	if r.SkipReview {
		return findings
	}
	if len(before) == 0 || !knownMode(mode) {
		for i := range after.Stories {
			findings = append(findings, contradictions(&after.Stories[i], r)...)
		}
		return findings
	}
	var legal []*Story // changed as this mode may
	changed := false
	for i := range after.Stories {
		s := &after.Stories[i]
		b, ok := known[s.ID]
		switch {
		case !ok:
			findings = append(findings, newStory(s)...)
		case same(b, s.State()):
			if b.Feedback == "" {
				findings = append(findings, emptyFeedback(s)...)
			}
		default:
			changed = true
			wrong := transition(mode, b, s)
			if len(wrong) == 0 || wrong[0].remedy == clearFeedback {
				legal = append(legal, s)
			}
			findings = append(findings, wrong...)
		}
	}
	findings = append(findings, onlyOne(mode, legal)...)
	if mode == event.ModeReview && !changed {
		findings = append(findings, noVerdict(known, after, r)...)
	}
	return findings
}

// oversized refuses that a story counts as implemented while its change is too large.
func oversized(known map[string]event.StoryState, after *List, mode event.StoryMode, r Rules) []finding {
	s := after.Find(r.Worked)
	if r.Oversized == "" || s == nil || mode != event.ModeImplement && mode != event.ModeReviewFix {
		return nil
	}
	b, now := known[s.ID], s.State()
	if now.Passes == b.Passes && (now.ReviewStatus == b.ReviewStatus || now.ReviewStatus != event.StoryNeedsReview) {
		return nil
	}
	return []finding{found(s.ID, "reviewStatus", restore, "%s", r.Oversized)}
}

func knownMode(mode event.StoryMode) bool {
	return mode == event.ModeImplement || mode == event.ModeReview || mode == event.ModeReviewFix
}

// same reports whether nothing that is watched has changed.
func same(b, a event.StoryState) bool {
	return b.Passes == a.Passes && b.ReviewStatus == a.ReviewStatus && b.ReviewCount == a.ReviewCount && sameFeedback(b, a)
}

func sameFeedback(b, a event.StoryState) bool { return b.Feedback == "" || b.Feedback == a.Feedback }

func vanished(before []event.StoryState, after *List) []finding {
	there := make(map[string]bool, len(after.Stories))
	for i := range after.Stories {
		there[after.Stories[i].ID] = true
	}
	var findings []finding
	for _, b := range before {
		if !there[b.ID] {
			findings = append(findings, found(b.ID, "", restore,
				"it is gone from tasks.json, or has another id; put it back: only a person may remove a story"))
		}
	}
	return findings
}

// newStory checks that a story which the agent added begins at the start.
func newStory(s *Story) []finding {
	const why = "the story is new, so %s must be %s at first, not %s"
	var findings []finding
	if s.Passes {
		findings = append(findings, found(s.ID, "passes", restore, why, "passes", "false", "true"))
	}
	if s.ReviewStatus != "" {
		findings = append(findings, found(s.ID, "reviewStatus", restore, why, "reviewStatus", "null", name(s.ReviewStatus)))
	}
	if s.ReviewCount != 0 {
		findings = append(findings, found(s.ID, "reviewCount", restore, why, "reviewCount", "0", fmt.Sprint(s.ReviewCount)))
	}
	return findings
}

// contradictions are what is wrong with the fields of a story whatever they were before.
func contradictions(s *Story, r Rules) []finding {
	var findings []finding
	switch approved := s.ReviewStatus == event.StoryApproved; {
	case s.Passes && !approved:
		findings = append(findings, found(s.ID, "passes", restore,
			"passes is true, but reviewStatus is %s and not approved; set passes to false, or let a review approve the story", name(s.ReviewStatus)))
	case approved && !s.Passes:
		findings = append(findings, found(s.ID, "reviewStatus", restore,
			"reviewStatus is approved, but passes is false; a review sets both, or none"))
	}
	findings = append(findings, emptyFeedback(s)...)
	if s.ReviewCount > r.Cap+1 {
		findings = append(findings, found(s.ID, "reviewCount", restore,
			"reviewCount is %d, but there are at most %d reviews; set it to the number of reviews", s.ReviewCount, r.Cap))
	}
	return findings
}

func emptyFeedback(s *Story) []finding {
	if s.ReviewStatus != event.StoryChangesRequested || fingerprint(s.ReviewFeedback) != noFeedback {
		return nil
	}
	return []finding{found(s.ID, "reviewFeedback", restore,
		"reviewStatus is changes_requested, but reviewFeedback is empty; write what must be changed, and where")}
}

// onlyOne finds the stories that one iteration may not change beside another. The one that comes
// first by priority is left as it is.
func onlyOne(mode event.StoryMode, legal []*Story) []finding {
	if len(legal) < 2 {
		return nil
	}
	first := legal[0]
	for _, s := range legal[1:] {
		if s.Priority < first.Priority {
			first = s
		}
	}
	var findings []finding
	for _, s := range legal {
		if s != first {
			findings = append(findings, found(s.ID, "reviewStatus", restore,
				"reviewStatus changed to %s, but one %s iteration changes one story, and this one has changed %s; put the review fields back as they were",
				name(s.ReviewStatus), mode, first.ID))
		}
	}
	return findings
}

// noVerdict finds that a review iteration has reviewed no story, if one was to be reviewed.
func noVerdict(known map[string]event.StoryState, after *List, r Rules) []finding {
	var next *Story
	for i := range after.Stories {
		s := &after.Stories[i]
		b, ok := known[s.ID]
		if ok && modeOf(b) == event.ModeReview && (next == nil || s.Priority < next.Priority) {
			next = s
		}
	}
	if next == nil {
		return nil
	}
	return []finding{found(next.ID, "reviewCount", nothing,
		"it waits for a review, but reviewCount is still %d; add 1, and set reviewStatus to approved with passes true, or to changes_requested with reviewFeedback",
		next.ReviewCount)}
}

// modeOf is Story.Mode of a state, with reviews.
func modeOf(b event.StoryState) event.StoryMode {
	s := Story{Passes: b.Passes, ReviewStatus: b.ReviewStatus}
	return s.Mode(Rules{})
}

// name spells a status as tasks.json has it.
func name(status event.StoryStatus) string {
	if status == "" {
		return "null"
	}
	return string(status)
}
