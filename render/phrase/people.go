package phrase

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/journal/event"
)

func commandReceived(p event.CommandReceived, _ Known) Phrase {
	said := good(string(p.Kind), p.Text)
	switch p.Kind {
	case event.CommandWait:
		said = warning("the agent waits for a person", p.Text)
	case event.CommandBlocked:
		said = warning("the agent needs a person", p.Text)
	case event.CommandAsk:
		said = warning("the agent asks", p.Text)
	case event.CommandAnswer:
		said = good(fmt.Sprintf("answer to question %d", p.Question), p.Text)
	case "": // it came before what is read
		said.Text = "command " + p.ID
	}
	if p.Key != "" {
		said.Text += " " + p.Key
		if p.Val != "" {
			said.Text += "=" + p.Val
		}
	}
	return said.with(p.From)
}

// Doubt says that the sender of a command is not known; empty if that is not in doubt.
func Doubt(p event.CommandReceived) string {
	if p.Doubt == "" {
		return ""
	}
	return "whether an agent gave this command is not known: " + p.Doubt
}

// command names the command that is answered.
func (k Known) command() string {
	if k.Command == "" {
		return "command"
	}
	return string(k.Command)
}

func commandDelivered(p event.CommandDelivered, k Known) Phrase {
	how := string(p.How)
	switch p.How {
	case event.DeliveredLive:
		if how = "delivered into the running turn"; k.Turn > 0 {
			how = fmt.Sprintf("delivered at turn %d", k.Turn)
		}
	case event.DeliveredPrompt:
		how = fmt.Sprintf("delivered with the prompt of iteration %d", p.Iteration)
	case event.DeliveredLoop:
		how = "done"
	}
	switch {
	case k.Command == event.CommandWait || k.Command == event.CommandBlocked:
		how = "noted" // it takes effect only when a person comes
	case k.Command == event.CommandStop && k.Running > 0:
		how = fmt.Sprintf("noted: stopping after iteration %d", k.Running)
	case k.Command == event.CommandPause && k.Running > 0:
		how = fmt.Sprintf("noted: pausing after iteration %d", k.Running)
	}
	return good(k.command()+" "+how, "")
}

func commandRefused(p event.CommandRefused, k Known) Phrase {
	return warning(k.command()+" refused", p.Why)
}

func commandWithdrawn(p event.CommandWithdrawn, k Known) Phrase {
	return good(k.command()+" withdrawn", p.Text)
}

// Queued says that a message waits for its delivery.
func Queued(kind event.CommandKind) Phrase {
	k := Known{Command: kind}
	if kind == event.CommandFollowUp {
		return warning(k.command()+" queued for the end of the turn", "")
	}
	return warning(k.command()+" queued", "")
}

func questionAsked(p event.QuestionAsked, _ Known) Phrase {
	said := warning(fmt.Sprintf("question %d", p.Number), p.Text)
	if p.Blocks {
		said = said.with("the work is not done without an answer")
	}
	if len(p.Choices) > 0 {
		said.Why += "\nchoices: " + strings.Join(p.Choices, " | ")
	}
	return said
}

func questionAnswered(p event.QuestionAnswered, _ Known) Phrase {
	return good(fmt.Sprintf("answer to question %d", p.Number), p.Text).with(p.From)
}

func completionClaimed(p event.CompletionClaimed, _ Known) Phrase {
	return good("the agent claims that the work is done", "").with(string(p.How))
}

func completionAccepted(p event.CompletionAccepted, _ Known) Phrase {
	said := good("claim accepted", p.Warning).with(string(p.How))
	if p.Warning != "" {
		said.Tone = ToneWarning
	}
	return said
}

func completionRefused(p event.CompletionRefused, _ Known) Phrase {
	return warning("claim refused", strings.Join(p.Missing, "; "))
}

func completionIgnored(p event.CompletionIgnored, _ Known) Phrase {
	said := warning("claim ignored", p.Why).with(string(p.How))
	if p.Text != "" {
		said.Why += "\n" + p.Text
	}
	return said
}
