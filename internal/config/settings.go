package config

// Values of the keys that take one word out of a list.
const (
	ContextFresh = "fresh"
	ContextSame  = "same"

	MatchFinal    = "final"
	MatchAnywhere = "anywhere"

	NoWorkReject = "reject"
	NoWorkWarn   = "warn"
	NoWorkAccept = "accept"

	FailAppend  = "APPEND"
	FailPrepend = "PREPEND"
	FailReplace = "REPLACE"

	ProtocolPi        = "pi"
	ProtocolClaude    = "claude"
	ProtocolCodex     = "codex"
	ProtocolAmp       = "amp"
	ProtocolACP       = "acp"
	ProtocolText      = "text"
	ProtocolRehearsal = "rehearsal"

	SandboxNone          = "none"
	SandboxAuto          = "auto"
	SandboxDocker        = "docker"
	SandboxDockerSandbox = "docker-sandbox"
	SandboxLandlock      = "landlock"

	NotifyWebhook = "webhook"
	NotifyNtfy    = "ntfy"
	NotifyCommand = "command"
	NotifyDesktop = "desktop"
)

// Settings is everything a loop can be told, as it stands in settings.json.
//
// The tags are the table of keys. json: the name, and whether Freeze leaves it out when empty. doc: its meaning in one line. enum: the words it takes. min and max: bounds of a number (no number is ever below 0). required: not empty, and
// in a list of objects present. none: null and "none" stand for 0, which means no limit. live: may change while a loop runs.
// trust: free where anybody's repository may set it, asked where that counts only once a person trusts it (see [Part]).
type Settings struct {
	MaximumIterations             int    `json:"maximumIterations" trust:"free" min:"1" live:"true" doc:"iterations before the loop stops; 15 in tasks mode"`
	CompletionResponse            string `json:"completionResponse" trust:"free" required:"true" doc:"text inside <response>…</response> that claims the work is done, in any case; completion.match says where it counts"`
	OutputTruncateChars           int    `json:"outputTruncateChars" trust:"free" doc:"how many characters of a failed guardrail's output the agent is shown"`
	StreamAgentOutput             bool   `json:"streamAgentOutput" trust:"free" doc:"show the agent's output while it works"`
	IncludeIterationCountInPrompt bool   `json:"includeIterationCountInPrompt" trust:"free" doc:"begin the prompt with \"Iteration X of Y, Z remaining.\""`
	Share                         bool   `json:"share,omitempty" trust:"free" doc:"work in a work tree in which another loop is at work"`
	Context                       string `json:"context" trust:"free" enum:"fresh,same" doc:"fresh: a new session each iteration; same: one session, prompted again until it is done"`

	Agent      Agent       `json:"agent,omitzero" doc:"the agent to run"`
	Agents     []Agent     `json:"agents,omitempty" trust:"asked" doc:"agents in order of preference, instead of agent: while one is limited or broken the next works"`
	Guardrails []Guardrail `json:"guardrails,omitempty" trust:"asked" doc:"commands that must succeed after an iteration"`
	SCM        SCM         `json:"scm,omitzero" doc:"what happens in version control when all guardrails pass"`

	Completion Completion `json:"completion" doc:"when a claim to be done counts"`
	Limits     Limits     `json:"limits" doc:"when to stop although the work is not done; 0 or none is no limit"`
	Restart    Restart    `json:"restart" doc:"what happens when the agent's process ends"`
	Breaker    Breaker    `json:"breaker" doc:"when a loop that gets nowhere is stopped"`
	Reflect    Reflect    `json:"reflect" doc:"when the agent is asked to look back"`
	Review     Review     `json:"review" doc:"reviews with a fresh context in tasks mode"`
	Sandbox    Sandbox    `json:"sandbox" doc:"where the agent is locked in"`
	Worktree   string     `json:"worktree,omitempty" trust:"free" doc:"branch whose own git worktree the loop works in"`
	Journal    Journal    `json:"journal" doc:"how the journal is kept"`
	Notify     []Notify   `json:"notify,omitempty" trust:"asked" doc:"whom to tell when a loop ends"`
}

// Agent is a program that does the work, and how to talk to it.
type Agent struct {
	Command     string            `json:"command,omitempty" trust:"asked" required:"true" doc:"the program, a name on PATH or a path, which begins in the project's folder; arguments may follow as in a shell"`
	Flags       []string          `json:"flags,omitempty" trust:"asked" doc:"its arguments; an entry with a dash may hold a flag and its value: \"--model opus\""`
	Protocol    string            `json:"protocol,omitempty" trust:"asked" enum:"pi,claude,codex,amp,acp,text,rehearsal" doc:"how to talk to it; inferred from the command when absent"`
	Model       string            `json:"model,omitempty" trust:"asked" doc:"the model, in the agent's own spelling"`
	Provider    string            `json:"provider,omitempty" trust:"asked" doc:"the model's provider, for agents that know several"`
	Thinking    string            `json:"thinking,omitempty" trust:"asked" doc:"how much to think, in the agent's own words"`
	Session     string            `json:"session,omitempty" trust:"asked" doc:"an earlier session of the agent's, by its id: the first iteration goes on from a copy of it, all later ones begin anew; of Claude Code and pi"`
	SessionDir  string            `json:"sessionDir,omitempty" trust:"asked" doc:"where pi keeps its sessions and finds session, relative to where the agent works; absent, it keeps none"`
	Extensions  []string          `json:"extensions,omitempty" trust:"asked" doc:"extensions that pi loads beside those that it finds by itself"`
	Skills      []string          `json:"skills,omitempty" trust:"asked" doc:"skills that pi loads beside those that it finds by itself"`
	Permissions string            `json:"permissions,omitempty" trust:"asked" enum:"full,workspace,ask" doc:"what it may do without being asked: everything, change files in its folder, or what its own settings allow; what else it asks for is denied; full when absent"`
	Env         map[string]string `json:"env,omitempty" trust:"asked" doc:"environment variables set for the agent"`
	Outlive     bool              `json:"outlive,omitempty" trust:"asked" doc:"let loops that it starts with 'ralph start --outlive' live on when the iteration ends; without it they end with the iteration"`
	PassKeys    Passed            `json:"passKeys,omitempty" trust:"asked" doc:"let API keys of the environment through to an agent that can have a login of its own: all, or those that are named; auto does so where no login is found"`
}

// Guardrail is a command that must exit with 0 after an iteration.
type Guardrail struct {
	Command     string   `json:"command" required:"true" doc:"a shell command, run in the project's folder"`
	FailAction  string   `json:"failAction" enum:"APPEND,PREPEND,REPLACE" doc:"where its failed output goes in the next prompt; APPEND when absent"`
	Hint        string   `json:"hint,omitempty" doc:"told to the agent when it fails"`
	Timeout     Duration `json:"timeout,omitzero" doc:"how long it may take; as long as limits.iteration when absent"`
	Independent bool     `json:"independent,omitempty" doc:"may run at the same time as others that say so too"`
	Protect     bool     `json:"protect,omitempty" doc:"put the files it consists of back as they were before it runs, where the agent changed them"`
}

// SCM is what runs in version control when all guardrails pass; without tasks, nothing.
type SCM struct {
	Command string   `json:"command,omitempty" trust:"asked" doc:"the program, such as git; which commit another one made is known where git sees it too"`
	Tasks   []string `json:"tasks,omitempty" trust:"asked" doc:"its subcommands in order, such as commit, push; each may take ten minutes"`
	AddNew  bool     `json:"addNew,omitempty" trust:"asked" doc:"commit files that are not tracked yet as well"`
}

// Completion says which claims to be done count.
type Completion struct {
	Promise         string `json:"promise" trust:"free" required:"true" doc:"text inside <promise>…</promise> that claims the work is done, exact and case-sensitive"`
	Match           string `json:"match" trust:"free" enum:"final,anywhere" doc:"where the promise and the response count: final is alone on a line or last in the final message, outside code; anywhere is anywhere in the assistant's text"`
	MinToolCalls    int    `json:"minToolCalls" trust:"free" doc:"tool calls without which an iteration did no work"`
	OnPromiseNoWork string `json:"onPromiseNoWork" trust:"free" enum:"reject,warn,accept" doc:"what a claim without work is worth"`
	Checklist       bool   `json:"checklist" trust:"free" doc:"all boxes of task.md must be ticked"`
	DoneFile        bool   `json:"doneFile" trust:"free" doc:"a file DONE in the loop's folder claims the work is done"`
	BusFile         string `json:"busFile,omitempty" trust:"asked" doc:"a Markdown file to which the end of a loop is appended that completed or failed"`
}

// Limits says when to stop although the work is not done. Zero is no limit.
type Limits struct {
	Cost            float64  `json:"cost" trust:"free" none:"true" live:"true" doc:"US dollars"`
	Tokens          int64    `json:"tokens" trust:"free" none:"true" live:"true" doc:"tokens in and out"`
	Duration        Duration `json:"duration" trust:"free" none:"true" live:"true" doc:"wall time of the whole loop: a turn and guardrails that are under way then are cut short, a commit is not"`
	Idle            Duration `json:"idle" trust:"free" none:"true" live:"true" doc:"silence of the agent"`
	Tool            Duration `json:"tool" trust:"free" none:"true" live:"true" doc:"silence while one of the agent's tools is at work"`
	Iteration       Duration `json:"iteration" trust:"free" none:"true" live:"true" doc:"wall time of one iteration"`
	IterationCost   float64  `json:"iterationCost" trust:"free" none:"true" live:"true" doc:"US dollars of one iteration"`
	IterationTokens int64    `json:"iterationTokens" trust:"free" none:"true" live:"true" doc:"tokens in and out of one iteration"`
	AfterResult     Duration `json:"afterResult" trust:"free" none:"true" live:"true" doc:"how long the agent's process may live on after its final result"`
	Outage          Duration `json:"outage" trust:"free" none:"true" live:"true" doc:"waiting in a row for what the agent needs and cannot reach"`
}

// Restart says what happens when the agent's process ends.
type Restart struct {
	Max          int      `json:"max" trust:"free" live:"true" doc:"most failures in a row without progress; one more ends the loop. An iteration that went well or made progress begins the count again, and maximumIterations bounds them all"`
	Delay        Duration `json:"delay" trust:"free" live:"true" doc:"pause before a restart, also after a turn that went well where the agent's process ends with it; after each failure in a row twice as long, up to 5m"`
	ChildWait    Duration `json:"childWait" trust:"free" doc:"how long processes the agent left behind may finish when the work is done"`
	WaitExitCode int      `json:"waitExitCode" trust:"free" max:"255" doc:"exit code by which an agent asks to wait for a person instead of a restart; 0 turns it off"`
}

// Breaker says when a loop that gets nowhere is stopped. Zero turns a rule off.
type Breaker struct {
	NoProgress  int `json:"noProgress" trust:"free" doc:"iterations without progress; 0 turns it off"`
	SameError   int `json:"sameError" trust:"free" doc:"iterations without progress that end with the same error; 0 turns it off"`
	Environment int `json:"environment" trust:"free" doc:"failures at once, in the same way and without progress, or empty iterations in a row, that mean a broken environment; 0 turns it off"`
}

// Reflect says when the agent is asked to look back.
type Reflect struct {
	Every int `json:"every" trust:"free" doc:"each nth iteration looks back before its task, the first never; 0 is none"`
}

// Review is about the reviews of tasks mode.
type Review struct {
	Enabled bool `json:"enabled" trust:"free" doc:"review each story with a fresh context; true in tasks mode"`
	Cap     int  `json:"cap" trust:"free" min:"1" doc:"reviews of one story before it is approved with notes"`
}

// Sandbox says where the agent is locked in.
type Sandbox struct {
	Mode string `json:"mode" trust:"asked" enum:"none,auto,docker-sandbox,docker,landlock" doc:"auto takes the first that works on this machine"`
}

// Journal says how the journal is kept.
type Journal struct {
	SyncEvery      Duration `json:"syncEvery" trust:"free" doc:"longest time between two fsyncs while lines come"`
	KeepIterations int      `json:"keepIterations" trust:"free" doc:"iterations before the current one of which the journal, its texts, the guardrails' logs and the telemetry are kept; 0 is all"`
	Compress       bool     `json:"compress" trust:"free" doc:"compress sealed segments"`
	Raw            bool     `json:"raw" trust:"free" doc:"keep the agent's own lines beside their meaning"`
}

// Notify is one way to tell somebody that a loop has ended.
type Notify struct {
	Type    string   `json:"type" required:"true" enum:"webhook,ntfy,command,desktop" doc:"how to tell"`
	URL     string   `json:"url,omitempty" doc:"where a webhook or ntfy message goes, with its topic"`
	Command string   `json:"command,omitempty" doc:"the shell command to run"`
	On      []string `json:"on,omitempty" enum:"completed,stopped,failed" doc:"which endings; all when absent"`
}

// Defaults returns the built-in layer.
func Defaults() Settings {
	return Settings{
		MaximumIterations:   10,
		CompletionResponse:  "DONE",
		OutputTruncateChars: 5000,
		StreamAgentOutput:   true,
		Context:             ContextFresh,
		Completion: Completion{
			Promise:         "COMPLETE",
			Match:           MatchFinal,
			MinToolCalls:    1,
			OnPromiseNoWork: NoWorkReject,
			Checklist:       true,
			DoneFile:        true,
		},
		Limits:  Limits{Idle: 10 * minute, Tool: hour, Iteration: 2 * hour, AfterResult: 30 * second, Outage: 6 * hour},
		Restart: Restart{Max: 100, Delay: second, ChildWait: 5 * minute, WaitExitCode: 42},
		Breaker: Breaker{NoProgress: 5, SameError: 3, Environment: 3},
		Review:  Review{Cap: 5},
		Sandbox: Sandbox{Mode: SandboxNone},
		Journal: Journal{SyncEvery: second, Compress: true, Raw: true},
	}
}

// TasksDefaults returns the built-in layer of tasks mode.
func TasksDefaults() Settings {
	s := Defaults()
	s.MaximumIterations = 15
	s.Review.Enabled = true
	return s
}

// Candidates returns the agents in order of preference: agents, else agent alone, else none.
func (s Settings) Candidates() []Agent {
	if len(s.Agents) > 0 {
		return s.Agents
	}
	if s.Agent.Command == "" {
		return nil
	}
	return []Agent{s.Agent}
}
