package send

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
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
	if v.Loop == "" { // a name alone has no text, and is no message for another loop
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
	return show(e, f, v.JSON)
}

// Deliver sends a command to a loop and returns its outcome, which is that the loop has received or
// delivered it. After the loop has received it, Deliver waits no longer than the patience. A
// refusal is an error with its next step.
func Deliver(e *cli.Env, s registry.Status, c inbox.Command, patience time.Duration) (client.Receipt, error) {
	f, err := deliver(e, s, c, patience)
	if err == nil {
		err = refusal(f)
	}
	return f, err
}

func deliver(e *cli.Env, s registry.Status, c inbox.Command, patience time.Duration) (client.Receipt, error) {
	if c.Kind.IsMessage() && strings.TrimSpace(c.Text) == "" {
		return client.Receipt{}, cli.Refuse(
			fmt.Sprintf("write it as in 'ralph %s %s \"leave the schema alone\"'", c.Kind, e.NameToType(s)),
			"there is no text for the agent of loop %s", s.Name)
	}
	if e.Variable(cli.MachineVariable) != "" { // which does not have the journal
		id, err := client.Drop(s.Name, s.Dir, c)
		return client.Receipt{ID: id, Loop: s.Name, Kind: c.Kind, Outcome: sent}, err
	}
	f, err := client.Send(context.Background(), s, c, patience)
	return f, Explain(e, s, err)
}

// Resume starts a runner for a loop without one, with settings that are raised for it. It takes the
// commands first: texts for its next prompt. If it cannot be started, they are taken back.
func Resume(e *cli.Env, s registry.Status, raise map[string]string, commands ...inbox.Command) error {
	var ids []string
	for _, c := range commands {
		id, err := client.Drop(s.Name, s.Dir, c)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	start, err := e.Starter()
	if err == nil {
		start.Set = raise
		_, err = start.Resume(context.Background(), s)
	}
	if err != nil {
		for _, id := range ids {
			_, _ = inbox.Withdraw(s.Dir, id) // no runner has taken it
		}
	}
	return cli.Refusal(err)
}
