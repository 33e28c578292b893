// Package pi speaks the RPC protocol of the pi coding agent (`pi --mode rpc`).
//
//	d := pi.New()
//	cmd, err := d.Command(agent.Spec{Command: []string{"pi"}, Model: "sonnet"})
//	// start cmd.Argv, then
//	write(d.Open(agent.Prompt{Text: "Do the task", Iteration: 1}))
//	var out agent.Decoded
//	for line := range lines {
//		out.Reset()
//		d.Decode(line, agent.Stdout, &out)
//		write(out.Reply)     // the prompt itself goes out here, once pi has answered
//		record(out.Facts)    // until an event.AgentFinished is among them
//	}
//
// It is written for pi 0.84.4 and later, tried with 0.87.1 and 1.5.2. An older pi is still driven,
// and an [event.AgentNoticed] "pi.outdated" says which one to install: before 0.80.4 pi does not
// say when it is done, so a get_state after agent_end finds out.
//
// # Guarantees
//
//   - A turn ends with agent_settled and nothing else. pi's queue is then cleared and the answer
//     awaited, so that a steer which came too late is neither lost (it has no
//     [event.CommandDelivered]) nor seen by the next prompt.
//   - The prompt is not written before pi has answered get_state, and nothing is written between
//     new_session and its answer.
//   - No dialog of an extension is ever left open: each is answered with cancelled at once.
//   - The texts of an assistant message and the output of a tool can be rebuilt exactly from the
//     facts. An [event.AgentSaid] whose block has the name of an earlier one and a "+" after it
//     takes the place of that one: pi's final text was not what it had streamed.
//   - The parts of a tool's output are joined with a newline, as pi shows them. Of output that pi
//     cuts to its last 50 KB, each new part is reported.
//   - Memory is bounded by the longest line, whatever the number of lines.
//
// # Cost
//
// A message that cost 0 although it used tokens has an unknown cost, unless the provider itself
// said 0 (usage.cost.totalFromProvider): pi says 0 for a model whose price it does not know, for
// one that is paid by subscription, and for one that is free, and only the last costs nothing. A
// loop on a local model therefore runs without a known cost. A message with content and without any
// usage has an unknown usage: pi did not learn it (an aborted stream, a server that reports none).
// What a compaction used counts too.
//
// # Not here
//
// Processes, pipes, timeouts and restarts (package agent), and what a limit or
// an error means for the loop (package policy).
package pi
