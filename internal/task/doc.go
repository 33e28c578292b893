// Package task is the files by which an agent and ralph talk about the work.
//
// They stand in the loop's folder. The runner makes the agent's working memory when the
// loop begins, unless there is one:
//
//	created, err := task.Create(loopDir, task.Template(prompt))
//
// and looks after each iteration at what the agent left:
//
//	marks, err := task.Look(loopDir)
//	switch {
//	case marks.Wait:
//		// a person is needed: marks.WaitText
//	case marks.Done || marks.Boxes.Total > 0 && marks.Boxes.Ticked == marks.Boxes.Total:
//		// a claim that the work is done
//	}
//
// # The files
//
//	task.md               the agent's working memory: Markdown, with a checklist
//	DONE                  the agent says that the work is done; its text says what was
//	WAIT_WITHOUT_RESTART  the agent waits for a person; its text says for what
//	reflect.md            optional: a person's words for iterations that look back
//
// # Guarantees
//
//   - Nothing that an agent puts in the place of such a file is followed, waited for or run: links, folders, FIFOs and
//     devices are told as a [NotFileError], and names are resolved within the loop's folder alone.
//   - What is read is bounded, and so is the memory and the time that counting boxes takes, whatever the file says.
//   - Boxes are counted from the syntax tree of the Markdown, not by pattern: an example in a code block claims nothing.
//   - A file that has content is never overwritten.
//
// All functions may be called by any goroutine; a file that is written at the same moment is read as it is then.
//
// # Not here
//
// Whether a claim counts (internal/policy), what the agent is told about these files (internal/prompt), and masking of
// secrets in texts that go into the journal.
package task
