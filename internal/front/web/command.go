package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/projector"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/send"
)

// given is a command as a client sends it.
type given struct {
	Kind  inbox.Kind `json:"kind"`
	Text  string     `json:"text"`
	Key   string     `json:"key"`
	Value string     `json:"value"`
	// Question is the number of the one that an answer is for.
	Question int `json:"question"`
}

// dropped is the answer to a command: it is in the loop's inbox, on the disk.
type dropped struct {
	ID   string     `json:"id,omitempty"`
	Loop string     `json:"loop"`
	Kind inbox.Kind `json:"kind"`
	Said string     `json:"said,omitempty"` // what became of it, as a loop of another machine says at once
}

// postCommand puts a command into a loop's inbox. What becomes of it is in the loop's journal.
func (s *Server) postCommand(w http.ResponseWriter, r *http.Request) {
	there, distant, elsewhere := s.elsewhere(r)
	l, ok := there, elsewhere
	if !elsewhere {
		l, ok = s.loopOf(w, r)
	}
	if !ok {
		return
	}
	c, problem := readCommand(r)
	switch {
	case problem != nil:
		status := http.StatusBadRequest
		if _, large := errors.AsType[*http.MaxBytesError](problem); large {
			status = http.StatusRequestEntityTooLarge
		}
		refuse(w, status, problem.Error(), `such as {"kind":"steer","text":"Leave the schema alone."}`)
		return
	case elsewhere:
		said, err := distant.Send(s.env, c)
		if err != nil {
			refuseFor(w, http.StatusConflict, err)
			return
		}
		answer(w, http.StatusAccepted, dropped{Loop: l.ID, Kind: c.Kind, Said: strings.TrimSpace(cli.Clean(said))})
		return
	case !l.Alive && c.Kind == inbox.Answer: // it is kept for the next runner
		sent, err := send.Deliver(s.env, l.Found, c, 0)
		if err != nil {
			refuse(w, http.StatusConflict, err.Error(), "")
			return
		}
		answer(w, http.StatusAccepted, dropped{ID: sent.ID, Loop: l.ID, Kind: c.Kind})
		return
	case !l.Alive:
		refuse(w, http.StatusConflict, "loop "+l.Name+" is not running", restartHint(l))
		return
	}
	id, err := client.Drop(l.Name, l.Dir, c)
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error(), "")
		return
	}
	answer(w, http.StatusAccepted, dropped{ID: id, Loop: l.ID, Kind: c.Kind})
}

func readCommand(r *http.Request) (inbox.Command, error) {
	var g given
	from := json.NewDecoder(r.Body)
	from.DisallowUnknownFields()
	if err := from.Decode(&g); err != nil {
		return inbox.Command{}, err
	}
	c := inbox.Command{Kind: g.Kind, Text: strings.TrimSpace(g.Text), Key: g.Key, Value: g.Value, Question: g.Question, From: client.Sender("web")}
	if c.Kind.IsAgents() {
		return c, errors.New(string(c.Kind) + " is a command of an agent")
	}
	return c, c.Check()
}

// restartHint says how a person lets a loop without a runner continue.
func restartHint(l *projector.View) string {
	return "'ralph start " + l.Name + " --resume' in " + l.Project + " resumes it"
}
