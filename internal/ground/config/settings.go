package config

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// Values of the keys that take one word out of a list.
const (
	ContextFresh = "fresh"
	ContextSame  = "same"

	NoWorkAccept = "accept"

	VoteAll      = "all"
	VoteMajority = "majority"

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
)

// Settings is the content of settings.json.
//
// The tags are the table of keys. json: the name, and whether Freeze leaves it out when empty. doc:
// its meaning in one line. enum: the words it takes. min and max: bounds of a number (no number is
// ever below 0). required: must not be empty, nor missing in a list of objects. none: null and
// "none" mean 0, which is no limit. live: may change while a loop runs. trust: free if any
// repository may set it, asked if it counts only after a person has trusted it (see [Part]).
type Settings struct {
	MaximumIterations             int    `json:"maximumIterations" trust:"free" min:"1" live:"true" doc:"iterations before the loop stops"`
	CompletionResponse            string `json:"completionResponse" trust:"free" required:"true" doc:"the same as completion.promise, inside <response>…</response> and in any case of letters; completion.match says where it counts"`
	OutputTruncateChars           int    `json:"outputTruncateChars" trust:"free" doc:"how many characters of a failed guardrail's output go into the prompt"`
	KeepAwake                     bool   `json:"keepAwake,omitempty" trust:"free" doc:"keep the machine from sleeping while the loop runs, by systemd-inhibit or caffeinate"`
	StreamAgentOutput             bool   `json:"streamAgentOutput" trust:"free" doc:"show the agent's output while it works"`
	IncludeIterationCountInPrompt bool   `json:"includeIterationCountInPrompt" trust:"free" doc:"begin the prompt with \"Iteration X of Y, Z remaining.\""`
	AllowSharedWorktree           bool   `json:"allowSharedWorktree,omitempty" trust:"free" doc:"work in a work tree that another loop uses"`
	Context                       string `json:"context" trust:"free" enum:"fresh,same" doc:"fresh: a new session each iteration; same: one session, prompted again until it is done"`

	Agent      AgentNames       `json:"agent,omitempty" trust:"asked" doc:"the agent: its name in agents, or a command such as claude or ./agent.sh; a list is in order of preference: while one is limited or broken the next works"`
	Agents     map[string]Agent `json:"agents,omitempty" trust:"asked" doc:"agents by name; one without a command has the program of that name, and a command takes the settings of the agent with its program's name"`
	Guardrails []Guardrail      `json:"guardrails,omitempty" trust:"asked" doc:"commands that must succeed after an iteration"`
	SCM        SCM              `json:"scm,omitzero" doc:"what happens in version control when all guardrails pass"`

	Completion Completion     `json:"completion" doc:"when a claim to be done counts"`
	Limits     Limits         `json:"limits" doc:"when to stop although the work is not done; 0 or none is no limit"`
	Restart    Restart        `json:"restart" doc:"what happens when the agent's process ends"`
	Breaker    Breaker        `json:"breaker" doc:"when a loop without progress is stopped"`
	Reflect    Reflect        `json:"reflect" doc:"when the agent is asked to look back"`
	Review     Review         `json:"review" doc:"how the stories of ralph/tasks.json are reviewed"`
	Guard      Guard          `json:"guard" doc:"which commands of an agent 'ralph hook pre-tool-use' refuses"`
	Nesting    Nesting        `json:"nesting" doc:"how many loops the agents of a loop may start"`
	Prove      Prove          `json:"prove" doc:"how it is tried whether the guardrails can fail"`
	Snapshots  Snapshots      `json:"snapshots" doc:"how the work tree is kept before each iteration, for 'ralph diff' and 'ralph rollback'"`
	Sandbox    Sandbox        `json:"sandbox" doc:"how the agent is kept apart from the machine"`
	Worktree   Worktree       `json:"worktree,omitzero" doc:"what a git worktree of a loop gets, with --worktree"`
	Journal    Journal        `json:"journal" doc:"how the journal is kept"`
	Notify     []Notification `json:"notify,omitempty" trust:"asked" doc:"how people are notified of what happens to the loop"`
	Telemetry  Telemetry      `json:"telemetry,omitzero" doc:"where a trace of the loop is sent"`
	Hosts      []string       `json:"hosts,omitempty" trust:"asked" doc:"other machines whose loops 'ralph list --hosts' and the board show, as ssh knows them; only in your own settings.json"`
	Terminal   Terminal       `json:"terminal" doc:"what attach and list --watch show of a loop outside of their screen, where the terminal can"`
}

// Agent is a program that does the work, and how to talk to it.
type Agent struct {
	// Name is its name in agents; "" for a command.
	Name        string            `json:"-"`
	Command     string            `json:"command,omitempty" trust:"asked" required:"true" doc:"the program: a name on PATH or a path from the project's folder; arguments may follow as in a shell; the agent's name when absent"`
	Flags       []string          `json:"flags,omitempty" trust:"asked" doc:"its arguments; an entry with a dash may hold a flag and its value: \"--model opus\""`
	Protocol    string            `json:"protocol,omitempty" trust:"asked" enum:"pi,claude,codex,amp,acp,text,rehearsal" doc:"how to talk to it; inferred from the command when absent"`
	Model       string            `json:"model,omitempty" trust:"asked" doc:"the model, in the agent's own spelling"`
	Provider    string            `json:"provider,omitempty" trust:"asked" doc:"the model's provider, for agents that know several"`
	Thinking    string            `json:"thinking,omitempty" trust:"asked" doc:"how much to think, in the agent's own words"`
	Session     string            `json:"session,omitempty" trust:"asked" doc:"an earlier session of the agent's, by its id: the first iteration continues a copy of it, all later ones start fresh; for Claude Code and pi"`
	SessionDir  string            `json:"sessionDir,omitempty" trust:"asked" doc:"where pi keeps its sessions and finds session, relative to where the agent works; without it, pi keeps none"`
	Extensions  []string          `json:"extensions,omitempty" trust:"asked" doc:"extensions that pi loads beside those that it finds by itself"`
	Skills      []string          `json:"skills,omitempty" trust:"asked" doc:"skills that pi loads beside those that it finds by itself"`
	Permissions string            `json:"permissions,omitempty" trust:"asked" enum:"full,workspace,ask" doc:"what it may do without being asked: everything, change files in its folder, or what its own settings allow; any other request is denied; full when absent"`
	Env         map[string]string `json:"env,omitempty" trust:"asked" doc:"environment variables set for the agent"`
	Outlive     bool              `json:"outlive,omitempty" trust:"asked" doc:"let loops that it starts with 'ralph start --outlive' continue after the iteration; without it they end with the iteration"`
	PassKeys    Passed            `json:"passKeys,omitempty" trust:"asked" doc:"pass API keys of the environment to an agent that can have a login of its own: all, or those that are named; auto passes them if no login is found"`
}

// Guardrail is a command that must exit with 0 after an iteration.
type Guardrail struct {
	Command     string   `json:"command" required:"true" doc:"a shell command, run in the project's folder"`
	FailAction  string   `json:"failAction" enum:"APPEND,PREPEND,REPLACE" doc:"where its failed output goes in the next prompt; APPEND when absent"`
	Hint        string   `json:"hint,omitempty" doc:"text for the agent when it fails"`
	Timeout     Duration `json:"timeout,omitzero" doc:"how long it may take; as long as limits.iteration when absent"`
	Independent bool     `json:"independent,omitempty" doc:"may run at the same time as others that say so too"`
	Protect     bool     `json:"protect,omitempty" doc:"restore its own files before it runs, if the agent changed them"`
	HeldOut     bool     `json:"heldOut,omitempty" doc:"the agent cannot read it: it runs with the files of 'ralph holdout' on a copy of the claimed work, and the agent learns only the requirement; not in the files of a project"`
	Requirement string   `json:"requirement,omitempty" doc:"of a held-out guardrail: what has to hold, in words for the agent"`
}

// SCM is what runs in version control when all guardrails pass; without tasks, nothing.
type SCM struct {
	Command      string   `json:"command,omitempty" trust:"asked" doc:"the program, such as git; commits of another program are noticed if git sees them too"`
	Tasks        []string `json:"tasks,omitempty" trust:"asked" doc:"its subcommands in order, such as commit, push; each may take ten minutes. With git, pr makes a pull request of the branch by gh or glab, or changes its text"`
	AddUntracked bool     `json:"addUntracked,omitempty" trust:"asked" doc:"commit files that are not tracked yet as well"`
	Draft        bool     `json:"draft" trust:"free" doc:"a pull request that the task pr makes is a draft"`
	FollowPR     bool     `json:"followPR,omitempty" trust:"asked" doc:"read the review comments on the branch's pull request, as follow-ups: those of other people who may write to the repository"`
	FollowOwn    bool     `json:"followOwn,omitempty" trust:"asked" doc:"with scm.followPR, also the comments of the account that gh or glab uses"`
}

// TaskPullRequest is the task that makes or changes the pull request of the branch. ralph runs it
// itself if the program is git.
const TaskPullRequest = "pr"

// Publishes reports whether ralph makes a pull request.
func (s SCM) Publishes() bool {
	program := strings.Fields(s.Command)
	return len(program) > 0 && strings.TrimSuffix(filepath.Base(program[0]), ".exe") == "git" && slices.Contains(s.Tasks, TaskPullRequest)
}

// Duration prints and reads itself as people write it: "10m".
type Duration = event.Duration

const (
	second = Duration(time.Second)
	minute = Duration(time.Minute)
	hour   = Duration(time.Hour)
)

// The groups of settings that decisions depend on. They are in the journal as they are here.
type (
	Completion = event.CompletionRules
	Limits     = event.LimitRules
	Restart    = event.RestartRules
	Breaker    = event.BreakerRules
	Reflect    = event.ReflectRules
	Prove      = event.ProveRules
)

// Review says how the stories of ralph/tasks.json are reviewed, and by which agents.
type Review struct {
	event.ReviewRules
	Agent AgentNames `json:"agent,omitempty" trust:"asked" doc:"another agent, as in agent, which reviews and does nothing else; each of several gives its verdict, and review.vote decides; without it, agent reviews too"`
}

// Journal says how the journal is kept.
type Journal struct {
	SyncEvery      Duration `json:"syncEvery" trust:"free" doc:"longest time between two fsyncs while lines come"`
	KeepIterations int      `json:"keepIterations" trust:"free" doc:"for how many past iterations to keep the journal, its blobs, the guardrails' logs and the telemetry; 0 keeps all"`
	Compress       bool     `json:"compress" trust:"free" doc:"compress sealed segments"`
	Raw            bool     `json:"raw" trust:"free" doc:"keep the agent's own output lines with the events decoded from them"`
}

// Guard says which commands of an agent the hook pre-tool-use refuses.
type Guard struct {
	Hooks    bool     `json:"hooks" trust:"asked" doc:"give Claude Code and Codex ralph's hooks for the loop, without a plugin: the guard, warnings of a full context window, checks before a stop"`
	Unknown  string   `json:"unknown" trust:"asked" enum:"ask,deny,allow" doc:"what to answer about a command that cannot be judged; in a loop, ask is deny, because no person can answer"`
	Allow    []string `json:"allow,omitempty" trust:"asked" doc:"commands that are always allowed, by their first words: \"git push --force\""`
	Deny     []string `json:"deny,omitempty" trust:"free" doc:"commands that are always refused, by their first words"`
	Off      []string `json:"off,omitempty" trust:"asked" enum:"files,disks,history,credentials,exfiltration,remote-shell,privilege,publish,cloud,database,permissions,processes,system,encoding,eval,download,fork-bomb,git-config,ralph,container,persistence,firewall,tracks" doc:"categories that are not judged; 'ralph guard --list' says what they are"`
	Sessions bool     `json:"sessions,omitempty" trust:"free" doc:"judge sessions of an agent that no loop runs, too"`
}

// Nesting limits the loops that agents start. The settings of the loop that a person started count
// for all loops within it.
type Nesting struct {
	Depth int `json:"depth" trust:"asked" doc:"how deep loops may be within each other: 0 none, 1 the loops that this loop's agent starts, 2 also those that their agents start"`
	Loops int `json:"loops" trust:"asked" doc:"how many loops within this one the registry may have, ended ones too"`
}

// Snapshots says how many work trees are kept.
type Snapshots struct {
	Keep int `json:"keep" trust:"free" doc:"of how many iterations, besides the first, the work tree is kept in git; 0 keeps none"`
}

// Sandbox says how the agent is kept apart.
type Sandbox struct {
	Mode    string   `json:"mode" trust:"asked" enum:"none,auto,bwrap,landlock,seatbelt,docker,podman,docker-sandbox" doc:"how: bwrap or landlock of Linux, seatbelt of macOS, a container of docker or podman, a virtual machine of Docker Desktop; auto is that machine for Claude Code where it answers, else the strongest that works here without a container"`
	Network string   `json:"network" trust:"asked" enum:"open,listed,closed" doc:"what it reaches: everything, sandbox.hosts by a proxy, or nothing"`
	Hosts   []string `json:"hosts,omitempty" trust:"asked" doc:"hosts that it reaches if sandbox.network is listed: example.com, *.example.com (each name below it) or example.com:8443; without a port 443 and 80"`
	Write   []string `json:"write,omitempty" trust:"asked" doc:"further files and folders that it may change, from the project's folder or with ~/"`
	Read    []string `json:"read,omitempty" trust:"asked" doc:"what it may read of what is hidden, such as ~/.config/gh"`
	Hide    []string `json:"hide,omitempty" trust:"asked" doc:"further files and folders that it does not see"`
	Image   string   `json:"image,omitempty" trust:"asked" doc:"the image of docker or podman, with the agent's program in it"`
	Memory  string   `json:"memory,omitempty" trust:"asked" doc:"the memory of a container, such as 4g"`
	CPUs    string   `json:"cpus,omitempty" trust:"asked" doc:"the processors of a container, such as 2"`
	Pass    []string `json:"pass,omitempty" trust:"asked" doc:"names of variables that are passed into a container, such as ANTHROPIC_API_KEY"`
}

// Worktree says what the worktree of a loop gets.
type Worktree struct {
	Copy  []string `json:"copy,omitempty" trust:"asked" doc:"files that git does not track and that are copied into it, as in a .gitignore; one that looks like a secret has to be named without wildcards"`
	Setup string   `json:"setup,omitempty" trust:"asked" doc:"a shell command that is run in it once, before the loop begins"`
}

// Notification is one way to notify people.
type Notification struct {
	Kind    string   `json:"kind" required:"true" enum:"ntfy,webhook,desktop,mail,command" doc:"ntfy, webhook (a signed CloudEvent), desktop, mail (by the local sendmail) or command"`
	URL     string   `json:"url,omitempty" doc:"of ntfy: the address of the topic; of a webhook: the address that gets a POST"`
	To      string   `json:"to,omitempty" doc:"of mail: the address of the person"`
	Command string   `json:"command,omitempty" doc:"of command: a shell command, which gets the message as JSON on stdin"`
	Secret  string   `json:"secret,omitempty" doc:"the name of the variable with the token of ntfy, or the key that signs a webhook"`
	Answers bool     `json:"answers,omitempty" doc:"of ntfy: answers to a question come back, by a button for each choice or a message to a topic that is made for the question"`
	On      []string `json:"on,omitempty" enum:"ended,question,waiting,budget,stuck" doc:"only these: the loop ended, its agent asks, it waits for a person, a limit is nearly used up, it makes no progress; all when absent"`
}

// The kinds of notifications.
const (
	NotifyNtfy    = "ntfy"
	NotifyWebhook = "webhook"
	NotifyDesktop = "desktop"
	NotifyMail    = "mail"
	NotifyCommand = "command"
)

// Telemetry says where a trace of the loop is sent.
type Telemetry struct {
	OTLP OTLP `json:"otlp,omitzero" doc:"a collector that speaks OTLP over HTTP; without it, the variables OTEL_EXPORTER_OTLP_… count"`
}

// TelemetryOff is the endpoint that sends nothing, whatever the variables of OpenTelemetry say.
const TelemetryOff = "none"

// OTLP is a collector of OpenTelemetry.
type OTLP struct {
	Endpoint string            `json:"endpoint,omitempty" trust:"asked" doc:"its address, such as http://localhost:4318; none sends nothing"`
	Headers  map[string]string `json:"headers,omitempty" trust:"asked" doc:"headers of each request to telemetry.otlp.endpoint, such as a key"`
	Content  bool              `json:"content,omitempty" trust:"asked" doc:"also send what was said: prompts, answers, the input and output of tools"`
}

// Terminal says what a terminal shows beside the screen of a program. The settings of the person
// who attaches count, not those of the loop.
type Terminal struct {
	Title    bool `json:"title" trust:"free" doc:"the loop and its status in the window's title"`
	Progress bool `json:"progress" trust:"free" doc:"a progress bar (OSC 9;4)"`
	Status   bool `json:"status" trust:"free" doc:"the program's status: working, blocked, done, error (OSC 7501)"`
	Notify   bool `json:"notify" trust:"free" doc:"a notification when a loop ends or needs a person (OSC 9 or 777)"`
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
			Match:           "final",
			MinToolCalls:    1,
			OnPromiseNoWork: "reject",
			Checklist:       true,
			DoneFile:        true,
			Require:         "any",
			HoldoutRefusals: 3,
		},
		Limits:    Limits{Idle: 10 * minute, Tool: hour, Iteration: 2 * hour, ExitGrace: 30 * second, MaxOutage: 6 * hour},
		Restart:   Restart{Max: 100, Delay: second, ChildWait: 5 * minute, WaitExitCode: 42},
		Breaker:   Breaker{NoProgress: 5, SameError: 3, Environment: 3},
		Review:    Review{ReviewRules: event.ReviewRules{Cap: 5, Vote: VoteAll}},
		Nesting:   Nesting{Depth: 1, Loops: 16},
		Prove:     Prove{Auto: "end", Time: 10 * minute, Mutants: 20, Strong: 70},
		Snapshots: Snapshots{Keep: 50},
		Sandbox:   Sandbox{Mode: "none", Network: "open"},
		Journal:   Journal{SyncEvery: second, Compress: true, Raw: true},

		SCM:      SCM{Draft: true},
		Guard:    Guard{Hooks: true, Unknown: "ask"},
		Terminal: Terminal{Title: true, Progress: true, Status: true, Notify: true},
	}
}
