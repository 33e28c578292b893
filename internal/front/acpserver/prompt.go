package acpserver

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

// prompted takes a prompt.
func (s *Server) prompted(c call, params json.RawMessage) {
	var p struct {
		Prompt []block `json:"prompt"`
	}
	if json.Unmarshal(params, &p) != nil {
		c.fail(invalid("session/prompt needs a list of content as prompt"))
		return
	}
	x := s.sessionOf(params)
	if x == nil {
		var p about
		_ = json.Unmarshal(params, &p) // it was read above
		c.fail(noSession(p.Session))
		return
	}
	text, refused := textOf(p.Prompt)
	if refused != nil {
		c.fail(refused)
		return
	}
	x.prompted.Store(true)
	cancels := x.cancelCount()
	refused = x.do(func(closed *problem) {
		if closed != nil {
			c.fail(closed)
			return
		}
		x.prompt(c, text, cancels)
	})
	if refused != nil {
		c.fail(refused)
	}
}

// block is a part of a prompt.
type block struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Name     string `json:"name"`
	URI      string `json:"uri"`
	Resource struct {
		URI  string  `json:"uri"`
		Text *string `json:"text"`
	} `json:"resource"`
}

// textOf joins the parts of a prompt. Files are named, and those whose text is there are quoted.
func textOf(parts []block) (string, *problem) {
	var text strings.Builder
	for _, b := range parts {
		switch {
		case b.Type == "text":
			text.WriteString(b.Text)
		case b.Type == "resource_link":
			fmt.Fprintf(&text, "[%s](%s)", b.Name, b.URI)
		case b.Type == "resource" && b.Resource.Text != nil:
			fmt.Fprintf(&text, "\n<file uri=%q>\n%s\n</file>\n", b.Resource.URI, *b.Resource.Text)
		case b.Type == "resource":
			fmt.Fprintf(&text, "[%s]", b.Resource.URI)
		default:
			return "", invalid("ralph takes text and files in a prompt, not " + quoted(b.Type))
		}
	}
	if strings.TrimSpace(text.String()) == "" {
		return "", invalid("the prompt is empty")
	}
	return strings.TrimSpace(text.String()), nil
}

// prompt does what a prompt asks for: the first one of a new session is the task of a loop.
func (x *session) prompt(c call, text string, cancels int) {
	if x.cancelCount() != cancels {
		c.reply(object{"stopReason": wasStopped})
		return
	}
	l := x.begun()
	if l.Dir == "" {
		x.startWith(c, text, cancels)
		return
	}
	name, rest := commandOf(text)
	state, err := x.present(l)
	if err != nil {
		c.fail(failure(err))
		return
	}
	live, err := registry.Probe(l.Dir)
	if err != nil {
		c.fail(failure(err))
		return
	}
	switch {
	case name == "tasks":
		c.fail(invalid("this loop has begun: /tasks is the first prompt of a thread"))
	case rest == "" && kinds[name].IsMessage():
		c.fail(invalid("there is no text: write it as in '/" + name + " leave the schema alone'"))
	case name == "status":
		x.tell(c, text, titleOf(registry.Status{Entry: l, Live: live, Head: state.Summary, Died: !live.Alive && state.Ended == nil}))
	case !live.Alive || state.Ended != nil: // a runner that is about to exit takes nothing
		x.resumeWith(c, l, name, rest)
	case name == "answer":
		x.answer(c, l, text, rest, &state)
	default:
		x.say(c, l, text, name, rest, &state)
	}
}

// say sends what a prompt says to a loop that lives.
func (x *session) say(c call, l registry.Entry, text, name, rest string, state *projector.View) {
	if number := x.questionFor(rest, state); name == "" && number > 0 {
		x.answerQuestion(c, l, text, number, rest)
		return
	}
	sent := inbox.Command{Kind: inbox.Steer, Text: rest}
	if name != "" {
		sent.Kind = kinds[name]
	}
	if !sent.Kind.IsMessage() {
		sent.Text = ""
	}
	t := &turn{call: c}
	// Before the command is in the inbox: what follows is an answer to it.
	last, _, err := journal.Last(l.Dir, 1)
	if err == nil && len(last) > 0 {
		t.after = last[0].Seq
	}
	resumes := state.Resting && sent.Kind.IsMessage()
	if resumes {
		t.resume = "not sent yet"
	}
	if err == nil {
		_, err = x.drop(l, sent, t)
	}
	if err == nil && resumes {
		_, err = x.drop(l, inbox.Command{Kind: inbox.Resume}, t)
	}
	if err != nil {
		if x.abandon(t) {
			c.fail(failure(err))
		}
		return
	}
	x.accepted(t, text)
}

// accepted answers a prompt of version 2, and keeps one of version 1 until its turn is over.
func (x *session) accepted(t *turn, text string) {
	if x.s.speaks().version != draft {
		x.await(t)
		// The end of the loop may have been shown before the prompt was among those that it
		// answers. If it was not, all words come before the answer.
		if state, err := x.present(x.begun()); err == nil && x.wasShown(state.Seq) {
			x.settle(&state, false)
		}
		return
	}
	id := t.command
	if id == "" {
		id = "prompt-" + strings.Trim(string(t.id), `"`)
	}
	x.update(object{"sessionUpdate": "user_message", "messageId": id, "content": []object{textBlock(string(render.CleanText(text)))}})
	t.reply(object{"messageId": id})
}

// tell answers a prompt with words of ralph's own.
func (x *session) tell(c call, text, words string) {
	t := &turn{call: c}
	if x.s.speaks().version == draft {
		x.accepted(t, text)
		x.update(x.s.words("told-"+strings.Trim(string(c.id), `"`), words))
		return
	}
	x.update(x.s.words("told-"+strings.Trim(string(c.id), `"`), words))
	c.reply(object{"stopReason": endTurn})
}
