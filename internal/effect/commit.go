package effect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/repo"
	"github.com/ralph-loop/ralph/internal/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// SCM is what is to be done in version control when the guardrails have passed.
type SCM struct {
	Command string // git where it is empty
	Tasks   []string
	AddNew  bool
}

// messageTime is how long an agent may take to write one line.
const messageTime = 10 * time.Minute

// commit does the tasks of version control. Whatever becomes of them is told by one
// scm.ended: the work tree keeps the work.
func (h *Hands) commit(ctx context.Context, d event.Decided, cause uint64) {
	ended := event.SCMEnded{}
	message, err := h.message(ctx, d)
	if err != nil {
		ended.Failed, ended.Error = "message", "ask for a commit message: "+err.Error()
		h.deliver(ended, d.Iteration, cause)
		return
	}
	result, err := repo.Run(ctx, repo.Config{
		Dir: h.cfg.Project, Command: h.cfg.SCM.Command, Tasks: h.cfg.SCM.Tasks, AddNew: h.cfg.SCM.AddNew,
		Message: message, Env: h.cfg.Env,
	})
	if result.Committed {
		h.deliver(event.RepoCommitted{
			SHA: result.SHA, Message: result.Message,
			Files: result.Stat.Files, Insertions: result.Stat.Insertions, Deletions: result.Stat.Deletions,
		}, d.Iteration, cause)
	}
	ended.Tasks, ended.Nothing = result.Done, result.Nothing
	if err != nil {
		ended.Error = err.Error()
		if at := len(result.Done) + len(result.Skipped); at < len(h.cfg.SCM.Tasks) {
			ended.Failed = h.cfg.SCM.Tasks[at]
		}
		if failed, ok := errors.AsType[*repo.Error](err); ok {
			if !strings.HasSuffix(ended.Error, failed.Output) { // its last line is in the error already
				ended.Error += "\n" + failed.Output
			}
			if hint := failed.Hint(); hint != "" {
				ended.Error += "\n" + hint
			}
		}
	}
	h.deliver(ended, d.Iteration, cause)
}

// message asks the agent for a commit message, where there is something to commit. An agent whose
// process rests is not disturbed: another one is asked.
func (h *Hands) message(ctx context.Context, d event.Decided) (string, error) {
	commits := func(task string) bool { return task == "commit" || strings.HasPrefix(task, "commit ") }
	if !slices.ContainsFunc(h.cfg.SCM.Tasks, commits) {
		return "", nil
	}
	// Without a message nothing is committed, and whether there is something is known.
	_, err := repo.Run(ctx, repo.Config{Dir: h.cfg.Project, Command: h.cfg.SCM.Command, Tasks: []string{"commit"}, AddNew: h.cfg.SCM.AddNew, Env: h.cfg.Env})
	if !errors.Is(err, repo.ErrNoMessage) {
		return "", nil // the run that follows meets the same, and tells it
	}
	said, err := h.ask(ctx, repo.MessagePrompt, d)
	if err != nil {
		return "", err
	}
	if h.cfg.Secrets != nil { // a commit goes further than this machine
		masked, _ := h.cfg.Secrets.Text([]byte(said))
		said = string(masked)
	}
	return repo.Message(said)
}

// ask runs the agent for one turn beside the loop and returns its final message. What it says
// is not the iteration's, so only what it used goes into the journal.
func (h *Hands) ask(ctx context.Context, text string, d event.Decided) (string, error) {
	p := agent.Prompt{Text: text, Iteration: d.Iteration, Purpose: agent.PurposeMessage}
	cfg, err := h.cfg.Agent(d.Agent, p)
	if err != nil {
		return "", err
	}
	a := answer{over: make(chan struct{}), pass: h.cfg.Deliver}
	cfg.Deliver, cfg.Blob, cfg.Linger, cfg.KeepRaw = a.take, h.cfg.Blob, nil, false
	session, err := agent.Start(cfg)
	if err != nil {
		return "", err
	}
	session.Begin(p, false, 0)
	patience := time.NewTimer(messageTime)
	defer patience.Stop()
	select {
	case <-a.over:
		session.Abort(0) // it has nothing more to do
	case <-session.Done():
	case <-ctx.Done():
		session.Kill()
		<-session.Done()
		return "", ctx.Err()
	case <-patience.C:
		session.Kill()
		<-session.Done()
		return "", fmt.Errorf("the agent took longer than %s", units.Plain(messageTime))
	}
	if a.problem != "" {
		return "", errors.New(a.problem)
	}
	return a.text.String(), nil
}

// answer collects an agent's final message. Its fields may be read once the session is done or over
// is closed.
type answer struct {
	pass    func([]event.Draft, func())
	over    chan struct{}
	ended   bool
	message string
	text    strings.Builder
	problem string
}

func (a *answer) take(drafts []event.Draft, release func()) {
	defer release()
	for _, d := range drafts {
		if a.ended {
			return
		}
		switch d.Type {
		case event.TypeAgentSaid:
			a.said(d.Data)
		case event.TypeToolCalled:
			a.text.Reset()
		case event.TypeAgentUsed:
			d.Data, d.Raw = slices.Clone(d.Data), nil
			a.pass([]event.Draft{d}, func() {})
		case event.TypeAgentFinished:
			var p event.AgentFinished
			if err := json.Unmarshal(d.Data, &p); err == nil && p.Outcome != "ok" {
				a.problem = "the agent's turn ended with an error: " + p.Error
			}
			a.ended = true
			close(a.over)
		}
	}
}

func (a *answer) said(data []byte) {
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
