// Package story judges ralph/tasks.json: the list of stories that agents implement and review, and
// that they change themselves.
//
//	list, problems := story.Parse(data)    // problems name the story and the field
//	mode, next := list.Next(rules)         // what the next iteration is for
//	…                                      // the agent's turn
//	data, problems, restored := story.Repair(found, data, mode, rules)
//	list, _ = story.Parse(data)
//	verdict, ok := story.Reviewed(before, list, rules)
//
// The hook 'ralph hook stop' asks [Judge] what is wrong, and lets the agent correct it. The runner
// uses [Repair], which asks the same function, so that they agree.
//
// # Guarantees
//
// All functions are pure. Time and memory are bounded: a file has at most [MaxSize] bytes and
// [MaxStories] stories. Fields that this package does not know, the order of the fields and the
// indentation of a file survive a [Repair].
//
// # Not here
//
// Reading and writing the file (internal/effect/plan), and what a loop does about a problem
// (internal/core/policy, internal/effect/executor).
package story
