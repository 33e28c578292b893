package task

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/ralph-loop/ralph/internal/safefile"
)

// maxGoals is how many bytes of the task's text stand under Goals. The whole of it is in every prompt.
const maxGoals = 4096

// Template returns the task.md of a loop that was given none; without a text it is for a person to fill in. The task's text is quoted, so that
// neither a box nor an open code fence within it belongs to the checklist; and there is no box yet,
// so that nothing is claimed before the agent has written its steps.
func Template(task string) []byte {
	var b strings.Builder
	b.WriteString("# Goals\n\n")
	if strings.TrimSpace(task) == "" {
		b.WriteString("<!-- what is to be done, and how to see that it is -->\n")
	}
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
// is never overwritten; an empty one is filled, and so is the template that nobody has changed where there are words for it. A link, a folder or anything else in its place is a [NotFileError]; content
// of more than [MaxTask] bytes is a [TooBigError]. The file is 0600. Whoever is killed here, or loses power, leaves the whole
// of it or none: half a task must not pass for one.
func Create(loopDir string, content []byte) (created bool, err error) {
	root, err := os.OpenRoot(loopDir)
	if err != nil {
		return false, inCreate(err)
	}
	defer root.Close()
	if len(content) > MaxTask {
		return false, inCreate(&TooBigError{path(root, TaskFile), MaxTask})
	}
	if free, err := vacant(root, content); !free || err != nil {
		return false, inCreate(err)
	}
	if err := safefile.Replace(safefile.Within(root), TaskFile, content, 0o600); err != nil {
		return false, inCreate(err)
	}
	return true, nil
}

// IsBlank reports whether task.md is the template without a text, which nobody has changed yet, or has nothing but white space. It may be a
// [NotFileError] or a [TooBigError].
func IsBlank(loopDir string) (bool, error) {
	root, err := os.OpenRoot(loopDir)
	if err != nil {
		return false, fmt.Errorf("read the task: %w", err)
	}
	defer root.Close()
	content, err := whole(root, TaskFile)
	if err != nil {
		return false, fmt.Errorf("read the task: %w", err)
	}
	content = bytes.TrimSpace(content)
	return len(content) == 0 || bytes.Equal(content, bytes.TrimSpace(Template(""))), nil
}

func inCreate(err error) error {
	if err != nil {
		err = fmt.Errorf("create the task: %w", err)
	}
	return err
}

// vacant reports whether there is no task.md, an empty one, or the template as it was made where it gets other words.
func vacant(root *os.Root, content []byte) (bool, error) {
	f, info, err := open(root, TaskFile, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if err := f.Close(); err != nil || info.Size() == 0 {
		return err == nil, err
	}
	blank := Template("")
	text, err := beginning(root, TaskFile, int64(len(blank))+1)
	return bytes.Equal(text, blank) && !bytes.Equal(content, blank), err
}
