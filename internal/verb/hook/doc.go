// Package hook answers the hooks of coding agents: what Claude Code and Codex ask before and after
// a tool, when a session begins, and when the agent is about to stop.
//
//	err := hook.Answer(ctx, env, hook.Stop, os.Stdin, os.Stdout)
//
// An agent starts 'ralph hook KIND' with a JSON object on its standard input, and reads another one
// from its standard output. Both agents use the same shape. No output means that ralph has nothing
// to say.
//
// # The hooks
//
//	stop            holds the agent of a loop until the plan's files are in order, and a session
//	                loop until its promise
//	post-tool-use   warns the agent when its context window fills up
//	pre-tool-use    judges a shell command before it runs
//	session-start   lets the warnings begin again, and says which loop works in this project
//	user-prompt-submit
//	                ends the session loop if the person wrote /cancel-ralph
//
// # Guarantees
//
//   - A session that is not ralph's is never held, whatever is in its project.
//   - Whatever is on the standard input, and whatever the transcript is (missing, a pipe, huge, not
//     JSON), the answer comes within a bounded time and the exit code is 0. What went wrong is one
//     line on stderr.
//   - A transcript is read from its end, and only as much as a bound allows.
//   - Nothing is written except a record of the session in ralph's home, without any text of it,
//     and the state of a session loop.
//
// # Not here
//
// What is legal in tasks.json (internal/core/story), what a shell command does
// (internal/verb/shellguard), and what a loop does about an agent that stopped anyway: its runner
// judges again.
package hook
