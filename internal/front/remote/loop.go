package remote

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/attach"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

// A Loop is one of another machine.
type Loop struct {
	Call       string // HOST:NAME
	host, name string
	pool       string // its ID in the pool; empty for a loop that ssh reaches
}

// Prefixes of the file of the entry of a loop of another machine. No entry of the registry has such
// a file.
const (
	sshPrefix  = "ssh:"
	poolPrefix = "pool:"
)

// groupOf is one of the groups, whatever another machine says.
func groupOf(group projector.Group) projector.Group {
	if slices.Contains(projector.Groups, group) {
		return group
	}
	return projector.Working
}

// mark lets front ends pass on which loop is meant: [Of] finds it in Found.
func mark(v *projector.View, file string) {
	v.Found = registry.Status{
		Entry: registry.Entry{Name: v.Call, Dir: v.Dir, Project: v.Project, ID: v.ID, Agent: v.Agent, Host: v.Remote, Started: v.Started, Parent: v.Parent},
		File:  file, Head: v.Summary,
	}
}

// Of returns the loop of another machine that a front end shows; ok is false for one of this
// machine.
func Of(s registry.Status) (l Loop, ok bool) {
	l = Loop{Call: s.Name, host: s.Host}
	if call, there := strings.CutPrefix(s.File, sshPrefix); there {
		l.host, l.name, ok = Split(call)
		return l, ok
	}
	l.pool, ok = strings.CutPrefix(s.File, poolPrefix)
	_, l.name, _ = strings.Cut(s.Name, ":")
	return l, ok
}

// Send carries out commands in their order, and returns what is said of the last one. Nothing is
// sent if one of them cannot be.
func (l Loop) Send(e *cli.Env, commands ...inbox.Command) (said string, err error) {
	words := l.sshWords
	if l.pool != "" {
		words = l.poolWords
	}
	var lines [][]string
	for _, c := range commands {
		line, err := words(c)
		if err != nil {
			return "", err
		}
		lines = append(lines, line)
	}
	return l.run(e, lines)
}

// Resume starts a runner for the loop there. The commands are for it: it can only be an answer.
func (l Loop) Resume(e *cli.Env, raise map[string]string, commands ...inbox.Command) (said string, err error) {
	if l.pool != "" {
		return "", l.onlyThere("start " + l.name + " --resume")
	}
	var lines [][]string
	for _, c := range commands {
		if c.Kind != inbox.Answer {
			return "", cli.Refuse("attach to it, and type it there", "a loop of another host is not resumed with a text")
		}
		line, err := l.sshWords(c)
		if err != nil {
			return "", err
		}
		lines = append(lines, line)
	}
	resume := []string{"start", l.name, "--resume", "--detach"}
	for _, key := range slices.Sorted(maps.Keys(raise)) {
		resume = append(resume, "--set", key+"="+raise[key])
	}
	return l.run(e, append(lines, resume))
}

// Dismiss says that the person has seen what the loop needs.
func (l Loop) Dismiss(e *cli.Env) (said string, err error) {
	if l.pool != "" {
		return "", l.onlyThere("dismiss " + l.name)
	}
	return l.run(e, [][]string{{"dismiss", l.name}})
}

// Attach attaches to it from a screen of this machine.
func (l Loop) Attach(e *cli.Env) error {
	if l.pool != "" {
		return l.onlyThere("attach " + l.name)
	}
	h, err := Connect(e, l.host)
	if err != nil {
		return err
	}
	return h.Attach(l.name, []string{"attach", l.name}, attach.Options{}, attach.Weak{})
}

// Last returns its last events.
func (l Loop) Last(e *cli.Env, n int) (events []event.Event, err error) {
	if l.pool != "" {
		return nil, l.onlyThere("logs " + l.name)
	}
	text, err := l.run(e, [][]string{{"logs", l.name, "--json", "--lines", strconv.Itoa(n)}})
	for line := range strings.Lines(text) {
		ev, err := event.Parse([]byte(strings.TrimSpace(line)))
		if err != nil {
			return events, err
		}
		events = append(events, ev)
	}
	return events, err
}

// Read returns all that is true of it; known is what a list says.
func (l Loop) Read(ctx context.Context, e *cli.Env, known *projector.View) (*projector.View, error) {
	if l.pool != "" {
		return known, nil // the pool's list says it
	}
	ctx, stop := context.WithTimeout(ctx, doTime)
	defer stop()
	h, err := Connect(e, l.host)
	if err != nil {
		return nil, err
	}
	v, err := h.view(ctx, l.name, true)
	if err != nil {
		return nil, err
	}
	v.Remote, v.Call, v.Heard, v.Found = known.Remote, known.Call, known.Heard, known.Found
	return v, nil
}

// onlyThere refuses what the pool cannot do, with the words for ralph that do it.
func (l Loop) onlyThere(words string) error {
	by := strings.Replace(words, l.name, l.Call, 1)
	return cli.Refuse("enter 'ralph "+words+"' on host "+l.host+"; where ssh reaches it, 'ralph "+by+"' does that from here",
		"through the pool, loop %s can only be steered, answered, paused, resumed and stopped", l.Call)
}

// sshWords is a command line for ralph there.
func (l Loop) sshWords(c inbox.Command) ([]string, error) {
	switch c.Kind {
	case inbox.Steer, inbox.FollowUp:
		return []string{string(c.Kind), "--loop", l.name, "--", c.Text}, nil
	case inbox.Answer:
		return []string{"answer", "--loop", l.name, "--", strconv.Itoa(c.Question), c.Text}, nil
	case inbox.Pause, inbox.Resume, inbox.Stop:
		return []string{string(c.Kind), l.name}, nil
	case inbox.StopNow:
		return []string{"stop", l.name, "--now"}, nil
	}
	return nil, cli.Refuse("attach to it, and type it there", "%s is not sent to another host from here", c.Kind)
}

// run runs command lines there, and returns what the last one prints.
func (l Loop) run(e *cli.Env, lines [][]string) (said string, err error) {
	ctx, stop := context.WithTimeout(context.Background(), doTime)
	defer stop()
	var h *Host
	if l.pool == "" {
		if h, err = Connect(e, l.host); err != nil {
			return "", err
		}
	}
	for _, args := range lines {
		var text []byte
		if h == nil {
			text, err = runPool(ctx, e, args)
		} else {
			text, err = h.output(ctx, true, args...)
			err = h.explained(ctx, err)
		}
		if err != nil {
			return "", err
		}
		said = string(text)
	}
	return said, nil
}
