// Package text runs any command as an agent: it gets the prompt, and what it prints is
// what it says.
//
//	d := text.New()
//	cmd, err := d.Command(agent.Spec{Command: []string{"llm", "-m", "local"}, Prompt: prompt})
//	// start cmd.Argv, write d.Open(…) to its stdin and close it, then for each piece
//	d.Decode(piece, agent.Stdout, &out) // event.AgentSaid
//
// The prompt comes on stdin, followed by a newline and the end of the input. Where the command or
// its flags hold the placeholder {prompt}, it is put there instead, each time it occurs, and stdin
// is empty. An agent that is known by name is made to print with flags of its own ([NewKnown]),
// unless the placeholder is used.
//
// # Guarantees
//
// The texts of all [event.AgentSaid] joined are the standard output, byte for byte, with
// each byte that is not UTF-8 as U+FFFD. A character that two reads cut in half stays
// whole. Colours and other terminal codes stay in the text. Memory does not grow with
// the output. Nothing printed is more than text, but for the last line of a command that fails: if
// it names a limit and when that ends, it is an [event.AgentLimited].
//
// # Not here
//
// An end of the turn: the process ends it by ending, and its exit code says how
// ([agent.Abilities].ExitEnds). Steering: a command that has its prompt reads nothing more.
package text
