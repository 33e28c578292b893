// Package plan reads and writes the files of a plan: the folder ralph/ of a project, in which
// people and agents keep what is to be built and how far it is.
//
//	data, err := plan.ReadTasks(project)       // then internal/core/story judges it
//	err = plan.WriteTasks(project, data)       // the old content or the new one, never half
//	extra := plan.Additions(text, 3, 15)       // what the person's prompt.md adds to the prompt
//
// # The files
//
//	ralph/prd.md         the requirements; only people and 'ralph plan' write it
//	ralph/tasks.json     the stories and their state; agents change it
//	ralph/progress.txt   the log of the iterations, with a curated section of patterns on top
//	ralph/prompt.md      what a person adds to the prompt of each iteration
//	.ralph-active        the marker: a loop works on the plan; only hooks read it
//
// # Guarantees
//
//   - Names are resolved within the project: a link that leads out of it is an error, and so is a
//     link, a FIFO, a device or a folder in the place of a file. Nothing waits for such a file.
//   - What is read is bounded.
//   - A file is replaced in one step: readers see the old content or the new one, and so they do
//     after a loss of power. What was written is durable when the function returns.
//
// All functions may be called by any goroutine.
//
// # Not here
//
// What the stories mean (internal/core/story), whether a marker's loop lives (registry), and the
// words of the prompt (internal/effect/prompt).
package plan
