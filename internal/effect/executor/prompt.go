package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/effect/prompt"
	"github.com/ralph-loop/ralph/internal/effect/task"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/journal/event"
)

// promptPlan is the part of the state from which the prompt of an iteration is composed.
type promptPlan struct {
	decision event.Decided
	source   event.Source
	rules    event.Rules
	aside    bool             // DONE was refused and has to be moved away
	failures []policy.Failure // guardrails that failed
	snapshot policy.FileChanges
	stories  policy.Stories
	changes  policy.Changes
	spans    policy.ToolSpans // likewise
	votes    policy.Votes
	voters   int
	parts    prompt.Parts // all parts that need no file
}

func planPrompt(d event.Decided, s *loopstate.State) promptPlan {
	p := promptPlan{
		decision: d, source: s.Lifecycle.Task, rules: s.Rules, aside: s.Completion.Aside,
		failures: slices.Clone(s.Verification.Failures),
		snapshot: s.FileChanges, // the fold replaces Files and never changes it
		stories:  s.Stories,     // likewise
		changes:  s.Changes.Clone(),
		spans:    s.ToolSpans, // likewise
		votes:    s.Votes, voters: s.Failover.Voters(s.Rules),
	}
	p.parts = prompt.Parts{
		Iteration: s.Budget.Counted + 1, Of: s.Rules.MaximumIterations, MinToolCalls: s.Rules.Completion.MinToolCalls,
		Refused: slices.Clone(s.Completion.Refused), Left: slices.Concat(s.Verification.Left, s.Verification.Edited),
	}
	if i := s.Completion.Ignored; i != nil {
		p.parts.Ignored = &prompt.Ignored{How: string(i.How), Text: i.Text, Why: i.Why}
	}
	if s.Verification.Commit != "" {
		p.parts.Left = append(p.parts.Left, "its work could not be committed: "+s.Verification.Commit)
	}
	if large := s.Changes.Oversized(s.Rules); large != "" && s.Rules.PullRequests && !slices.Contains(p.parts.Refused, large) {
		p.parts.Left = append(p.parts.Left, large)
	}
	for _, q := range s.Questions.Open() {
		p.parts.Asked = append(p.parts.Asked, fmt.Sprintf("%d: %s", q.Number, q.Brief()))
	}
	if s.Breaker.Hint != "" {
		p.parts.Hints = []string{s.Breaker.Hint}
	}
	if s.Rules.Context == config.ContextSame {
		p.parts.Same = &prompt.Same{Again: s.SessionGoesOn(), Cut: s.Last != nil && s.Last.Outcome != event.OutcomeDone}
	}
	for _, message := range s.Commands.Again {
		p.add(message)
	}
	for _, id := range d.Commands {
		for _, message := range s.Commands.Open {
			if message.ID == id {
				p.add(message)
			}
		}
	}
	return p
}

// add adds a message to the parts. A review comment is not from the person the agent works for.
func (p *promptPlan) add(message policy.Message) {
	to := &p.parts.Messages
	if message.IsComment() {
		to = &p.parts.Comments
	}
	*to = append(*to, prompt.Message{Text: message.Text})
}

// leftBranch says which branch the work belongs to. A person may have switched, or asked for it.
func leftBranch(seen event.RepoInspected) string {
	where := "the repository"
	if seen.Root != "." {
		where += " " + seen.Root
	}
	return where + " is " + seen.Away() + ". Unless the task or a person asks for that, bring the work to " + seen.Left + ", switch back to it, and stay there"
}

func messageText(s *loopstate.State, id string) string {
	for _, message := range s.Commands.Open {
		if message.ID == id {
			return message.Text
		}
	}
	return ""
}

// begin composes the prompt and reports that the iteration has started.
func (x *Executor) begin(ctx context.Context, p promptPlan, cause event.Seq) error {
	done, err := x.prepare(ctx, &p, cause)
	if err != nil || done { // folder.inspected reported that it is done
		return err
	}
	mode, base := "work", ""
	if p.rules.Stories {
		stories, err := x.beginStories(ctx, p, cause)
		if err != nil || stories == nil { // stories.read reported that all are done
			return err
		}
		mode, p.parts.Stories = string(stories.Mode), stories
	} else if base, err = x.ownPrompt(p); err != nil {
		return err
	}
	text, err := x.compose(base, p)
	if err != nil {
		return err
	}
	blob, err := x.cfg.Blob([]byte(text))
	if err != nil {
		return fmt.Errorf("store the prompt: %w", err)
	}
	started := event.IterationStarted{N: p.decision.Iteration, Mode: mode, Prompt: blob, Commands: p.decision.Commands}
	started.Snapshot, started.Unkept = x.keepTree(ctx, p.decision.Iteration)
	x.deliver(started, p.decision.Iteration, cause)
	return nil
}

// ownPrompt returns the base of the prompt of a loop that does not work on stories.
func (x *Executor) ownPrompt(p promptPlan) (string, error) {
	base, err := x.basePrompt(p.source)
	if err != nil || !x.cfg.memory(p.decision.Agent) {
		return base, err
	}
	if _, err := task.Create(x.cfg.Dir, task.Template(base)); err != nil {
		return "", fmt.Errorf("create task.md: %w", err)
	}
	return base, nil
}

// promptError reports that a person has to change the source of the prompt.
type promptError struct{ error }

func (e *promptError) Unwrap() error { return e.error }

// basePrompt returns the text that every prompt begins with. A file is read again each time.
func (x *Executor) basePrompt(source event.Source) (string, error) {
	if source.File == "" {
		if source.Text == nil {
			return "", &promptError{errors.New("the loop has no prompt")}
		}
		return x.fullText(*source.Text)
	}
	return ReadPrompt(source.File, x.cfg.ReadFile)
}

// ReadPrompt reads a prompt file, and refuses an empty one.
func ReadPrompt(file string, read func(name string) ([]byte, error)) (string, error) {
	text, err := read(file)
	if err != nil {
		return "", &promptError{fmt.Errorf("read the prompt: %w", err)}
	}
	if strings.TrimSpace(string(text)) == "" {
		return "", &promptError{fmt.Errorf("read the prompt: %s is empty", file)}
	}
	return string(text), nil
}

// compose composes the prompt.
func (x *Executor) compose(base string, p promptPlan) (string, error) {
	parts := p.parts
	parts.Base, parts.CountInPrompt = base, x.cfg.CountInPrompt
	if x.cfg.memory(p.decision.Agent) {
		if !p.rules.Stories {
			parts.LoopDir = x.loopFolder()
			parts.TaskFile = path.Join(parts.LoopDir, task.TaskFile)
			parts.Checklist, parts.DoneFile = p.rules.Completion.Checklist, p.rules.Completion.DoneFile
		}
		parts.Blocked, parts.Ask = true, true
		if x.cfg.Ralph != nil {
			parts.Ralph = x.cfg.Ralph(p.decision.Agent)
		}
		if x.cfg.SCM.Publishes() {
			parts.PullRequest = path.Join(x.loopFolder(), task.PullRequestFile)
		}
		parts.MaxDiff = p.rules.Limits.Diff
		parts.Promise, parts.Response = p.rules.Completion.Promise, p.rules.CompletionResponse
	}
	for _, f := range p.failures {
		text, err := x.fullText(f.Message)
		if err != nil {
			return "", fmt.Errorf("read what a guardrail printed: %w", err)
		}
		parts.Failures = append(parts.Failures, prompt.Failure{Action: f.Action, Message: text})
	}
	if p.decision.Reflect {
		text, err := task.Reflection(x.cfg.Dir)
		if err != nil {
			return "", &promptError{err}
		}
		parts.Reflection = text
	}
	return prompt.Compose(parts), nil
}

// loopFolder returns the name of the loop's folder in the prompt.
func (x *Executor) loopFolder() string {
	if x.cfg.AgentDir != "" {
		return filepath.ToSlash(x.cfg.AgentDir)
	}
	if name, err := filepath.Rel(cmp.Or(x.cfg.WorkDir, x.cfg.Project), x.cfg.Dir); err == nil && filepath.IsLocal(name) {
		return filepath.ToSlash(name)
	}
	return filepath.ToSlash(x.cfg.Dir)
}
