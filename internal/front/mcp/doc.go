// Package mcp serves the loops of this machine to one client of the Model Context Protocol, over
// stdin and stdout.
//
//	err := mcp.Serve(ctx, mcp.Options{Env: e}, stdin, stdout)
//
// It offers tools that start, list, show, steer, stop and report loops, and resources with the
// state and the report of each. The protocol itself is that of the official SDK.
//
// # Guarantees
//
//   - It reads journals and writes inboxes, and keeps nothing: a server that is killed loses
//     nothing, several may serve at once, and the loops that it started continue.
//   - A loop is named by its id, NAME or PROJECT/NAME, and is found in the registry. No client
//     names a path of a loop.
//   - A loop is started as 'ralph start' starts it: in the folder of the server or in a root of the
//     client, with the settings that a person trusts. A client chooses among the agents that ralph
//     knows; it gives no command.
//   - Whatever a client sends costs a bounded amount: the length of a line, the number of open
//     calls, the size of an answer and the number of subscriptions have limits. What is too much
//     is answered with an error, and the next line is read.
//   - A form asks a client's person one open question, and its answer is that of ralph_answer. No
//     call is held while the form is open, and what the person declines stays open.
//   - The end of the input ends the server, and so does a signal, also if the client reads nothing.
//   - A refusal is the answer of the tool, and names the thing, the cause and the next step, so
//     that a model can act on it.
//   - Stdout has nothing but messages, and no character that a terminal obeys.
//
// # Not here
//
// What a loop does with a command (the runner decides that), and which loops may start others
// (package launch).
package mcp
