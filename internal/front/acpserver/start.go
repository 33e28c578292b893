package acpserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/send"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// startWith starts the loop of a new session. The prompt is its task.
func (x *session) startWith(c call, text string, cancels int) {
	name, rest := commandOf(text)
	if name != "" && name != "tasks" {
		c.fail(invalid("there is no loop yet: the first prompt says what is to be done"))
		return
	}
	start, said := x.s.starter(x.cwd)
	start.ID, start.Numbered = x.id, true
	if name == "tasks" {
		start.Flags = append(start.Flags, "--tasks")
	} else {
		start.Prompt = rest
	}
	began, err := x.s.oneAtATime(func() (registry.Status, error) { return start.Start(context.Background()) })
	x.warn(said.String())
	if err != nil {
		x.prompted.Store(false) // the next prompt begins again
		c.fail(failure(cli.Refusal(err)))
		return
	}
	l := registry.Entry{Name: began.Name, Dir: began.Dir, Project: began.Project, ID: x.id}
	x.mu.Lock()
	x.loop = l
	stop := x.cancels != cancels
	x.mu.Unlock()
	x.accepted(&turn{call: c}, text)
	w := newWatch(x, l)
	go w.follow()
	if stop {
		x.stopNow(l)
	}
}

// resumeWith resumes a loop that has no runner, with a follow-up unless rest is empty.
func (x *session) resumeWith(c call, l registry.Entry, name, rest string) {
	if name == "stop" || name == "pause" || name == "answer" {
		c.fail(invalid("loop " + l.Name + " is not running"))
		return
	}
	t := &turn{call: c, resumes: true}
	if name != "resume" {
		if _, err := x.drop(l, inbox.Command{Kind: inbox.FollowUp, Text: rest}, t); err != nil {
			c.fail(failure(err))
			return
		}
	}
	x.await(t) // before the loop can be resumed, and end again
	said, err := x.resumeLoop(l)
	x.warn(said)
	if err != nil {
		waited := x.abandon(t)
		if t.command != "" {
			_, _ = inbox.Withdraw(l.Dir, t.command) // if it was taken, the journal says so
		}
		if waited {
			c.fail(failure(cli.Refusal(err)))
		}
		return
	}
	if x.s.speaks().version == draft {
		x.abandon(t)
		x.accepted(t, rest)
	}
}

// resumeLoop continues a loop, and returns what ralph said.
func (x *session) resumeLoop(l registry.Entry) (said string, err error) {
	start, notes := x.s.starter(l.Project)
	resume := client.Start{Program: start.Program, Env: start.Env, Notes: start.Notes}
	if slices.Contains(start.Flags, Trust) {
		resume.Flags = []string{Trust}
	}
	began, err := x.s.oneAtATime(func() (registry.Status, error) { return resume.Resume(context.Background(), registry.Status{Entry: l}) })
	if err == nil && began.Head.Status.Ended() {
		err = fmt.Errorf("loop %s is %s (%s)", l.Name, began.Head.Status, began.Head.Reason)
	}
	return notes.String(), err
}

// oneAtATime starts a loop, also if the client leaves meanwhile.
func (s *Server) oneAtATime(start func() (registry.Status, error)) (registry.Status, error) {
	s.starting.Lock()
	defer s.starting.Unlock()
	return start()
}

// Trust is the flag that lets the settings of every project count.
const Trust = "--trust"

// starter starts loops in a folder as 'ralph start' does there without a terminal. said gets what
// ralph says on stderr.
func (s *Server) starter(folder string) (start client.Start, said *bytes.Buffer) {
	said = &bytes.Buffer{}
	start = s.base
	start.Project, start.Flags, start.Notes = cli.WithoutLinks(folder), slices.Clone(start.Flags), io.MultiWriter(s.env.Stderr, said)
	return start, said
}

// warn shows what ralph said when it started a loop.
func (x *session) warn(said string) {
	for line := range strings.Lines(said) {
		if line = strings.TrimSpace(strings.TrimPrefix(line, "ralph: ")); line != "" {
			x.update(x.s.note(event.Seq(0), "warning", clean(line)))
		}
	}
}

// failure is the problem of an error of ralph's own, with the next step.
func failure(err error) *problem {
	p := &problem{Code: codeInternal, Message: clean(err.Error())}
	if f, ok := errors.AsType[*cli.Failure](err); ok && f.NextStep != "" {
		p.Data = object{"hint": clean(f.NextStep)}
		p.Message += " (" + clean(f.NextStep) + ")"
	}
	return p
}

// sender names the person at the client, by the machine they are on. The agent of a loop is named
// as such, so that it cannot speak for a person.
func (s *Server) sender(l registry.Entry) string {
	live, _ := registry.Probe(l.Dir)
	if send.IsOwnAgent(s.env, registry.Status{Entry: l, Live: live}) {
		return event.FromAgent
	}
	return client.Sender("acp")
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
