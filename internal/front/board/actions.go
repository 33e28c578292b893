package board

import (
	"bytes"
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/listing"
	"github.com/ralph-loop/ralph/internal/front/remote"
	"github.com/ralph-loop/ralph/internal/front/send"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/plain"
)

// patience is how long the board waits until a loop's agent has what was sent.
const patience = 3 * time.Second

// carryOut does what a person asked for, and says what became of it. It takes as long as that, and
// is called by a goroutine of its own.
func carryOut(e *cli.Env, effect Effect) (outcome string, bad bool) {
	if l, ok := remote.Of(effect.Loop); ok {
		text, err := carryOutThere(e, l, effect)
		if err != nil {
			return explain(err), true
		}
		return cli.Clean(strings.TrimSpace(text)), false
	}
	var text string
	var err error
	switch effect.Do {
	case Send:
		text, err = sendAll(e, effect.Loop, effect.Commands)
	case Resume:
		text, err = resume(e, effect)
	case Begin:
		text, err = begin(e, effect.Commands[0].Text)
	case Dismiss:
		text, err = listing.Dismiss(e, projector.Brief(effect.Loop))
	}
	if err != nil {
		return explain(err), true
	}
	return text, false
}

// quiet returns the environment of a verb that has no terminal: it asks nothing, and what it prints
// is kept.
func quiet(e *cli.Env) (inner *cli.Env, out, messages *bytes.Buffer) {
	copied := *e
	out, messages = new(bytes.Buffer), new(bytes.Buffer)
	copied.Stdin, copied.Stdout, copied.Stderr = strings.NewReader(""), out, messages
	return &copied, out, messages
}

// sendAll sends commands in their order and returns the outcome of the last. Those before it are
// only put into the inbox, which keeps the order.
func sendAll(e *cli.Env, s registry.Status, commands []inbox.Command) (string, error) {
	inner, out, _ := quiet(e)
	var ids []string
	for _, c := range commands[:len(commands)-1] {
		id, err := client.Drop(s.Name, s.Dir, c)
		if err != nil {
			return "", err
		}
		ids = append(ids, id)
	}
	if err := (send.Flags{Wait: patience}).SendTo(inner, s, commands[len(commands)-1]); err != nil {
		for _, id := range ids {
			_, _ = inbox.Withdraw(s.Dir, id) // the loop keeps what it has taken
		}
		return "", err
	}
	if len(ids) > 0 {
		return "loop " + s.Name + " has your answer and continues", nil
	}
	return cli.Clean(strings.TrimSpace(out.String())), nil
}

// resume starts a runner for a loop, which takes the commands: texts for its next prompt.
func resume(e *cli.Env, effect Effect) (string, error) {
	inner, _, messages := quiet(e)
	if err := send.Resume(inner, effect.Loop, effect.Raise, effect.Commands...); err != nil {
		return "", err
	}
	outcome := "loop " + effect.Loop.Name + " is running again"
	if len(effect.Commands) > 0 {
		outcome += "; the text is in its next prompt"
	}
	return strings.Join(append([]string{outcome}, spoken(messages)...), "\n"), nil
}

// begin starts a new loop in this project, with the settings as they are.
func begin(e *cli.Env, task string) (string, error) {
	inner, _, messages := quiet(e)
	start, err := inner.Starter()
	if err != nil {
		return "", err
	}
	start.Prompt, start.Numbered = task, true
	began, err := start.Start(context.Background())
	if err != nil {
		return "", cli.Refusal(err)
	}
	return strings.Join(append([]string{"loop " + began.Name + " is running"}, spoken(messages)...), "\n"), nil
}

// carryOutThere does the same for a loop of another machine.
func carryOutThere(e *cli.Env, l remote.Loop, effect Effect) (text string, err error) {
	switch effect.Do {
	case Dismiss:
		return l.Dismiss(e)
	case Resume:
		return l.Resume(e, effect.Raise, effect.Commands...)
	}
	return l.Send(e, effect.Commands...)
}

// peekEvents is how many of the last events a peek shows.
const peekEvents = 200

// peek returns the end of a loop's conversation in clean lines.
func peek(e *cli.Env, s registry.Status, width int) []string {
	events, err := lastEvents(e, s)
	if err != nil && len(events) == 0 {
		text := "its journal cannot be read: " + explain(err)
		if _, ok := remote.Of(s); ok {
			text = explain(err)
		}
		var lines []string
		for line := range strings.SplitSeq(text, "\n") {
			lines = append(lines, cli.Wrapped(line, max(width, 1))...)
		}
		return lines
	}
	var text bytes.Buffer
	view := plain.New(&text, render.Options{Width: width})
	for _, ev := range events {
		_ = view.Event(ev) // into memory
	}
	_ = view.Close()
	return strings.Split(strings.TrimSpace(text.String()), "\n")
}

func lastEvents(e *cli.Env, s registry.Status) (events []event.Event, err error) {
	if l, ok := remote.Of(s); ok {
		return l.Last(e, peekEvents)
	}
	events, _, err = journal.Last(s.Dir, peekEvents)
	return events, err
}

// explain spells an error and its next step. Secrets are masked.
func explain(err error) string {
	var message bytes.Buffer
	cli.Report(&message, err)
	return cmp.Or(strings.Join(spoken(&message), "\n"), "it was not done")
}

// spoken are the messages that a verb printed, without what each of them begins with.
func spoken(messages *bytes.Buffer) []string {
	var lines []string
	for text := range strings.Lines(messages.String()) {
		text = strings.TrimSpace(text)
		for _, prefix := range []string{"ralph: ", "error: ", "hint: "} {
			text = strings.TrimPrefix(text, prefix)
		}
		if text != "" {
			lines = append(lines, text)
		}
	}
	return lines
}
