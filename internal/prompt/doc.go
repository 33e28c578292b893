// Package prompt puts the text of one iteration together from its parts.
//
//	text := prompt.Compose(prompt.Parts{
//		Base:     "Make the tests pass.",
//		TaskFile: ".ralph/fix/task.md",
//		Promise:  "COMPLETE",
//		Refused:  []string{"no work was done: the claim came without a single use of a tool"},
//	})
//
// # The order
//
//	Iteration 3 of 10, 7 remaining.     where it is asked for
//	You stopped without saying …        in a session that goes on
//	the reflection
//	failed guardrails that prepend
//	the base                            or the failed guardrails that replace it
//	the working memory                  } the same in each iteration, so that
//	what to say when all is done        } prompt caches hold beyond the base
//	failed guardrails that append
//	what the last iteration left
//	why the last claim did not count
//	hints
//	messages of people                  last: they are the newest word
//
// Each part stands apart by an empty line. testdata holds an example of each.
//
// # Guarantees
//
//   - The same parts give the same text; nothing is read from the world.
//   - The base stands in it byte for byte, but for newlines at its end, and first, unless the parts say otherwise.
//   - No part that has words is left out, and none is shortened: what bounds the parts bounds the text, which adds
//     less than 1.5 KiB, four bytes for each entry of a list besides who it is from, and two for each line within one.
//   - Where it tells the agent what to say, that does not end a line: an agent that only repeats
//     its prompt claims nothing.
//
// # Not here
//
// Where the parts come from: the prompt file and the messages (internal/effect), task.md (internal/task), why a claim did not count
// and what helps a loop that is stuck (internal/policy), the words of a failed guardrail (internal/guardrail).
package prompt
