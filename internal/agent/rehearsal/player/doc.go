// Package player is an agent without a model: a process that plays a scenario. 'ralph rehearse
// SCENARIO' runs it. It uses tools, changes files, reports usage, can be steered within a turn,
// meets limits, crashes, hangs, and prints invalid output.
//
//	scenario, err := player.Load(cwd, "demo") // or a file
//	code := player.Run(ctx, player.Options{
//		Scenario: scenario, Dir: cwd, In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
//	})
//	os.Exit(code)
//
// # Scenarios
//
// A scenario is a text file, one step on each line, with a section for each iteration.
// Lines that begin with # are comments; the first one says what the scenario shows.
//
//	# Two iterations of honest work.
//	iteration
//	  say I will look at the tests first.
//	  tool bash {"command":"make test"} 300ms -> error: 1 of 12 failed
//	  write hello.txt <<END
//	  Hello.
//	  END
//	  use in=1200 out=300 usd=0.01
//	  steered -> say I heard you: {steer}
//
//	iteration *
//	  run cat hello.txt
//	  promise
//
// A section that ends without saying how finishes its turn. 'iteration *' is every further
// iteration; without it the last section is played again. A file without any 'iteration' is one
// section. 'message' anywhere in the file, begins the section that answers when ralph asks for a
// commit message; without it the answer names the scenario and the iteration. <<WORD at the end of
// a line takes the lines up to WORD as its text, less the indent of the first; a single line is
// text as it is, without quotes or escapes. Blank lines at its ends are dropped. {iteration} is the
// iteration's number, {steer} the text of the last steer, and {loop} the folder of the loop.
//
// Steps returns all others (ralph rehearse --steps, docs/reference/rehearsing.md).
//
// # Protocol
//
// One JSON object on each line, both ways. To the player:
//
//	{"do":"begin","iteration":1,"prompt":"…"}   begins a turn; with "purpose":"message" one that only
//	                                            asks for a commit message
//	{"do":"steer","id":"c1","text":"…"}         into the running turn
//	{"do":"reset"}                              a fresh context for the next turn
//	{"do":"abort"}                              ends the turn
//
// From the player, with the fields of the events of the same meaning:
//
//	ready begun said thought called progressed returned used planned limited retried
//	compacted noticed steered fresh stale finished
//
// # Guarantees
//
// A steer is delivered at the end of the current step (talk and silence take it at once). The line
// "steered" comes before its reaction. A steer outside of a turn is dropped and does not appear in
// the next turn. Each turn has at most one "finished". The end of the input ends the process,
// except during hang. Files are written below Dir and LoopDir only, also through symbolic links.
//
// # Not here
//
// The other end of the protocol (package rehearsal).
package player
