// Package prompt composes the prompt of one iteration from its parts.
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
//	You stopped without saying …        in a session that continues
//	the reflection
//	failed guardrails that prepend
//	the rules of planned work           and the steps of the mode, where [Parts.Stories] is set
//	the base                            or the failed guardrails that replace it
//	the working memory                  } the same in each iteration, so that
//	what to say when all is done        } prompt caches hold beyond the base
//	the number of the iteration, and its story
//	failed guardrails that append
//	what the last iteration left
//	what was wrong with tasks.json
//	why the last claim was not accepted
//	its questions without an answer
//	hints
//	messages of people                  last, because they are the newest
//
// Empty lines separate the parts. testdata has an example of each, and testdata/stories one of each
// mode of planned work. storyRules in the tests lists the rules that these prompts contain.
//
// # Guarantees
//
//   - The same parts give the same text; nothing else is read.
//   - The base is in it byte for byte, without the newlines at its end, and first, unless the parts
//     specify otherwise.
//   - No part that has text is left out or shortened. The text is less than 1.5 KiB longer than its
//     parts, plus four bytes and the sender for each entry of a list, and two for each line within
//     an entry. The rules of planned work add at most 5 KiB, some 1300 tokens.
//   - The text that the agent is to say at the end does not end a line, so an agent that only
//     repeats its prompt claims nothing. In a base, the person's own words, it may.
//   - The words of a plan, which agents write, are quoted or on one line: they cannot end the part
//     that they are in.
//
// # Not here
//
// Where the parts come from: the prompt file and the messages (internal/effect/executor), task.md
// (internal/effect/task), why a claim did not count and what helps a loop that is stuck
// (internal/core/policy), the words of a failed guardrail (internal/effect/guardrail).
package prompt
