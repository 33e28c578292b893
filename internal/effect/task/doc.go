// Package task reads and writes the files in a loop's folder by which an agent and ralph exchange
// the state of the work.
//
// The runner creates the agent's working memory when the loop begins, unless there is one:
//
//	created, err := task.Create(loopDir, task.Template(prompt))
//
// and reads after each iteration what the agent left:
//
//	marks, err := task.ReadMarks(loopDir)
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
//	DONE                  the agent reports that the work is done; its text says what was done
//	WAIT_WITHOUT_RESTART  the agent waits for a person; its text says for what
//	reflect.md            optional: a person's text for iterations that reflect
//	PR.md                 the agent's title and text of the pull request
//
// # Guarantees
//
//   - Nothing that an agent puts in the place of such a file is followed, waited for or executed:
//     links, folders, FIFOs and devices are a [FileError], and names are resolved within the loop's
//     folder.
//   - What is read is bounded, and so is the memory and the time of counting boxes, whatever the
//     file contains.
//   - Boxes are counted in the syntax tree of the Markdown, not by pattern: an example in a code
//     block is no box.
//   - A file that has content is never overwritten.
//
// All functions may be called by any goroutine.
//
// # Not here
//
// Whether a claim counts (internal/core/policy), how the prompt describes these files
// (internal/effect/prompt), and masking of secrets in texts that go into the journal.
package task
