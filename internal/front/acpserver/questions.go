package acpserver

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

// asking is a question that the client shows as a form or as buttons.
type asking struct {
	x        *session
	question projector.Question
	answered bool // the client has answered, and the loop does not have it yet
}

// choiceID is the id of a choice as an option of a permission.
func choiceID(n int) string { return "choice-" + strconv.Itoa(n) }

// laterID is the option that leaves a question open.
const laterID = "later"

// showQuestions asks the client's person what is open, and takes back what has been answered
// elsewhere, or is not needed any more.
func (w *watch) showQuestions() {
	open := map[int]bool{}
	for _, q := range w.view.OpenQuestions() {
		if w.view.Ended != nil {
			break // a loop that has ended takes no answer
		}
		open[q.Number] = true
		if !w.shown.asked[q.Number] {
			w.shown.asked[q.Number] = true
			w.x.ask(q)
		}
	}
	for number := range w.shown.asked {
		if !open[number] {
			delete(w.shown.asked, number)
			w.x.takeBack(number)
		}
	}
}

// ask shows a question: as a form, as buttons, or as words where the client can do neither.
func (x *session) ask(q projector.Question) {
	is := x.s.speaks()
	method, params := "", object{"sessionId": x.id}
	switch text := fmt.Sprintf("Question %d: %s", q.Number, clean(q.Text)); {
	case is.forms:
		method = "elicitation/create"
		params["mode"], params["message"], params["requestedSchema"] = "form", text, formOf(q)
	case len(q.Choices) > 0:
		method = "session/request_permission"
		params["options"] = optionsOf(q)
		if is.version == draft {
			params["title"] = text
		} else {
			params["toolCall"] = object{
				"toolCallId": "question-" + strconv.Itoa(q.Number), "title": text, "kind": "other", "status": "pending",
				"content": []object{content(text)},
			}
		}
	default:
		x.askInWords(q)
		return
	}
	id := x.s.remember(&asking{x: x, question: q})
	_ = x.s.out.write(object{"id": id, "method": method, "params": params}) // a client that is gone ends Serve
}

// askInWords shows a question in the conversation.
func (x *session) askInWords(q projector.Question) {
	text := fmt.Sprintf("**Question %d:** %s", q.Number, clean(q.Text))
	for _, choice := range q.Choices {
		text += "\n- " + clean(choice)
	}
	text += fmt.Sprintf("\n\n`/answer %d TEXT` answers it.", q.Number)
	if !q.Blocks {
		text += " The agent works on meanwhile."
	}
	x.update(x.s.words("question-"+strconv.Itoa(q.Number), text))
}

// formOf is the form of a question. Any text may be an answer, also where there are choices.
func formOf(q projector.Question) object {
	own := object{"type": "string", "title": "Answer", "maxLength": inbox.MaxAnswer}
	if len(q.Choices) == 0 {
		return object{"type": "object", "properties": object{"text": own}, "required": []string{"text"}}
	}
	own["title"] = "Or in your own words"
	choices := make([]string, len(q.Choices))
	for i, choice := range q.Choices {
		choices[i] = clean(choice)
	}
	return object{"type": "object", "properties": object{
		"choice": object{"type": "string", "title": "Answer", "enum": choices}, "text": own,
	}}
}

// optionsOf are the choices of a question as the options of a permission. A client that allows
// everything by itself takes the first option that allows something, which must not be an answer:
// only a person gives one.
func optionsOf(q projector.Question) []object {
	options := []object{{"optionId": laterID, "name": "Answer later", "kind": "allow_once"}}
	for i, choice := range q.Choices {
		options = append(options, object{"optionId": choiceID(i), "name": clean(choice), "kind": "allow_once"})
	}
	return options
}

// remember gives a request to the client its id. The state bounds how many questions are open.
func (s *Server) remember(a *asking) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	id := fmt.Sprintf("question-%d-%d", a.question.Number, s.requests)
	s.asked[strconv.Quote(id)] = a
	return id
}

// asking reports whether the client shows a question of this session.
func (x *session) asking() bool {
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	for _, a := range x.s.asked {
		if a.x == x {
			return true
		}
	}
	return false
}

// takeBack cancels the request for a question that has an answer.
func (x *session) takeBack(number int) {
	x.s.mu.Lock()
	var ids []string
	for id, a := range x.s.asked {
		if a.x == x && a.question.Number == number {
			if !a.answered {
				ids = append(ids, id)
			}
			delete(x.s.asked, id)
		}
	}
	x.s.mu.Unlock()
	for _, id := range ids {
		_ = x.s.out.write(object{"method": "$/cancel_request", "params": object{"requestId": json.RawMessage(id)}})
	}
}

// forgetAsked drops the questions of a session that is closed.
func (x *session) forgetAsked() {
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	for id, a := range x.s.asked {
		if a.x == x {
			delete(x.s.asked, id)
		}
	}
}

// answered takes the client's answer to a question. One that is not known is ignored: its question
// was taken back or answered, or the client made it up. Until the question is closed it is one that
// the client shows, and the prompt is not over.
func (s *Server) answered(m message) {
	id := string(m.ID)
	s.mu.Lock()
	a := s.asked[id]
	if a == nil || a.answered {
		s.mu.Unlock()
		return
	}
	a.answered = true
	s.mu.Unlock()
	text := answerIn(m.Result, a.question)
	refused := a.x.do(func(closed *problem) {
		if closed != nil || !s.asks(id) { // or it was answered elsewhere
			return
		}
		l := a.x.begun()
		if text != "" {
			if _, err := a.x.drop(l, inbox.Command{Kind: inbox.Answer, Question: a.question.Number, Text: text}, nil); err == nil {
				return
			}
		}
		// A person left it open, the client does not show questions, or the answer cannot be sent.
		s.forget(id)
		a.x.askInWords(a.question)
		if state, err := a.x.present(l); err == nil {
			a.x.settle(&state, false)
		}
	})
	if refused != nil { // after more prompts than a person can write
		s.forget(id)
	}
}

// asks reports whether a request for an answer was neither taken back nor forgotten.
func (s *Server) asks(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[id] != nil
}

func (s *Server) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.asked, id)
}

// answerIn reads the answer in a client's result; empty if there is none.
func answerIn(result json.RawMessage, q projector.Question) string {
	var r struct {
		Outcome struct { // of a permission
			Outcome string `json:"outcome"`
			Option  string `json:"optionId"`
		} `json:"outcome"`
		Action  string `json:"action"` // of a form
		Content struct {
			Choice string `json:"choice"`
			Text   string `json:"text"`
		} `json:"content"`
	}
	if len(result) == 0 || json.Unmarshal(result, &r) != nil {
		return ""
	}
	if r.Action == "accept" {
		if text := strings.TrimSpace(r.Content.Text); text != "" {
			return units.Prefix(text, inbox.MaxAnswer)
		}
		return units.Prefix(strings.TrimSpace(r.Content.Choice), inbox.MaxAnswer)
	}
	for i, choice := range q.Choices {
		if r.Outcome.Outcome == "selected" && r.Outcome.Option == choiceID(i) {
			return choice
		}
	}
	return ""
}

// questionFor returns the number of the question that a prompt answers, 0 if it is none: it is one
// of the choices of a single open question, or the loop waits for the answer to a single one.
func (x *session) questionFor(text string, state *projector.View) int {
	open := state.OpenQuestions()
	number := 0
	for _, q := range open {
		for _, choice := range q.Choices {
			if strings.EqualFold(strings.TrimSpace(text), choice) {
				if number != 0 && number != q.Number {
					return 0
				}
				number = q.Number
			}
		}
	}
	if number == 0 && len(open) == 1 && state.Resting {
		number = state.Awaited
	}
	return number
}

// answer does what /answer asks for. The number may be left out if one question is open.
func (x *session) answer(c call, l registry.Entry, text, rest string, state *projector.View) {
	open := state.OpenQuestions()
	word, answer, _ := strings.Cut(rest, " ")
	number, err := strconv.Atoi(word)
	if err != nil && len(open) == 1 {
		number, answer = open[0].Number, rest
	}
	if number < 1 || strings.TrimSpace(answer) == "" {
		c.fail(invalid(fmt.Sprintf("%s open: write it as in '/answer 1 postgres'", units.Quantity(len(open), "question"))))
		return
	}
	x.answerQuestion(c, l, text, number, strings.TrimSpace(answer))
}

// answerQuestion sends the answer to a question.
func (x *session) answerQuestion(c call, l registry.Entry, text string, number int, answer string) {
	t := &turn{call: c}
	if _, err := x.drop(l, inbox.Command{Kind: inbox.Answer, Question: number, Text: answer}, t); err != nil {
		c.fail(failure(err))
		return
	}
	x.accepted(t, text)
}
