// Package rehearsal speaks to the agent without a model that is built into ralph: a
// process that plays a scenario (package player).
//
//	d := rehearsal.New(executable, player.Check) // of this ralph
//	cmd, err := d.Command(agent.Spec{Command: []string{"ralph", "rehearse", "demo"}})
//	// start cmd.Argv, then
//	write(d.Open(agent.Prompt{Text: "…", Iteration: 1}))
//	d.Decode(line, agent.Stdout, &out)
//
// The agent is "ralph rehearse demo" or, with protocol
// "rehearsal", the name of the scenario alone.
//
// # Guarantees
//
// A steer counts as delivered when the player says so, by its id, once. What the player
// says of a turn that is over, or of a reset without a request, changes nothing.
//
// # Not here
//
// What a scenario can hold, and the protocol's words: package player.
package rehearsal
