// Package acpserver is ralph as an agent of the Agent Client Protocol, over stdin and stdout: an
// editor starts loops, watches and steers them as it does with any agent.
//
//	server := acpserver.New(env, start, os.Stdout)
//	err := server.Serve(ctx, os.Stdin)
//
// # How the words of ACP and of ralph correspond
//
//	session/new            a session without a loop; its id will be the loop's
//	session/prompt         the first: the task of a new loop, which starts detached
//	                       later: a steer, an answer, a /command; or what resumes an ended loop
//	the prompt's response  the loop has ended, or waits for a person
//	session/cancel         stop now
//	session/list           the registry
//	session/load           the journal again, and then live; session/resume: live alone
//	plan                   the stories of a plan, or the agent's own list
//	usage_update           the budget: tokens of limits.tokens, and money
//	permission, form       an open question of the agent
//
// Versions 1 and 2 of the protocol differ in how this is spelled, and in that version 2 answers a
// prompt at once and reports the end of a turn as a state. Version 2 is a draft.
//
// # Guarantees
//
//   - A server holds no truth of its own: it reads journals and writes inboxes. A client that is
//     gone, and a server that is killed, change nothing for a loop, except that nothing of a loop
//     that was being started is known until session/list shows it.
//   - A session has updates of its own loop alone, and its commands go to that loop alone, also if
//     another one has taken its folder. Any number of servers may follow one loop.
//   - What a client has asked for before it closes its output is done: a loop that is being
//     started, and prompts that are on their way.
//   - What a client sends and what is kept for it is bounded: the length of a message, requests,
//     sessions, prompts that wait. A client that does not read delays its own server and no loop;
//     nothing is kept for it.
//   - Foreign text is clean, as package render defines it. Events of types that this version does
//     not know are counted and named, as package transcript does it.
//   - A loop is started as by 'ralph start' without a terminal: settings that no person trusts are
//     refused, with the next step.
//
// # Not here
//
// The client's side of the protocol (internal/agent/acp); what a loop does with a command (the
// runner decides that); what the entries of a conversation are (render/transcript).
package acpserver
