package story

import (
	"fmt"

	"github.com/ralph-loop/ralph/journal/event"
)

// Mode is what the next iteration on the story is for, whether or not it can begin; empty if the
// story is done. A person may have set passes and reviewStatus to values that contradict each
// other: such a story is reviewed.
func (s *Story) Mode(r Rules) event.StoryMode {
	switch {
	case s.Done(r):
		return ""
	case r.SkipReview:
		return event.ModeImplement
	case s.ReviewStatus == event.StoryChangesRequested:
		return event.ModeReviewFix
	case s.ReviewStatus != "" || s.Passes:
		return event.ModeReview
	default:
		return event.ModeImplement
	}
}

// Next chooses the story of the next iteration: what a review found is corrected first, then what
// is implemented is reviewed, then a story is implemented whose dependencies are done. Among those
// the lowest priority number comes first, and of equal ones the first of the file. The story is nil
// if none can be worked on; a list without problems has one until all stories are done.
func (l *List) Next(r Rules) (event.StoryMode, *Story) {
	done := l.done(r)
	best := event.ModeImplement
	var next *Story
	for i := range l.Stories {
		s := &l.Stories[i]
		mode := s.Mode(r)
		if mode == "" || mode == event.ModeImplement && !allIn(s.DependsOn, done) {
			continue
		}
		if next == nil || rank(mode) < rank(best) || mode == best && s.Priority < next.Priority {
			best, next = mode, s
		}
	}
	return best, next
}

func rank(mode event.StoryMode) int {
	switch mode {
	case event.ModeReviewFix:
		return 0
	case event.ModeReview:
		return 1
	default:
		return 2
	}
}

func (l *List) done(r Rules) map[string]bool {
	done := make(map[string]bool, len(l.Stories))
	for i := range l.Stories {
		if l.Stories[i].Done(r) {
			done[l.Stories[i].ID] = true
		}
	}
	return done
}

func allIn(ids []string, set map[string]bool) bool {
	for _, id := range ids {
		if !set[id] {
			return false
		}
	}
	return true
}

// Done reports whether every story passes and, with reviews, is approved. A list without stories is
// not done.
func (l *List) Done(r Rules) bool {
	for i := range l.Stories {
		if !l.Stories[i].Done(r) {
			return false
		}
	}
	return len(l.Stories) > 0
}

// maxUndone is how many stories a message names.
const maxUndone = 10

// Undone names the stories that are not done, and what each needs, for a message. After ten it
// says how many more there are.
func (l *List) Undone(r Rules) []string {
	var names []string
	more := 0
	for i := range l.Stories {
		s := &l.Stories[i]
		switch {
		case s.Done(r):
		case len(names) == maxUndone:
			more++
		default:
			names = append(names, s.ID+" ("+Lacks(s.Mode(r))+")")
		}
	}
	if more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return names
}

// Lacks says what a story lacks that asks for that mode.
func Lacks(mode event.StoryMode) string {
	switch mode {
	case event.ModeReviewFix:
		return "changes requested"
	case event.ModeReview:
		return "needs review"
	default:
		return "not implemented"
	}
}

// Estimate returns how many iterations the open stories need: at least, if each review approves,
// and likely, if each story is sent back once for half of them. Both are 0 when all are done.
func (l *List) Estimate(r Rules) (least, likely int) {
	for i := range l.Stories {
		switch l.Stories[i].Mode(r) {
		case event.ModeImplement:
			if r.SkipReview {
				least, likely = least+1, likely+1
			} else {
				least, likely = least+2, likely+3
			}
		case event.ModeReview:
			least, likely = least+1, likely+2
		case event.ModeReviewFix:
			least, likely = least+2, likely+3
		}
	}
	return least, likely
}
