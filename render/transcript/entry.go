package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/phrase"
)

// Entry is one thing that a person sees as a unit.
type Entry struct {
	Seq       event.Seq // of the event that began it: unique in a loop, and the name of the entry
	Last      event.Seq // of the last event that changed it
	At        time.Time // of the event Seq
	Changed   time.Time // of the event Last
	Iteration int       // 0 before the first
	Parent    string    // the tool call under which a subagent did this; empty for the agent itself
	Body      Body
}

// Kind names a kind of entry.
type Kind string

// The closed list of kinds.
const (
	KindLoop         Kind = "loop"
	KindIteration    Kind = "iteration"
	KindIterationEnd Kind = "iterationEnd"
	KindWords        Kind = "words"
	KindThinking     Kind = "thinking"
	KindTools        Kind = "tools"
	KindPlan         Kind = "plan"
	KindGuardrail    Kind = "guardrail"
	KindMessage      Kind = "message"
	KindQuestion     Kind = "question"
	KindClaim        Kind = "claim"
	KindCommit       Kind = "commit"
	KindNote         Kind = "note"
	KindWait         Kind = "wait"
	KindPause        Kind = "pause"
	KindEnd          Kind = "end"
	KindDetail       Kind = "detail"
)

// Kinds is the closed list.
var Kinds = []Kind{
	KindLoop, KindIteration, KindIterationEnd, KindWords, KindThinking, KindTools, KindPlan, KindGuardrail,
	KindMessage, KindQuestion, KindClaim, KindCommit, KindNote, KindWait, KindPause, KindEnd, KindDetail,
}

// Body is what one kind of entry says: the structs of this package.
type Body interface{ Kind() Kind }

// MarshalJSON writes an entry with the kind of its body.
func (e Entry) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Seq       event.Seq `json:"seq"`
		Last      event.Seq `json:"last"`
		At        time.Time `json:"at"`
		Changed   time.Time `json:"changed"`
		Iteration int       `json:"iteration"`
		Parent    string    `json:"parent,omitempty"`
		Kind      Kind      `json:"kind"`
		Body      Body      `json:"body"`
	}{e.Seq, e.Last, e.At, e.Changed, e.Iteration, e.Parent, e.Body.Kind(), e.Body})
}

// Loop is the beginning of a loop, or of a runner that resumed it.
type Loop struct {
	Name    string   `json:"name,omitempty"`
	Project string   `json:"project,omitempty"`
	Agents  []string `json:"agents,omitempty"` // in order of preference, each with its version
	// Reviewers are the agents that only review, each with its version.
	Reviewers []string `json:"reviewers,omitempty"`
	Maximum   int      `json:"maximum,omitempty"`
	Resumed   bool     `json:"resumed,omitempty"`
	Notes     []string `json:"notes,omitempty"` // what the runner found that resumed the loop
}

// Iteration is the border at which an iteration begins.
type Iteration struct {
	N           int    `json:"n"`
	Refunded    int    `json:"refunded,omitempty"` // of the iterations before it, as far as known
	Maximum     int    `json:"maximum,omitempty"`  // 0: no limit, or not known
	Agent       string `json:"agent,omitempty"`    // its name, if the loop has several
	Story       string `json:"story,omitempty"`    // what it does with a story: review US-002
	Title       string `json:"title,omitempty"`    // the first line of the story's title
	Prompt      string `json:"prompt"`             // of a long one the beginning
	PromptBytes int    `json:"promptBytes"`        // of all of it
	Unkept      string `json:"unkept,omitempty"`   // why the work tree is not kept
}

// IterationEnd is the border at which an iteration ends, with its totals.
type IterationEnd struct {
	N                 int            `json:"n"`
	Outcome           event.Outcome  `json:"outcome"`
	Error             string         `json:"error,omitempty"`
	Usage             event.Usage    `json:"usage"`
	Tools             int            `json:"tools"`
	ToolsFailed       int            `json:"-"`    // set by who counts them
	Took              int64          `json:"took"` // milliseconds
	Refunded          bool           `json:"refunded,omitempty"`
	Progress          event.Progress `json:"progress,omitempty"`
	Refusal           string         `json:"refusal,omitempty"` // as in iteration.ended
	GuardrailsSkipped bool           `json:"guardrailsSkipped,omitempty"`
}

// Words is a block of what the agent says. A block of more than 64 KiB is several entries.
type Words struct {
	Text string `json:"text"` // Markdown
	Done bool   `json:"done"` // nothing is added any more
}

// Thinking is a block of reasoning that is not part of the answer.
type Thinking Words

// State says how a tool, a guardrail or a claim went.
type State string

// The closed list of states.
const (
	StateRunning State = "running"
	StateOK      State = "ok"
	StateFailed  State = "failed"
	StateLost    State = "lost" // the turn ended before it returned
)

// Tools is a tool that the agent uses, or several tools in a row that only read.
type Tools struct {
	Calls []Call `json:"calls"`
}

// State is running while one of the calls runs, else failed if one failed or was lost.
func (t Tools) State() State {
	state := StateOK
	for _, c := range t.Calls {
		switch c.State {
		case StateRunning:
			return StateRunning
		case StateFailed, StateLost:
			state = StateFailed
		}
	}
	return state
}

// Call is one use of a tool.
type Call struct {
	Seq      event.Seq         `json:"seq"`                // of its tool.called, or of its tool.returned if that is not known
	Returned event.Seq         `json:"returned,omitempty"` // of its tool.returned
	ID       string            `json:"id"`
	Name     string            `json:"name"`
	About    string            `json:"about"` // its input in one line
	Paths    []string          `json:"paths,omitempty"`
	Input    json.RawMessage   `json:"input,omitempty"` // as the agent gave it: not clean
	Diff     []render.DiffLine `json:"diff,omitempty"`  // what it changes in a file
	Reads    bool              `json:"reads,omitempty"` // it changes nothing
	State    State             `json:"state"`
	Began    time.Time         `json:"began"`
	Took     time.Duration     `json:"took"` // nanoseconds; 0 while it runs
	// Output is what it printed: while it runs the last 8 KiB, then what the event has.
	Output string        `json:"output,omitempty"`
	Size   int           `json:"size"`           // bytes of all output, where known
	Blob   event.BlobRef `json:"blob,omitempty"` // all output, where Output is cut
}

// Changes counts the lines that the call adds and removes, where its line does not say it already.
func (c Call) Changes() string {
	added, removed := 0, 0
	for _, line := range c.Diff {
		switch line.Sign {
		case '+':
			added++
		case '-':
			removed++
		}
	}
	if added+removed == 0 || strings.Contains(c.About, " +") {
		return ""
	}
	return fmt.Sprintf("+%d -%d", added, removed)
}

// InputText is the input as indented JSON, clean.
func (c Call) InputText() string {
	var b bytes.Buffer
	if json.Indent(&b, c.Input, "", "  ") != nil {
		return string(render.CleanText(string(c.Input)))
	}
	return string(render.CleanText(b.String()))
}

// Plan is the agent's own list of things to do, as it is at that moment.
type Plan struct {
	Todos []event.Todo `json:"todos"`
}

// Done counts the entries that are done.
func (p Plan) Done() (n int) {
	for _, t := range p.Todos {
		if t.Status == event.TodoDone {
			n++
		}
	}
	return n
}

// Guardrail is a command that has to succeed.
type Guardrail struct {
	Name     string        `json:"name"`
	State    State         `json:"state"`
	Code     int           `json:"code"` // -1 when a signal ended it
	TimedOut bool          `json:"timedOut,omitempty"`
	Began    time.Time     `json:"began"`
	Took     time.Duration `json:"took"`
	Action   string        `json:"action,omitempty"` // where a failure goes in the next prompt
	Output   string        `json:"output,omitempty"` // of a failure, its end
	Log      string        `json:"log,omitempty"`    // the file with all output, in the loop's folder
	Warning  string        `json:"warning,omitempty"`
}

// MessageState is what became of a message.
type MessageState string

// The closed list of states of a message.
const (
	MessageQueued    MessageState = "queued"
	MessageDelivered MessageState = "delivered"
	MessageRefused   MessageState = "refused"
	MessageWithdrawn MessageState = "withdrawn"
)

// Message is a command: what a person, a hook or the agent itself asked for.
type Message struct {
	ID        string            `json:"id"`
	Command   event.CommandKind `json:"command,omitempty"` // empty if it is not known
	From      string            `json:"from,omitempty"`
	Text      string            `json:"text,omitempty"`
	Key       string            `json:"key,omitempty"`
	Value     string            `json:"value,omitempty"`
	Question  int               `json:"question,omitempty"` // the number of the one that it answers
	State     MessageState      `json:"state"`
	How       event.Delivery    `json:"how,omitempty"`
	Iteration int               `json:"iteration,omitempty"` // that it was delivered in
	Turn      int               `json:"turn,omitempty"`      // that it was delivered in, of a live delivery; from 1
	Running   int               `json:"-"`                   // the iteration that ran when the loop took it
	Why       string            `json:"why,omitempty"`       // it was refused
	Doubt     string            `json:"-"`                   // what is not known of its sender
}

// Question is a question that the agent asked while it worked on.
type Question struct {
	Number  int      `json:"number"` // from 1 in the loop
	Text    string   `json:"text"`
	Choices []string `json:"choices,omitempty"` // answers that the agent expects
	Blocks  bool     `json:"blocks,omitempty"`  // the work is not done while it is open
	// Answered says that it has an answer. An answer that the agent never had is taken back.
	Answered bool   `json:"answered"`
	Answer   string `json:"answer,omitempty"`
	By       string `json:"by,omitempty"` // interface and sender of the answer
}

// ClaimState is what became of a claim.
type ClaimState string

// The closed list of states of a claim.
const (
	ClaimMade     ClaimState = "made"
	ClaimAccepted ClaimState = "accepted"
	ClaimRefused  ClaimState = "refused"
	ClaimIgnored  ClaimState = "ignored"
)

// Claim is a claim of the agent that the work is done.
type Claim struct {
	How     event.Claim `json:"how,omitempty"`
	State   ClaimState  `json:"state"`
	Missing []string    `json:"missing,omitempty"` // why it was refused
	Text    string      `json:"text,omitempty"`    // of one that was ignored
	Why     string      `json:"why,omitempty"`     // it was ignored
	Warning string      `json:"warning,omitempty"` // why an accepted one is doubtful
}

// Commit is a commit of the iteration's work.
type Commit struct {
	SHA        string `json:"sha"` // empty if it is not known
	Subject    string `json:"subject"`
	Message    string `json:"message"`
	Files      int    `json:"files"`
	Insertions int    `json:"insertions"`
	Deletions  int    `json:"deletions"`
}

// Note is what an event says in words.
type Note struct {
	Type event.Type  `json:"type"`
	Tone phrase.Tone `json:"tone"`
	Text string      `json:"text"`
}

// Wait says what a loop waits for.
type Wait struct {
	For   event.Wait `json:"for"`
	Until time.Time  `json:"until,omitzero"` // zero if it waits for a person
	Why   string     `json:"why,omitempty"`  // what the person is needed for
	Over  bool       `json:"over"`           // it no longer waits
	// Question is the number of the one that a person has to answer; 0 for none.
	Question int `json:"question,omitempty"`
}

// Pause is a pause that a person asked for.
type Pause struct {
	Why  string `json:"why,omitempty"`
	Over bool   `json:"over"`
}

// End is the end of a loop.
type End struct {
	Name   string       `json:"name,omitempty"` // of the loop, if it is known
	Status event.Status `json:"status"`
	Reason event.Reason `json:"reason"`
	Result string       `json:"result,omitempty"`
	Why    string       `json:"why,omitempty"`
	Hint   string       `json:"hint,omitempty"`
	// Strength says what supports the done; empty where that is not known.
	Strength string `json:"strength,omitempty"`
	// Changed is what the loop has changed in files; nil if it is unknown.
	Changed *event.Difference  `json:"changed,omitempty"`
	Edited  []event.EditedFile `json:"edited,omitempty"`
	// Questions are those of the agent without an answer, each as a sentence.
	Questions []string `json:"questions,omitempty"`
	// Stories is what the stories of a plan came to, in words, where the loop is not completed.
	Stories string `json:"stories,omitempty"`
}

// Detail is an event that only a verbose transcript has, as one line of fields.
type Detail struct {
	Type event.Type `json:"type"`
	Text string     `json:"text"`
}

func (Loop) Kind() Kind         { return KindLoop }
func (Iteration) Kind() Kind    { return KindIteration }
func (IterationEnd) Kind() Kind { return KindIterationEnd }
func (Words) Kind() Kind        { return KindWords }
func (Thinking) Kind() Kind     { return KindThinking }
func (Tools) Kind() Kind        { return KindTools }
func (Plan) Kind() Kind         { return KindPlan }
func (Guardrail) Kind() Kind    { return KindGuardrail }
func (Message) Kind() Kind      { return KindMessage }
func (Question) Kind() Kind     { return KindQuestion }
func (Claim) Kind() Kind        { return KindClaim }
func (Commit) Kind() Kind       { return KindCommit }
func (Note) Kind() Kind         { return KindNote }
func (Wait) Kind() Kind         { return KindWait }
func (Pause) Kind() Kind        { return KindPause }
func (End) Kind() Kind          { return KindEnd }
func (Detail) Kind() Kind       { return KindDetail }
