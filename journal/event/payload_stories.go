package event

// The events of a loop over the stories of ralph/tasks.json.

// StoriesRead: tasks.json before an iteration, and what the iteration is for. The file is compared
// with it after the agent's turn.
type StoriesRead struct {
	Mode  StoryMode `json:"mode"`
	Story string    `json:"story,omitempty"` // id of the story that is next; empty if none can be worked on
	File  Blob      `json:"file"`            // the whole file
	// Stories are in the order of the file.
	Stories []StoryState `json:"stories"`
	// Base is the commit that the work on the story began at; empty if it is not known.
	Base string `json:"base,omitempty"`
	// Done says that all stories are done already, so that no iteration is begun.
	Done bool `json:"done,omitempty"`
	// Other says that the mode is not for the agent that was chosen, so that another one begins.
	Other bool `json:"other,omitempty"`
}

// StoryState is what ralph watches of one story.
type StoryState struct {
	ID           string      `json:"id"`
	Title        string      `json:"title,omitempty"`
	Passes       bool        `json:"passes"`
	ReviewStatus StoryStatus `json:"reviewStatus,omitempty"` // empty where the file has null
	ReviewCount  int         `json:"reviewCount"`
	// Feedback is a fingerprint of reviewFeedback: "none" where it has no text, empty where it is
	// not known.
	Feedback string `json:"feedback,omitempty"`
}

// StoriesJudged: tasks.json after the agent's turn. What it may not change was put back.
type StoriesJudged struct {
	Mode StoryMode `json:"mode"`
	// Stories are those that the file has from now on.
	Stories []StoryState `json:"stories"`
	// Problems are what was wrong; the next prompt says so.
	Problems []StoryProblem `json:"problems,omitempty"`
	// Found is the file as the agent left it, where ralph has changed it since.
	Found *Blob `json:"found,omitempty"`
	// Restored says that the whole file of the last stories.read was written again, because it was
	// gone or could not be read.
	Restored bool `json:"restored,omitempty"`
	// Commit is the commit that ralph makes once it has written the file, where the agent commits
	// it; nil if it makes none.
	Commit *StoriesCommit `json:"commit,omitempty"`
}

// StoriesCommit is a commit of ralph/tasks.json alone.
type StoriesCommit struct {
	Message string `json:"message"`
	SHA256  string `json:"sha256"` // of the file
}

// StoryProblem is one thing that is wrong with tasks.json.
type StoryProblem struct {
	Story  string `json:"story,omitempty"` // id; empty if it concerns the whole file
	Field  string `json:"field,omitempty"`
	Text   string `json:"text"`             // one sentence, for the agent and for a person
	Undone bool   `json:"undone,omitempty"` // it was put back
}

// StoryReviewed: a review iteration gave its verdict on a story.
type StoryReviewed struct {
	Story    string `json:"story"`
	Agent    string `json:"agent,omitempty"` // that reviewed; empty if the loop has only one, or several decided
	Approved bool   `json:"approved"`
	AtCap    bool   `json:"atCap,omitempty"` // approved because review.cap is reached
	Feedback string `json:"feedback,omitempty"`
	Count    int    `json:"count"` // reviews of the story so far
	// Open says that it is the verdict of one of several reviewers, and decides nothing alone.
	Open bool `json:"open,omitempty"`
}

// ReviewUndone: files changed during a review that a reviewer may not change, and they were put
// back, or left where a person may have changed them.
type ReviewUndone struct {
	Story   string   `json:"story"`
	Files   []string `json:"files"`           // the first that the reviewer changed, relative to the repository
	Commits int      `json:"commits"`         // of the reviewer that contain them
	Ref     string   `json:"ref,omitempty"`   // the git ref that keeps what was undone
	Error   string   `json:"error,omitempty"` // why it could not be undone
	// Partly says that the error is about some of the files only, and all others were put back.
	Partly bool `json:"partly,omitempty"`
	// Others are the first files that a person may have changed. With them, nothing was put back.
	Others []string `json:"others,omitempty"`
	// Refused says that the review gives no verdict: what the reviewer changed may still be there.
	Refused bool `json:"refused,omitempty"`
}
