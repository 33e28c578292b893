package runner

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/process"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/effect"
	"github.com/ralph-loop/ralph/internal/guardrail"
	"github.com/ralph-loop/ralph/internal/task"
	"github.com/ralph-loop/ralph/journal/event"
)

// guards are the settings' guardrails. One without a time of its own has that of an iteration: a test that
// hangs would hold the loop until a person comes.
func (r *runner) guards() []guardrail.Guardrail {
	var guards []guardrail.Guardrail
	for _, g := range r.Settings.Guardrails {
		guards = append(guards, guardrail.Guardrail{
			Command: g.Command, FailAction: g.FailAction, Hint: g.Hint,
			Timeout: cmp.Or(g.Timeout, r.Settings.Limits.Iteration).Std(), Independent: g.Independent, Protect: g.Protect,
		})
	}
	return guards
}

func (r *runner) scm() effect.SCM {
	return effect.SCM{Command: r.Settings.SCM.Command, Tasks: r.Settings.SCM.Tasks, AddNew: r.Settings.SCM.AddNew}
}

// words says what is added to the prompt. A plain command may be anything: a shell would run what it is told
// about task.md.
func (r *runner) words() effect.Words {
	return effect.Words{
		Count: r.Settings.IncludeIterationCountInPrompt,
		Memory: func(place int) bool {
			return r.Settings.Candidates()[place].ResolvedProtocol() != config.ProtocolText
		},
	}
}

// Marks are what the processes carry that belong to a loop: its agent's, and those that ralph itself runs for it.
func Marks(id string) []string { return []string{id, ownMark(id)} }

// ownMark finds what ralph itself ran for a loop: guardrails and version control. It is
// not the agent's mark, because what carries that ends with the agent.
func ownMark(id string) string { return id + ".ralph" }

// ownEnvironment is what guardrails and version control are run with.
func (r *runner) ownEnvironment() []string {
	return process.Environment(r.Env, []string{process.MarkVariable, OutliveVariable}, []string{
		process.MarkVariable + "=" + ownMark(r.id),
		"RALPH_LOOP=" + r.Name,
		"RALPH_LOOP_DIR=" + r.Dir,
		"TASK_FOLDER=" + filepath.Clean(r.Dir),
	})
}

// linger is how long what the agent left running may go on: a while when the work is said
// to be done, and not at all when the agent is to work again.
func (r *runner) linger() time.Duration {
	if marks, err := task.Look(r.Dir); err != nil || !marks.Done {
		return 0
	}
	return r.Settings.Restart.ChildWait.Std()
}

// announce appends the end of a loop that completed or failed to the file where a team wants it, so that others do not wait
// for it. What a person ended, and a limit that they set, is no news. That is a courtesy: the journal has it in any case.
func (r *runner) announce(ended event.LoopEnded) error {
	path := r.Settings.Completion.BusFile
	mark := ""
	switch {
	case path == "":
		return nil
	case ended.Status == event.StatusFailed, ended.Reason == event.ReasonRestarts:
		mark = "ERROR: "
	case ended.Status != event.StatusCompleted:
		return nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.Project, path)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|nonblock, 0o644)
	if err != nil {
		return fmt.Errorf("append to completion.busFile: %w", err)
	}
	line := fmt.Sprintf("- %s: %sloop %s is %s (%s): %s\n", r.clock().UTC().Format(time.RFC3339), mark, r.Name, ended.Status, ended.Reason, strings.Join(strings.Fields(ended.Why), " "))
	_, err = f.WriteString(line)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("append to completion.busFile: %w", err)
	}
	return nil
}
