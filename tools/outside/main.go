// Outside is a small front end for loops. It is a module of its own whose path is not below that of
// ralph, so that it can import only ralph's public packages, as any other program.
//
//	outside start TEXT [FLAG…]       start a loop in this folder, follow it, and say how it ended
//	outside follow [NAME]            what the agent says and does, from the beginning
//	outside steer NAME TEXT          a message to the agent at work
//	outside answer NAME NUMBER TEXT  the answer to a question of the agent
//	outside stop NAME
//	outside list                     the loops of this machine, with what each waits for
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"time"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "outside: error:", err)
		if refused, ok := errors.AsType[*client.ProgramError](err); ok && refused.Hint != "" {
			fmt.Fprintln(os.Stderr, "outside: hint:", refused.Hint)
		}
		os.Exit(1)
	}
}

var errUsage = errors.New("usage: outside start TEXT [FLAG…] | follow [NAME] | steer NAME TEXT | answer NAME NUMBER TEXT | stop NAME | list")

func run(ctx context.Context, out io.Writer, args []string) error {
	finder, err := here()
	if err != nil {
		return err
	}
	word := func(i int) string {
		if i < len(args) {
			return args[i]
		}
		return ""
	}
	switch verb := word(0); {
	case verb == "list" && len(args) == 1:
		return list(out, finder)
	case verb == "start" && len(args) >= 2:
		loop, err := client.Start{Prompt: args[1], Flags: args[2:]}.Start(ctx)
		if err != nil {
			return err
		}
		return follow(ctx, out, loop.Dir)
	case verb == "follow" && len(args) <= 2:
		loop, err := finder.Find(word(1))
		if err != nil {
			return err
		}
		return follow(ctx, out, loop.Dir)
	case verb == "steer" && len(args) == 3:
		return send(ctx, out, finder, args[1], inbox.Command{Kind: inbox.Steer, Text: args[2]})
	case verb == "answer" && len(args) == 4:
		number, err := strconv.Atoi(args[2])
		if err != nil {
			return fmt.Errorf("read the number of the question: %w", err)
		}
		return send(ctx, out, finder, args[1], inbox.Command{Kind: inbox.Answer, Question: number, Text: args[3]})
	case verb == "stop" && len(args) == 2:
		return send(ctx, out, finder, args[1], inbox.Command{Kind: inbox.Stop})
	}
	return errUsage
}

// here looks for loops from the current folder on.
func here() (client.Finder, error) {
	home, err := registry.Home(os.Getenv)
	if err != nil {
		return client.Finder{}, fmt.Errorf("find the registry: %w", err)
	}
	folder, err := os.Getwd()
	if err == nil {
		folder, err = filepath.EvalSymlinks(folder)
	}
	return client.Finder{Home: home, Project: folder}, err
}

func list(out io.Writer, finder client.Finder) error {
	loops, err := finder.Loops(true)
	if err != nil {
		return fmt.Errorf("list loops: %w", err)
	}
	for _, l := range loops {
		state, err := projector.Load(l.Dir)
		if err != nil {
			return fmt.Errorf("read the state of loop %s: %w", l.Name, err)
		}
		view := state.View()
		fmt.Fprintf(out, "%s: %s after %d of %d iterations, alive: %t\n", l.Name, view.Status, view.Iteration, view.MaximumIterations, l.Live.Alive)
		for _, q := range view.Questions {
			if q.Open() {
				fmt.Fprintf(out, "  question %d: %s\n", q.Number, render.Clean(q.Text))
			}
		}
	}
	return nil
}

// follow prints what happens until the loop has ended.
func follow(ctx context.Context, out io.Writer, loopDir string) error {
	for e, err := range client.Follow(ctx, loopDir, 0) {
		if err != nil {
			return fmt.Errorf("follow %s: %w", loopDir, err)
		}
		payload, err := event.Decode(e)
		if err != nil {
			return fmt.Errorf("decode event %d: %w", e.Seq, err)
		}
		switch p := payload.(type) {
		case event.AgentSaid:
			fmt.Fprintf(out, "said: %s\n", render.Clean(p.Text.String()))
		case event.ToolCalled:
			fmt.Fprintf(out, "tool: %s\n", render.Clean(p.Name))
		case event.QuestionAsked:
			fmt.Fprintf(out, "question %d: %s\n", p.Number, render.Clean(p.Text))
		case event.LoopEnded:
			fmt.Fprintf(out, "%s by %s\n", p.Status, p.Reason)
		}
	}
	return nil
}

func send(ctx context.Context, out io.Writer, finder client.Finder, name string, c inbox.Command) error {
	loop, err := finder.Find(name)
	if err != nil {
		return err
	}
	receipt, err := client.Send(ctx, loop, c, 3*time.Second)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, receipt.Kind, receipt.Outcome, receipt.How, receipt.Why)
	return nil
}
