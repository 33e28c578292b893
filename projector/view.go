package projector

import (
	"cmp"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// View is what is true of a loop at a moment, for people and programs: its JSON is what 'ralph list
// --json', 'ralph status --json', the web API and the answers of MCP contain. Its texts have no
// control characters but newlines and tabs, and its texts and lists are bounded; paths are as they
// are on the disk.
//
// [Loop.View] fills in what events say. [Brief] and [Read] add the registry, the lock and the
// folder.
type View struct {
	// Found is the loop as the registry has it, which other packages take to act on it. It is the
	// zero Status in a view of events alone.
	Found registry.Status `json:"-"`

	Identity
	registry.Summary
	Situation
	Work
	Waits
	Spending
	People
	Resumption

	// Agents are in order of preference; a single one for most loops. The last Reviewers of them
	// only review.
	Agents    []event.Agent `json:"-"`
	Reviewers int           `json:"-"`
	// Workers are the same agents, with what became of each.
	Workers []Worker `json:"agents,omitempty"`
	// Ended is why and how it ended, with the strength of the done; nil while it has not. Done says
	// that strength in a sentence.
	Ended *event.LoopEnded `json:"ended,omitempty"`
	Done  string           `json:"done,omitempty"`
	// Questions are those of the agent that are open, those whose answer it does not have yet, and
	// the last of the others, by number.
	Questions []Question `json:"questions,omitempty"`
	// Rules are the settings that decide now, without the agents; nil if the loop has not begun.
	Rules *event.Rules `json:"rules,omitempty"`
}

// Support is what supports the done; nil if the loop has not completed, or it is not known.
func (v *View) Support() *event.Strength {
	if v.Ended == nil {
		return nil
	}
	return v.Ended.Strength
}

// Identity says which loop a view is of.
type Identity struct {
	ID     string `json:"id"`               // its ULID
	Parent string `json:"parent,omitempty"` // id of the loop that started it, such as a fleet
	Name   string `json:"name"`
	// Call is how it is named from the folder of a person: its name, PROJECT/NAME or the path of
	// its folder. A program that lists loops for a person sets it.
	Call string `json:"call,omitempty"`
	Dir  string `json:"dir"` // the loop's folder
	// Project is the absolute path of the folder whose .ralph has the loop; in a view of events
	// alone, of the folder that the agent works in.
	Project string `json:"project"`
	// WorkDir is the folder that the agent works in, where that is not the project.
	WorkDir string `json:"workDir,omitempty"`
	// Remote is the host that ssh reaches the loop on, as a person names it, or that has it in the
	// pool; empty for a loop of this machine.
	Remote string `json:"remote,omitempty"`
	// Heard is when that host was last heard of, to the minute. What the view says may be as old.
	Heard   time.Time `json:"heard,omitzero"`
	Host    string    `json:"host"`
	Started time.Time `json:"started,omitzero"`
	Resumed int       `json:"resumed,omitempty"` // how many runners resumed it
	// Epoch counts the hosts of a pool that have had the loop, up to this one; 0 if it was never
	// moved within a pool.
	Epoch uint64 `json:"epoch,omitempty"`
	Task  Task   `json:"task,omitzero"`
}

// Task is what the loop is to do: the beginning of its prompt, or the file with it.
type Task struct {
	Text string `json:"text,omitempty"`
	File string `json:"file,omitempty"` // where it is now, as far as a found loop goes
}

// Situation says what a person has to know first. The group, and whether it has a runner, are only
// known of a loop that was found.
type Situation struct {
	Group Group `json:"group,omitempty"`
	// State is the status in words, with what a person has to know before it: "died", "gone",
	// "unreadable", "running, pausing after iteration 3".
	State string `json:"state"`
	// NextStep is what a person may do now; empty if nothing has to be done.
	NextStep string `json:"nextStep,omitempty"`
	// Question is what a loop that waits for a person asks, in the words of its agent; empty for
	// any other loop.
	Question string `json:"question,omitempty"`
	// ExitCode is that of a foreground run; null if the loop has not ended.
	ExitCode *int `json:"exitCode"`

	Alive bool `json:"alive"` // it has a runner
	Died  bool `json:"died"`  // it has not ended, and has no runner
	Gone  bool `json:"gone"`  // its folder does not exist any more
	// Runner is the process that has the loop, or that died having it; nil if there is none.
	Runner *registry.Liveness `json:"runner,omitempty"`
	// Left are the processes that outlived the runner of a loop that died: its agent still works.
	Left  []int  `json:"left,omitempty"`
	Error string `json:"error,omitempty"` // why its files cannot be read
}

// Work is what the loop has done and does.
type Work struct {
	Begun   int `json:"-"`       // iterations that have begun
	Counted int `json:"counted"` // iterations that are used: begun, and not refunded
	// Open says that an iteration is open, and Doing what it does, or that it has ended.
	Open      bool        `json:"open,omitempty"`
	Doing     string      `json:"doing,omitempty"`
	Checking  bool        `json:"checking,omitempty"`      // guardrails run
	OpenSince time.Time   `json:"iterationSince,omitzero"` // when the last iteration began
	Tools     int         `json:"tools,omitempty"`         // that the open iteration has used
	Failed    int         `json:"toolsFailed,omitempty"`   // of these
	OpenUsage event.Usage `json:"iterationUsage,omitzero"` // of the open iteration

	Ticked int `json:"ticked,omitempty"` // boxes of the checklist of task.md, as last seen
	Boxes  int `json:"boxes,omitempty"`
	// Story is what the last iteration that began does with the stories of a plan; nil for a loop
	// without a plan, and before the first iteration.
	Story *Story     `json:"story,omitempty"`
	Plan  *Plan      `json:"plan,omitempty"`
	Last  *Iteration `json:"lastIteration,omitempty"` // the last one that ended
	// Changed is the difference of all files from how they were before the first iteration; nil if
	// it is not known.
	Changed     *event.Difference `json:"changed,omitempty"`
	PullRequest *PullRequest      `json:"pullRequest,omitempty"`
	HeldOut     *HeldOut          `json:"heldOut,omitempty"` // nil for a loop without such guardrails
	// Fleet are the first tasks of a fleet; empty for any other loop.
	Fleet []FleetTask `json:"fleet,omitempty"`
}

// HeldOut are the guardrails that the agent cannot read.
type HeldOut struct {
	Guardrails   int  `json:"guardrails"`
	ByConvention bool `json:"byConvention,omitempty"` // no sandbox keeps them from the agent
	// Passed and Failed are those of the last run; Error is why it has no verdict.
	Passed int    `json:"passed"`
	Failed int    `json:"failed"`
	Error  string `json:"error,omitempty"`
	// Outputs are files for a person with what those that failed last printed. A program on the
	// machine of the loop sets them.
	Outputs []string `json:"outputs,omitempty"`
}

// Story is what an iteration does with one story of a plan.
type Story struct {
	Mode  event.StoryMode `json:"mode"`
	ID    string          `json:"id,omitempty"` // empty if no story can be worked on
	Title string          `json:"title,omitempty"`
}

// Plan are the first stories of a plan, in its order, and what the reviews of all found.
type Plan struct {
	Stories  []event.StoryState `json:"stories"`
	Reviews  int                `json:"reviews"`
	Approved int                `json:"approved"` // with those at the cap
	Changes  int                `json:"changes"`  // changes were requested
	AtCap    int                `json:"atCap"`    // approved because review.cap was reached
}

// FleetTask is a task of a fleet, and the loop that works on it.
type FleetTask struct {
	ID   string          `json:"id"`
	Loop string          `json:"loop"`
	Step event.FleetStep `json:"step"`
	Why  string          `json:"why,omitempty"` // it failed
}

// PullRequest is that of the loop's branch.
type PullRequest struct {
	URL   string `json:"url,omitempty"`
	Error string `json:"error,omitempty"` // why the last try failed
	// Stack are all of them where the branch became several; URL is then the first that is open.
	Stack []event.StackedRequest `json:"stack,omitempty"`
}

// Lines says what was published, on a line for each pull request.
func (p *PullRequest) Lines() (lines []string) {
	if len(p.Stack) == 0 && p.URL != "" {
		return []string{p.URL}
	}
	for i, r := range p.Stack {
		lines = append(lines, fmt.Sprintf("%d of %d: %s, %s, %s", i+1, len(p.Stack), cmp.Or(r.URL, r.Branch), units.Quantity(r.Lines, "line"), r.State))
	}
	return lines
}

// Waits are what the loop waits for, what comes next by itself, and what does not go well.
type Waits struct {
	Wait *Wait `json:"wait,omitempty"`
	// Until is the moment that a loop waits for.
	Until    time.Time `json:"until,omitzero"`
	Deadline *Deadline `json:"deadline,omitempty"`
	Trouble  Trouble   `json:"trouble,omitzero"`
	// Resting says that nothing happens until a person resumes the loop, or answers its question.
	Resting bool `json:"resting,omitempty"`
	// Signalled says that a signal to the runner stops it, not a command of a person.
	Signalled bool `json:"signalled,omitempty"`
}

// Wait is why a loop waits.
type Wait struct {
	For      event.Wait `json:"for"`
	Question int        `json:"question,omitempty"` // the one that it waits for
	Error    string     `json:"error,omitempty"`    // of the agent, which is tried again
	Attempt  int        `json:"attempt,omitempty"`  // errors of this kind in a row
	Hint     string     `json:"hint,omitempty"`     // for a loop without progress
}

// Deadline is the next moment at which something happens without another event.
type Deadline struct {
	At   time.Time `json:"at"`
	What string    `json:"what"` // for people
}

// Trouble is what may end the loop if it goes on.
type Trouble struct {
	Failures int    `json:"failures,omitempty"` // of the agent, in a row
	Failure  string `json:"failure,omitempty"`  // the last one
	Stuck    int    `json:"stuck,omitempty"`    // iterations in a row without progress
	Refusal  string `json:"refusal,omitempty"`  // what was refused again
	Blind    string `json:"blind,omitempty"`    // why progress is unknown
	// Warnings say which limits are near, and how near.
	Warnings []string `json:"warnings,omitempty"`
}

// Spending is what the loop has used.
type Spending struct {
	Spent event.Usage `json:"usage,omitzero"`
	Ran   int64       `json:"ran,omitempty"` // milliseconds
	// Shares are the parts of the agents of a loop with several.
	Shares []Share `json:"shares,omitempty"`

	// Used is the usage of the iterations that ended, as far as it is known, for a reader that goes
	// on counting.
	Used          event.Usage `json:"-"`
	CostUnknown   bool        `json:"-"` // some of the usage had no price
	TokensUnknown bool        `json:"-"` // not all tokens were reported
}

// Share is what one agent of several has used.
type Share struct {
	Name       string      `json:"name"`
	Iterations int         `json:"iterations"` // that have begun
	Refunded   int         `json:"refunded,omitempty"`
	Usage      event.Usage `json:"usage"`
}

// People are what people have sent, are asked, and have to look at.
type People struct {
	// Commands are those that were received and have not taken effect.
	Commands []Command `json:"commands,omitempty"`
	// Edited are the files of guardrails and settings that the agent changed and no person has
	// accepted. Checked says what was done about those that the last check found.
	Edited  []event.EditedFile `json:"edited,omitempty"`
	Checked []string           `json:"editedGuardrails,omitempty"`
	// Away are the repositories whose branch the agent left.
	Away []Away `json:"away,omitempty"`
	// Kept is what ralph kept of files before it replaced or removed them: a person may have
	// written them. A program that looks into the repositories sets it.
	Kept []Kept `json:"kept,omitempty"`
	// Reviewed is how far a person's review of the work is; nil if there is none. A program that
	// knows ralph's home sets it.
	Reviewed *Reviewed `json:"reviewed,omitempty"`
	// Aside is what was in the way of files that were put back, and has a new name.
	Aside []SetAside `json:"-"`
}

// SetAside is a file or a folder that has a new name.
type SetAside struct {
	File     string // the new one, in the folder where the loop works
	Settings bool   // it is in the project instead
}

// Command is what a person has sent. State is one of the constants from [CommandReceived] on.
type Command struct {
	event.CommandReceived
	State  string `json:"state"`
	Prompt int    `json:"prompt,omitempty"` // the iteration whose prompt has it
}

// Question is a question that the agent asked while it worked on.
type Question struct {
	Number  int       `json:"number"`            // from 1 in the loop
	Text    string    `json:"text"`              // at most inbox.MaxQuestion bytes
	Choices []string  `json:"choices,omitempty"` // answers that the agent expects; any other is as good
	Blocks  bool      `json:"blocks,omitempty"`  // the work is not done while it is open
	AskedAt time.Time `json:"askedAt"`           // of question.asked

	// Answer is the beginning of the answer; it is empty while the question is open, as By and
	// AnsweredAt are.
	Answer     string    `json:"answer,omitempty"`
	AnsweredAt time.Time `json:"answeredAt,omitzero"`
	By         string    `json:"by,omitempty"`   // such as cli:ada@mill
	Read       bool      `json:"read,omitempty"` // the agent has the answer
}

// Open reports whether the question has no answer.
func (q Question) Open() bool { return q.AnsweredAt.IsZero() }

// OpenQuestions are the questions without an answer, by number.
func (v *View) OpenQuestions() (open []Question) {
	for _, q := range v.Questions {
		if q.Open() {
			open = append(open, q)
		}
	}
	return open
}

// Away is a repository that is not on the loop's branch any more.
type Away struct {
	Root   string `json:"root"`   // absolute
	Branch string `json:"branch"` // the loop's
	Away   string `json:"away"`   // what is checked out; HEAD for no branch
	Text   string `json:"text"`   // for people
	Back   string `json:"back"`   // the command that goes back
}

// Kept is what ralph kept of files before it replaced or removed them.
type Kept struct {
	Name string `json:"name"` // a ref of git, or a file
	Back string `json:"back"` // the command that brings it back, or shows it
}

// Reviewed is how many things of a loop's work a person has read and decided about.
type Reviewed struct {
	Decided int `json:"reviewed"`
	Total   int `json:"of"`
	// Old says that the loop has worked since the last decision.
	Old bool `json:"workedSince,omitempty"`
	// FilesUnknown says that it is not known which files changed: what was not read may be more.
	FilesUnknown bool `json:"filesUnknown,omitempty"`
}

// Done reports whether everything is decided.
func (r Reviewed) Done() bool { return r.Decided == r.Total && !r.FilesUnknown }

// String says how far it is: "reviewed 7 of 12".
func (r Reviewed) String() string {
	text := fmt.Sprintf("reviewed %d of %d", r.Decided, r.Total)
	if r.FilesUnknown {
		text += " that are known"
	}
	if r.Old {
		text += ", and it has worked since"
	}
	return text
}

// Resumption is what a loop that is over may use once it is resumed.
type Resumption struct {
	More string `json:"more,omitempty"` // such as "10 more iterations"
	// Raise are the settings that the resume has to raise for that, with their new values.
	Raise map[string]string `json:"raise,omitempty"`
}

// Worker is an agent of the loop, and what became of it.
type Worker struct {
	event.Agent
	Role      string    `json:"role,omitempty"`      // implements or reviews, where others do the other
	Current   bool      `json:"current,omitempty"`   // it works, or worked last
	PID       int       `json:"pid,omitempty"`       // of its process, while that lives
	Steerable bool      `json:"steerable,omitempty"` // in mid-turn
	Until     time.Time `json:"until,omitzero"`      // when it is tried again
	Gone      bool      `json:"gone,omitempty"`      // it is not tried again before the loop is resumed
	Why       string    `json:"why,omitempty"`       // it is not tried now
}

// Iteration is what one iteration came to: iterations/NNN.json.
type Iteration struct {
	N           int           `json:"n"`
	Agent       string        `json:"agent,omitempty"` // its name, if the loop has several
	Outcome     event.Outcome `json:"outcome"`
	Error       string        `json:"error,omitempty"`
	Started     time.Time     `json:"started"`
	Ended       time.Time     `json:"ended"`
	Took        int64         `json:"took"` // milliseconds
	Usage       event.Usage   `json:"usage"`
	Tools       int           `json:"tools"`
	ToolsFailed int           `json:"toolsFailed"`
	// answers of the model, as far as the agent shows them
	Turns    int `json:"turns"`
	Messages int `json:"messages"` // blocks of text the agent said
	// the beginning of the agent's final message
	Summary  string      `json:"summary,omitempty"`
	Retries  int         `json:"retries"`
	Refunded bool        `json:"refunded,omitempty"`
	Claimed  event.Claim `json:"claimed,omitempty"`
	Refused  []string    `json:"refused,omitempty"`
	// What ralph itself found out after the turn.
	Guardrails int      `json:"guardrails,omitempty"` // that ran
	Failed     []string `json:"failed,omitempty"`     // of these, by their commands
	// yes or no, as the files show it; empty if nothing shows it
	Progress event.Progress `json:"progress,omitempty"`
	// the last commit of the iteration, if there is one
	Commit  *Commit   `json:"commit,omitempty"`
	Unkept  string    `json:"unkept,omitempty"` // why a task of version control failed
	LastSeq event.Seq `json:"lastSeq"`          // of its iteration.ended
}

// Commit is a commit that the loop made.
type Commit = struct {
	SHA     string `json:"sha"`
	Subject string `json:"subject"` // the first line of its message
}
