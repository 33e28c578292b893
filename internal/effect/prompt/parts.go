package prompt

// Parts are what the text of one iteration is made of. The zero value of a field leaves
// its part out, and so does a text of white space alone.
type Parts struct {
	Base string // the task, in the words of the person who started the loop

	CountInPrompt bool // begin with which iteration this is
	Iteration     int  // from 1
	Of            int  // the most there may be; 0 for no limit

	LoopDir  string // the loop's folder as the agent shall call it
	TaskFile string // the path of task.md, likewise; empty if there is none
	// PullRequest is the path of the file in which the agent describes the pull request, likewise;
	// empty if there is to be none.
	PullRequest string
	Checklist   bool // all boxes of task.md ticked claims that the work is done

	// Promise and Response are what the agent says when the work is done, without their
	// tags. Where both are set the prompt has the promise alone: one of the two is enough.
	Promise  string
	Response string
	// DoneFile says that a file DONE in LoopDir claims the same. Where the base contains one of the
	// two markers or the path of the file, the prompt adds none of the three.
	DoneFile bool
	// Blocked says that an agent may end the loop because it cannot go on without a person.
	Blocked bool
	// Ask says that the agent may ask a person questions with 'ralph ask', in its shell.
	Ask bool
	// Ralph is what the agent types for ralph where its shell may not find that name, else empty.
	Ralph string
	// MinToolCalls is how many uses of tools a claim needs. The prompt has it from two on: one is
	// what any work takes.
	MinToolCalls int

	// MaxDiff is how many lines may be changed; 0 for no limit. It holds for each commit if there
	// is a PullRequest, and for a story in a loop over stories.
	MaxDiff int

	Failures []Failure // guardrails that failed in the last iteration
	Left     []string  // what the last iteration left: unfinished work, an interruption, a crash
	Refused  []string  // why the last claim did not count
	// what the last iteration said that did not count as a claim; nil if there was nothing
	Ignored    *Ignored
	Asked      []string  // its questions that have no answer, with their numbers
	Hints      []string  // for an agent that gets no further
	Reflection string    // the text for an iteration that reflects
	Messages   []Message // what people sent, oldest first
	Comments   []Message // review comments by other people, oldest first

	Same *Same // set where all iterations share one session

	// Stories is set where the loop works on the stories of a plan. Its text comes before the base,
	// which may be empty then, and a guardrail that replaces the base leaves it in place.
	Stories *Stories
}

// Ignored is what an agent said that was not taken for a claim.
type Ignored struct {
	How  string // promise or response; another way where a claim by it was ignored
	Text string // what was said; empty if it was a claim
	Why  string // why it did not count
}

// Failure is a guardrail that failed.
type Failure struct {
	Action  string // where the message goes: Append, Prepend or Replace; any other is Append
	Message string
}

// Actions of a failed guardrail, as the settings spell them.
const (
	Append  = "APPEND"  // after the base
	Prepend = "PREPEND" // before the base
	Replace = "REPLACE" // instead of the base
)

// Message is what a person sent.
type Message struct {
	From string // such as cli:ada@mill; may be empty
	Text string
}

// Same is the state of the session that all iterations share.
type Same struct {
	Again bool // it has had the task before, and its last turn is over
	Cut   bool // that turn did not end by itself: it would be wrong to say that the agent stopped
}
