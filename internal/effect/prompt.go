package effect

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

// promptPlan is everything that the prompt of an iteration is made of, as the state
// has it.
type promptPlan struct {
	do       event.Decided
	source   event.Source
	refused  []string         // why the last claim did not count
	messages []policy.Message // what people sent
	rules    event.Rules
}

func plan(d event.Decided, s *projector.State) promptPlan {
	p := promptPlan{do: d, source: s.Life.Task, rules: s.Budget.Rules}
	p.refused = append(p.refused, s.Completion.Refused...)
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
func (h *Hands) begin(p promptPlan, cause uint64) {
	base, err := h.base(p.source)
	if err != nil {
		h.fail(p.do, cause, err)
		return
	}
	blob, err := h.cfg.Blob([]byte(compose(base, p)))
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

// compose puts a prompt together. What was added stands behind the base, apart by
// an empty line, so that the base is the same beginning every time and caches hold.
func compose(base string, p promptPlan) string {
	parts := []string{strings.TrimRight(base, "\n")}
	if len(p.refused) > 0 {
		parts = append(parts, "Your last claim that the work is done was not accepted:\n- "+strings.Join(p.refused, "\n- "))
	}
	if len(p.messages) > 0 {
		lines := []string{"Messages from the person you work for, oldest first:"}
		for _, message := range p.messages {
			lines = append(lines, "- "+strings.ReplaceAll(message.Text, "\n", "\n  "))
		}
		parts = append(parts, strings.Join(lines, "\n"))
	}
	return strings.Join(parts, "\n\n")
}
