package task

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// maxGoals is how many bytes of the task's text are under Goals. The complete text is in every
// prompt.
const maxGoals = 4096

// Template returns the task.md of a loop that was given none; without a text it is for a person to
// fill in. The task's text is quoted, so that neither a box nor an open code fence within it
// belongs to the checklist. There is no box yet, so that nothing is claimed before the agent has
// written its steps.
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

// goals returns the beginning of a task as complete lines that end with a newline.
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

// Create writes task.md with the given content and reports whether it did. It replaces an empty
// task.md, and the unchanged template if the content is another, but no other file. A link, a
// folder or anything else in its place is a [FileError], and so is content of more than [MaxTask]
// bytes. The file is 0600. After a crash or a loss of power there is the complete file or none.
func Create(loopDir string, content []byte) (created bool, err error) {
	root, err := os.OpenRoot(loopDir)
	if err != nil {
		return false, wrapCreate(err)
	}
	defer root.Close()
	if len(content) > MaxTask {
		return false, wrapCreate(hinted(&safefile.Error{Path: filepath.Join(loopDir, TaskFile), Problem: safefile.TooLarge, Limit: MaxTask}))
	}
	if free, err := vacant(root, content); !free || err != nil {
		return false, wrapCreate(err)
	}
	if err := safefile.Replace(safefile.Within(root), TaskFile, content, 0o600); err != nil {
		return false, wrapCreate(err)
	}
	return true, nil
}

// IsBlank reports whether task.md is the unchanged template without a text, or
// has only white space. It may be a [FileError].
func IsBlank(loopDir string) (bool, error) {
	root, err := os.OpenRoot(loopDir)
	if err != nil {
		return false, fmt.Errorf("read the task: %w", err)
	}
	defer root.Close()
	content, err := read(root, TaskFile)
	if err != nil {
		return false, fmt.Errorf("read the task: %w", err)
	}
	content = bytes.TrimSpace(content)
	return len(content) == 0 || bytes.Equal(content, bytes.TrimSpace(Template(""))), nil
}

func wrapCreate(err error) error {
	if err != nil {
		err = fmt.Errorf("create the task: %w", err)
	}
	return err
}

// vacant reports whether there is no task.md, an empty one, or the unchanged template and the
// content is another.
func vacant(root *os.Root, content []byte) (bool, error) {
	blank := Template("")
	text, err := readStart(root, TaskFile, int64(len(blank))+1)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, err
	}
	return len(text) == 0 || bytes.Equal(text, blank) && !bytes.Equal(content, blank), nil
}
