package acpserver

import (
	"strings"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render/phrase"
	"github.com/ralph-loop/ralph/render/transcript"
)

// wordsOf says in Markdown what an entry is about; empty if there is nothing to say.
func wordsOf(e transcript.Entry) string {
	said := e.Phrase(phrase.Known{Day: e.At})
	text := inMarkdown(said)
	switch b := e.Body.(type) {
	case transcript.Loop:
		if !b.Resumed {
			text += "\n\n'ralph attach " + b.Name + "' shows it in a terminal."
		}
	case transcript.Iteration:
		return "---\n\n" + text
	case transcript.Note:
		return b.Text
	case transcript.Wait:
		switch {
		case b.Over:
			return ""
		case b.For == event.WaitPerson:
			return text + "\n\nA prompt lets it go on."
		}
	case transcript.Pause:
		if b.Over {
			return ""
		}
		return text + "\n\nA prompt lets it go on."
	case transcript.End:
		for _, more := range []string{b.Strength, b.Stories, b.Hint} {
			if more != "" {
				text += "\n\n" + more
			}
		}
		for _, f := range b.Edited {
			text += "\n- " + f.String()
		}
	case transcript.Claim:
		if b.State == transcript.ClaimMade {
			return "" // its verdict follows
		}
	}
	return text
}

// inMarkdown is a phrase with what happened in bold.
func inMarkdown(p phrase.Phrase) string {
	if p.Text == "" {
		return ""
	}
	facts := ""
	if len(p.Facts) > 0 {
		facts = " (" + strings.Join(p.Facts, " · ") + ")"
	}
	if p.Why != "" {
		facts += ": " + strings.ReplaceAll(p.Why, "\n", "\n\n")
	}
	return "**" + phrase.Capital(p.Text) + "**" + facts
}

// messageWords says what became of a command. own says that this client sent it.
func messageWords(e transcript.Entry, m transcript.Message, own bool) string {
	switch {
	case m.State == transcript.MessageRefused:
		return inMarkdown(m.Became())
	case m.Command == event.CommandAsk:
		return inMarkdown(e.Phrase(phrase.Known{}))
	case m.Command.IsMessage() || m.Command == "" || own:
		return ""
	}
	return inMarkdown(e.Phrase(phrase.Known{}))
}
