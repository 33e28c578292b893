package story

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// A Story is one entry of userStories.
type Story struct {
	ID                 string            `json:"id"`
	Title              string            `json:"title"`
	Description        string            `json:"description"`
	AcceptanceCriteria []string          `json:"acceptanceCriteria"`
	Priority           float64           `json:"priority"` // the lowest comes first
	Passes             bool              `json:"passes"`
	ReviewStatus       event.StoryStatus `json:"reviewStatus"` // empty where the file has null
	ReviewCount        int               `json:"reviewCount"`
	ReviewFeedback     string            `json:"reviewFeedback"`
	Notes              string            `json:"notes"`
	DependsOn          []string          `json:"dependsOn"`
}

// A List is a tasks.json.
type List struct {
	Project        string   `json:"project"`
	BranchName     string   `json:"branchName"`
	Description    string   `json:"description"`
	VerifyCommands []string `json:"verifyCommands"`
	Stories        []Story  `json:"userStories"`
}

// Rules are the settings that a judgement depends on.
type Rules struct {
	SkipReview bool
	Cap        int // most reviews of one story, at least 1
	// Oversized says why the change of the story Worked is too large to count as implemented; empty
	// if it is not.
	Worked, Oversized string
}

// What a list may have. The runner keeps the states of all stories in each of its events.
const (
	MaxSize    = 4 << 20 // bytes of tasks.json
	MaxStories = 10000
	maxID      = 100 // characters
	maxTitle   = 200 // characters of a title in a state
)

// noFeedback is the fingerprint of a reviewFeedback without text.
const noFeedback = "none"

// Done reports whether nothing is left to do for the story.
func (s *Story) Done(r Rules) bool {
	return s.Passes && (r.SkipReview || s.ReviewStatus == event.StoryApproved)
}

// State is what ralph watches of the story.
func (s *Story) State() event.StoryState {
	return event.StoryState{
		ID:           s.ID,
		Title:        units.Cut(s.Title, maxTitle),
		Passes:       s.Passes,
		ReviewStatus: s.ReviewStatus,
		ReviewCount:  s.ReviewCount,
		Feedback:     fingerprint(s.ReviewFeedback),
	}
}

// fingerprint differs for different feedback, and is noFeedback for white space.
func fingerprint(feedback string) string {
	if strings.TrimSpace(feedback) == "" {
		return noFeedback
	}
	sum := sha256.Sum256([]byte(feedback))
	return hex.EncodeToString(sum[:8])
}

// States are the states of all stories, in the order of the file.
func (l *List) States() []event.StoryState {
	states := make([]event.StoryState, len(l.Stories))
	for i := range l.Stories {
		states[i] = l.Stories[i].State()
	}
	return states
}

// Find returns the story with an id, or nil.
func (l *List) Find(id string) *Story {
	for i := range l.Stories {
		if l.Stories[i].ID == id {
			return &l.Stories[i]
		}
	}
	return nil
}
