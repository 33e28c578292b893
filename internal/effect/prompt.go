package effect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/prompt"
	"github.com/ralph-loop/ralph/internal/task"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

// promptPlan is everything that the prompt of an iteration is made of, as the state
// has it.
type promptPlan struct {
	do       event.Decided
	source   event.Source
	refused  []string         // why the last claim did not count
	ignored  *prompt.Ignored  // what was not taken for a claim
	messages []policy.Message // what people sent
	rules    event.Rules
	counted  int              // iterations that were not given back, with this one
	aside    bool             // a file DONE was refused, and is put aside
	failures []policy.Failure // guardrails that did not pass
	left     []string         // by the iteration before
	hints    []string
	same     bool // the session goes on
	cut      bool // its last turn did not end by itself
	sealed   policy.Seal
}

func plan(d event.Decided, s *projector.State) promptPlan {
	p := promptPlan{do: d, source: s.Life.Task, rules: s.Budget.Rules}
	p.refused = append(p.refused, s.Completion.Refused...)
	if i := s.Completion.Ignored; i != nil {
		p.ignored = &prompt.Ignored{How: i.How, Text: i.Text, Why: i.Why}
	}
	p.aside, p.counted = s.Completion.Aside, s.Budget.Counted+1
	p.failures = append(p.failures, s.Gate.Failures...)
	p.left = append(append(p.left, s.Gate.Left...), s.Gate.Edited...)
	if s.Gate.Commit != "" {
		p.left = append(p.left, "its work could not be committed: "+s.Gate.Commit)
	}
	if s.Breaker.Hint != "" {
		p.hints = append(p.hints, s.Breaker.Hint)
	}
	p.cut = s.Last != nil && s.Last.Outcome != event.OutcomeDone
	p.same = s.SessionGoesOn()
	p.sealed = s.Seal // its files are replaced, and never changed
	p.messages = append(p.messages, s.Mail.Again...)
	for _, id := range d.Commands {
		for _, message := range s.Mail.Open {
			if message.ID == id {
				p.messages = append(p.messages, message)
			}
		}
	}
	return p
}

func textOf(s *projector.State, id string) string {
	for _, message := range s.Mail.Open {
		if message.ID == id {
			return message.Text
		}
	}
	return ""
}

// begin composes the prompt and reports that the iteration has started.
func (h *Hands) begin(ctx context.Context, p promptPlan, cause uint64) {
	done, err := h.first(ctx, p, cause)
	if err != nil {
		h.fail(p.do, cause, err)
		return
	}
	if done {
		return // folder.seen has said so
	}
	base, err := h.base(p.source)
	if err != nil {
		h.fail(p.do, cause, err)
		return
	}
	if h.cfg.Words.memory(p.do.Agent) {
		if _, err := task.Create(h.cfg.Dir, task.Template(base)); err != nil {
			h.fail(p.do, cause, fmt.Errorf("make task.md: %w", err))
			return
		}
	}
	text, err := h.compose(base, p)
	if err != nil {
		h.fail(p.do, cause, err)
		return
	}
	blob, err := h.cfg.Blob([]byte(text))
	if err != nil {
		h.fail(p.do, cause, fmt.Errorf("store the prompt: %w", err))
		return
	}
	h.deliver(event.IterationStarted{
		N: p.do.Iteration, Mode: "work", Prompt: blob, Commands: p.do.Commands,
	}, p.do.Iteration, cause)
}

// promptError says that a person has to change where the prompt comes from.
type promptError struct{ error }

func (e *promptError) Unwrap() error { return e.error }

// base reads the words that every prompt begins with; a file anew each time.
func (h *Hands) base(source event.Source) (string, error) {
	if source.File == "" {
		if source.Text == nil {
			return "", &promptError{errors.New("the loop has no prompt")}
		}
		return h.whole(*source.Text)
	}
	text, err := h.cfg.ReadFile(source.File)
	if err != nil {
		return "", &promptError{fmt.Errorf("read the prompt: %w", err)}
	}
	if strings.TrimSpace(string(text)) == "" {
		return "", &promptError{fmt.Errorf("read the prompt: %s is empty", source.File)}
	}
	return string(text), nil
}

// compose puts a prompt together.
func (h *Hands) compose(base string, p promptPlan) (string, error) {
	parts := prompt.Parts{
		Base: base, CountInPrompt: h.cfg.Words.Count, Iteration: p.counted, Of: p.rules.MaximumIterations,
		Refused: p.refused, Ignored: p.ignored, Left: p.left, Hints: p.hints, MinToolCalls: p.rules.MinToolCalls,
	}
	if h.cfg.Words.memory(p.do.Agent) {
		parts.LoopDir = h.folder()
		parts.TaskFile = path.Join(parts.LoopDir, task.TaskFile)
		parts.Checklist, parts.DoneFile = p.rules.Checklist, p.rules.DoneFile
		parts.Blocked = true
		parts.Promise, parts.Response = p.rules.CompletionPromise, p.rules.CompletionResponse
	}
	for _, f := range p.failures {
		text, err := h.whole(f.Message)
		if err != nil {
			return "", fmt.Errorf("read what a guardrail printed: %w", err)
		}
		parts.Failures = append(parts.Failures, prompt.Failure{Action: f.Action, Message: text})
	}
	for _, message := range p.messages {
		parts.Messages = append(parts.Messages, prompt.Message{Text: message.Text})
	}
	if p.do.Reflect {
		text, err := task.Reflection(h.cfg.Dir)
		if err != nil {
			return "", &promptError{err}
		}
		parts.Reflection = text
	}
	if p.rules.Context == "same" {
		parts.Same = &prompt.Same{Again: p.same, Cut: p.cut}
	}
	return prompt.Compose(parts), nil
}

// folder is the loop's folder as the agent shall call it.
func (h *Hands) folder() string {
	if name, err := filepath.Rel(cmp.Or(h.cfg.WorkDir, h.cfg.Project), h.cfg.Dir); err == nil && filepath.IsLocal(name) {
		return filepath.ToSlash(name)
	}
	return filepath.ToSlash(h.cfg.Dir)
}
