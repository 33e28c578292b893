// Package story judges ralph/tasks.json: the list of stories that agents implement and review, and
// that they change themselves.
//
//	list, problems := story.Parse(data)    // problems name the story and the field
//	mode, next := list.Next(rules)         // what the next iteration is for
//	problems = story.Judge(before, list, mode, rules)
//	data, err = story.Undo(data, before, problems)
//
// The runner and the hook 'ralph hook stop' call the same functions, so that they agree.
//
// # Guarantees
//
// All functions are pure. Fields that this package does not know, the order of the fields and the
// indentation of a file survive an [Undo].
//
// # Not here
//
// Reading and writing the file (internal/plan), and what a loop does about a problem
// (internal/policy, internal/executor).
package story
