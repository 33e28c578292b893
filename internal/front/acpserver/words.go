package acpserver

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/transcript"
)

// wordsOf says in Markdown what an entry is about; empty if there is nothing to say.
func wordsOf(e transcript.Entry) string {
	switch b := e.Body.(type) {
	case transcript.Loop:
		return loopWords(b)
	case transcript.Iteration:
		return iterationWords(b)
	case transcript.IterationEnd:
		return iterationEndWords(b)
	case transcript.Claim:
		return claimWords(b)
	case transcript.Commit:
		return fmt.Sprintf("Committed %.10s: %s", b.SHA, b.Subject)
	case transcript.Note:
		return b.Text
	case transcript.Wait:
		return waitWords(b)
	case transcript.Pause:
		if !b.Over {
			return "**Paused.** A prompt lets the loop go on."
		}
	case transcript.End:
		return endWords(b)
	}
	return ""
}

func loopWords(l transcript.Loop) string {
	if l.Resumed {
		return strings.Join(append([]string{"**The loop was resumed.**"}, l.Notes...), "\n\n")
	}
	return fmt.Sprintf("**Loop %s** in %s, with %s. 'ralph attach %s' shows it in a terminal.", l.Name, l.Project, render.And(l.Agents), l.Name)
}

func iterationWords(i transcript.Iteration) string {
	text := "---\n\n**Iteration " + i.Number() + "**"
	if i.Agent != "" {
		text += " · " + i.Agent
	}
	if i.Story != "" {
		text += " · " + i.Story + ": " + i.Title
	}
	return text
}

func iterationEndWords(i transcript.IterationEnd) string {
	text := fmt.Sprintf("*Iteration %d: %s", i.N, i.Outcome)
	if i.Error != "" {
		text += ": " + units.FirstLine(i.Error)
	}
	return text + " · " + render.Usage(i.Usage) + "*"
}

func claimWords(c transcript.Claim) string {
	switch c.State {
	case transcript.ClaimAccepted:
		if c.Warning != "" {
			return "The agent says that the work is done, and that counts. " + c.Warning
		}
		return "The agent says that the work is done, and that counts."
	case transcript.ClaimRefused:
		return "The agent says that the work is done. That does not count yet:\n- " + strings.Join(c.Missing, "\n- ")
	case transcript.ClaimIgnored:
		return "A claim that the work is done was ignored: " + c.Why
	}
	return ""
}

func waitWords(b transcript.Wait) string {
	switch {
	case b.Over:
		return ""
	case b.For == event.WaitPerson:
		return "**The loop waits for a person:** " + b.Why + " A prompt lets it go on."
	}
	if b.For == event.WaitHeld {
		return "**The loop waits for its turn:** " + clean(b.Why)
	}
	return "The loop waits: " + clean(event.LoopWaiting{For: b.For, Until: b.Until}.String())
}

func endWords(b transcript.End) string {
	text := fmt.Sprintf("**The loop is %s** (%s): %s", b.Status, b.Reason, b.Why)
	if b.Stories != "" {
		text += "\n\n" + b.Stories
	}
	if b.Hint != "" {
		text += "\n\n" + b.Hint
	}
	for _, f := range b.Edited {
		text += "\n- changed by the agent: " + f.Path
	}
	return text
}

// messageWords says what became of a command. own says that this client sent it.
func messageWords(m transcript.Message, own bool) string {
	switch {
	case m.State == transcript.MessageRefused:
		return fmt.Sprintf("%s was refused: %s", commandName(m), m.Why)
	case m.Command == event.CommandAsk:
		return "**The agent asks:** " + m.Text
	case m.Command.IsMessage() || m.Command == "":
		return ""
	case own:
		return ""
	case m.Key != "":
		return fmt.Sprintf("%s: %s = %s, by %s", commandName(m), m.Key, m.Value, m.From)
	}
	return fmt.Sprintf("%s, by %s", commandName(m), m.From)
}

func commandName(m transcript.Message) string {
	if m.Command == "" {
		return "A message"
	}
	return "/" + string(m.Command)
}
