// Package player is an agent without a model: a process that plays a scenario. It is
// what 'ralph rehearse SCENARIO' runs, and it does what real agents do, well and badly:
// it uses tools, changes files, reports usage, can be steered in mid-turn, runs into
// limits, crashes, hangs, prints nonsense.
//
//	scenario, err := player.Load("demo") // or a file
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
// A section that ends without saying how finishes its turn. 'iteration *' is every
// further iteration; without it the last section is played again. A file without any
// 'iteration' is one section. 'message' begins the section that answers when ralph asks
// for a commit message, wherever it stands; without it the answer names the scenario and the iteration. <<WORD at the end of a line takes the lines up to WORD as
// its text, less the indent of the first; a single line is text as it stands, without quotes or escapes. Blank lines at its
// ends are dropped. {iteration} is the iteration's number, {steer} what somebody
// steered, and {loop} the folder of the loop.
//
//	say TEXT                               think TEXT
//	slow 20ms: TEXT                        word by word, with that pause between them
//	tool NAME {JSON} 300ms -> ok: TEXT     all but the name may be missing; or -> error: TEXT
//	write FILE TEXT                        append FILE TEXT
//	tick "TEXT" in FILE                    the open box with that text; in {loop}/task.md where no file is named
//	run COMMAND                            really, by the shell
//	plan - [x] a / - [~] b / - [ ] c       done, active, pending
//	use in=1 out=1 cacheRead=1 cacheWrite=1 usd=0.1 model=NAME
//	sleep 2s                               silence: until somebody aborts, or steers and 'steered -> finish'
//	steered -> STEP                        what to do when steered in this iteration; several add up
//	limit rate until +2s: TEXT             or overload, quota, auth, network, context; until and text may be missing
//	retry 1/3 2s: TEXT                     compact
//	promise TEXT                           <promise>COMPLETE</promise> where no text is given
//	response TEXT                          <response>DONE</response> likewise
//	finish                                 the turn is over; what stands behind it is played all the same
//	error rate: TEXT                       the turn is over with an error, of that kind if one is named
//	crash 3                                exit 0: at once, without an end of the turn
//	hang                                   says so on stderr; then neither speaks nor listens until a signal comes
//	ignore-term                            from now on only KILL ends the process
//	garbage                                lines that nobody understands
//	flood 20MB                             one line of that size
//	talk 20MB                              that much in small pieces as fast as it goes; without end where no size is given
//	stderr TEXT                            notice TEXT
//	orphan COMMAND                         a process that outlives the turn, in a session of its own
//	holder COMMAND                         the same, and it keeps the agent's stdout open
//	inbox wait TEXT                        a command of that kind into the loop's inbox
//	stale                                  the next wish for a fresh context is refused
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
// A steer is delivered when the step that is being played has ended (but talk and silence
// take it at once), and said to be with a line "steered" before anything is done about it; one that comes when no turn is
// running is dropped, and never shows in the next turn. Each turn has at most one "finished". The
// end of the input ends the process, whatever it is doing, but for hang. Files are
// written below Dir and LoopDir only, also through symbolic links.
//
// # Not here
//
// The other end of the protocol (package rehearsal).
package player
