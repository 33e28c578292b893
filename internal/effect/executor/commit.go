package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/effect/forge"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// messageTimeout limits the turn in which the agent writes a commit message.
const messageTimeout = 10 * time.Minute

// commit runs the version control tasks. One scm.ended reports their outcome; after a failure the
// work remains in the work tree.
func (x *Executor) commit(ctx context.Context, p commitPlan, cause event.Seq) {
	d, ended := p.decision, event.SCMEnded{}
	message, err := x.commitMessage(ctx, d)
	if err != nil {
		ended.Failed, ended.Error = "message", "ask for a commit message: "+err.Error()
		x.deliver(ended, d.Iteration, cause)
		return
	}
	result, made, err := x.scmTasks(ctx, p, message)
	if result.Committed {
		x.deliver(event.RepoCommitted{
			SHA: result.SHA, Message: result.Message,
			Files: result.Stat.Files, Insertions: result.Stat.Insertions, Deletions: result.Stat.Deletions,
			Warning: x.note(ctx, x.cfg.Project, d.Iteration, cause, result.SHA),
		}, d.Iteration, cause)
	}
	ended.Tasks, ended.Nothing, ended.PR, ended.PRs = result.Done, result.Nothing, made.url, made.all
	ended.Left = slices.Concat(result.New, result.Left)
	if err != nil {
		ended.Error = err.Error()
		if at := len(result.Done) + len(result.Skipped); at < len(x.cfg.SCM.Tasks) {
			ended.Failed = x.cfg.SCM.Tasks[at]
		}
		ended.Error += details(err)
	}
	x.deliver(ended, d.Iteration, cause)
}

// details returns what a failed program printed, and the next step.
func details(err error) (text string) {
	output, hint := "", ""
	if failed, ok := errors.AsType[*repo.Error](err); ok {
		output, hint = failed.Output, failed.Hint()
	}
	if failed, ok := errors.AsType[*forge.Error](err); ok {
		output, hint = failed.Output, failed.Hint()
	}
	if !strings.HasSuffix(err.Error(), output) { // its last line is in the error already
		text = "\n" + output
	}
	if hint != "" {
		text += "\n" + hint
	}
	return text
}

func (x *Executor) runTasks(ctx context.Context, tasks []string, message string) (repo.Result, error) {
	return repo.Run(ctx, repo.Config{
		Dir: x.cfg.Project, Command: x.cfg.SCM.Command, Tasks: tasks, AddUntracked: x.cfg.SCM.AddUntracked, Message: message, Env: x.cfg.Env,
	})
}

// commitMessage asks the agent for a commit message if there is something to commit. It starts
// another process, so that a parked one keeps its context.
func (x *Executor) commitMessage(ctx context.Context, d event.Decided) (string, error) {
	if !slices.ContainsFunc(x.cfg.SCM.Tasks, isCommit) {
		return "", nil
	}
	// Without a message this commits nothing, but reports whether there is something to commit.
	_, err := x.runTasks(ctx, []string{"commit"}, "")
	if !errors.Is(err, repo.ErrNoMessage) {
		return "", nil // the commit meets the same error and reports it
	}
	said, err := x.askAgent(ctx, repo.MessagePrompt, d)
	if err != nil {
		return "", err
	}
	return repo.Message(x.masked(said)) // a commit may leave this machine
}

func isCommit(task string) bool { return strings.HasPrefix(task+" ", "commit ") }

// askAgent runs the agent for one turn outside of the iteration and returns its final message. Only
// its usage goes into the journal.
func (x *Executor) askAgent(ctx context.Context, text string, d event.Decided) (string, error) {
	p := agent.Prompt{Text: text, Iteration: d.Iteration, Purpose: agent.PurposeMessage}
	cfg, err := x.cfg.Agent(d.Agent, p)
	if err != nil {
		return "", err
	}
	a := reply{done: make(chan struct{}), deliver: x.cfg.Deliver}
	cfg.Deliver, cfg.Blob, cfg.Linger, cfg.KeepRaw = a.receive, x.cfg.Blob, nil, false
	session, err := agent.Start(cfg)
	if err != nil {
		return "", err
	}
	session.Begin(p, false, 0)
	ctx, cancel := context.WithTimeoutCause(ctx, messageTimeout, fmt.Errorf("the agent took longer than %s", units.Plain(messageTimeout)))
	defer cancel()
	select {
	case <-a.done:
		session.Abort(0)
	case <-session.Done():
	case <-ctx.Done():
		session.Kill()
		<-session.Done()
		return "", context.Cause(ctx)
	}
	if a.problem != "" {
		return "", errors.New(a.problem)
	}
	return a.text.String(), nil
}

// reply collects an agent's final message. Its fields may be read after the session has ended or
// done is closed.
type reply struct {
	deliver func([]event.Draft, func())
	done    chan struct{}
	ended   bool
	message string
	text    strings.Builder
	problem string
}

func (a *reply) receive(drafts []event.Draft, release func()) {
	defer release()
	for _, d := range drafts {
		if a.ended {
			return
		}
		switch d.Type {
		case event.TypeAgentSaid:
			a.appendText(d.Data)
		case event.TypeToolCalled:
			a.text.Reset()
		case event.TypeAgentUsed:
			d.Data, d.Raw = slices.Clone(d.Data), nil
			a.deliver([]event.Draft{d}, func() {})
		case event.TypeAgentFinished:
			var p event.AgentFinished
			if err := json.Unmarshal(d.Data, &p); err == nil && p.Outcome != "ok" {
				a.problem = "the agent's turn ended with an error: " + p.Error
			}
			a.ended = true
			close(a.done)
		}
	}
}

func (a *reply) appendText(data []byte) {
	var p event.AgentSaid
	if err := json.Unmarshal(data, &p); err != nil || p.Parent != "" {
		return
	}
	message, _, _ := strings.Cut(p.Block, ".")
	if message != a.message {
		a.text.Reset()
		a.message = message
	}
	a.text.WriteString(p.Text.String())
	if p.Final {
		a.text.WriteByte('\n')
	}
}
