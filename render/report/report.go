package report

import (
	"time"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/reading"
	"github.com/ralph-loop/ralph/render/transcript"
)

// Report is what a loop came to.
type Report struct {
	Name    string   `json:"name"`
	ID      string   `json:"id"`
	Project string   `json:"project"`
	Host    string   `json:"host,omitempty"`
	Version string   `json:"version,omitempty"` // of the ralph that began it
	Agents  []string `json:"agents"`            // in order of preference, each with its version
	// Reviewers are the agents that only review, each with its version.
	Reviewers []string `json:"reviewers,omitempty"`
	Task      string   `json:"task"` // the first line, or the name of the file

	Status event.Status `json:"status"`
	Reason event.Reason `json:"reason,omitempty"`
	Why    string       `json:"why,omitempty"`
	Hint   string       `json:"hint,omitempty"`
	// Strength is what supports the done of a loop that completed; nil where that is not known.
	Strength *event.Strength `json:"strength,omitempty"`
	Waiting  string          `json:"waiting,omitempty"` // for what and until when
	Doing    string          `json:"doing,omitempty"`   // what the open iteration does
	Died     bool            `json:"died"`              // its runner died; set by Judge
	Sentence string          `json:"sentence"`          // the outcome and why; set by Judge
	// Reading is what a person has to read of the work, in order; set by Judge, nil if nothing is
	// known of it.
	Reading *reading.List `json:"reading,omitempty"`
	Needs   []Need        `json:"needs"` // what a person has to do; set by Judge

	Started time.Time `json:"started"`
	At      time.Time `json:"at"`    // of the last event
	Last    event.Seq `json:"last"`  // the number of the last event
	Ended   time.Time `json:"ended"` // zero if it has not ended
	Wall    int64     `json:"wall"`  // milliseconds from the first event to the last
	Active  int64     `json:"active"`
	Waits   []Waited  `json:"waits"` // milliseconds that were no iteration, by reason

	Maximum  int         `json:"maximumIterations"` // 0: no limit
	Begun    int         `json:"begun"`
	Refunded int         `json:"refunded"`
	Done     []Iteration `json:"iterations"`
	// Changed is what all iterations changed together; nil before the end, and if it is unknown.
	Changed *Changes `json:"changed,omitempty"`
	// Published are the pull requests of the branch.
	Published []string `json:"published,omitempty"`
	// Kept are files as they were found before ralph put them back, each with the command that
	// shows it or brings it back. A person may have written them.
	Kept []string `json:"kept,omitempty"`
	// Away are the repositories that an iteration left on another branch than the loop's.
	Away    []string   `json:"away,omitempty"`
	Open    *Iteration `json:"open,omitempty"` // the iteration that runs
	Missing int        `json:"missing"`        // iterations whose events the journal no longer keeps

	Used   Amount    `json:"used"`
	Days   []Day     `json:"days"`   // what was used on each day, by agent and model
	Tools  []ToolUse `json:"tools"`  // the most used first
	Checks []Check   `json:"checks"` // each guardrail with its last result
	// Files are those that the agent edited with its tools, in the order of their first edit. What
	// commands changed is not among them.
	Files  []FileUse `json:"files,omitempty"`
	Useful Useful    `json:"useful"`

	Plan *Plan `json:"plan,omitempty"` // of a loop that works on the stories of a plan

	Edited    []event.EditedFile      `json:"edited,omitempty"` // and not accepted by a person
	Questions []event.OpenQuestion    `json:"openQuestions,omitempty"`
	awaited   int                     // the question that it waits for
	Pending   []event.CommandReceived `json:"pending,omitempty"`
	Ticked    int                     `json:"ticked"` // of the checklist
	Boxes     int                     `json:"boxes"`
	Claims    int                     `json:"claims"`
	Verdict   []string                `json:"verdict,omitempty"` // why the last claim was refused
	Doubtful  string                  `json:"doubtful,omitempty"`
	Damage    string                  `json:"damage,omitempty"` // why the journal cannot be read to its end
	// Newer are the events of types that this version does not know; nil if there are none.
	Newer *render.Newer `json:"newer,omitempty"`

	waits string // what it waits for after the last event, as in Waits
}

// Amount is what was used. AtLeast says of a number that more was used than is known.
type Amount struct {
	In            int64    `json:"in"`
	Out           int64    `json:"out"`
	CacheRead     int64    `json:"cacheRead"`
	CacheWrite    int64    `json:"cacheWrite"`
	TokensAtLeast bool     `json:"tokensAtLeast"`
	USD           *float64 `json:"usd"` // nil if nothing of it is known
	USDAtLeast    bool     `json:"usdAtLeast"`
}

// Tokens are all that are known to have been used.
func (a Amount) Tokens() int64 { return a.In + a.Out + a.CacheRead + a.CacheWrite }

func (a *Amount) add(b Amount) {
	a.In, a.Out, a.CacheRead, a.CacheWrite = a.In+b.In, a.Out+b.Out, a.CacheRead+b.CacheRead, a.CacheWrite+b.CacheWrite
	a.TokensAtLeast, a.USDAtLeast = a.TokensAtLeast || b.TokensAtLeast, a.USDAtLeast || b.USDAtLeast
	if b.USD != nil {
		sum := *b.USD
		if a.USD != nil {
			sum += *a.USD
		}
		a.USD = &sum
	}
}

// Waited is the time that went by for one reason.
type Waited struct {
	For   string `json:"for"` // in words
	Times int    `json:"times"`
	Took  int64  `json:"took"` // milliseconds
}

// Iteration is what one iteration came to.
type Iteration struct {
	N     int    `json:"n"`
	Agent string `json:"agent,omitempty"` // its name, if the loop has several
	// Mode and Story are what it did with which story, of a loop that works on a plan.
	Mode     event.StoryMode `json:"mode,omitempty"`
	Story    string          `json:"story,omitempty"`
	Models   []string        `json:"models,omitempty"`
	Outcome  event.Outcome   `json:"outcome,omitempty"` // empty while it runs
	Error    string          `json:"error,omitempty"`
	First    event.Seq       `json:"first"` // of its iteration.started
	Last     event.Seq       `json:"last"`
	Started  time.Time       `json:"started"`
	Took     int64           `json:"took"` // milliseconds
	Used     Amount          `json:"used"`
	Context  int64           `json:"context"` // tokens of the largest prompt; 0 if it is not known
	Turns    int             `json:"turns"`
	Tools    int             `json:"tools"`
	Failed   int             `json:"toolsFailed"`
	Retries  int             `json:"retries"`
	Refunded bool            `json:"refunded,omitempty"`
	Progress event.Progress  `json:"progress,omitempty"`
	Ticked   int             `json:"ticked"`            // boxes of the checklist, as last seen
	Summary  string          `json:"summary,omitempty"` // the beginning of the agent's last words
	Claimed  event.Claim     `json:"claimed,omitempty"`
	Refused  []string        `json:"refused,omitempty"`
	Checks   []CheckRun      `json:"checks,omitempty"`
	Commits  []Commit        `json:"commits,omitempty"`
	Made     int             `json:"made,omitempty"`   // commits that the agent made
	Kept     *Changes        `json:"kept,omitempty"`   // by these commits
	Left     *Changes        `json:"left,omitempty"`   // what it changed and did not commit
	Unkept   string          `json:"unkept,omitempty"` // why there is no commit
	Problems []Problem       `json:"problems,omitempty"`
	Bytes    int64           `json:"bytes"` // of its events
}

// Failing reports whether a person should look at an iteration first.
func (i *Iteration) Failing() bool {
	if i.Outcome != event.OutcomeDone && i.Outcome != "" || len(i.Refused) > 0 || i.Unkept != "" {
		return true
	}
	for _, c := range i.Checks {
		if !c.OK {
			return true
		}
	}
	return false
}

// Passed counts the guardrails that passed.
func (i *Iteration) Passed() (n int) {
	for _, c := range i.Checks {
		if c.OK {
			n++
		}
	}
	return n
}

// Changes are counts of changed files and lines.
type Changes struct {
	Files      int `json:"files"`
	Insertions int `json:"insertions"`
	Deletions  int `json:"deletions"`
}

// Commit is a commit of an iteration.
type Commit struct {
	Changes

	Seq     event.Seq `json:"seq"`
	SHA     string    `json:"sha"`
	Subject string    `json:"subject"`
}

// CheckRun is one run of a guardrail.
type CheckRun struct {
	Name string    `json:"name"`
	OK   bool      `json:"ok"`
	How  string    `json:"how"` // in words
	Seq  event.Seq `json:"seq"` // of its guardrail.ended
	Took int64     `json:"took"`
}

// Check is a guardrail over the whole loop.
type Check struct {
	CheckRun

	Iteration int    `json:"iteration"` // of the last run
	Runs      int    `json:"runs"`
	Failed    int    `json:"failed"`
	Output    string `json:"output,omitempty"` // of the last run, if that failed
}

// Problem is something that went wrong in an iteration.
type Problem struct {
	Seq  event.Seq `json:"seq"`
	Text string    `json:"text"`
}

// Day is what one agent used with one model on one day.
type Day struct {
	Date  string `json:"date"` // 2026-11-21
	Agent string `json:"agent"`
	Model string `json:"model,omitempty"`
	Used  Amount `json:"used"`
}

// ToolUse counts the uses of a tool.
type ToolUse struct {
	Name   string `json:"name"`
	Times  int    `json:"times"`
	Failed int    `json:"failed"`
}

// FileUse is what the agent's tools changed in a file, all edits together.
type FileUse struct {
	transcript.Edit

	Last int `json:"last"` // the iteration of the last edit
}

// Useful says when the loop last made progress.
type Useful struct {
	Known     bool      `json:"known"`     // something showed whether iterations made progress
	Iteration int       `json:"iteration"` // the last with progress; 0 if none made any
	At        time.Time `json:"at"`
	After     int       `json:"after"` // iterations after it
	Took      int64     `json:"took"`  // milliseconds of these
	Used      Amount    `json:"used"`  // by these
}

// Need is something that a person has to do.
type Need struct {
	What    string    `json:"what"`
	Command string    `json:"command,omitempty"` // to type next
	Seq     event.Seq `json:"seq,omitempty"`     // the event to look at
}
