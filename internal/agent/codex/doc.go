// Package codex speaks with OpenAI's Codex CLI: with `codex app-server`, or with `codex exec`.
//
//	d := codex.New(codex.Native, ask)
//	cmd, err := d.Command(agent.Spec{Command: []string{"codex"}, Dir: "/project", Model: "gpt-5.5"})
//	// start cmd.Argv, then
//	write(d.Open(agent.Prompt{Text: "Do the task", Iteration: 1})) // initialize; the rest follows by itself
//	var out agent.Decoded
//	for line := range lines {
//		out.Reset()
//		d.Decode(line, agent.Stdout, &out)
//		write(out.Reply)  // thread/start, turn/start, approvals …
//		record(out.Facts) // until an event.AgentFinished is among them
//	}
//
// It is written for Codex 0.169.0 and tried with it. The app-server is JSON-RPC by lines, without
// the member "jsonrpc". One process serves many iterations: each gets a thread of its own, which
// holds nothing of the one before. A steer reaches the model with the result of the tool that runs;
// where text is being written, Codex drops that answer and asks again.
//
// `codex exec --json` is chosen by flags that begin with exec, for the prompt that asks for a
// commit message, and for a program that has no app-server, or one that is older than 0.104.0. The
// program's help is read first ([agent.Ask]), since such a program may take the word app-server for
// a prompt. It cannot be steered, and reports errors in words alone.
//
// # Guarantees
//
//   - A turn ends with turn/completed of the turn that was begun and nothing else. The terminals
//     that it left running are then ended, and the answer to that is awaited.
//   - No request of Codex is ever left open: commands and patches are approved if the settings
//     allow everything, and all else is declined at once.
//   - What was used is the difference of a thread's totals, so that a repeated total counts once.
//     Reasoning is part of the output. The cost is not known.
//   - Kinds of errors come from codexErrorInfo, from the windows of account/rateLimits/updated and
//     from how the words of Codex's own errors begin, which are those of exec too, so that a fault
//     has one kind in both.
//   - The texts of a message and of reasoning can be rebuilt exactly from the facts. An
//     [event.AgentSaid] whose block has the name of an earlier one and a "+" after it takes the
//     place of that one.
//   - Memory is bounded by the longest message and line.
//
// # What is set for it
//
// Threads are ephemeral, allowed everything and never ask, unless options of the user say
// otherwise. Two features are off: goals, with which Codex begins turns by itself, and retries
// without end, with which it waits in silence for a network that is down.
//
// # Spent accounts
//
// Codex says usageLimitExceeded for a subscription's window that is used up and for an account
// without credit alike. It is a rate limit if the account has windows, until the last full one
// resets, or if the words say when to try again. It is a quota if it has neither (a key that is
// paid by the token), or if the account's credits are reported as gone and nothing says when they
// come back.
//
// # Requests that are made again
//
// Codex reports that it asks again and not how long it waits before: a retry-after of any length is
// obeyed in silence. The first such report is an [event.AgentLimited] too, so that a wait which is
// longer than the loop's patience costs no iteration.
//
// # Not here
//
// Processes, pipes, timeouts and restarts (package agent), and what a limit or an error means for
// the loop (package policy). Threads that are resumed or forked: a loop gives its agent a fresh
// context.
package codex
