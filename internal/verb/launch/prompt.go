package launch

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	tasks "github.com/ralph-loop/ralph/internal/effect/task"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/runner"
)

// checkPrompt refuses a prompt or a task that cannot be one, without waiting for a pipe or reading
// a device. needed says that one must be given, because the loop's own task.md is about to be
// archived or is missing.
func (p *Plan) readPrompt(e *cli.Env, needed bool) (err error) {
	if p.Task != "" {
		if p.copied, err = readable(e, p.Task); err != nil {
			return err
		}
	}
	own := filepath.Join(p.Dir, tasks.TaskFile)
	switch {
	case p.Prompt != "" && p.PromptFile != "":
		return cli.Refuse("give one of them", "--prompt and --prompt-file are both given")
	case p.Prompt != "":
		p.text, err = promptText(e, p.Prompt)
		return err
	case p.PromptFile != "":
		p.file, err = readable(e, p.PromptFile)
		return err
	case p.Task != "":
		p.file = own
		return nil
	case needed:
		return cli.Refuse("give it with -p TEXT, -f FILE or --task FILE", "there is no task")
	}
	if err := safefile.CheckLinked(own, runner.MaxPrompt); err != nil && !errors.Is(err, os.ErrNotExist) {
		return unreadablePrompt(err)
	}
	p.file = own
	return checkTask(p.Dir)
}

// promptText returns a prompt, which - reads from stdin, and refuses an empty one.
func promptText(e *cli.Env, prompt string) (string, error) {
	if prompt == "-" {
		text, err := io.ReadAll(io.LimitReader(e.Stdin, runner.MaxPrompt+1))
		if err != nil {
			return "", fmt.Errorf("read the prompt from stdin: %w", err)
		}
		if len(text) > runner.MaxPrompt {
			return "", cli.Refuse("make it shorter, or name files in it", "the prompt on stdin has more than %d bytes", runner.MaxPrompt)
		}
		prompt = string(text)
	}
	if strings.TrimSpace(prompt) == "" {
		return "", cli.Refuse("say in it what is to be done", "the prompt is empty")
	}
	return prompt, nil
}

// errNoTask says that a person has to fill in a loop's own task.md: an agent would be paid for
// reading an empty one.
var errNoTask = errors.New("there is no task yet")

// hasTask reports whether there is something in the place of a loop's own task.md.
func hasTask(dir string) bool { return cli.Exists(filepath.Join(dir, tasks.TaskFile)) }

// checkTask returns errNoTask unless a person has written the loop's own task.md.
func checkTask(dir string) error {
	blank, err := tasks.IsBlank(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist), blank:
		return errNoTask
	case err != nil:
		return cli.Refuse("put a text file in its place", "%w", err)
	}
	return nil
}

// offerTask refuses a start without a task, and makes the loop's own task.md from the template
// unless it is there.
func offerTask(e *cli.Env, dir string) error {
	hint := fmt.Sprintf("write in it what is to be done, then 'ralph start %s'; or give the task with -p TEXT, -f FILE or --task FILE", filepath.Base(dir))
	if err := MakeFolders(e, dir); err != nil {
		return err
	}
	made, err := tasks.Create(dir, tasks.Template(""))
	if err != nil {
		return cli.Refuse("put a text file in its place", "%w", err)
	}
	how := "the template as it was made"
	if made {
		how = "made from the template"
	}
	return cli.Refuse(hint, "%w: %s is %s", errNoTask, e.Short(filepath.Join(dir, tasks.TaskFile)), how)
}

// readable returns the absolute path of a prompt or task file that can be read and is not empty.
func readable(e *cli.Env, name string) (string, error) {
	path := e.Abs(name)
	text, err := safefile.ReadLinked(path, runner.MaxPrompt)
	if err != nil {
		return "", unreadablePrompt(err)
	}
	if strings.TrimSpace(string(text)) == "" {
		return "", cli.Refuse("say in it what is to be done", "read the prompt: %s is empty", name)
	}
	return path, nil
}

func unreadablePrompt(err error) error {
	return cli.Refuse("write the file, or name another", "read the prompt: %w", err)
}

// copyTask copies a task into the loop's folder and never replaces another.
func copyTask(from, dir string) error {
	text, err := safefile.ReadLinked(from, runner.MaxPrompt)
	if err != nil {
		return fmt.Errorf("read the task: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, tasks.TaskFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return cli.Refuse("leave --task out to keep it, or use --fresh", "the loop has a %s already", tasks.TaskFile)
	}
	if err != nil {
		return fmt.Errorf("write the task: %w", err)
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
