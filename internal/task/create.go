package task

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/ralph-loop/ralph/internal/safefile"
)

// maxGoals is how many bytes of the task's text stand under Goals. The whole of it is in every prompt.
const maxGoals = 4096

// Template returns the task.md of a loop that was given none. The task's text is quoted, so that
// neither a box nor an open code fence within it belongs to the checklist; and there is no box yet,
// so that nothing is claimed before the agent has written its steps.
func Template(task string) []byte {
	var b strings.Builder
	b.WriteString("# Goals\n\n")
	for line := range strings.Lines(goals(task)) {
		b.WriteString(strings.TrimRight("> "+strings.TrimSuffix(line, "\n"), " ") + "\n")
	}
	b.WriteString("\n# Checklist\n\n<!-- one box for each step: - [ ] step -->\n\n# Notes\n\n")
	b.WriteString("<!-- for the next iteration: what was learned, what is open, what to avoid -->\n")
	return []byte(b.String())
}

// goals returns the beginning of a task as whole lines that end as Markdown's do.
func goals(task string) string {
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimSpace(task))
	if len(text) <= maxGoals {
		return strings.ToValidUTF8(text, "\ufffd")
	}
	text = clip([]byte(text), maxGoals)
	if end := strings.LastIndexByte(text, '\n'); end > 0 {
		return text[:end] + "\n…"
	}
	return text
}

// Create writes task.md with the given content and reports whether it did. One that is there
// is never overwritten; an empty one, which a process that was killed here leaves,
// is filled. A link, a folder or anything else in its place is a [NotFileError]; content
// of more than [MaxTask] bytes is a [TooBigError]. The file is 0600, and its content is on disk on return.
func Create(loopDir string, content []byte) (created bool, err error) {
	root, err := os.OpenRoot(loopDir)
	if err != nil {
		return false, inCreate(err)
	}
	defer root.Close()
	if len(content) > MaxTask {
		return false, inCreate(&TooBigError{path(root, TaskFile), MaxTask})
	}
	f, err := place(root)
	if f == nil || err != nil {
		return false, inCreate(err)
	}
	if err := safefile.Fill(f, content); err != nil {
		// Half a task must not pass for one.
		return false, inCreate(errors.Join(err, root.Remove(TaskFile)))
	}
	return true, nil
}

func inCreate(err error) error {
	if err != nil {
		err = fmt.Errorf("create the task: %w", err)
	}
	return err
}

// place opens an empty task.md for writing; nil where one with content stands.
func place(root *os.Root) (*os.File, error) {
	f, err := root.OpenFile(TaskFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if !errors.Is(err, fs.ErrExist) {
		return f, err
	}
	f, info, err := open(root, TaskFile, os.O_WRONLY)
	if err != nil {
		return nil, err
	}
	if info.Size() > 0 {
		return nil, f.Close()
	}
	return f, nil
}
