package acpserver

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/send"
	"github.com/ralph-loop/ralph/internal/verb/launch"
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
	start := x.s.base
	start.ID, start.Apart = x.id, true
	if name == "tasks" {
		start.Tasks = true
	} else {
		start.Prompt = rest
	}
	e, said := x.s.envAt(x.cwd)
	err := x.s.one(func() error { return begin(e, &start) })
	x.warn(said.String())
	if err != nil {
		x.prompted.Store(false) // the next prompt begins again
		c.fail(failure(err))
		return
	}
	l := registry.Entry{Name: start.Name, Dir: start.Dir, Project: e.Root(), ID: x.id}
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
	e, said := x.s.envAt(l.Project)
	start := launch.Start{Name: l.Dir, Resume: true, Apart: true}
	start.Trust = x.s.base.Trust
	err := x.s.one(func() error {
		started, err := start.Begin(e)
		if err == nil && started.Ended != nil {
			err = errors.New("loop " + l.Name + " is " + string(started.Ended.Status) + ": " + started.Ended.Why)
		}
		return err
	})
	x.warn(said.String())
	if err != nil {
		waited := x.abandon(t)
		if t.command != "" {
			_, _ = inbox.Withdraw(l.Dir, t.command) // if it was taken, the journal says so
		}
		if waited {
			c.fail(failure(err))
		}
		return
	}
	if x.s.speaks().version == draft {
		x.abandon(t)
		x.accepted(t, rest)
	}
}

// names is how many names a new loop tries.
const names = 100

// begin starts a loop under the first name of its project that is free.
func begin(e *cli.Env, start *launch.Start) error {
	base, was := cmp.Or(start.Name, e.DefaultName()), *start
	for n := 1; ; n++ {
		*start = was
		if start.Name = base; n > 1 {
			start.Name = fmt.Sprintf("%.*s-%d", registry.MaxName-4, base, n)
		}
		dir, err := e.LoopDir(start.Name)
		if err != nil {
			return err
		}
		if cli.Exists(dir) && n < names {
			continue
		}
		_, err = start.Begin(e)
		if err != nil && n < names && takenBy(dir, start.ID) {
			continue // another program was faster
		}
		return err
	}
}

// takenBy reports whether another loop than that of this id has begun in a folder.
func takenBy(dir, id string) bool {
	state, err := loopstate.Open(dir)
	return err == nil && state.Begun() && state.Lifecycle.ID != id
}

// envAt is the environment of a verb that is called in a folder, without a terminal: stdin and
// stdout are the client's. said is what ralph says on stderr.
func (s *Server) envAt(folder string) (*cli.Env, *bounded) {
	e := s.env.At(folder)
	said := &bounded{}
	e.Stdin, e.Stdout, e.Stderr = strings.NewReader(""), io.Discard, io.MultiWriter(s.env.Stderr, said)
	return e, said
}

// one starts one loop at a time.
func (s *Server) one(start func() error) error {
	s.starting.Lock()
	defer s.starting.Unlock()
	return start()
}

// bounded keeps the beginning of what is written to it.
type bounded struct {
	mu   sync.Mutex
	text bytes.Buffer
}

const boundedMost = 16 << 10

func (b *bounded) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text.Write(p[:min(len(p), boundedMost-b.text.Len())])
	return len(p), nil
}

func (b *bounded) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
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
		return policy.FromAgent
	}
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, _ := os.Hostname()
	return "acp:" + name + "@" + host
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
