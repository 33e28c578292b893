package board

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
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
	if host, loop, ok := remote.Of(effect.Loop); ok {
		text, err := carryOutThere(e, host, loop, effect)
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

// carryOutThere does the same for a loop of another host, by the verbs of ralph there.
func carryOutThere(e *cli.Env, host, loop string, effect Effect) (text string, err error) {
	var lines [][]string
	for _, c := range effect.Commands {
		switch c.Kind {
		case inbox.Steer, inbox.FollowUp:
			lines = append(lines, []string{string(c.Kind), "--loop", loop, "--", c.Text})
		case inbox.Answer:
			lines = append(lines, []string{"answer", "--loop", loop, "--", strconv.Itoa(c.Question), c.Text})
		case inbox.Pause, inbox.Resume, inbox.Stop:
			lines = append(lines, []string{string(c.Kind), loop})
		case inbox.StopNow:
			lines = append(lines, []string{"stop", loop, "--now"})
		default:
			return "", cli.Refuse("attach to it", "the board cannot send that to another host")
		}
	}
	switch effect.Do {
	case Dismiss:
		lines = [][]string{{"dismiss", loop}}
	case Resume:
		if len(lines) > 0 && effect.Commands[0].Kind != inbox.Answer {
			return "", cli.Refuse("attach to it, and type it there", "a loop of another host is not resumed with a text")
		}
		resume := []string{"start", loop, "--resume", "--detach"}
		for _, key := range slices.Sorted(maps.Keys(effect.Raise)) {
			resume = append(resume, "--set", key+"="+effect.Raise[key])
		}
		lines = append(lines, resume)
	}
	for _, args := range lines {
		if text, err = remote.Do(e, host, args...); err != nil {
			return "", err
		}
	}
	return text, nil
}

// peekEvents is how many of the last events a peek shows.
const peekEvents = 200

// peek returns the end of a loop's conversation in clean lines.
func peek(e *cli.Env, s registry.Status, width int) []string {
	events, err := lastEvents(e, s)
	if err != nil && len(events) == 0 {
		return []string{"its journal cannot be read: " + cli.Clean(err.Error())}
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
	host, loop, ok := remote.Of(s)
	if !ok {
		events, _, err = journal.Last(s.Dir, peekEvents)
		return events, err
	}
	text, err := remote.Do(e, host, "logs", loop, "--json", "--lines", strconv.Itoa(peekEvents))
	for line := range strings.Lines(text) {
		ev, err := event.Parse([]byte(strings.TrimSpace(line)))
		if err != nil {
			return events, err
		}
		events = append(events, ev)
	}
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
