package web

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/ralph-loop/ralph/internal/cli"
	"github.com/ralph-loop/ralph/internal/launch"
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
	case l.Live.Alive:
		refuse(w, http.StatusConflict, "loop "+l.Name+" is running", "")
		return
	}
	var notes bytes.Buffer
	e := s.env.At(l.Project)
	e.Stdin, e.Stdout, e.Stderr = strings.NewReader(""), io.Discard, &notes // no person at the server's terminal is asked
	start := launch.Start{Name: l.Dir, Resume: true, Detach: true, Apart: true}
	if most := cli.CountOf(l.Head).Used() + more.Iterations; more.Iterations > 0 {
		start.MaximumIterations = &most
	}
	if _, err := start.Begin(e); err != nil {
		var text bytes.Buffer
		cli.Report(&text, err)
		problem, hint, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(text.String()), "ralph: error: "), "\nralph: hint: ")
		refuse(w, http.StatusConflict, problem, hint)
		return
	}
	answer(w, http.StatusAccepted, map[string]string{"loop": l.ID})
}
