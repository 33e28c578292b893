package fleet

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/story"
	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/internal/verb/launch"
)

// A Task is what one loop does.
type Task struct {
	ID        string
	Title     string
	Text      string   // what is to be done, for the prompt
	DependsOn []string // tasks that have to be merged before
	Done      bool     // before the fleet began
}

// Tasks are those of a fleet, in order.
type Tasks struct {
	List   []Task
	Verify []string // commands that have to succeed after each merge, of a tasks.json
}

const (
	maxTask  = 1 << 20 // bytes of a task file
	maxTasks = 1000
)

// dependsLine is the first line of a task file that comes after others: their names.
const dependsLine = "dependsOn:"

var errNoTasks = errors.New("there is no task")

// ReadTasks reads the tasks: the files *.md of a folder, or without one the stories of
// ralph/tasks.json.
func ReadTasks(project, folder string) (Tasks, error) {
	var t Tasks
	var err error
	if folder == "" {
		t, err = readStories(project)
	} else {
		t.List, err = readFolder(folder)
	}
	if err == nil && len(t.List) == 0 {
		err = errNoTasks
	}
	if err == nil && len(t.List) > maxTasks {
		err = fmt.Errorf("there are %d tasks, and at most %d can be done at once", len(t.List), maxTasks)
	}
	if err == nil {
		err = t.check()
	}
	return t, err
}

func readStories(project string) (t Tasks, err error) {
	data, err := plan.ReadTasks(project)
	if errors.Is(err, fs.ErrNotExist) {
		return t, fmt.Errorf("there is no ralph/tasks.json in %s", project)
	}
	if err != nil {
		return t, err
	}
	list, problems := story.Parse(data)
	if len(problems) > 0 {
		return t, fmt.Errorf("ralph/tasks.json: %s", problems[0].Text)
	}
	t.Verify = list.VerifyCommands
	for _, s := range list.Stories {
		var text strings.Builder
		fmt.Fprintf(&text, "%s: %s\n\n%s\n", s.ID, s.Title, s.Description)
		for _, c := range s.AcceptanceCriteria {
			fmt.Fprintf(&text, "\n- %s", c)
		}
		if s.Notes != "" {
			fmt.Fprintf(&text, "\n\nNotes: %s", s.Notes)
		}
		t.List = append(t.List, Task{ID: s.ID, Title: s.Title, Text: text.String(), DependsOn: s.DependsOn, Done: s.Passes})
	}
	return t, nil
}

func readFolder(folder string) ([]Task, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no folder %s", folder)
	}
	if err != nil {
		return nil, err
	}
	var tasks []Task
	for _, entry := range entries {
		id, ok := strings.CutSuffix(entry.Name(), ".md")
		if !ok || entry.IsDir() || strings.HasPrefix(id, ".") {
			continue
		}
		text, err := safefile.ReadLinked(filepath.Join(folder, entry.Name()), maxTask)
		if err != nil {
			return nil, fmt.Errorf("read task %s: %w", entry.Name(), err)
		}
		task := Task{ID: id, Text: strings.TrimSpace(string(text))}
		if first, rest, _ := strings.Cut(task.Text, "\n"); strings.HasPrefix(first, dependsLine) {
			task.Text = strings.TrimSpace(rest)
			for name := range strings.FieldsFuncSeq(strings.TrimPrefix(first, dependsLine), func(r rune) bool { return r == ',' || r == ' ' }) {
				task.DependsOn = append(task.DependsOn, strings.TrimSuffix(name, ".md"))
			}
		}
		if task.Text == "" {
			return nil, fmt.Errorf("task %s is empty", entry.Name())
		}
		task.Title = units.Cut(strings.TrimSpace(strings.TrimLeft(units.FirstLine(task.Text), "# ")), 80)
		tasks = append(tasks, task)
	}
	return tasks, nil
}

// check refuses tasks that depend on unknown ones, or in a circle.
func (t Tasks) check() error {
	left := map[string]bool{}
	for _, task := range t.List {
		left[task.ID] = true
	}
	for _, task := range t.List {
		for _, on := range task.DependsOn {
			if !left[on] {
				return fmt.Errorf("task %s depends on %s, which does not exist", task.ID, on)
			}
		}
	}
	for removed := true; removed; {
		removed = false
		for _, task := range t.List {
			if left[task.ID] && !slices.ContainsFunc(task.DependsOn, func(on string) bool { return left[on] }) {
				delete(left, task.ID)
				removed = true
			}
		}
	}
	for _, task := range t.List {
		if left[task.ID] {
			return fmt.Errorf("task %s depends on itself, by way of %s", task.ID, strings.Join(task.DependsOn, ", "))
		}
	}
	return nil
}

// guardrails is the setting with the commands of tasks.json besides those of the settings; empty
// without such commands.
func (t Tasks) guardrails(e *cli.Env, project string) string {
	if len(t.Verify) == 0 {
		return ""
	}
	loaded, err := e.Settings(nil, project)
	if err != nil {
		return "" // the start reports it
	}
	text, _ := config.Text(config.Settings{Guardrails: launch.WithVerify(loaded.Settings.Guardrails, t.Verify)}, "guardrails")
	return text
}

// loopOf is the name of a task's loop in a fleet.
func loopOf(fleet, id string) string { return registration.SlugName(fleet + "-" + id) }
