// Package claude speaks Claude Code's stream-json protocol in both directions. Facts are of 2.1.329
// and were compared with 2.1.197 wherever they differ.
//
//	d := claude.New(nil)
//	command, err := d.Command(spec)  // claude -p --input-format stream-json …
//	lines := d.Open(prompt)          // the prompt, as one user message
//	d.Decode(line, agent.Stdout, &out)
//	lines, live := d.Steer(id, text) // one more user message, into the running turn
//
// # A turn
//
// What ralph calls a turn is several of Claude's where a person steers. Claude takes a message that
// comes while a tool runs along with the tool's result; one that comes while the last answer is
// being written begins another turn of Claude's, with its own init and result; several such
// messages share one. The count of queued turns in a result does not distinguish them: 2.1.329 says
// 0 even while a message waits. So each message gets a uuid, and a result ends the turn once every
// message has been taken by the model, which command_lifecycle reports "started" (2.1.329) and by
// the replay of the message (both, because of --replay-user-messages). The last result is the one
// that counts.
//
// # Streaming
//
// With --include-partial-messages the API's own stream comes along, and words are reported as they
// are written; without it Claude is silent until a block is complete. A program that does not know
// the flag would refuse to start, so `claude --help` is asked once in a run of the loop. Another
// program that speaks as Claude does is not asked and does not get the flag; its flags can add
// it.
//
// # Permissions
//
// A loop has no person to ask, so the default is --dangerously-skip-permissions. Claude refuses
// that to root unless IS_SANDBOX=1 is in its environment, which a person may set and ralph may not.
// For root the usual tools are allowed by name, and what Claude still asks about comes as
// can_use_tool and is answered with yes. --permission-mode dontAsk would deny that instead: tools
// of MCP servers, and files below .claude, .git and the like. Any permission flag of the user's
// replaces all of this.
//
// Two questions are answered with no, because yes would be untrue: those that the model puts to a
// person, and a hook's "ask". Without the prompt tool Claude denies both by itself.
//
// # Variants
//
// Amp and Qwen Code print the same lines with small differences ([NewAmp], [NewQwen]). Amp cannot
// run without its service: what is known of it comes from its documentation and its program, and
// was not tried. It reports what each message used and no cost.
//
// # Guarantees
//
// Decode takes any bytes and never panics; it looks at each byte a few times and copies only what
// has to be joined. Costs are increments: the totals in a result are those of the process.
// AgentFinished comes at most once for each Open. A steer that was not given to the model has no
// CommandDelivered.
//
// # Not here
//
// Processes and signals (internal/ground/process), hooks (internal/verb/hook), what an outcome
// means for the loop (internal/core/policy). A process is used for one iteration only: /clear as a
// message was not tried.
package claude
