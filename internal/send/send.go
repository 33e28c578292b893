package send

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/user"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/cli"
	"github.com/ralph-loop/ralph/internal/loopstate"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/registry"
)

// Flags are the flags of the verbs that send text.
type Flags struct {
	cli.Placed
	Loop string        `short:"l" name:"loop" complete:"loop" placeholder:"NAME" help:"The loop; without it the one that runs here."`
	Wait time.Duration `default:"3s" help:"How long to wait until the agent has it."`
	JSON bool          `help:"Print the outcome as JSON."`
}

// LoopFlags are the flags of the verbs whose argument is the loop.
type LoopFlags struct {
	cli.Placed
	Name string        `arg:"" optional:"" complete:"loop" help:"The loop; without it the one that runs here."`
	Wait time.Duration `default:"3s" help:"How long to wait for the loop to take it."`
	JSON bool          `help:"Print the outcome as JSON."`
}

// Flags returns the same as Flags.
func (n LoopFlags) Flags() Flags { return Flags{Loop: n.Name, Wait: n.Wait, JSON: n.JSON} }

// Text joins arguments to one text; a single - means stdin.
func Text(e *cli.Env, args []string) string {
	if len(args) == 1 && args[0] == "-" {
		if text, err := io.ReadAll(io.LimitReader(e.Stdin, inbox.MaxSize)); err == nil {
			return strings.TrimSpace(string(text))
		}
	}
	return strings.Join(args, " ")
}

// Tell sends text to the agent. The loop's name may precede it.
func (v Flags) Tell(e *cli.Env, kind inbox.Kind, text []string) (err error) {
	if v.Loop == "" && len(text) > 1 {
		if v.Loop, text, err = e.SplitLoopName(text); err != nil {
			return err
		}
	}
	return v.Send(e, inbox.Command{Kind: kind, Text: Text(e, text)})
}

// Send sends a command to the loop that the flags name.
func (v Flags) Send(e *cli.Env, c inbox.Command) error {
	s, err := e.Find(v.Loop)
	if err != nil {
		return err
	}
	return v.SendTo(e, s, c)
}

// SendTo sends a command to a loop and prints its outcome.
func (v Flags) SendTo(e *cli.Env, s registry.Status, c inbox.Command) error {
	f, err := deliver(e, s, c, v.Wait)
	if err != nil {
		return err
	}
	return f.print(e, v.JSON)
}

// Deliver sends a command to a loop and returns its outcome, which is that the loop has received or
// delivered it. After the loop has received it, Deliver waits no longer than the patience. A
// refusal is an error with its next step.
func Deliver(e *cli.Env, s registry.Status, c inbox.Command, patience time.Duration) (Report, error) {
	f, err := deliver(e, s, c, patience)
	if err == nil {
		err = f.refusal()
	}
	return f, err
}

func deliver(e *cli.Env, s registry.Status, c inbox.Command, patience time.Duration) (Report, error) {
	if c.Kind.IsMessage() && strings.TrimSpace(c.Text) == "" {
		return Report{}, cli.Refuse(fmt.Sprintf("write it as in 'ralph %s \"leave the schema alone\"'", c.Kind), "there is no text for the agent")
	}
	switch {
	case !s.Live.Alive && c.Kind == inbox.Answer:
		return keepAnswer(s, c)
	case !s.Live.Alive:
		return Report{}, notRunning(e, s, c.Kind)
	}
	f := Report{Loop: s.Name, Kind: string(c.Kind), key: c.Key}
	_, from, err := journal.Last(s.Dir, 1)
	if err != nil {
		return f, err
	}
	if f.ID, err = Drop(s.Name, s.Dir, c); err != nil {
		return f, err
	}
	if err := f.watch(s.Dir, from.Seq, patience); err != nil {
		return f, err
	}
	if f.Outcome == "" {
		return f, undelivered(e, s, f)
	}
	if f.Outcome == "received" && !f.Orphan {
		state, err := loopstate.Open(s.Dir)
		f.Resting = err == nil && state.NeedsResume()
	}
	return f, nil
}

// notRunning is the refusal to send to a loop that has ended or whose runner died.
func notRunning(e *cli.Env, s registry.Status, kind inbox.Kind) error {
	how, name := "", e.NameToType(s)
	if s.Head.Reason != "" {
		how = fmt.Sprintf(": it has ended (%s)", s.Head.Reason)
	}
	step := fmt.Sprintf("'ralph start %s --resume' resumes it", name)
	switch kind {
	case inbox.Stop, inbox.StopNow, inbox.Kill:
		step = fmt.Sprintf("'ralph why %s' says why it ended; ", name) + step
	}
	return cli.Refuse(step, "loop %s is not running%s", s.Name, how)
}

// Drop puts a command into a loop's inbox and returns its id. It sets From if it is empty. A
// command that is in the inbox, but may be lost in a power failure, is no error.
func Drop(name, dir string, c inbox.Command) (string, error) {
	c.From = cmp.Or(c.From, sender())
	id, err := inbox.Drop(dir, c)
	if err != nil && id == "" {
		return "", fmt.Errorf("put the command into the inbox of loop %s: %w", name, err)
	}
	return id, nil
}

// sender returns the user and the host.
func sender() string {
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, _ := os.Hostname()
	return "cli:" + name + "@" + host
}
