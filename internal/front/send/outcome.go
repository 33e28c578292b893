package send

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// sent is the outcome of a command from a virtual machine, in which the loop's journal is not seen.
const sent client.Outcome = "sent"

// show prints the outcome of a command. A refusal is an error.
func show(e *cli.Env, f client.Receipt, asJSON bool) error {
	if asJSON {
		err := cli.PrintJSON(e.Stdout, f, "")
		if err == nil && f.Outcome == client.Refused {
			err = cli.Exit(event.ExitUsage)
		}
		return err
	}
	if err := refusal(f); err != nil {
		return err
	}
	fmt.Fprintln(e.Stdout, Message(f))
	return nil
}

// refusal is the error of a command that the loop refused.
func refusal(f client.Receipt) error {
	if f.Outcome != client.Refused {
		return nil
	}
	return cli.Refuse(hint(f), "%s was refused by loop %s: %s", f.Kind, f.Loop, f.Why)
}

// Message says in a line what became of a command that was not refused.
func Message(f client.Receipt) string {
	kind, received := f.Kind, f.Outcome == client.Received
	switch {
	case f.Outcome == client.Withdrawn:
		return fmt.Sprintf("%s withdrawn before the agent of loop %s had it", f.Kind, f.Loop)
	case f.Withdrawn != "":
		return fmt.Sprintf("withdrawn, the agent of loop %s will not get it: %s", f.Loop, cli.Clean(f.Text))
	case f.Outcome == client.Kept && f.Replaced != "":
		return fmt.Sprintf("answer kept for loop %s, in place of %q; 'ralph resume %s' continues the loop, with that in its prompt", f.Loop, f.Replaced, f.Loop)
	case f.Outcome == sent && kind == inbox.Ask:
		return fmt.Sprintf("question sent to loop %s: work on; the answer will reach you as a message", f.Loop)
	case f.Outcome == sent:
		return fmt.Sprintf("%s sent to loop %s: end your turn", f.Kind, f.Loop)
	case f.Outcome == client.Kept:
		return fmt.Sprintf("answer kept for loop %s; 'ralph resume %s' continues the loop, with that in its prompt", f.Loop, f.Loop)
	case received && f.Orphan:
		return fmt.Sprintf("%s received by loop %s, whose runner has ended since; 'ralph start %s --resume' resumes it", f.Kind, f.Loop, f.Loop)
	case received && f.Resting:
		return fmt.Sprintf("%s received by loop %s; 'ralph resume %s' continues the loop, with that in its prompt", f.Kind, f.Loop, f.Loop)
	case received && kind == inbox.FollowUp:
		return fmt.Sprintf("follow-up received by loop %s; it will be in the prompt of iteration %d", f.Loop, f.Iteration+1)
	case received:
		return fmt.Sprintf("%s received by loop %s; the agent has it at its next step, or at the latest in the prompt of iteration %d",
			f.Kind, f.Loop, f.Iteration+1)
	case f.How != event.DeliveredLoop:
		return fmt.Sprintf("%s delivered at iteration %d of loop %s (%s)", f.Kind, f.Iteration, f.Loop, f.How)
	case kind == inbox.Ask:
		return fmt.Sprintf("question %d asked: work on; the answer will reach you as a message", f.Question)
	case kind == inbox.Wait:
		return fmt.Sprintf("wait noted by loop %s: end your turn; no other iteration begins before a person has resumed it", f.Loop)
	case kind == inbox.Blocked:
		return fmt.Sprintf("blocked noted by loop %s: end your turn; the loop ends then, and a person sees why", f.Loop)
	}
	taken := fmt.Sprintf("%s taken by loop %s in iteration %d", f.Kind, f.Loop, f.Iteration)
	if kind == inbox.Resume {
		taken += "; it goes on"
	}
	return taken
}

// hint is the next step after a refusal.
func hint(f client.Receipt) string {
	if f.Origin == event.OriginAgent || f.Origin == event.OriginOther {
		return "do the work within what is set; 'ralph ask' asks a person"
	}
	if f.Kind == inbox.Answer {
		return fmt.Sprintf("'ralph answer %s' lists the open questions", f.Loop)
	}
	switch {
	case f.Kind != inbox.Set:
		return fmt.Sprintf("'ralph status %s' shows what it does", f.Loop)
	case slices.Contains(config.LiveKeys(), f.Key):
		return fmt.Sprintf("'ralph doctor --schema' and docs/reference/settings.md say what %s takes", f.Key)
	}
	if _, known := config.Text(config.Defaults(), f.Key); !known {
		these := "these may change: " + strings.Join(config.LiveKeys(), ", ")
		if near := config.Nearest(f.Key, config.LiveKeys()); near != "" {
			these = fmt.Sprintf("did you mean %s? ", near) + these
		}
		return these
	}
	return fmt.Sprintf("'ralph stop %s', then 'ralph start %s --resume --set %s=…'", f.Loop, f.Loop, f.Key)
}

// Explain adds the next step to an error of [client.Send].
func Explain(e *cli.Env, s registry.Status, err error) error {
	resume := fmt.Sprintf("'ralph start %s --resume' resumes it", e.NameToType(s))
	if idle, ok := errors.AsType[*client.NotRunningError](err); ok {
		switch idle.Kind {
		case inbox.Stop, inbox.StopNow, inbox.Kill:
			resume = fmt.Sprintf("'ralph why %s' says why it ended; %s", e.NameToType(s), resume)
		}
		return cli.Refuse(resume, "%w", err)
	}
	untaken, ok := errors.AsType[*client.UntakenError](err)
	switch {
	case !ok:
		return err
	case !untaken.Withdrawn:
		return cli.Failed(fmt.Sprintf("'ralph logs %s --type command.' shows it", e.NameToType(s)), "%w", err)
	case untaken.Alive:
		return cli.Failed(fmt.Sprintf("'ralph kill %s' ends it in any case", e.NameToType(s)), "%w", err)
	}
	return cli.Refuse(resume, "%w", err)
}
