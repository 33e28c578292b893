package story

import "github.com/ralph-loop/ralph/journal/event"

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
}
