package event

import (
	"encoding/json"
	"time"
)

// LoopStarted: a new loop began in this journal; always its first event after
// the opening of segment 1.
type LoopStarted struct {
	Name    string `json:"name"`
	ID      string `json:"id"`      // ULID of the loop
	Dir     string `json:"dir"`     // absolute path of the loop's folder when it started
	Project string `json:"project"` // absolute path of the folder that the agent works in
	Host    string `json:"host,omitempty"`
	PID     int    `json:"pid,omitempty"` // of the runner
	Version string `json:"version,omitempty"`
	Git     string `json:"git,omitempty"`
	Agent   Agent  `json:"agent"`
	Rules   Rules  `json:"rules"`
	Task    Source `json:"task"` // where the base prompt comes from
	// Settings are those that the loop was started with.
	Settings *Settings `json:"settings,omitempty"`
	// TraceParent is the span in which the loop began, as the variable TRACEPARENT has it.
	TraceParent string `json:"traceParent,omitempty"`
	// ForkOf is the loop whose first events this journal begins with; nil for any other loop.
	ForkOf *ForkOf `json:"forkOf,omitempty"`
	// When says what has to be before the first iteration; nil for a loop that starts at once.
	When *When `json:"when,omitempty"`
}

// When says when a loop starts. Of several conditions all have to be met.
type When struct {
	At    time.Time `json:"at,omitzero"`     // not before
	After string    `json:"after,omitempty"` // the folder of a loop that has to have ended
	Quota float64   `json:"quota,omitempty"` // percent of the account's quota that have to be left
}

// ForkOf says of which loop another one is a fork.
type ForkOf struct {
	Name      string `json:"name"`
	ID        string `json:"id"`
	Dir       string `json:"dir"`
	Iteration int    `json:"iteration"` // that the fork does again
	Snapshot  string `json:"snapshot"`  // the commit with the files before it
}

// Settings are those of a loop when a runner started or resumed it, as a person had given them: in
// files, variables and on the command line. ralph compares the copy in config.json with them.
type Settings struct {
	// Values are those that are not built in, by key.
	Values []Setting `json:"values,omitempty"`
	SHA256 string    `json:"sha256"` // of config.json as it was written then, its secrets masked
}

// Setting is one value and where it came from.
type Setting struct {
	Key string `json:"key"`
	// spelled as for a flag; of a long value the beginning; secrets masked
	Value string `json:"value"`
	From  string `json:"from"` // a file with its line, a variable, or the command line
}

// Agent says which agent a loop runs.
type Agent struct {
	// Name distinguishes the agents of one loop; empty if there is only one.
	Name     string   `json:"name,omitempty"`
	Protocol string   `json:"protocol"` // pi, claude, text, rehearsal …
	Command  []string `json:"command,omitempty"`
	Version  string   `json:"version,omitempty"`
	Login    string   `json:"login,omitempty"` // how a person logs in with it, if that is known
	// nil if the environment has no key that the agent could use
	Keys *Keys `json:"keys,omitempty"`
}

// Keys are the names of the API keys in the environment: those passed to the agent, and those
// withheld from it.
type Keys struct {
	Passed   []string `json:"passed,omitempty"`
	Withheld []string `json:"withheld,omitempty"`
	// Why is setting (passKeys of the agent decides), login (the agent has one of its own), no
	// login (none is found) or unknown (it may have one that cannot be read).
	Why string `json:"why"`
}

// Source says where the base prompt of every iteration comes from. Exactly one of the fields is
// set: the text itself, or a file that is read again each time.
type Source struct {
	Text *Blob  `json:"text,omitempty"`
	File string `json:"file,omitempty"`
}

// LoopResumed: a runner resumed a journal that an earlier runner had left.
type LoopResumed struct {
	Host    string `json:"host,omitempty"`
	PID     int    `json:"pid,omitempty"`
	Version string `json:"version,omitempty"`
	// the earlier runner did not end its loop: it was killed or crashed
	Died bool  `json:"died,omitempty"`
	Lost *Lost `json:"lost,omitempty"`
	// processes of the earlier runner's agent that were still alive and were ended
	Swept int    `json:"swept,omitempty"`
	Rules *Rules `json:"rules,omitempty"` // set when the settings changed
	Agent *Agent `json:"agent,omitempty"`
	// AcceptedChanges: a person accepted the files of the guardrails, and the settings, as they are
	// now.
	AcceptedChanges bool `json:"acceptedChanges,omitempty"`
	// Settings are those that the loop was resumed with.
	Settings *Settings `json:"settings,omitempty"`
	// Dir, Project and Task are as in loop.started, and set where they differ from before: the loop
	// was moved.
	Dir     string  `json:"dir,omitempty"`
	Project string  `json:"project,omitempty"`
	Task    *Source `json:"task,omitempty"`
}

// Lost describes a torn tail that a recovery cut off.
type Lost struct {
	Segment string `json:"segment"`
	Bytes   int64  `json:"bytes"`
	Kept    string `json:"kept"` // the side file that holds those bytes
	// the tail that an earlier recovery cut off; it died before it could report that
	Before *Lost `json:"before,omitempty"`
}

// LoopConfigured: a setting was changed while the loop ran.
type LoopConfigured struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	Rules Rules  `json:"rules"` // all rules as they are from now on
}

// LoopPaused: the loop waits for resume; no iteration is running.
type LoopPaused struct {
	Why string `json:"why,omitempty"`
}

// LoopUnpaused: the loop continues.
type LoopUnpaused struct{}

// LoopWaiting: no iteration begins before Until, or before a person resumes the loop. A later
// loop.waiting replaces it; loop.waited, loop.resumed and loop.ended end it.
type LoopWaiting struct {
	// rate, overload, network, quota, restart, breaker or person
	For   Wait      `json:"for"`
	Until time.Time `json:"until,omitzero"` // absent if the loop waits for a person
	Why   string    `json:"why,omitempty"`  // what the person is needed for
	// the number of the question that a person has to answer; absent if there is none
	Question int `json:"question,omitempty"`
}

// LoopWaited: the loop no longer waits.
type LoopWaited struct {
	For Wait `json:"for"`
}

// LoopEnded: only the seal follows in this run of the loop.
type LoopEnded struct {
	Status Status `json:"status"` // completed, stopped or failed
	Reason Reason `json:"reason"`
	// Result is PROMISE_ACCEPTED or MAX_ITERATIONS_REACHED, for programs that look for these words.
	Result string `json:"result,omitempty"`
	Why    string `json:"why,omitempty"`  // one sentence for a person
	Hint   string `json:"hint,omitempty"` // the next step for a person
	// Changed is the difference of all files in repositories from how they were before the first
	// iteration; nil if it is unknown.
	Changed *Difference `json:"changed,omitempty"`
	// Edited are the files of guardrails, and of settings, that the agent changed and no person has
	// accepted.
	Edited []EditedFile `json:"edited,omitempty"`
	// Questions are those of the agent without an answer, and those whose answer it never had.
	Questions []OpenQuestion `json:"questions,omitempty"`
	// Strength is what supports the done; nil of a loop that did not complete, and in journals of
	// older versions.
	Strength *Strength `json:"strength,omitempty"`
}

// SegmentOpened: the first line of a segment.
type SegmentOpened struct {
	Ordinal   int          `json:"ordinal"`
	Iteration int          `json:"iteration"`
	Prev      *PrevSegment `json:"prev,omitempty"`
	// journal.keepIterations: this many iterations before this one are kept; absent if all are
	Keep int `json:"keep,omitempty"`
	// the state folded over all that came before this line
	Checkpoint json.RawMessage `json:"checkpoint,omitempty"`
}

// PrevSegment is the name and the hash of the segment before.
type PrevSegment struct {
	Name string `json:"name"`
	// of all its bytes before the seal line, or of all its bytes if it has none
	SHA256 string `json:"sha256"`
	Sealed bool   `json:"sealed"`
}

// SegmentSealed: the last line of a segment that will not grow again.
type SegmentSealed struct {
	Events int    `json:"events"` // lines before this one
	Bytes  int64  `json:"bytes"`  // bytes before this line
	SHA256 string `json:"sha256"` // of those bytes
}

// Blob is a text that may be too long for a line. Text is the whole of a short one. Of a long one
// it is the beginning, and the file blobs/<SHA256> has the whole.
type Blob struct {
	Text   string  `json:"text"`
	Bytes  int     `json:"bytes"`
	SHA256 BlobRef `json:"sha256,omitempty"` // set when the whole is a file
}

// IterationStarted: a fresh context begins with this prompt.
type IterationStarted struct {
	N        int      `json:"n"`
	Mode     string   `json:"mode,omitempty"` // work, or the mode of a loop over stories
	Prompt   Blob     `json:"prompt"`
	Commands []string `json:"commands,omitempty"` // ids of the commands whose text is in the prompt
	// Snapshot is the commit that keeps the work tree as it was; empty if it is not kept.
	Snapshot string `json:"snapshot,omitempty"`
	// Unkept says why the work tree is not kept, once for each reason.
	Unkept string `json:"unkept,omitempty"`
}

// IterationEnded: the agent is gone or parked, and this is the result of the iteration.
type IterationEnded struct {
	N        int     `json:"n"`
	Outcome  Outcome `json:"outcome"`
	Error    string  `json:"error,omitempty"`
	Usage    Usage   `json:"usage"`
	Tools    int     `json:"tools"`
	Took     int64   `json:"took"` // milliseconds
	Refunded bool    `json:"refunded,omitempty"`
	// Progress is yes or no, as the files show it; empty if nothing shows it.
	Progress Progress `json:"progress,omitempty"`
	// Refusal is what the agent did to the stories and was refused, as far as an iteration right
	// before was refused the same: that is no progress, whatever the files show.
	Refusal string `json:"refusal,omitempty"`
	// GuardrailsSkipped says that there are guardrails and none of them ran: the turn did not end
	// well, or the agent waits for a person.
	GuardrailsSkipped bool `json:"guardrailsSkipped,omitempty"`
}

// Outcome of an iteration.
type Outcome string

// The closed list of outcomes.
const (
	OutcomeDone         Outcome = "done"         // the agent finished its turn
	OutcomeFailed       Outcome = "failed"       // the agent reported an error or its process ended badly
	OutcomeIdle         Outcome = "idle"         // silent for too long
	OutcomeOverlong     Outcome = "overlong"     // the iteration took too long
	OutcomeAborted      Outcome = "aborted"      // a person stopped it, or the loop had run for limits.duration
	OutcomeInterrupted  Outcome = "interrupted"  // the runner died under it
	OutcomeOverspent    Outcome = "overspent"    // the iteration used more money or tokens than one may
	OutcomeEmpty        Outcome = "empty"        // the turn ended well, and the agent neither said nor did anything
	OutcomeLimited      Outcome = "limited"      // what the agent needs was out of reach: a rate limit, an outage
	OutcomeUnauthorized Outcome = "unauthorized" // the agent is not logged in
)

// ParseOutcome returns the outcome of that name.
func ParseOutcome(text string) (Outcome, error) {
	return parse(text, "an outcome of an iteration",
		OutcomeDone, OutcomeFailed, OutcomeIdle, OutcomeOverlong, OutcomeAborted,
		OutcomeInterrupted, OutcomeOverspent, OutcomeEmpty, OutcomeLimited, OutcomeUnauthorized)
}

// Usage counts tokens and money. USD is nil if the agent does not report the cost: unknown is not
// 0. In JSON the counts are null if it does not report tokens, or not all of them.
type Usage struct {
	In         int64    `json:"in"`
	Out        int64    `json:"out"`
	CacheRead  int64    `json:"cacheRead"`
	CacheWrite int64    `json:"cacheWrite"`
	USD        *float64 `json:"usd"`
	// TokensUnknown says that the counts are null in JSON. At least as many were used as they say.
	TokensUnknown bool `json:"-"`
}

// usageJSON is Usage as JSON has it.
type usageJSON struct {
	In         *int64   `json:"in"`
	Out        *int64   `json:"out"`
	CacheRead  *int64   `json:"cacheRead"`
	CacheWrite *int64   `json:"cacheWrite"`
	USD        *float64 `json:"usd"`
}

// MarshalJSON writes counts that are not known as null.
func (u Usage) MarshalJSON() ([]byte, error) {
	if u.TokensUnknown {
		return json.Marshal(usageJSON{USD: u.USD})
	}
	return json.Marshal(usageJSON{&u.In, &u.Out, &u.CacheRead, &u.CacheWrite, u.USD})
}

// UnmarshalJSON reads what MarshalJSON writes. A count that is not there is 0.
func (u *Usage) UnmarshalJSON(data []byte) error {
	var read Usage
	fields := usageJSON{In: &read.In, Out: &read.Out, CacheRead: &read.CacheRead, CacheWrite: &read.CacheWrite}
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	read.USD, read.TokensUnknown = fields.USD, fields.In == nil || fields.Out == nil
	*u = read
	return nil
}

// Tokens are all that are known to have been used.
func (u Usage) Tokens() int64 { return u.In + u.Out + u.CacheRead + u.CacheWrite }

// CommandReceived: a person, a hook or another program asked for something.
type CommandReceived struct {
	ID   string      `json:"id"`
	Kind CommandKind `json:"kind"`
	From string      `json:"from,omitempty"`
	Text string      `json:"text,omitempty"`
	Key  string      `json:"key,omitempty"` // of a set: the setting; of a withdraw: the id of the message
	Val  string      `json:"value,omitempty"`
	// of an ask: answers that the agent expects
	Choices []string `json:"choices,omitempty"`
	Blocks  bool     `json:"blocks,omitempty"` // of an ask: the work is not done without an answer
	// of an answer: the number of the question
	Question int `json:"question,omitempty"`
	// of a fence: the host that has the loop
	Host string `json:"host,omitempty"`
	// of a fence: under which epoch it has it; of any other command: the one that its sender saw, 0
	// for any
	Epoch uint64 `json:"epoch,omitempty"`
	// person, agent, outer-agent, other-agent or unknown: what the kernel said of the process that
	// dropped it
	Origin Origin `json:"origin,omitempty"`
	Loop   string `json:"loop,omitempty"`  // of outer-agent and other-agent: whose agent
	Doubt  string `json:"doubt,omitempty"` // of unknown: what the kernel could not say
}

// CommandDelivered: the command has taken effect.
type CommandDelivered struct {
	ID string `json:"id"`
	// live (into the running turn), prompt (in the prompt of that iteration), loop (by the loop
	// itself)
	How       Delivery `json:"how"`
	Iteration int      `json:"iteration,omitempty"`
}

// CommandRefused: the command will not take effect.
type CommandRefused struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

// CommandWithdrawn: a person took a message back before the agent had it.
type CommandWithdrawn struct {
	ID   string `json:"id"`   // of the message
	By   string `json:"by"`   // the id of the withdraw
	Text string `json:"text"` // the beginning of the message
}

// CompletionClaimed: the agent says that the work is done.
type CompletionClaimed struct {
	How Claim `json:"how"` // promise, response, checklist or doneFile
	// Unproved says that nothing else is missing, and that the guardrails are tried before the
	// claim is judged.
	Unproved bool `json:"unproved,omitempty"`
}

// CompletionRefused: the claim does not count, and the next prompt says why.
type CompletionRefused struct {
	Missing []string `json:"missing"`
	// Questions are the numbers of the open questions among what is missing, one entry of Missing
	// each.
	Questions []int `json:"questions,omitempty"`
}

// CompletionIgnored: the agent's text resembled a claim, or was a claim in a turn that failed. It
// did not count, and the next prompt says why.
type CompletionIgnored struct {
	// promise, response or checklist: the kind of claim that it was or resembled
	How  Claim  `json:"how"`
	Text string `json:"text,omitempty"` // the text; empty if it is exactly a claim
	Why  string `json:"why"`            // why it did not count
}

// CompletionAccepted: the claim counts.
type CompletionAccepted struct {
	How Claim `json:"how"`
	// Warning is why the claim is doubtful, with completion.onPromiseNoWork: warn.
	Warning string `json:"warning,omitempty"`
}

// Decided: the core chose an effect; the outcome of the effect names this event as its cause.
type Decided struct {
	Do        Effect   `json:"do"`
	Why       string   `json:"why,omitempty"`
	Iteration int      `json:"iteration,omitempty"`
	Command   string   `json:"command,omitempty"`  // the command it serves
	Commands  []string `json:"commands,omitempty"` // the commands whose text goes into a prompt
	Outcome   Outcome  `json:"outcome,omitempty"`  // of the iteration that this cuts short
	// of a check: "look" if no guardrail is to run
	Only string `json:"only,omitempty"`
	// of a start: the session continues and keeps its context
	Same bool `json:"same,omitempty"`
	// of a beginning: the agent is asked to look back
	Reflect bool `json:"reflect,omitempty"`
	// of a beginning, a start or a commit: which of the loop's agents; 0 is the first
	Agent int `json:"agent,omitempty"`
}

// EffectFailed: a decided effect could not be done.
type EffectFailed struct {
	Do      Effect `json:"do"`
	Error   string `json:"error"`
	Class   Class  `json:"class,omitempty"`   // see the Class constants
	Hint    string `json:"hint,omitempty"`    // the next step for a person
	Command string `json:"command,omitempty"` // the command it served
}

// TimerFired: the deadline of that name passed.
type TimerFired struct {
	Name string `json:"name"`
}

// FaultRaised: an error in ralph itself, outside of any decided effect.
type FaultRaised struct {
	Where string `json:"where"`
	Error string `json:"error"`
	Class Class  `json:"class,omitempty"`
}
