package acp

import (
	"bytes"
	"slices"

	"github.com/ralph-loop/ralph/internal/agent"
)

// profile is what ralph knows of one agent beyond the protocol. It is data: an agent that is not
// listed gets plainAgent.
type profile struct {
	name  string
	names []string // what its program is called; see config.Agent.Program
	// the version that was driven for real; empty if the profile is from documentation alone
	tried string

	// the words that make the program speak ACP; the first is added if none of them is given
	speak []string
	env   []string // added to its environment
	model string   // the flag that takes a model; empty if the session takes one
	// the flag that stops its questions, and the others by which a person decides that
	yes []string
	// the flags that replace it if not everything is allowed: ralph then answers what it asks
	modes []string
	// the permissions that it can be held to, because it asks before it does more; see agent.Spec
	holds  []string
	joined bool // a model is named <provider>/<model>

	busy  busy // what becomes of a prompt while one is running
	title bool // the first title of a call is the tool's name
	ids   bool // the id of a call begins with it, up to two underlines
	costs bool // it reports what it costs
	// tokens says that it reports the tokens that it uses.
	tokens bool
	// lastOnly says that these are the tokens of the turn's last request, whatever came before it.
	lastOnly bool

	// How it reports that a request to the model failed. Other agents show nothing until the turn
	// ends. log reads a line of the agent's own log on stderr, if that has more than the protocol,
	// and reports whether the line itself need not be kept. Only a complete line of the log's form
	// counts: what a model or a tool says does not have it.
	log      func(d *Dialect, line []byte, out *agent.Decoded) bool
	logFlags []string // by which it writes one; each is added unless the user gave it
	asks     bool     // a usage_update comes with each request that is made
	repeated []string // how words begin that are not the model's, before a request is made again
	failed   string   // how words begin that say that the turn failed, under the name of a good end
	// words in the model's place that are not the model's, and so have no message's id
	asides []aside
}

// aside is how a piece of a message begins, and what it holds after that, as JSON spells both.
type aside struct{ begins, holds string }

// busy is what an agent does with a prompt while one is running.
type busy uint8

const (
	notTaken busy = iota // it queues it, refuses it, drops what it was doing, or it was not tried
	// the model is given it with its next request; all prompts return when the turn is over
	joins
	bySteering // there is a request of its own for that: _session/steering
	isAsked    // the agent asks for it after each tool: craft/drainMidTurnQueue
)

// profiles are the agents that are known by name.
var profiles = [...]profile{
	{
		name: "opencode", names: []string{"opencode", "opencode-ai"}, tried: "1.18.33",
		speak: []string{"acp"}, env: []string{"OPENCODE_DISABLE_AUTOUPDATE=1"}, joined: true,
		busy: joins, title: true, costs: true, tokens: true, lastOnly: true,
		log: (*Dialect).opencodeLogged, logFlags: []string{"--print-logs", "--log-level=ERROR"},
	},
	{
		name: "gemini", names: []string{"gemini", "gemini-cli"}, tried: "0.61.0",
		// Without the variable it starts itself again, and the parent ignores signals that are
		// meant for both.
		speak: []string{"--acp", "--experimental-acp"}, env: []string{"GEMINI_CLI_NO_RELAUNCH=true", "GEMINI_DEBUG_LOG_FILE=/dev/stderr"}, model: "--model",
		holds: confined,
		ids:   true, tokens: true, log: (*Dialect).geminiLogged, asides: []aside{{"[MODE_UPDATE] ", ""}},
	},
	{
		name: "copilot", names: []string{"copilot", "copilot-cli"}, tried: "1.0.102",
		speak: []string{"--acp"}, env: []string{"COPILOT_AUTO_UPDATE=false"}, model: "--model",
		holds: confined,
		// After a 429 it says nothing at all before it asks again. What it logs goes to a file.
		asks: true, tokens: true, failed: "Error: ",
		repeated: []string{"Info: Request failed", "Info: Response was interrupted"},
	},
	{
		name: "qwen", names: []string{"qwen", "qwen-code"}, tried: "0.24.4",
		speak: []string{"--acp", "--experimental-acp"}, env: []string{"QWEN_CODE_NO_RELAUNCH=true"}, model: "--model",
		// A failed request is made again for minutes, which only a file would show. What is not
		// allowed beforehand is judged by one more request to the model.
		yes: []string{"--yolo", "-y", "--approval-mode"}, modes: []string{"--approval-mode", "default"}, holds: confined, busy: isAsked, tokens: true,
	},
	{
		name: "goose", names: []string{"goose"},
		speak: []string{"acp"},
	},
	{
		name: "cursor", names: []string{"cursor-agent"},
		speak: []string{"acp"}, model: "--model",
	},
	{
		name: "kimi", names: []string{"kimi", "kimi-cli"},
		speak: []string{"acp"},
	},
	{
		// ralph itself: the task is a loop of its own, and its words are notices
		name: "ralph", names: []string{"ralph"}, tried: "0.1.0",
		speak: []string{"acp"}, busy: joins, costs: true,
	},
	// A second way to agents whose own protocols serve ralph better.
	{
		name: "claude", names: []string{"claude-agent-acp", "claude-code-acp"}, tried: "0.100.0",
		// of a failed request nothing is seen before it gives up
		busy: joins, costs: true, tokens: true,
	},
	{
		name: "codex", names: []string{"codex-acp"}, tried: "2.6.0",
		busy: bySteering, tokens: true,
		asides: []aside{{"Warning: ", `\n\n`}, {"Config warning: ", `\n\n`}, {"*Context compacted to fit", ""}},
	},
	{
		name: "pi", names: []string{"pi-acp"}, tried: "0.0.34",
		// It drops pi's errors: a turn that failed ends well and without a word of the model.
		asides: []aside{
			{"pi v", `\n---\n`}, {"New version available: v", " (installed v"},
			{"Retrying (attempt ", ", waiting "}, {"Retry finished, resuming.", ""},
			{"Context nearing limit, running automatic compaction...", ""},
			{"Automatic compaction finished; context was summarized", ""},
			{"Queued message (position ", ")."}, {"Starting queued message. (", " remaining)"}, {"Cleared queued prompts.", ""},
		},
	},
}

// confined are all permissions but everything.
var confined = []string{agent.PermitWorkspace, agent.PermitAsk}

// plainAgent is any other.
var plainAgent = profile{name: "agent"}

// profileOf returns the profile of the program with this name.
func profileOf(program string) *profile {
	at := slices.IndexFunc(profiles[:], func(p profile) bool { return slices.Contains(p.names, program) })
	if at < 0 {
		return &plainAgent
	}
	return &profiles[at]
}

// isRetry reports whether words are the agent's own, and say that it makes a request again.
func (p *profile) isRetry(words []byte) bool {
	return slices.ContainsFunc(p.repeated, func(begins string) bool { return bytes.HasPrefix(words, []byte(begins)) })
}

// isAside reports whether words, as JSON spells them, are none of the model's.
func (p *profile) isAside(words []byte) bool {
	return slices.ContainsFunc(p.asides, func(a aside) bool {
		return bytes.HasPrefix(words, []byte(a.begins)) && bytes.Contains(words, []byte(a.holds))
	})
}
