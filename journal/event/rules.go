package event

// Rules are the settings that decisions depend on, in the form of config.json. They are in the
// journal, so that decisions are a function of events alone.
type Rules struct {
	MaximumIterations  int             `json:"maximumIterations" live:"true"`
	CompletionResponse string          `json:"completionResponse"`
	Context            string          `json:"context"` // fresh or same
	Completion         CompletionRules `json:"completion"`
	Limits             LimitRules      `json:"limits"`
	Restart            RestartRules    `json:"restart"`
	Breaker            BreakerRules    `json:"breaker"`
	Reflect            ReflectRules    `json:"reflect"`
	Review             ReviewRules     `json:"review"`
	Prove              ProveRules      `json:"prove,omitzero"`

	// What follows is not a setting in this form.

	Agents     []Agent `json:"candidates,omitempty"`   // in order of preference, where there are several
	Guardrails int     `json:"guardrailCount"`         // how many have to pass
	HeldOut    int     `json:"heldOutCount,omitempty"` // how many of them the agent cannot read; not in Guardrails
	SCM        bool    `json:"commits"`                // there are tasks of version control
	WaitEnds   bool    `json:"waitEnds"`               // a loop whose agent waits for a person ends
	Stories    bool    `json:"stories,omitempty"`      // the loop works on the stories of ralph/tasks.json
	// PullRequests says that the commits become pull requests.
	PullRequests bool `json:"pullRequests,omitempty"`
	Reviewers    int  `json:"reviewers,omitempty"` // how many of Agents, at its end, only review
	// Schedule is what the next iteration may have to wait for; nil if there is nothing, and in
	// journals of older versions, whose runners decided it.
	Schedule *ScheduleRules `json:"schedule,omitempty"`
}

// The tags of the groups, besides json, are those of the table of settings
// (internal/ground/config).

// CompletionRules say which claims to be done count.
type CompletionRules struct {
	Promise         string `json:"promise" trust:"free" required:"true" doc:"text inside <promise>…</promise> that claims the work is done, exact and case-sensitive"`
	Match           string `json:"match" trust:"free" enum:"final,anywhere" doc:"where the promise and the response count: final is alone on a line or last in the final message, outside code; anywhere is anywhere in the assistant's text"`
	MinToolCalls    int    `json:"minToolCalls" trust:"free" doc:"an iteration with fewer tool calls did no work"`
	OnPromiseNoWork string `json:"onPromiseNoWork" trust:"free" enum:"reject,warn,accept" doc:"what becomes of a claim without work"`
	Checklist       bool   `json:"checklist" trust:"free" doc:"all boxes of task.md must be ticked"`
	DoneFile        bool   `json:"doneFile" trust:"free" doc:"a file DONE in the loop's folder claims the work is done"`
	// Require is the least that has to support a claim; empty, in older journals, is any.
	Require         string `json:"require,omitempty" trust:"free" enum:"any,visible,heldOut,proved,strong" doc:"what has to support a claim: any claim that lacks nothing else counts, or visible guardrails that passed, heldOut ones that passed, proved ones (each was seen to fail, and the done is not weak), or a strong done"`
	HoldoutRefusals int    `json:"holdoutRefusals,omitempty" trust:"free" min:"1" doc:"how often the same held-out guardrail may refuse a claim before a person is asked, so that an agent cannot find out by trying what it checks"`
	AppendTo        string `json:"appendTo,omitempty" trust:"asked" doc:"a Markdown file to which ralph appends how a loop completed or failed"`
}

// LimitRules say when to stop although the work is not done. Zero means no limit.
type LimitRules struct {
	Cost            float64           `json:"cost" trust:"free" none:"true" live:"true" doc:"US dollars"`
	Tokens          int64             `json:"tokens" trust:"free" none:"true" live:"true" doc:"tokens in and out"`
	Duration        Duration          `json:"duration" trust:"free" none:"true" live:"true" doc:"wall time of the whole loop: a turn and guardrails that are under way then are cut short, a commit is not"`
	Idle            Duration          `json:"idle" trust:"free" none:"true" live:"true" doc:"silence of the agent"`
	Tool            Duration          `json:"tool" trust:"free" none:"true" live:"true" doc:"silence while one of the agent's tools runs"`
	Iteration       Duration          `json:"iteration" trust:"free" none:"true" live:"true" doc:"wall time of one iteration"`
	IterationCost   float64           `json:"iterationCost" trust:"free" none:"true" live:"true" doc:"US dollars of one iteration"`
	IterationTokens int64             `json:"iterationTokens" trust:"free" none:"true" live:"true" doc:"tokens in and out of one iteration"`
	ExitGrace       Duration          `json:"exitGrace" trust:"free" none:"true" live:"true" doc:"how long the agent's process may live on after its final result"`
	Window          map[string]string `json:"window,omitempty" trust:"free" doc:"how much the loops of an account may use in a span of time before they wait, such as {\"24h\": \"15\"} US dollars, or {\"5h\": \"40%\"} of what the vendor allows, where the agent tells that"`
	Diff            int               `json:"diff,omitempty" trust:"free" none:"true" live:"true" doc:"lines added and removed, in all files but generated and lock files: a claim that has changed more since the start is refused. With stories it holds for each story; with the task pr for each commit, and a larger branch becomes several pull requests"`
	MaxOutage       Duration          `json:"maxOutage" trust:"free" none:"true" live:"true" doc:"waiting in a row for what the agent needs and cannot reach"`
}

// RestartRules say what happens when the agent's process ends.
type RestartRules struct {
	Max          int      `json:"max" trust:"free" live:"true" doc:"most failures in a row without progress; one more ends the loop. An iteration that went well or made progress resets the count; maximumIterations bounds all iterations"`
	Delay        Duration `json:"delay" trust:"free" live:"true" doc:"pause before a restart, also after a turn that went well where the agent's process ends with it; after each failure in a row twice as long, up to 5m"`
	ChildWait    Duration `json:"childWait" trust:"free" doc:"how long processes that the agent left running may take to finish when the work is done"`
	WaitExitCode int      `json:"waitExitCode" trust:"free" max:"255" doc:"exit code with which an agent asks to wait for a person instead of a restart; 0 turns it off"`
}

// BreakerRules say when a loop without progress is stopped. Zero turns a rule off.
type BreakerRules struct {
	NoProgress  int `json:"noProgress" trust:"free" doc:"iterations without progress; 0 turns it off"`
	SameError   int `json:"sameError" trust:"free" doc:"iterations without progress that end with the same error; 0 turns it off"`
	Environment int `json:"environment" trust:"free" doc:"failures at once, in the same way and without progress, or empty iterations in a row, that mean a broken environment; 0 turns it off"`
}

// ReviewRules say how the stories of ralph/tasks.json are reviewed.
type ReviewRules struct {
	Skip    bool   `json:"skip" trust:"free" doc:"no reviews: the iteration that implements a story sets passes"`
	Cap     int    `json:"cap" trust:"free" min:"1" doc:"most reviews of one story; after that many it is approved, with the open concerns as a note"`
	Vote    string `json:"vote" trust:"free" enum:"all,majority" doc:"with several reviewers, how many of them have to approve a story"`
	MayEdit bool   `json:"mayEdit" trust:"free" doc:"keep what a reviewer changes in the code; without it, its changes are undone"`
}

// ProveRules say how the guardrails are tried: whether they can fail.
type ProveRules struct {
	Auto    string   `json:"auto" trust:"free" enum:"claim,end,off" doc:"when the guardrails are tried without being asked for: at each claim that lacks nothing else, at the end after an accepted claim, or never"`
	Time    Duration `json:"time" trust:"free" doc:"how long that may take"`
	Mutants int      `json:"mutants" trust:"free" min:"0" doc:"how many small changes of the lines that the loop changed are tried"`
	Strong  int      `json:"strong" trust:"free" min:"1" max:"100" doc:"percent of these changes that the guardrails have to notice in a strong done"`
}

// ScheduleRules say what an iteration may have to wait for besides LoopStarted.When.
type ScheduleRules struct {
	Windows []Window `json:"windows,omitempty"` // limits.window, in the order of their names
}

// Window is how much the loops of an account may use in a span of time: a share of what the vendor
// allows, or US dollars.
type Window struct {
	Name    string   `json:"name"` // as the settings have it, such as 5h
	Span    Duration `json:"span"`
	Percent float64  `json:"percent,omitempty"`
	USD     float64  `json:"usd,omitempty"`
}

// ReflectRules say when the agent is asked to look back.
type ReflectRules struct {
	Every int `json:"every" trust:"free" doc:"each nth iteration looks back before its task, the first never; 0 is none"`
}
