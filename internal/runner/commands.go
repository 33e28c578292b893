package runner

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/guardrail"
	"github.com/ralph-loop/ralph/internal/effect/task"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/journal/event"
)

// Guards returns the settings' guardrails. The default timeout is that of an iteration, so that a
// hanging test cannot stop the loop.
func Guards(s config.Settings) []guardrail.Guardrail {
	var guards []guardrail.Guardrail
	for _, g := range s.Guardrails {
		guards = append(guards, guardrail.Guardrail{
			Command: g.Command, FailAction: g.FailAction, Hint: g.Hint,
			Timeout: cmp.Or(g.Timeout, s.Limits.Iteration).Std(), Independent: g.Independent, Protect: g.Protect,
		})
	}
	return guards
}

// explainsMemory reports whether the agent at that place gets a text about task.md. A plain command
// may be a shell, which would run it.
func (r *runner) explainsMemory(place int) bool {
	return r.Settings.AllAgents()[place].ResolvedProtocol() != config.ProtocolText
}

// ownEnvironment is the environment of guardrails and version control.
func (r *runner) ownEnvironment() []string {
	return process.Environment(r.Env, []string{process.MarkVariable, OutliveVariable},
		append(r.loopVariables(), process.MarkVariable+"="+process.OwnMark(r.Home, r.id)))
}

// linger returns how long the agent's child processes may continue after its exit:
// restart.childWait if the work is declared done, else not at all.
func (r *runner) linger() time.Duration {
	if marks, err := task.ReadMarks(r.Dir); err != nil || !marks.Done {
		return 0
	}
	return r.Settings.Restart.ChildWait.Std()
}

// appendCompletion appends the end of a loop that completed or failed to completion.appendTo, for
// those who wait for it. A stop by a person or a limit is not announced.
func (r *runner) appendCompletion(ended event.LoopEnded) error {
	path := r.Settings.Completion.AppendTo
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
	line := fmt.Sprintf("- %s: %sloop %s is %s (%s): %s", r.clock().UTC().Format(time.RFC3339), mark, r.Name,
		ended.Status, ended.Reason, strings.Join(strings.Fields(ended.Explained()), " "))
	f, err := safefile.OpenLinked(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o644)
	if err == nil {
		err = safefile.AppendLine(f, []byte(line))
	}
	if err != nil {
		return fmt.Errorf("append to completion.appendTo: %w", err)
	}
	return nil
}
