package prompt

import "github.com/ralph-loop/ralph/journal/event"

// Stories are what an iteration needs that works on a story of a plan. The paths are as the agent
// sees them from its folder.
type Stories struct {
	Mode  event.StoryMode
	Story *Story // the one of this iteration; nil if there is none to work on

	Tasks    string // the path of tasks.json
	PRD      string // the path of prd.md
	Progress string // the path of progress.txt
	Extra    string // what the person wrote into prompt.md

	// Base and Head are the commits before and after the work on the story. Either may be empty.
	Base, Head string
	Checks     []Check  // what the guardrails of the last check came to
	Problems   []string // what was wrong with tasks.json after the last iteration, one sentence each

	SkipReview bool // stories are not reviewed
	Cap        int  // most reviews of one story
	AtCap      bool // the review of this iteration is the last that Cap allows
	MayEdit    bool // a reviewer may change the code
	// OtherModel says that the reviewer is another agent than the implementer. The prompt sends it
	// neither to progress.txt nor to the notes, so that it judges the work, not the reasons for it.
	OtherModel bool
}

// Story is what the prompt says of one story.
type Story struct {
	ID, Title   string
	Description string
	Criteria    []string // acceptanceCriteria
	Feedback    string   // reviewFeedback
	Count       int      // reviewCount, before this iteration
}

// Check is the result of one guardrail.
type Check struct {
	Name string
	OK   bool
}
