package event

import "encoding/json"

// AgentStarted: the agent has this iteration's prompt. Reused says that no new process was started:
// an earlier iteration's process was given a fresh context.
type AgentStarted struct {
	PID    int      `json:"pid"`
	Argv   []string `json:"argv,omitempty"`
	Reused bool     `json:"reused,omitempty"`
	Live   bool     `json:"live,omitempty"`  // it can be steered in mid-turn
	Costs  bool     `json:"costs,omitempty"` // it reports what it costs
	Tools  bool     `json:"tools,omitempty"` // it shows the tools it uses
	// Uncounted says that it does not report the tokens it uses.
	Uncounted bool `json:"uncounted,omitempty"`
	// ExitEnds says that the end of the process is the end of the turn: the agent
	// has no other way to say so.
	ExitEnds bool   `json:"exitEnds,omitempty"`
	Session  string `json:"session,omitempty"` // the agent's own id of the conversation
}

// AgentSaid: the assistant said this; Text is what is new since the last event of the same block.
// Block is the agent's own name for one run of text. The event with Final ends the block; it
// repeats nothing that deltas have said.
type AgentSaid struct {
	// <message>.<index>: the blocks of one message share the part before the last dot
	Block string `json:"block"`
	Text  Text   `json:"text"`
	Final bool   `json:"final,omitempty"`
	// Parent is the tool call under which a subagent said it; empty for the
	// assistant itself. A subagent's words never claim completion.
	Parent string `json:"parent,omitempty"`
}

// AgentThought: as AgentSaid, for reasoning that is not part of the answer.
type AgentThought struct {
	Block  string `json:"block"`
	Text   Text   `json:"text"`
	Final  bool   `json:"final,omitempty"`
	Parent string `json:"parent,omitempty"`
}

// AgentUsed: this much more was used since the last such event. Dialects turn
// cumulative counts into increments. USD is nil if the agent did not say. If Unpriced, what some of
// the turn's tokens so far cost comes with a later such event.
type AgentUsed struct {
	In         int64    `json:"in"`
	Out        int64    `json:"out"`
	CacheRead  int64    `json:"cacheRead"`
	CacheWrite int64    `json:"cacheWrite"`
	USD        *float64 `json:"usd"`
	Model      string   `json:"model,omitempty"`
	Unpriced   bool     `json:"unpriced,omitempty"`
}

// AgentPlanned: the agent's own complete list of things to do.
type AgentPlanned struct {
	Todos []Todo `json:"todos"`
}

// Todo is one entry of an agent's own list.
type Todo struct {
	Text   string     `json:"text"`
	Status TodoStatus `json:"status"` // pending, active or done
}

// AgentAsked: the agent asked a question while no person was there to answer, and the dialect gave
// Answer at once.
type AgentAsked struct {
	What   string `json:"what"`
	Answer string `json:"answer"`
}

// AgentLimited: the agent may not continue until Until (RFC 3339; empty if it did not say). Kind
// is rate, overload, quota, auth, network or context (the conversation is too long for the model).
type AgentLimited struct {
	Kind  FaultKind `json:"kind"`
	Until string    `json:"until,omitempty"`
	Text  string    `json:"text,omitempty"`
}

// AgentRetried: the agent met a fault and tries again by itself after Delay
// milliseconds.
type AgentRetried struct {
	Attempt int       `json:"attempt"`
	Max     int       `json:"max,omitempty"`
	Delay   int64     `json:"delay,omitempty"`
	Kind    FaultKind `json:"kind,omitempty"`
	Text    string    `json:"text,omitempty"`
}

// AgentCompacted: the agent shortened its own context. Before and After are tokens.
type AgentCompacted struct {
	Trigger string `json:"trigger,omitempty"`
	Before  int64  `json:"before,omitempty"`
	After   int64  `json:"after,omitempty"`
}

// AgentNoticed: the agent reported something that changes nothing for the loop.
// What is the agent's own name for it.
type AgentNoticed struct {
	What string `json:"what"`
	Text string `json:"text,omitempty"`
}

// NoticeLingering is a notice of ralph itself: the agent is gone and its work is done, and ralph
// waits for processes that it left running (restart.childWait).
const NoticeLingering = "ralph/lingering"

// NoticeFallback is a notice of ralph itself: it cannot use the usual protocol of the agent. Text
// says which one it uses instead, and what that cannot do.
const NoticeFallback = "ralph/fallback"

// NoticeBackground is a notice of an agent about background work that its result does not wait for.
// Text names what runs now, and is empty when nothing does.
const NoticeBackground = "agent/background"

// NoticeWriting is noticed at most once a second while an agent prints only parts of something that
// is reported when it is complete, such as the arguments of a tool.
const NoticeWriting = "agent/writing"

// NoticeSentBack is noticed when a hook keeps an agent from ending its turn. Text is what the hook
// said.
const NoticeSentBack = "agent/sent-back"

// NoticeUnreadUsage is noticed when a report of usage cannot be read, completely or in part. The
// agent.used event before it then has a lower bound.
const NoticeUnreadUsage = "agent/unread-usage"

// AgentUnparsed: a line that the dialect does not understand. Line is its text if it is not JSON;
// JSON is in the envelope's raw.
type AgentUnparsed struct {
	Line   Text   `json:"line,omitzero"`
	Stream string `json:"stream,omitempty"` // stderr, if the line came from there
}

// AgentFinished: the agent's turn is over. The process may live on.
type AgentFinished struct {
	Outcome TurnOutcome `json:"outcome"` // ok, error, aborted or length
	Error   string      `json:"error,omitempty"`
	// Kind of an error: see AgentLimited.Kind, or refusal (the model or its provider declined to
	// answer), or other.
	Kind FaultKind `json:"kind,omitempty"`
}

// AgentParked: the process stays for the next iteration, and nothing else of its
// process tree is alive.
type AgentParked struct {
	Strays int `json:"strays,omitempty"` // processes left over from the turn, ended
	// Ended are the command lines of the first of them, cut short.
	Ended []string `json:"ended,omitempty"`
}

// AgentExited: the process and all its descendants are gone. There is exactly one for each process
// that was started.
type AgentExited struct {
	Code   int    `json:"code"`             // -1 when a signal ended it
	Signal string `json:"signal,omitempty"` // such as "killed"
	Took   int64  `json:"took"`             // milliseconds of life
	Strays int    `json:"strays,omitempty"` // processes it left behind, ended
	Stderr string `json:"stderr,omitempty"` // the last of it
	// Ended are the command lines of the first of the strays, cut short.
	Ended []string `json:"ended,omitempty"`
}

// ToolCalled: the agent began to use a tool. Input is JSON as the agent gave it.
type ToolCalled struct {
	ID     string          `json:"id"`
	Name   string          `json:"name"`
	Input  json.RawMessage `json:"input,omitempty"`
	Parent string          `json:"parent,omitempty"` // the call under which a subagent made it
}

// ToolProgressed: the running tool printed this, new since the last such event.
type ToolProgressed struct {
	ID   string `json:"id"`
	Text Text   `json:"text,omitzero"`
	// Replaced says that Text is the whole output so far, because it does not continue the earlier
	// text (the agent cut the beginning off, say).
	Replaced bool `json:"replaced,omitempty"`
}

// ToolReturned: the tool ended. Output that is too long for a line is cut, and Blob names the file
// with all of it.
type ToolReturned struct {
	ID     string  `json:"id"`
	OK     bool    `json:"ok"`
	Output Text    `json:"output"`
	Took   int64   `json:"took,omitempty"` // milliseconds, where the agent says
	Blob   BlobRef `json:"blob,omitempty"`
	Bytes  int     `json:"bytes,omitempty"` // of the whole output, where Blob is set
}

// AgentReplaced: another of the loop's agents works from now on. No iteration is open.
type AgentReplaced struct {
	From int    `json:"from"`           // the place of the agent before in rules.candidates; 0 is the first
	To   int    `json:"to"`             // the place of the agent that works from now on
	Was  string `json:"was,omitempty"`  // the name of the agent before
	Name string `json:"name,omitempty"` // of the agent that works from now on
	// Turn: one of them implements, the other reviews, or both review; neither has failed.
	Turn bool `json:"turn,omitempty"`
	// Reason for which a loop with only the agent Was would have ended: Was is not tried again
	// before a person resumes the loop. Empty if it is tried again earlier.
	Reason Reason `json:"reason,omitempty"`
	Why    string `json:"why"`             // one sentence for a person
	Hint   string `json:"hint,omitempty"`  // the next step for a person
	Until  string `json:"until,omitempty"` // RFC 3339: when the agent before is tried again
	// NotBefore is the moment before which the new agent cannot work either; RFC 3339.
	NotBefore string `json:"notBefore,omitempty"`
}
