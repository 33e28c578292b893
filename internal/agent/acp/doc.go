// Package acp speaks the Agent Client Protocol (version 1, JSON-RPC over stdio), by which one
// dialect drives many agents.
//
//	d := acp.New("opencode")                 // the name of the program finds its profile
//	command, err := d.Command(spec)          // opencode acp
//	lines := d.Open(prompt)                  // initialize; then session/new, and then the prompt, as the answers come
//	d.Decode(line, agent.Stdout, &out)       // out.Reply answers what the agent asks
//	lines, same := d.Reset()                 // another session in the same process
//
// # What the protocol leaves open
//
// Much, so each agent has a profile (profile.go), which is data: how it is started, what it does
// with a prompt while one is running, how it reports an error as a good end.
//
//	agent      tried    steered in mid-turn               tokens                      cost
//	opencode   1.18.33  a second prompt joins the first   of the turn's last request  yes
//	Gemini     0.61.0   no: it drops what it is doing     of the turn                 no
//	Copilot    1.0.102  no: it drops what it is doing     of the turn                 no
//	Qwen Code  0.24.4   it asks for it after each tool    of the turn                 no
//	Claude     0.100.0  a second prompt joins the first   of the turn                 yes
//	Codex      2.6.0    _session/steering                 of the turn                 no
//	pi         0.0.34   no: it queues it                  not reported                no
//	ralph      0.1.0    a second prompt is a steer            not reported                yes
//	goose, Cursor, Kimi: from documentation alone, never driven
//
// The versions of the last three are those of claude-agent-acp, codex-acp and pi-acp: a second way
// to agents that have dialects of their own. An agent without a profile is not steered.
//
// All iterations have one process, and each a session of its own. Processes that an agent has
// started before its session's first prompt are its own (Copilot's and Qwen Code's launchers have
// the program as a child); later ones are ended when the turn is over.
//
// # Permissions, files, terminals
//
// ralph answers each request for permission at once: it allows what its permissions allow, once
// rather than always, and rejects all else. Files and terminals are not offered: the agent's own
// are the same ones.
//
// # Guarantees
//
//   - A turn is over when all its prompts are answered.
//   - A steer is delivered when the model speaks after a tool that returned since, or when the
//     steer's own prompt is answered. A steer between a tool's return and the model's answer may be
//     reported one request too early: the agent makes another for it.
//   - What a session has cost is reported as a sum, and its growth becomes events. A line that only
//     carries a piece of a text is not kept itself; all others are.
//   - A model that cannot be chosen ends the turn: the loop would run on another, at another price.
//
// # What to know
//
// ACP has no word for a request to the model that failed and is made again, nor for when a limit
// ends. docs/reference/adapters.md says what each agent shows of it: opencode and Gemini CLI log it
// (log.go), Copilot reports that it asks again, and Qwen Code shows nothing before it gives up, so
// only the loop's idle limit ends a longer silence.
//
// Qwen Code asks its model for more after a turn (what to remember, what a person might say next),
// which no turn accounts for, and remembers across iterations unless memory.enableManagedAutoMemory
// is off in its settings.
//
// # Not here
//
// Processes and signals (internal/ground/process), what an outcome means for the loop
// (internal/core/policy), MCP servers, which the agent's own settings name, and authenticate, which
// no agent needed that was logged in.
package acp
