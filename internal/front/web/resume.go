package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/ralph-loop/ralph/client"
)

// postResume continues a loop that has ended or whose runner died, as 'ralph start --resume' does.
// The body says how many more iterations it may use; without them, its limit stays.
func (s *Server) postResume(w http.ResponseWriter, r *http.Request) {
	l, ok := s.loopOf(w, r)
	if !ok {
		return
	}
	var more struct {
		Iterations int `json:"iterations"`
	}
	from := json.NewDecoder(r.Body)
	from.DisallowUnknownFields()
	switch err := from.Decode(&more); {
	case err != nil || more.Iterations < 0:
		refuse(w, http.StatusBadRequest, "the body says how many more iterations the loop may use", `such as {"iterations":10}`)
		return
	case l.Alive:
		refuse(w, http.StatusConflict, "loop "+l.Name+" is running", "")
		return
	}
	start, err := s.env.Starter()
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error(), "")
		return
	}
	if start.Notes = nil; more.Iterations > 0 {
		start.Iterations = l.Counted + more.Iterations
	}
	// A browser that is closed meanwhile ends nothing.
	if _, err := start.Resume(context.WithoutCancel(r.Context()), l.Found); err != nil {
		refused, _ := errors.AsType[*client.ProgramError](err)
		if refused == nil {
			refused = &client.ProgramError{Text: err.Error()}
		}
		refuse(w, http.StatusConflict, refused.Text, refused.Hint)
		return
	}
	answer(w, http.StatusAccepted, map[string]string{"loop": l.ID})
}
